/*
 * Arrays in files: open one, read a box of it; or create one, each rank writes its box, and commit
 * it.
 *
 * The name of an array tells its format: FILE.npy, FILE.h5:/dataset (also .hdf5), FILE.raw or
 * FILE.bin; and, only to be read, FILE.vtk and FILE.vti, or FILE.vti:array. Every rank touches only
 * the parts of the file that its box covers. Whatever goes wrong on one rank fails on all, with the
 * same sentence in weft_last_error(NULL): WEFT_ERROR_INVALID_ARGUMENT or WEFT_ERROR_UNSUPPORTED
 * where the caller must change something, WEFT_ERROR_SYSTEM where the system refused.
 */
#ifndef WEFT_IO_ARRAY_H
#define WEFT_IO_ARRAY_H

#include "io/element.h"
#include "layout/layout.h"

#include <mpi.h>
#include <stdatomic.h>
#include <weft/weft.h>

typedef struct weft_array weft_array;

typedef struct weft_array_info {
    weft_element element;
    int rank; /* 1 to WEFT_MAX_RANK */
    int64_t n[WEFT_MAX_RANK];
} weft_array_info;

/* Computes the elements and bytes of a whole array; false if a number overflows or an extent is not
 * positive. */
bool weft_array_elements(const weft_array_info *info, int64_t *elements);
bool weft_array_bytes(const weft_array_info *info, int64_t *bytes);

/* Opens an array for reading. raw_info gives type and shape of .raw and .bin files (NULL where the
 * caller has none); other formats tell them themselves. Collective over comm, which is not
 * duplicated and must outlive the array. */
weft_status weft_array_open(MPI_Comm comm, const char *name, const weft_array_info *raw_info,
                            weft_array **array);

/* How an array is created; all zero: as for a run that writes boxes of it and cannot be resumed. */
typedef struct weft_array_creation {
    /* NULL, or told the temporary's name on rank 0 as soon as it exists, for those who must remove
     * it in a signal handler. */
    void (*made)(const char *temporary);
    bool mapped;  /* its elements are only written where weft_array_map maps them */
    bool kept;    /* the temporary has a name that a later run finds (weft_array_kept) */
    bool resumed; /* and an earlier run has created it, with the same type and shape */
} weft_array_creation;

/* Creates an array under a temporary name beside its target and reserves its space. An existing
 * .npy or raw file is replaced by weft_array_commit; in an existing HDF5 file the dataset is
 * replaced or added and the others are kept (the temporary starts as a copy of the file).
 * Collective. */
weft_status weft_array_create(MPI_Comm comm, const char *name, const weft_array_info *info,
                              const weft_array_creation *how, weft_array **array);

/* What a run that created `name` to be kept leaves if it does not end: whether there is such a
 * thing, and, if `journal` is not NULL, the name of its journal, which the caller frees. Not
 * collective. */
weft_status weft_array_kept(const char *name, bool *there, char **journal);
/* Removes it, if it is there and nobody writes it. Not collective. */
void weft_array_forget_kept(const char *name);

/* The name of its file, without that of a dataset in it. Not collective. */
const char *weft_array_path(const weft_array *array);

/* The type and shape of an array. Not collective. */
const weft_array_info *weft_array_describe(const weft_array *array);

/* Reads `box`, which may be empty, into `memory` (row-major, type `wanted`). Collective. */
weft_status weft_array_read(weft_array *array, const weft_box *box, weft_element wanted,
                            void *memory);

/* Writes `box`, which may be empty, from `memory` (row-major, the array's type). Boxes of the ranks
 * must not overlap. Collective. */
weft_status weft_array_write(weft_array *array, const weft_box *box, const void *memory);

/* Whether weft_array_map can give the array's elements as they lie in its file: one behind the
 * other in row-major order, and in the machine's own byte order. The first function fails with a
 * sentence where that is not so. Not collective. */
weft_status weft_array_check_map(const weft_array *array);
bool weft_array_can_map(const weft_array *array);
/* Whether files of this name can be mapped when they are created. Not collective. */
bool weft_array_maps(const char *name);

/* Maps the elements of such an array into memory: to be read where it was opened, to be read and
 * written where it was created, then with room for `bytes` from the first element on, of which
 * weft_array_commit keeps those of the array. *memory is valid until the array is committed or
 * closed; it is aligned to an element. Not collective. */
weft_status weft_array_map(weft_array *array, size_t bytes, void **memory);

/* Copies between memory and elements of a mapped array, which one of the sides is in: rows that are
 * long by reads and writes of the file, which cost less than the pages of a mapping, others by the
 * mapping. Thread-safe. Not collective. */
weft_status weft_array_copy_mapped(const weft_array *array, const weft_copy *copy, const void *src,
                                   void *dst);
/* Whether an address is that of an element of the mapped array. Not collective. */
bool weft_array_has(const weft_array *array, const void *address);

/* Gives a created array its name if `mine` is WEFT_SUCCESS on every rank, else removes it and
 * returns the first failure. *array becomes NULL. Collective. */
weft_status weft_array_commit(weft_array **array, weft_status mine);

/* Waits until what was written, by whatever process of this machine, is on the disk. Only for
 * arrays that are mapped. Thread-safe. Not collective. */
weft_status weft_array_sync(const weft_array *array);

/* From now on weft_array_close leaves a created array that is to be kept as it is, for a later run.
 * Not collective. */
void weft_array_leave(weft_array *array);

/* Closes an opened array, or removes a created one. NULL and *array == NULL are ignored.
 * Collective. */
void weft_array_close(weft_array **array);

/* Whether MPI_Finalize will work. HDF5 crashes in it after it failed to close a file, which it does
 * where the system refused to write; such a process must leave without it. Not collective. */
bool weft_array_may_finalize(void);

/* Adds the bytes read or written from now on to *bytes (NULL: no more), for a progress bar. Not
 * collective. */
void weft_array_count(weft_array *array, atomic_llong *bytes);

#endif
