/* Transforms whose batch is contiguous, on one process, straight on an engine. */
#ifndef WEFT_BENCH_STRIDED_H
#define WEFT_BENCH_STRIDED_H

#include "bench/problem.h"

typedef struct strided_plan strided_plan;

/* Settled choices, for the table. */
typedef struct strided_facts {
    const char *engine;
    size_t bytes;
    bool destroys_input;
} strided_facts;

/* Not collective, any of them. The caller destroys the plan. */
weft_status strided_plan_create(const bench_problem *p, const weft_options *options,
                                strided_plan **plan, strided_facts *facts);
weft_status strided_plan_execute(strided_plan *plan, const void *in, void *out);
void strided_plan_destroy(strided_plan *plan);

#endif
