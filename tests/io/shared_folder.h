/* A folder of all ranks for the files of a test. */
#ifndef WEFT_TESTS_IO_SHARED_FOLDER_H
#define WEFT_TESTS_IO_SHARED_FOLDER_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static char folder[64];

/* Rank 0 names a folder for all. */
static inline int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/weft-io-XXXXXX");
    if (rank == 0 && mkdtemp(folder) == NULL) return -1;
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    char command[128];
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return rank == 0 ? system(command) : 0;
}

/* Runs a group of tests on all ranks, from main to its end. */
#define RUN_WITH_FOLDER(tests, argc, argv)                                                         \
    MPI_Init(&(argc), &(argv));                                                                    \
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);                                                          \
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);                                                         \
    const int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);                  \
    if (failed > 0) MPI_Abort(MPI_COMM_WORLD, 1); /* others may wait for a rank that gave up */    \
    MPI_Finalize()

#endif
