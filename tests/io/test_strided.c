/* Boxes of flat files: row-major and column-major, any box, large pieces, offsets beyond 2 GiB. */
#include "io/strided.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t elements_of(const int64_t *n, int rank) {
    int64_t count = 1;
    for (int a = 0; a < rank; a++) count *= n[a];
    return count;
}

/* Place of an index in the file, in elements. */
static int64_t place(const weft_strided_file *file, const int64_t *index) {
    int64_t at = 0;
    for (int k = 0; k < file->rank; k++) {
        int a = file->column_major ? file->rank - 1 - k : k;
        at = at * file->n[a] + index[a];
    }
    return at;
}

/* A file whose element i holds i. */
static weft_strided_file file_of_places(int rank, const int64_t *n, int64_t offset) {
    weft_strided_file file = {.fd = memfd_create("strided", MFD_CLOEXEC),
                              .offset = offset,
                              .element = WEFT_ELEMENT_I32,
                              .rank = rank,
                              .path = "FILE"};
    assert_true(file.fd >= 0);
    memcpy(file.n, n, (size_t)rank * sizeof *n);
    int64_t count = elements_of(n, rank);
    int32_t *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = (int32_t)i;
    assert_int_equal(weft_file_write(file.fd, "FILE", values, (size_t)count * 4, offset),
                     WEFT_SUCCESS);
    free(values);
    return file;
}

static void check_box(const weft_strided_file *file, const weft_box *box) {
    int64_t count = elements_of(box->n, file->rank), index[WEFT_MAX_RANK];
    double *values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    assert_int_equal(weft_strided_read(file, box, WEFT_ELEMENT_F8, values), WEFT_SUCCESS);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        for (int a = file->rank - 1; a >= 0; a--) {
            index[a] = box->lo[a] + rest % box->n[a];
            rest /= box->n[a];
        }
        assert_true(values[i] == (double)place(file, index));
    }
    free(values);
}

static void every_box_of_small_arrays_is_read(void **state) {
    (void)state;
    const int64_t n[3] = {3, 4, 5};
    for (int order = 0; order < 2; order++) {
        weft_strided_file file = file_of_places(3, n, 7);
        file.column_major = order == 1;
        for (int code = 0; code < 36 * 36 * 36; code += 7) {
            weft_box box = {.lo = {code % 3, code / 3 % 4, code / 12 % 5},
                            .n = {code / 60 % 4, code / 240 % 5, code / 1200 % 6}};
            bool inside = true;
            for (int a = 0; a < 3; a++) inside = inside && box.lo[a] + box.n[a] <= n[a];
            if (inside) check_box(&file, &box);
        }
        close(file.fd);
    }
}

static void random_boxes_of_large_arrays_are_read(void **state) {
    (void)state;
    const int64_t n[4] = {5, 70, 3, 9001}; /* 36 MiB: several pieces */
    unsigned seed = (unsigned)getpid();
    printf("seed %u\n", seed);
    srand(seed);
    for (int order = 0; order < 2; order++) {
        weft_strided_file file = file_of_places(4, n, 128);
        file.column_major = order == 1;
        for (int trial = 0; trial < 12; trial++) {
            weft_box box = {{0}, {0}};
            for (int a = 0; a < 4; a++) {
                box.lo[a] = trial == 0 ? 0 : rand() % n[a];
                box.n[a] = trial == 0 ? n[a] : 1 + rand() % (n[a] - box.lo[a]);
            }
            check_box(&file, &box);
        }
        close(file.fd);
    }
}

static void written_boxes_tile_the_file(void **state) {
    (void)state;
    const int64_t n[3] = {7, 9, 11};
    weft_strided_file expected = file_of_places(3, n, 64), file = expected;
    file.fd = memfd_create("written", MFD_CLOEXEC);
    for (int part = 0; part < 8; part++) {
        weft_box box = {{0}, {0}};
        for (int a = 0; a < 3; a++) {
            int upper = part >> a & 1;
            box.lo[a] = upper ? n[a] / 3 : 0;
            box.n[a] = upper ? n[a] - n[a] / 3 : n[a] / 3;
        }
        int32_t values[7 * 9 * 11];
        assert_int_equal(weft_strided_read(&expected, &box, WEFT_ELEMENT_I32, values),
                         WEFT_SUCCESS);
        assert_int_equal(weft_strided_write(&file, &box, values), WEFT_SUCCESS);
    }
    check_box(&file, &(weft_box){{0}, {7, 9, 11}});
    close(file.fd);
    close(expected.fd);
}

static void offsets_beyond_four_gigabytes_are_reached(void **state) {
    (void)state;
    weft_strided_file file = {.fd = memfd_create("sparse", MFD_CLOEXEC),
                              .offset = 128,
                              .element = WEFT_ELEMENT_F8,
                              .rank = 2,
                              .n = {70000, 70000}, /* 39 GB, almost all of it a hole */
                              .path = "FILE"};
    const weft_box far = {{69998, 69990}, {2, 10}};
    double put[20], got[20];
    for (int i = 0; i < 20; i++) put[i] = i;
    assert_int_equal(weft_strided_write(&file, &far, put), WEFT_SUCCESS);
    assert_int_equal(weft_strided_read(&file, &far, WEFT_ELEMENT_F8, got), WEFT_SUCCESS);
    assert_memory_equal(put, got, sizeof put);
    close(file.fd);
}

static void a_file_that_ends_early_is_an_error(void **state) {
    (void)state;
    const int64_t n[1] = {100};
    weft_strided_file file = file_of_places(1, n, 0);
    double values[100];
    assert_int_equal(ftruncate(file.fd, 399), 0);
    assert_int_equal(weft_strided_read(&file, &(weft_box){{0}, {100}}, WEFT_ELEMENT_F8, values),
                     WEFT_ERROR_SYSTEM);
    close(file.fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_box_of_small_arrays_is_read),
        cmocka_unit_test(random_boxes_of_large_arrays_are_read),
        cmocka_unit_test(written_boxes_tile_the_file),
        cmocka_unit_test(offsets_beyond_four_gigabytes_are_reached),
        cmocka_unit_test(a_file_that_ends_early_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
