/*
 * The case that a benchmark runs, read from its command line, and what all libraries share: the
 * input as a function of the global index, and a signature of the spectrum that does not depend on
 * how it is distributed.
 */
#ifndef BENCH_CASE_H
#define BENCH_CASE_H

#include <weft/weft_mpi.h>

#define BENCH_CONFIGS 256

typedef struct bench_case {
    int64_t n[3];
    weft_kind kind;
    weft_effort effort;
    int iterations;
    int together; /* weft plans that live beside the peers at one time */
    const char *config[BENCH_CONFIGS];
    int configs;
    int rank, ranks;
} bench_case;

/* A rank's share of an array: its box and the memory order of the axes, slowest first. Rows of the
 * contiguous axis are `pitch` elements apart (real elements in the input of WEFT_R2C). */
typedef struct bench_share {
    int64_t lo[3], n[3];
    int order[3];
    int64_t pitch;
} bench_share;

/* Sums over the whole spectrum: of |X|^2, and of X times fixed weights. */
typedef struct bench_signature {
    double power, weighted[2];
} bench_signature;

/* Reads --shape, --kind, --effort, --iterations, --together and configurations, and asks MPI for
 * rank and ranks. Returns 0, or 2 after a message. Collective. */
int bench_case_read(int argc, char **argv, bench_case *c);

/* Extent of the last axis of the spectrum. */
int64_t bench_last(const bench_case *c);

void bench_fill(const bench_case *c, const bench_share *share, void *in);

/* Collective. */
bench_signature bench_sign(const bench_share *share, const void *out);

/* Whether two libraries computed the same spectrum, to a relative 1e-9. */
int bench_agree(const bench_signature *a, const bench_signature *b);

#endif
