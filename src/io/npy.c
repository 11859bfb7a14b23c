/* NumPy .npy files. Row-major and column-major, both byte orders; written row-major, little-endian,
 * version 1. */
#include "io/flat.h"
#include "io/npy_header.h"
#include "support/error.h"

#include <stdlib.h>

static weft_status read_header(const char *path, const weft_strided_file *file, int64_t file_bytes,
                               weft_npy_header *header) {
    unsigned char prefix[WEFT_NPY_PREFIX_BYTES];
    size_t text_offset, text_bytes;
    size_t count = file_bytes < (int64_t)sizeof prefix ? (size_t)file_bytes : sizeof prefix;
    WEFT_TRY(weft_file_read(file->fd, path, prefix, count, 0));
    WEFT_TRY(weft_npy_parse_prefix(path, prefix, count, &text_offset, &text_bytes));
    header->data_offset = (int64_t)(text_offset + text_bytes);
    if (header->data_offset > file_bytes)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it ends within its .npy header: truncated; copy it again", path);
    char *text = malloc(text_bytes + 1);
    if (text == NULL)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for its header", path);
    weft_status status = weft_file_read(file->fd, path, text, text_bytes, (int64_t)text_offset);
    if (status == WEFT_SUCCESS) status = weft_npy_parse_text(path, text, text_bytes, header);
    free(text);
    return status;
}

static weft_status npy_open(weft_array *array) {
    weft_strided_file *file;
    weft_npy_header header = {0};
    int64_t file_bytes;
    WEFT_TRY(weft_flat_open(array, &file, &file_bytes));
    WEFT_TRY(read_header(array->path, file, file_bytes, &header));
    array->info = header.info;
    file->offset = header.data_offset;
    file->swapped = header.swapped;
    file->column_major = header.column_major;
    return weft_flat_check(array, file, file_bytes);
}

static weft_status npy_create(weft_array *array) {
    char header[WEFT_NPY_WRITTEN_LIMIT];
    return weft_flat_create(array, header, weft_npy_format_header(&array->info, header));
}

const weft_file_format weft_npy_format = {
    .suffixes = {".npy"},
    .open = npy_open,
    .read = weft_flat_read,
    .create = npy_create,
    .write = weft_flat_write,
    .check_map = weft_flat_check_map,
    .map = weft_flat_map,
    .copy_mapped = weft_flat_copy_mapped,
    .has = weft_flat_has,
    .sync = weft_flat_sync,
    .close = weft_flat_close,
};
