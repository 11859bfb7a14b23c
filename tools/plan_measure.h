/*
 * weft plan --measure: the plan is executed on arrays of noise, and what that took stands beside
 * what was predicted.
 */
#ifndef WEFT_TOOLS_PLAN_MEASURE_H
#define WEFT_TOOLS_PLAN_MEASURE_H

#include "launch.h"

#include <jansson.h>

/* Executes a plan of a precision forward, out of place, until so many seconds have passed, and five
 * times at least; *measured gets the best run of the slowest rank, by phases, beside what rank 0
 * predicted:
 * {"runs", "seconds", "predicted_seconds", "phases": {NAME: {"seconds", "predicted_seconds"}}}, on
 * rank 0, NULL on the others. Collective. */
weft_status plan_measure(const command_world *world, weft_plan plan, weft_precision precision,
                         double seconds, json_t **measured);

/* Prints it as a table. */
void plan_measure_print(const json_t *measured);

#endif
