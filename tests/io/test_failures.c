/* ranks: 1 2 3 */
/*
 * Files of which one call fails on one rank, each call in turn: all ranks return an error, or all
 * the right numbers; an output is whole or not there, and no temporary stays; nothing leaks.
 */
#include "io/array.h"
#include "mpi/faults.h"
#include "support/error.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 6, COLUMNS = 5 };
static int rank, size, failures;
static char folder[] = "/tmp/weft-failures-XXXXXX", doing[256];

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) complain(#condition);                                                    \
    } while (0)

static void complain(const char *what) {
    const char *function = NULL;
    faults_fired(&function);
    fprintf(stderr, "rank %d: %s: %s (failed call: %s; last error: %s)\n", rank, doing, what,
            function ? function : "none", weft_thread_error());
    failures++;
}

static void on_alarm(int number) {
    (void)number;
    fprintf(stderr, "rank %d waits for ever: %s\n", rank, doing);
    _exit(3);
}

/* This rank's box: ranks have consecutive rows. */
static weft_box my_box(void) {
    weft_box box = {.n = {0, COLUMNS, 1}}; /* VTK's arrays have a third axis */
    box.lo[0] = ROWS * rank / size;
    box.n[0] = ROWS * (rank + 1) / size - box.lo[0];
    return box;
}

static const weft_array_info shape = {.element = WEFT_ELEMENT_F8, .rank = 2, .n = {ROWS, COLUMNS}};

/* The numbers of version `which` of the array. */
static double number(int64_t i, int which) {
    return 100.0 * which + (double)i;
}

static weft_status write_array(const char *name, int which) {
    const weft_box box = my_box();
    weft_array *array = NULL;
    double values[ROWS * COLUMNS];
    for (int i = 0; i < (int)box.n[0] * COLUMNS; i++)
        values[i] = number(box.lo[0] * COLUMNS + i, which);
    WEFT_TRY(weft_array_create(MPI_COMM_WORLD, name, &shape, NULL, &array));
    const weft_status status = weft_array_write(array, &box, values);
    return weft_array_commit(&array, status);
}

/* Reads the array and finds which version it is: 0 if it cannot be read, -1 if it is neither. */
static weft_status read_array(const char *name, int *which) {
    const weft_box box = my_box();
    weft_array *array = NULL;
    double values[ROWS * COLUMNS] = {0};
    *which = 0;
    WEFT_TRY(weft_array_open(MPI_COMM_WORLD, name, &shape, &array));
    const weft_status status = weft_array_read(array, &box, WEFT_ELEMENT_F8, values);
    weft_array_close(&array);
    if (status != WEFT_SUCCESS) return status;
    *which = (int)(values[0] / 100);
    for (int i = 0; i < (int)box.n[0] * COLUMNS; i++)
        if (values[i] != number(box.lo[0] * COLUMNS + i, *which)) *which = -1;
    return WEFT_SUCCESS;
}

static int sum(int mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return mine;
}

/* Checks that all ranks have the same status and message. */
static void check_agreement(weft_status status) {
    const int well = sum(status == WEFT_SUCCESS);
    CHECK(well == 0 || well == size);
}

/* Files in the folder, which no temporary must stay in. */
static int files(void) {
    int count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (open) closedir(open);
    return count;
}

typedef struct fault {
    fault_kind kind;
    int rank;
    int64_t k;
} fault;

static int version, there; /* the last one that was to be written, and that of the file */

/* Makes one call fail, and returns how many calls of the kind this rank has made. `beside`: another
 * dataset of the file, or NULL. */
static int64_t try_fault(const char *path, const char *name, const char *beside, const fault *f,
                         bool writes) {
    const fault_balance before = faults_balance(), none = {0};
    int which = 0;
    snprintf(doing, sizeof doing, "%s %s: %s call %lld fails on rank %d of %d",
             writes ? "writing" : "reading", name, fault_kind_names[f->kind], (long long)f->k,
             f->rank, size);
    alarm(60);
    if (writes) { /* there is something to be replaced */
        there = ++version;
        CHECK(write_array(name, version++) == WEFT_SUCCESS);
    }
    faults_begin(f->kind, f->rank == rank ? f->k : 0);
    const weft_status status = writes ? write_array(name, version) : read_array(name, &which);
    faults_end();
    const int64_t calls = faults_count(f->kind);
    check_agreement(status);
    if (f->k == 0) CHECK(status == WEFT_SUCCESS);
    if (writes && status == WEFT_SUCCESS) there = version;
    if (writes) CHECK(read_array(name, &which) == WEFT_SUCCESS);
    if (writes || status == WEFT_SUCCESS) CHECK(which == there);
    if (beside) CHECK(read_array(beside, &which) == WEFT_SUCCESS && which == 0);
    if (rank == 0) CHECK(files() == 1 && access(path, R_OK) == 0);
    const fault_balance after = faults_balance();
    const fault_balance more = {.allocations = after.allocations - before.allocations,
                                .files = after.files - before.files};
    CHECK(memcmp(&more, &none, sizeof none) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    return calls;
}

/* Each call in turn, of each rank. */
static void try_faults(const char *path, const char *name, const char *beside, bool writes) {
    static const fault_kind kinds[] = {FAULT_MEMORY, FAULT_SYSTEM};
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < size; r++) {
            int64_t calls = 1;
            for (int64_t k = 0; k <= calls; k++) {
                const fault f = {kinds[i], r, k};
                const int64_t made = try_fault(path, name, beside, &f, writes);
                if (k == 0) calls = made;
                MPI_Bcast(&calls, 1, MPI_INT64_T, r, MPI_COMM_WORLD);
            }
        }
    if (rank == 0 && !writes) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one_failed_call_fails_on_all_ranks(const char *file, const char *inside) {
    char path[128], name[160], beside[160];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(name, sizeof name, "%s%s", path, inside);
    snprintf(beside, sizeof beside, "%s:/beside", path);
    if (inside[0]) CHECK(write_array(beside, 0) == WEFT_SUCCESS);
    for (int writes = 1; writes >= 0; writes--)
        try_faults(path, name, inside[0] ? beside : NULL, writes);
}

/* A file of VTK, which weft only reads: `begin`, the elements as text, `end`. */
static void one_failed_call_of_reading_fails_on_all_ranks(const char *file, const char *begin,
                                                          const char *end) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    there = 1;
    FILE *open = rank == 0 ? fopen(path, "w") : NULL;
    if (open != NULL) {
        fputs(begin, open);
        for (int y = 0; y < COLUMNS; y++)
            for (int x = 0; x < ROWS; x++) fprintf(open, "%g ", number(x * COLUMNS + y, there));
        fputs(end, open);
        fclose(open);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    try_faults(path, path, NULL, false);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGALRM, on_alarm);
    if (rank == 0 && !mkdtemp(folder)) failures++;
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    one_failed_call_fails_on_all_ranks("array.npy", "");
    one_failed_call_fails_on_all_ranks("array.raw", "");
#ifdef WEFT_HAVE_HDF5
    one_failed_call_fails_on_all_ranks("array.h5", ":/group/array");
#endif
    one_failed_call_of_reading_fails_on_all_ranks(
        "array.vtk",
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 7 6 1\n"
        "CELL_DATA 30\nSCALARS a int\nLOOKUP_TABLE default\n",
        "\n");
#ifdef WEFT_HAVE_EXPAT
    one_failed_call_of_reading_fails_on_all_ranks(
        "array.vti",
        "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 6 0 5 0 0\"><Piece "
        "Extent=\"0 6 0 5 0 0\"><CellData><DataArray type=\"Float64\" format=\"ascii\">",
        "</DataArray></CellData></Piece></ImageData></VTKFile>");
#endif
    if (rank == 0) rmdir(folder);
    failures = sum(failures);
    if (rank == 0) printf("failures of files: %d ranks, %d failed checks\n", size, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
