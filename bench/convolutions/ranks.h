/* What the programs that time convolutions over ranks share: the context, ending all ranks where
 * something fails, and timing ways in turn. */
#ifndef WEFT_BENCH_CONVOLUTIONS_RANKS_H
#define WEFT_BENCH_CONVOLUTIONS_RANKS_H

#include "measuring.h"

#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_WAYS = 3, MOST_ROUNDS = 100 };

static weft_context ctx;
static int rank, ranks;

static inline void must(bool holds, const char *why) {
    if (holds) return;
    fprintf(stderr, "rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void ok(weft_status status) {
    must(status == WEFT_SUCCESS, weft_last_error(ctx));
}

/* Zeros. */
static inline void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes + 1);
    must(memory, "no memory");
    return memory;
}

/* Starts MPI, and the context over all ranks. */
static inline void begin_ranks(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ok(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));
}

/* Runs number i of the ways that `of` has. */
typedef void run_way(void *of, int i);

/* Calls the ways in turn, each round beginning with another one; the first two rounds are not
 * counted. median[i] gets the median over rounds of the slowest rank's seconds. */
static inline void time_in_turn(int ways, run_way *run, void *of, int rounds, double *median) {
    static double seconds[MOST_WAYS][MOST_ROUNDS];
    for (int r = -2; r < rounds; r++)
        for (int k = 0; k < ways; k++) {
            const int i = (k + r + 2) % ways;
            MPI_Barrier(MPI_COMM_WORLD);
            double passed = MPI_Wtime();
            run(of, i);
            passed = MPI_Wtime() - passed;
            MPI_Allreduce(MPI_IN_PLACE, &passed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (r >= 0) seconds[i][r] = passed;
        }
    for (int i = 0; i < ways; i++) median[i] = median_of(seconds[i], rounds);
}

#endif
