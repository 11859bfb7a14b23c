/* ranks: 1 3 */
/* Arrays that are read and written where they lie in their files, mapped into memory, and those
 * that are left for a later run. */
#include "io/array.h"
#include "io/guard.h"
#include "shared_folder.h"
#include "support/error.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef WEFT_HAVE_HDF5
#include <hdf5.h>
#endif

static const char *const formats[] = {"%s/array.npy", "%s/array.raw",
#ifdef WEFT_HAVE_HDF5
                                      "%s/array.h5:/group/data", "%s/array.h5:/other"
#endif
};
enum { FORMATS = sizeof formats / sizeof *formats, COUNT = 30 };
static const weft_array_info shape = {.element = WEFT_ELEMENT_C16, .rank = 2, .n = {6, 5}};

static double value(int format, int i) {
    return 100.0 * format + i;
}

/* Each rank writes every so many elements. */
static void fill(int format, double *number) {
    for (int i = rank; i < COUNT; i += ranks) {
        number[2 * i] = value(format, i);
        number[2 * i + 1] = -value(format, i);
    }
}

static void assert_filled(int format, const double *number) {
    for (int i = 0; i < COUNT; i++) {
        assert_true(number[2 * i] == value(format, i));
        assert_true(number[2 * i + 1] == -value(format, i));
    }
}

/* Through the format's own way, and through a mapping. */
static void assert_holds(const char *name, int format) {
    const weft_box all = {.n = {6, 5}};
    double number[2 * COUNT];
    void *memory;
    weft_array *array = NULL;
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, &shape, &array), WEFT_SUCCESS);
    assert_int_equal(weft_array_read(array, &all, WEFT_ELEMENT_C16, number), WEFT_SUCCESS);
    assert_filled(format, number);
    assert_int_equal(weft_array_map(array, sizeof number, &memory), WEFT_SUCCESS);
    assert_filled(format, memory);
    assert_true(weft_array_has(array, memory));
    weft_array_close(&array);
}

static void create(const char *name, bool kept, bool resumed, size_t bytes, weft_array **array,
                   double **number) {
    const weft_array_creation how = {.mapped = true, .kept = kept, .resumed = resumed};
    void *memory;
    assert_int_equal(weft_array_create(MPI_COMM_WORLD, name, &shape, &how, array), WEFT_SUCCESS);
    assert_int_equal(weft_array_map(*array, bytes, &memory), WEFT_SUCCESS);
    *number = memory;
}

static void what_is_written_through_a_mapping_is_in_the_file(void **state) {
    (void)state;
    enum { ROOM = 64 << 10 }; /* beyond the array, while it is worked on */
    for (int f = 0; f < FORMATS; f++)
        for (int room = 0; room < 2; room++) {
            char name[128];
            double *number;
            weft_array *array;
            const size_t bytes = 2 * COUNT * sizeof *number;
            snprintf(name, sizeof name, formats[f], folder);
            create(name, false, false, bytes + (room ? ROOM : 0), &array, &number);
            fill(f, number);
            if (room && rank == 0) memset(number + 2 * COUNT, 1, ROOM);
            assert_int_equal(weft_array_sync(array), WEFT_SUCCESS);
            assert_int_equal(weft_array_commit(&array, WEFT_SUCCESS), WEFT_SUCCESS);
            for (int before = 0; before <= f; before++) {
                snprintf(name, sizeof name, formats[before], folder);
                assert_holds(name, before);
            }
        }
}

static void what_is_left_is_found_by_a_later_run(void **state) {
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        char name[128], *journal;
        double *number;
        weft_array *array;
        bool there;
        const size_t bytes = 2 * COUNT * sizeof *number + 4096;
        snprintf(name, sizeof name, formats[f], folder);
        create(name, true, false, bytes, &array, &number);
        fill(f, number);
        if (rank == 0) memset(number + 2 * COUNT, 1, 4096);
        weft_array_leave(array);
        weft_array_close(&array);
        MPI_Barrier(MPI_COMM_WORLD);
        create(name, true, true, bytes, &array, &number);
        assert_filled(f, number);
        assert_true(((char *)number)[bytes - 1] == 1);
        assert_int_equal(weft_array_kept(name, &there, &journal), WEFT_SUCCESS);
        assert_false(there); /* without a journal it is nothing */
        free(journal);
        assert_int_equal(weft_array_commit(&array, WEFT_SUCCESS), WEFT_SUCCESS);
        assert_holds(name, f);
    }
}

static void what_was_left_and_is_cut_short_is_refused(void **state) {
    (void)state;
    for (int f = 0; f < FORMATS; f++) {
        char name[128], path[160];
        double *number;
        weft_array *array;
        const weft_array_creation again = {.mapped = true, .kept = true, .resumed = true};
        snprintf(name, sizeof name, formats[f], folder);
        create(name, true, false, 2 * COUNT * sizeof *number, &array, &number);
        weft_array_leave(array);
        weft_array_close(&array);
        MPI_Barrier(MPI_COMM_WORLD);
        snprintf(path, sizeof path, "%s/.array.%s.weft-incomplete", folder,
                 f == 0   ? "npy"
                 : f == 1 ? "raw"
                          : "h5");
        if (rank == 0) assert_int_equal(truncate(path, 300), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        assert_int_equal(weft_array_create(MPI_COMM_WORLD, name, &shape, &again, &array),
                         WEFT_ERROR_MISMATCH);
        assert_non_null(strstr(weft_last_error(NULL), "leave --resume out"));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) weft_array_forget_kept(name);
        assert_int_not_equal(rank == 0 ? access(path, F_OK) : -1, 0);
    }
}

static void take_bus_error(int number) {
    (void)number;
    weft_guard_escape();
    _exit(1);
}

static void a_copy_from_a_file_that_was_cut_short_fails(void **state) {
    (void)state;
    const struct sigaction guarded = {.sa_handler = take_bus_error};
    struct sigaction before;
    char name[128];
    double *number, copied[2 * COUNT];
    void *memory;
    weft_array *array;
    const weft_copy copy = weft_copy_of_run(COUNT, 2 * sizeof *number);
    assert_int_equal(sigaction(SIGBUS, &guarded, &before), 0);
    snprintf(name, sizeof name, "%s/cut.raw", folder);
    create(name, false, false, sizeof copied, &array, &number);
    fill(0, number);
    assert_int_equal(weft_array_commit(&array, WEFT_SUCCESS), WEFT_SUCCESS);
    assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, &shape, &array), WEFT_SUCCESS);
    assert_int_equal(weft_array_map(array, sizeof copied, &memory), WEFT_SUCCESS);
    assert_int_equal(weft_array_copy_mapped(array, &copy, memory, copied), WEFT_SUCCESS);
    assert_filled(0, copied);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) assert_int_equal(truncate(name, 0), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(weft_array_copy_mapped(array, &copy, memory, copied), WEFT_ERROR_SYSTEM);
        assert_non_null(strstr(weft_thread_error(), "the file ended"));
    }
    weft_array_close(&array);
    assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
}

#ifdef WEFT_HAVE_HDF5
/* A dataset of 4 x 4 numbers, by rank 0 alone. */
typedef struct layout {
    const char *name;
    void (*set)(hid_t creation);
    bool swapped, unwritten;
    const char *sentence; /* NULL: it is mapped */
} layout;

static void in_chunks(hid_t creation) {
    const hsize_t chunk[2] = {2, 2};
    H5Pset_chunk(creation, 2, chunk);
}

static void compressed(hid_t creation) {
    in_chunks(creation);
    H5Pset_deflate(creation, 1);
}

static void compact(hid_t creation) {
    H5Pset_layout(creation, H5D_COMPACT);
}

static void in_another_file(hid_t creation) {
    char path[128];
    snprintf(path, sizeof path, "%s/values.raw", folder);
    H5Pset_external(creation, path, 0, 128);
}

static const layout layouts[] = {
    {"contiguous", NULL, false, false, NULL},
    {"in_chunks", in_chunks, false, false, "h5repack -f NONE -l CONTI"},
    {"compressed", compressed, false, false, "h5repack -f NONE -l CONTI"},
    {"compact", compact, false, false, "h5repack -f NONE -l CONTI"},
    {"in_another_file", in_another_file, false, false, "h5repack -f NONE -l CONTI"},
    {"swapped", NULL, true, false, "byte order"},
    {"unwritten", NULL, false, true, "nothing was ever written"},
};

static void write_layouts(const char *path) {
    const hsize_t n[2] = {4, 4};
    double number[16];
    for (int i = 0; i < 16; i++) number[i] = i;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        const hid_t space = H5Screate_simple(2, n, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
        if (layouts[k].set) layouts[k].set(creation);
        const hid_t set =
            H5Dcreate2(file, layouts[k].name, layouts[k].swapped ? H5T_IEEE_F64BE : H5T_IEEE_F64LE,
                       space, H5P_DEFAULT, creation, H5P_DEFAULT);
        assert_true(set >= 0);
        if (!layouts[k].unwritten)
            assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >=
                        0);
        H5Dclose(set);
        H5Pclose(creation);
        H5Sclose(space);
    }
    assert_true(H5Fclose(file) >= 0);
}

static void datasets_that_are_not_contiguous_are_refused_with_advice(void **state) {
    (void)state;
    char path[128], name[160];
    snprintf(path, sizeof path, "%s/layouts.h5", folder);
    if (rank == 0) write_layouts(path);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        weft_array *array = NULL;
        void *memory;
        snprintf(name, sizeof name, "%s:/%s", path, layouts[k].name);
        assert_int_equal(weft_array_open(MPI_COMM_WORLD, name, NULL, &array), WEFT_SUCCESS);
        const weft_status status = weft_array_map(array, 128, &memory);
        assert_int_equal(status, layouts[k].sentence ? WEFT_ERROR_UNSUPPORTED : WEFT_SUCCESS);
        if (layouts[k].sentence)
            assert_non_null(strstr(weft_last_error(NULL), layouts[k].sentence));
        else
            for (int i = 0; i < 16; i++) assert_true(((double *)memory)[i] == i);
        weft_array_close(&array);
    }
}
#endif

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_through_a_mapping_is_in_the_file),
        cmocka_unit_test(what_is_left_is_found_by_a_later_run),
        cmocka_unit_test(what_was_left_and_is_cut_short_is_refused),
        cmocka_unit_test(a_copy_from_a_file_that_was_cut_short_fails),
#ifdef WEFT_HAVE_HDF5
        cmocka_unit_test(datasets_that_are_not_contiguous_are_refused_with_advice),
#endif
    };
    RUN_WITH_FOLDER(tests, argc, argv);
    return 0;
}
