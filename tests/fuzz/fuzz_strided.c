/* Fuzzes the box reader of flat files: any geometry, any element, both orders, compared with
 * reading one element after the other. */
#include "io/strided.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint8_t *bytes;
static size_t left;

static int take(int limit) {
    int value = 0;
    if (left > 0) {
        value = *bytes++ % limit;
        left--;
    }
    return value;
}

/* Reads every element of the box by its own call and compares. */
static void compare(const weft_strided_file *file, const weft_box *box, const double *values,
                    int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, index[WEFT_MAX_RANK], at = 0;
        for (int a = file->rank - 1; a >= 0; a--) {
            index[a] = box->lo[a] + rest % box->n[a];
            rest /= box->n[a];
        }
        for (int k = 0; k < file->rank; k++) {
            int a = file->column_major ? file->rank - 1 - k : k;
            at = at * file->n[a] + index[a];
        }
        char element[16];
        double expected[2];
        weft_conversion conversion = {file->element, WEFT_ELEMENT_C16, file->swapped};
        size_t size = weft_element_bytes(file->element);
        if (weft_file_read(file->fd, "FILE", element, size, file->offset + at * (int64_t)size) !=
            WEFT_SUCCESS)
            abort();
        weft_convert(&conversion, element, 1, expected, 1, 1);
        /* NaN may change its bits on the way; that both are NaN is enough. */
        for (int part = 0; part < 2; part++)
            if (values[2 * i + part] != expected[part] &&
                (values[2 * i + part] == values[2 * i + part] || expected[part] == expected[part]))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes = data;
    left = size;
    weft_strided_file file = {.path = "FILE", .rank = 1 + take(5), .offset = take(100)};
    weft_box box = {{0}, {0}};
    int64_t elements = 1, count = 1;
    file.element = (weft_element)take(WEFT_ELEMENT_COUNT);
    file.swapped = take(2) == 1;
    file.column_major = take(2) == 1;
    for (int a = 0; a < file.rank; a++) {
        file.n[a] = 1 + take(a == 0 ? 40 : 7);
        box.lo[a] = take((int)file.n[a]);
        box.n[a] = take((int)(file.n[a] - box.lo[a]) + 1);
        elements *= file.n[a];
        count *= box.n[a];
    }
    size_t stored = (size_t)elements * weft_element_bytes(file.element);
    bool cut = take(16) == 15;
    file.fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file.fd < 0 || ftruncate(file.fd, file.offset + (off_t)stored - cut) != 0) abort();
    if (left > 0)
        weft_file_write(file.fd, "FILE", bytes, left < stored ? left : stored, file.offset);
    if (ftruncate(file.fd, file.offset + (off_t)stored - cut) != 0) abort();
    double *values = malloc((size_t)count * 16 + 1); /* exactly: writing past the end shows */
    weft_status status = weft_strided_read(&file, &box, WEFT_ELEMENT_C16, values);
    if (status == WEFT_SUCCESS && !cut) compare(&file, &box, values, count);
    if (status != WEFT_SUCCESS && !cut) abort();
    free(values);
    close(file.fd);
    return 0;
}
