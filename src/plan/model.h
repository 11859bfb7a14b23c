/*
 * The cost model: predicted seconds of each step from its bytes, messages and operations. It serves
 * to order candidates, not to promise a time; effort MEASURE replaces it by a clock.
 */
#ifndef WEFT_PLAN_MODEL_H
#define WEFT_PLAN_MODEL_H

#include "plan/schedule.h"

typedef struct weft_machine {
    double memory;    /* bytes per second read or written by one rank */
    double bandwidth; /* bytes per second that one rank sends */
    double latency;   /* seconds for each message */
    double flops;     /* operations per second of one rank */
} weft_machine;

/* A middling node of 2026: the default until the machine is measured. */
extern const weft_machine weft_machine_default;

/* Fills step->predicted of every step and returns the sum. */
double weft_model_predict(const weft_machine *machine, int threads, weft_schedule *schedule);

#endif
