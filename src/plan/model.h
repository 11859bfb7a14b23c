/*
 * The cost model: predicted seconds of each step from its bytes, messages and operations. It serves
 * to order candidates, not to promise a time; effort MEASURE replaces it by a clock.
 */
#ifndef WEFT_PLAN_MODEL_H
#define WEFT_PLAN_MODEL_H

#include "plan/machine.h"
#include "plan/schedule.h"

/* Fills step->predicted of every step and returns the sum. */
double weft_model_predict(const weft_machine *machine, int threads, weft_schedule *schedule);

#endif
