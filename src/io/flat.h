/* What .npy and raw files share: an open descriptor and a strided view of it as the state of a
 * weft_array. */
#ifndef WEFT_IO_FLAT_H
#define WEFT_IO_FLAT_H

#include "io/format.h"
#include "io/strided.h"

/* Opens array->path for reading; sets array->state with file.fd and file.path, and the size of the
 * file. */
weft_status weft_flat_open(weft_array *array, weft_strided_file **file, int64_t *file_bytes);

/* Completes *file from array->info; fails where the file holds less than the array needs. */
weft_status weft_flat_check(const weft_array *array, weft_strided_file *file, int64_t file_bytes);

/* Opens array->temporary; rank 0 writes the header and reserves the space of the whole array. */
weft_status weft_flat_create(weft_array *array, const char *header, size_t header_bytes);

weft_status weft_flat_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory);
weft_status weft_flat_write(weft_array *array, const weft_box *box, const void *memory);
bool weft_flat_can_map(const weft_array *array);
weft_status weft_flat_map(weft_array *array, size_t bytes, void **memory);
weft_status weft_flat_copy_mapped(const weft_array *array, const weft_copy *copy, const void *src,
                                  void *dst);
bool weft_flat_has(const weft_array *array, const void *address);
weft_status weft_flat_sync(const weft_array *array);
weft_status weft_flat_close(weft_array *array);

#endif
