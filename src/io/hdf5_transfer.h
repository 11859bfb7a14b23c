/* Boxes of an open HDF5 dataset, moved by all ranks together. */
#ifndef WEFT_IO_HDF5_TRANSFER_H
#define WEFT_IO_HDF5_TRANSFER_H

#include "io/format.h"

#include <hdf5.h>

/* The state of an array of this format; -1 where not open. */
typedef struct weft_hdf5_dataset {
    hid_t file, set, memory_type, transfer;
} weft_hdf5_dataset;

/* Records the sentence for a failed HDF5 call, with the reason HDF5 gives, and returns `status`. */
weft_status weft_hdf5_refused(weft_status status, const char *path, const char *what);

weft_status weft_hdf5_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory);
weft_status weft_hdf5_write(weft_array *array, const weft_box *box, const void *memory);

#endif
