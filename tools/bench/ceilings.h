/*
 * What the machine can do at best: memory, arithmetic, messages, host link. Measured by
 * `weft bench --ceilings`, kept in ceilings.json, drawn by `weft plot`.
 */
#ifndef WEFT_BENCH_CEILINGS_H
#define WEFT_BENCH_CEILINGS_H

#include "launch.h"

#include <jansson.h>

/* Measures with all ranks of `world`, each with `threads` threads; rank 0 gets a new reference to a
 * JSON object, the others NULL. Collective. */
weft_status bench_ceilings(const command_world *world, int threads, json_t **ceilings);

#endif
