/*
 * Boxes of an array that lies uncompressed in a file, in row-major or column-major order: .npy and
 * raw files. Reads and writes with pread and pwrite in large pieces. Knows nothing of MPI.
 */
#ifndef WEFT_IO_STRIDED_H
#define WEFT_IO_STRIDED_H

#include "io/element.h"

#include <stdatomic.h>

typedef struct weft_strided_file {
    int fd;
    int64_t offset; /* of element 0, in bytes */
    weft_element element;
    bool swapped; /* the other byte order */
    bool column_major;
    int rank;
    int64_t n[WEFT_MAX_RANK];
    const char *path;      /* for error sentences */
    atomic_llong *counted; /* gets the bytes of each piece; may be NULL */
    void *mapping;         /* of `mapped` bytes of the file in memory, or NULL */
    size_t mapped;
    int64_t bytes; /* of a created file: what it keeps when it is closed */
} weft_strided_file;

/* Reads `box` (inside the array) into row-major `memory` as `wanted`. */
weft_status weft_strided_read(const weft_strided_file *file, const weft_box *box,
                              weft_element wanted, void *memory);

/* Writes `box` from row-major `memory` of the file's type. The file is row-major. */
weft_status weft_strided_write(const weft_strided_file *file, const weft_box *box,
                               const void *memory);

/* Whole reads and writes: retries what the system did in part. A file that ends early is an error.
 */
weft_status weft_file_read(int fd, const char *path, void *bytes, size_t count, int64_t offset);
weft_status weft_file_write(int fd, const char *path, const void *bytes, size_t count,
                            int64_t offset);

#endif
