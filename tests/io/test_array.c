/* ranks: 1 3 */
/* Arrays in files of every format, by several ranks: round trips, and failures that all ranks
 * share. */
#include "half_number.h"
#include "io/agreement.h"
#include "io/array.h"
#include "shared_folder.h"
#include "support/error.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const formats[] = {"%s/array.npy", "%s/array.raw",
#ifdef WEFT_HAVE_HDF5
                                      "%s/array.h5:/group/data"
#endif
};
enum { FORMATS = sizeof formats / sizeof *formats };

static int count_files(void) {
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    closedir(list);
    return count;
}

static const weft_array_info shape = {.rank = 3, .n = {5, 4, 6}};

/* This rank's share along `axis`; with three ranks and four rows, shares differ; rank 2 gets none
 * of axis 1. */
static weft_box share(int axis) {
    weft_box box = {{0}, {5, 4, 6}};
    int64_t each = (box.n[axis] + ranks - 1) / ranks, lo = each * rank;
    int64_t end = lo + each < shape.n[axis] ? lo + each : shape.n[axis];
    box.lo[axis] = lo < shape.n[axis] ? lo : shape.n[axis];
    box.n[axis] = end > lo ? end - lo : 0;
    return box;
}

static int64_t count_of(const weft_box *box) {
    return box->n[0] * box->n[1] * box->n[2];
}

static double number_at(const weft_box *box, int64_t i) {
    int64_t z = box->lo[2] + i % box->n[2], y = box->lo[1] + i / box->n[2] % box->n[1];
    int64_t x = box->lo[0] + i / box->n[2] / box->n[1];
    return (double)((x * 4 + y) * 6 + z);
}

/* Encodes numbers up to 119 as elements of a type. */
static void encode(weft_element element, const weft_box *box, unsigned char *at) {
    for (int64_t i = 0; i < count_of(box); i++) {
        double value[2] = {number_at(box, i), -number_at(box, i)};
        float single[2] = {(float)value[0], (float)value[1]};
        int64_t integer =
            (int64_t)value[0]; /* little-endian: shorter integers are its first bytes */
        if (element == WEFT_ELEMENT_BOOL) integer = integer % 2;
        const void *from = element == WEFT_ELEMENT_F2  ? half_number(value[0])
                           : element < WEFT_ELEMENT_F4 ? (const void *)&integer
                           : element == WEFT_ELEMENT_F4 || element == WEFT_ELEMENT_C8
                               ? (void *)single
                               : value;
        memcpy(at + (size_t)i * weft_element_bytes(element), from, weft_element_bytes(element));
    }
}

static weft_status write_array(const char *name, weft_element element, int axis, weft_status mine) {
    weft_array_info info = shape;
    weft_array *array = NULL;
    unsigned char data[5 * 4 * 6 * 16];
    weft_box box = share(axis);
    info.element = element;
    encode(element, &box, data);
    WEFT_TRY(weft_array_create(MPI_COMM_WORLD, name, &info, NULL, &array));
    weft_status status = weft_array_write(array, &box, data);
    return weft_array_commit(&array, status == WEFT_SUCCESS ? mine : status);
}

static void every_format_and_type_comes_back(void **state) {
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        for (int e = 0; e < WEFT_ELEMENT_COUNT; e++) {
            char name[128];
            double data[5 * 4 * 6 * 2];
            weft_array_info raw = shape;
            weft_array *array = NULL;
            snprintf(name, sizeof name, formats[f], folder);
            assert_int_equal(write_array(name, (weft_element)e, e % 3, WEFT_SUCCESS), WEFT_SUCCESS);
            raw.element = (weft_element)e;
            assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, &raw, &array), WEFT_SUCCESS);
            assert_int_equal(weft_array_describe(array)->element, e);
            assert_int_equal(weft_array_describe(array)->rank, 3);
            weft_box box = share((e + 1) % 3);
            assert_int_equal(weft_array_read(array, &box, WEFT_ELEMENT_C16, data), WEFT_SUCCESS);
            for (int64_t i = 0; i < count_of(&box); i++) {
                double other = weft_element_complex((weft_element)e) ? -number_at(&box, i) : 0.0;
                const double number = number_at(&box, i);
                assert_true(data[2 * i] == (e == WEFT_ELEMENT_BOOL ? fmod(number, 2) : number));
                assert_true(data[2 * i + 1] == other);
            }
            weft_array_close(&array);
            assert_null(array);
        }
    }
}

static void a_failure_on_one_rank_removes_the_output_on_all(void **state) {
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        char name[128];
        snprintf(name, sizeof name, formats[f], folder);
        int before = count_files();
        MPI_Barrier(MPI_COMM_WORLD);
        weft_status mine =
            rank == ranks - 1 ? weft_fail(WEFT_ERROR_DEVICE, "rank %d broke", rank) : WEFT_SUCCESS;
        char expected[64];
        snprintf(expected, sizeof expected, "rank %d broke", ranks - 1);
        assert_int_equal(write_array(name, WEFT_ELEMENT_F8, 0, mine), WEFT_ERROR_DEVICE);
        assert_string_equal(weft_thread_error(), expected);
        MPI_Barrier(MPI_COMM_WORLD);
        assert_int_equal(count_files(), before);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void a_file_cut_while_it_is_read_fails_on_all_ranks(void **state) {
    (void)state;
    char name[128];
    double data[120];
    weft_array *array = NULL;
    snprintf(name, sizeof name, "%s/cut.npy", folder);
    assert_int_equal(write_array(name, WEFT_ELEMENT_F8, 0, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, NULL, &array), WEFT_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) assert_int_equal(truncate(name, 128 + 119 * 8), 0); /* the last rank's part */
    MPI_Barrier(MPI_COMM_WORLD);
    weft_box box = share(0);
    assert_int_equal(weft_array_read(array, &box, WEFT_ELEMENT_F8, data), WEFT_ERROR_SYSTEM);
    assert_non_null(strstr(weft_thread_error(), "ended at byte"));
    weft_array_close(&array);
}

static void boxes_outside_the_array_are_refused(void **state) {
    (void)state;
    char name[128];
    double data[120];
    weft_array *array = NULL;
    snprintf(name, sizeof name, "%s/box.npy", folder);
    assert_int_equal(write_array(name, WEFT_ELEMENT_F8, 0, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, NULL, &array), WEFT_SUCCESS);
    const weft_box wrong[] = {{{4, 0, 0}, {2, 1, 1}},
                              {{-1, 0, 0}, {1, 1, 1}},
                              {{0, 0, INT64_MAX}, {1, 1, 1}},
                              {{0, 0, 0}, {1, INT64_MAX, 1}}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        assert_int_equal(weft_array_read(array, &wrong[w], WEFT_ELEMENT_F8, data),
                         WEFT_ERROR_INVALID_ARGUMENT);
    weft_array_close(&array);
}

static void names_that_cannot_be_opened_are_refused(void **state) {
    (void)state;
    static const char *const inputs[] = {"none.npy",   "array",       "array.h5",  "none.h5:/x",
                                         "array.h5:",  ".npy",        "array.raw", "/dev/null.npy",
                                         "folder.npy", "array.npy:/x"};
    char path[128];
    snprintf(path, sizeof path, "%s/folder.npy", folder);
    if (rank == 0) assert_int_equal(mkdir(path, 0700), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        char name[256];
        weft_array *array = NULL;
        snprintf(name, sizeof name, "%s/%s", folder, inputs[i]);
        assert_int_not_equal(weft_array_open(MPI_COMM_WORLD, name, NULL, &array), WEFT_SUCCESS);
        assert_null(array);
    }
    const weft_array_info info = {.element = WEFT_ELEMENT_F8, .rank = 1, .n = {4}};
    static const char *const outputs[] = {"/dev/full", "folder.npy", "none/a.npy", "a.txt"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char name[256];
        weft_array *array = NULL;
        snprintf(name, sizeof name, "%s/%s", folder, outputs[i]);
        assert_int_equal(weft_array_create(MPI_COMM_WORLD, name, &info, NULL, &array),
                         WEFT_ERROR_INVALID_ARGUMENT);
        assert_null(array);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) rmdir(path);
}

#ifdef WEFT_HAVE_HDF5
static void other_datasets_of_a_file_are_kept(void **state) {
    (void)state;
    char first[128], second[128], wrong[128];
    weft_array *array = NULL;
    snprintf(first, sizeof first, "%s/two.h5:/a", folder);
    snprintf(second, sizeof second, "%s/two.h5:/deep/b", folder);
    snprintf(wrong, sizeof wrong, "%s/two.h5:/deep", folder);
    assert_int_equal(write_array(first, WEFT_ELEMENT_C8, 0, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(write_array(second, WEFT_ELEMENT_F8, 1, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(write_array(second, WEFT_ELEMENT_F4, 2, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(write_array(wrong, WEFT_ELEMENT_F4, 0, WEFT_SUCCESS),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, first, NULL, &array), WEFT_SUCCESS);
    assert_int_equal(weft_array_describe(array)->element, WEFT_ELEMENT_C8);
    weft_array_close(&array);
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, second, NULL, &array), WEFT_SUCCESS);
    assert_int_equal(weft_array_describe(array)->element, WEFT_ELEMENT_F4);
    weft_array_close(&array);
}

static void a_file_that_is_not_hdf5_is_neither_read_nor_replaced(void **state) {
    (void)state;
    char name[160], path[128], text[8] = "";
    snprintf(path, sizeof path, "%s/text.h5", folder);
    snprintf(name, sizeof name, "%s:/x", path);
    if (rank == 0) {
        FILE *file = fopen(path, "w");
        fputs("precious", file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    weft_array *array = NULL;
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, NULL, &array),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(write_array(name, WEFT_ELEMENT_F8, 0, WEFT_SUCCESS),
                     WEFT_ERROR_INVALID_ARGUMENT);
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, text, 8), 8);
    close(fd);
    assert_memory_equal(text, "precious", 8);
}
#endif

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_and_type_comes_back),
        cmocka_unit_test(a_failure_on_one_rank_removes_the_output_on_all),
        cmocka_unit_test(a_file_cut_while_it_is_read_fails_on_all_ranks),
        cmocka_unit_test(boxes_outside_the_array_are_refused),
        cmocka_unit_test(names_that_cannot_be_opened_are_refused),
#ifdef WEFT_HAVE_HDF5
        cmocka_unit_test(other_datasets_of_a_file_are_kept),
        cmocka_unit_test(a_file_that_is_not_hdf5_is_neither_read_nor_replaced),
#endif
    };
    RUN_WITH_FOLDER(tests, argc, argv);
    return 0;
}
