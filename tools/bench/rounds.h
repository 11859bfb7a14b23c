/* The timed part of a block: warm-ups, then iterations, each running every entrant once. */
#ifndef WEFT_BENCH_ROUNDS_H
#define WEFT_BENCH_ROUNDS_H

#include "bench/entrant.h"

typedef struct bench_rounds {
    MPI_Comm comm;
    bench_entrant *entrants;
    int count;
    int *order; /* room for count */
    const bench_buffers *buffers;
    int rounds;        /* warm-ups and iterations */
    int repeats;       /* transforms of one iteration, back to back; its time is their mean */
    uint64_t seed;     /* of the orders; the same on all ranks */
    double *restoring; /* gets the seconds spent on bringing inputs back */
} bench_rounds;

/* Fills the entrants' samples. One that fails leaves; the others go on. Collective. */
void bench_rounds_run(const bench_rounds *r);

#endif
