/* Raw files: the elements alone, row-major, in the byte order of this machine. The caller knows
 * type and shape. */
#include "io/flat.h"
#include "support/error.h"

static weft_status raw_open(weft_array *array) {
    weft_strided_file *file;
    int64_t file_bytes, bytes;
    if (!array->typed)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: a raw file does not tell its type and shape; give --dtype and "
                         "--shape",
                         array->path);
    WEFT_TRY(weft_flat_open(array, &file, &file_bytes));
    WEFT_TRY(weft_flat_check(array, file, file_bytes));
    if (weft_array_bytes(&array->info, &bytes) && bytes != file_bytes)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "%s: it holds %lld bytes where --shape and --dtype need %lld; correct "
                         "them",
                         array->path, (long long)file_bytes, (long long)bytes);
    return WEFT_SUCCESS;
}

static weft_status raw_create(weft_array *array) {
    return weft_flat_create(array, "", 0);
}

const weft_file_format weft_raw_format = {
    .suffixes = {".raw", ".bin"},
    .open = raw_open,
    .read = weft_flat_read,
    .create = raw_create,
    .write = weft_flat_write,
    .check_map = weft_flat_check_map,
    .map = weft_flat_map,
    .copy_mapped = weft_flat_copy_mapped,
    .has = weft_flat_has,
    .sync = weft_flat_sync,
    .close = weft_flat_close,
};
