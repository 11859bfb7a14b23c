/* The libraries of this build that can be measured: contestants.def as a list. */
#ifndef WEFT_BENCH_CONTESTANTS_H
#define WEFT_BENCH_CONTESTANTS_H

#include "bench/contestant.h"

/* The library that a cell names; the adapter where this build has no such library and the cell
 * brings one. WEFT_ERROR_UNSUPPORTED where there is neither. Not collective. */
weft_status bench_contestants_find(const json_t *cell, const bench_contestant_ops **ops);

#endif
