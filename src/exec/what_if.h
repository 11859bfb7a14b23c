/*
 * What if: the planner's predictions for processes, devices and networks that need not be there. No
 * device, engine or transport is opened, and nothing is built: candidates are listed for a machine
 * record, and compared.
 */
#ifndef WEFT_EXEC_WHAT_IF_H
#define WEFT_EXEC_WHAT_IF_H

#include "plan/planner.h"

/* The question. Ranks are placed in blocks on nodes as large as the record's network says; of
 * options, decomposition, grid, variant, exchange, device, engine, threads, chunks, placement and
 * device_aware (staged: messages go through the host) narrow what is compared. */
typedef struct weft_what_if {
    const weft_problem *problem;
    const weft_options *options;
    const weft_machine *machine;
    int ranks;
} weft_what_if;

/* One complete way to run it, and what it is predicted to take on rank 0, forward. */
typedef struct weft_forecast {
    weft_candidate candidate;             /* its reason is NULL */
    double seconds;                       /* the sum of the next three */
    double transforms, copies, exchanges; /* copies: with packing, and operators of their own */
    double bytes_sent;
    int messages;
    double memory; /* bytes of the caller's arrays and of workspaces */
} weft_forecast;

/* The fastest candidate by the model. (A plan may take another chain that is less than 1.5 times
 * slower, so that its bits do not depend on the exchange method.) UNSUPPORTED where there is none
 * with these options. The context of the failure is the calling thread's. */
weft_status weft_forecast_best(const weft_what_if *question, weft_forecast *best);

#endif
