/* What became of a contestant, for the journal and for those who watch. */
#ifndef WEFT_BENCH_VERDICT_H
#define WEFT_BENCH_VERDICT_H

#include "bench/entrant.h"
#include "bench/table.h"

/* "256x256x256 r2c double forward, 2 ranks: weft slab-2d1d:default:p2p-sync" */
void bench_verdict_name(const bench_problem *p, const json_t *cell, char *name, size_t capacity);

/* One line each on standard output, and in the journal where it has such lines. Rank 0 only. */
void bench_verdict_left(bench_table *table, const bench_entrant *e);
void bench_verdict_wrong(bench_table *table, const bench_problem *p, const json_t *cell,
                         const char *what, double error, double bound);
void bench_verdict_valid(const bench_entrant *e, double error, double laplacian);
void bench_verdict_time(const bench_entrant *e, double seconds);

#endif
