/* What files share that have the elements one behind the other: an open descriptor and a strided
 * view of it (weft_array.flat). */
#ifndef WEFT_IO_FLAT_H
#define WEFT_IO_FLAT_H

#include "io/format.h"
#include "io/strided.h"

/* Opens array->path for reading; sets array->flat with file.fd and file.path, and the size of the
 * file. */
weft_status weft_flat_open(weft_array *array, weft_strided_file **file, int64_t *file_bytes);

/* Completes *file from array->info; fails where the file holds less than the array needs. */
weft_status weft_flat_check(const weft_array *array, weft_strided_file *file, int64_t file_bytes);

/* Opens array->temporary; rank 0 writes the header and reserves the space of the whole array. */
weft_status weft_flat_create(weft_array *array, const char *header, size_t header_bytes);

/* The same where the file has got its other contents, `bytes` with the array, which begins at byte
 * `offset`. */
weft_status weft_flat_create_at(weft_array *array, int64_t offset, int64_t bytes);

weft_status weft_flat_read(weft_array *array, const weft_box *box, weft_element wanted,
                           void *memory);
weft_status weft_flat_write(weft_array *array, const weft_box *box, const void *memory);
weft_status weft_flat_check_map(const weft_array *array);
weft_status weft_flat_map(weft_array *array, size_t bytes, void **memory);
weft_status weft_flat_copy_mapped(const weft_array *array, const weft_copy *copy, const void *src,
                                  void *dst);
bool weft_flat_has(const weft_array *array, const void *address);
weft_status weft_flat_sync(const weft_array *array);
weft_status weft_flat_close(weft_array *array);

#endif
