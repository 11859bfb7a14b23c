/* What the programs that time convolutions over ranks share: the context, and ending all ranks
 * where something fails. */
#ifndef WEFT_BENCH_CONVOLUTIONS_RANKS_H
#define WEFT_BENCH_CONVOLUTIONS_RANKS_H

#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ROUNDS = 100 };

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

#endif
