/*
 * The cost model: predicted seconds of each step from its bytes, messages and operations. It serves
 * to order candidates, not to promise a time; effort MEASURE replaces it by a clock.
 */
#ifndef WEFT_PLAN_MODEL_H
#define WEFT_PLAN_MODEL_H

#include "plan/machine.h"
#include "plan/schedule.h"

/* Seconds of a forward transform along a chain, for the rank that has most (rank 0), from extents
 * alone: what each segment reads, writes and computes, and for each redistribution among p ranks
 * the share (p-1)/p of the array and as many messages as there are partners with data. */
double weft_model_estimate(const weft_machine *machine, int threads, const weft_chain *chain,
                           weft_precision precision);

/* Fills step->predicted of every step and returns the sum. */
double weft_model_predict(const weft_machine *machine, int threads, weft_schedule *schedule);

#endif
