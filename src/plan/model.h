/*
 * The cost model: predicted seconds of each step from its bytes, messages and operations, by the
 * rates of a machine record. A schedule takes the sum of its steps: on the host nothing overlaps,
 * and where devices work on one tile while another travels the sum is more than what it takes.
 */
#ifndef WEFT_PLAN_MODEL_H
#define WEFT_PLAN_MODEL_H

#include "plan/machine.h"
#include "plan/schedule.h"

/* What steps are predicted for. */
typedef struct weft_model {
    const weft_machine *machine;
    const weft_engine_ops *engine; /* which tells what it transforms together, or NULL */
    const weft_device_ops *device; /* NULL: the host */
    int threads;                   /* of a rank; below 1: one */
    int neighbours;                /* ranks of this node, itself included; below 1: one */
    /* Whose schedule is predicted, by which links of machine->network are known; NULL: all links
     * are alike. */
    const weft_chain *chain;
    int rank;
} weft_model;

/* Seconds of a forward transform along a chain, for the rank that has most (rank 0), from extents
 * alone: what each segment reads, writes and computes, and for each redistribution among p ranks
 * the share (p-1)/p of the array and as many messages as there are partners with data. */
double weft_model_estimate(const weft_machine *machine, int threads, const weft_chain *chain,
                           weft_precision precision);

/* Fills step->predicted of every step and returns the sum. */
double weft_model_predict(const weft_model *model, weft_schedule *schedule);

/* The class of a length by its largest prime factor. */
weft_length_class weft_length_class_of(int64_t n);

/* A rate of the record for so many bytes. `bytes` and `rate` are curves of weft_machine_rates. */
double weft_machine_rate_at(const double bytes[WEFT_MACHINE_SIZES],
                            const double rate[WEFT_MACHINE_SIZES], double at);

#endif
