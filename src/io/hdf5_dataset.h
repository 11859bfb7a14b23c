/* An open HDF5 dataset as the state of a weft_array, and the parts of opening and creating one. */
#ifndef WEFT_IO_HDF5_DATASET_H
#define WEFT_IO_HDF5_DATASET_H

#include "io/format.h"

#include <hdf5.h>

/* The state of an array of this format; -1 where not open. */
typedef struct weft_hdf5_dataset {
    hid_t file, set, memory_type, transfer;
} weft_hdf5_dataset;

/* Records the sentence for a failed HDF5 call, with the reason HDF5 gives, and returns `status`. */
weft_status weft_hdf5_refused(weft_status status, const char *path, const char *what);

/* Opens the dataset in state->file: fills array->info and state->set and memory_type. */
weft_status weft_hdf5_open_dataset(weft_array *array, weft_hdf5_dataset *state);
/* Creates it and the groups on its way, of state->memory_type; negative on failure. Collective
 * where the file was opened by several ranks. */
hid_t weft_hdf5_create_dataset(const weft_array *array, const weft_hdf5_dataset *state);
herr_t weft_hdf5_close_dataset(weft_hdf5_dataset *state);

/* File access by one process without HDF5's own lock, which would fail for the temporary file,
 * since this process has locked it (io/temporary.c). The caller closes it. */
hid_t weft_hdf5_access_without_lock(void);

/* ---- hdf5_mapped.c: datasets whose elements are read and written where they lie in the file ----
 */

weft_status weft_hdf5_check_map(const weft_array *array);
weft_status weft_hdf5_map(weft_array *array, size_t bytes, void **memory);
/* Creates the dataset in the temporary file, which rank 0 has started, or finds the one that an
 * earlier run has created; sets array->flat. Collective. */
weft_status weft_hdf5_create_mapped(weft_array *array);

#endif
