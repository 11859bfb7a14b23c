/* Problem and options as given: copied by version, checked on each rank, compared between ranks. */
#ifndef WEFT_PLAN_PROBLEM_H
#define WEFT_PLAN_PROBLEM_H

#include "transport/transport.h"

/* The caller's structs, completed with defaults. Bricks are copied; `input` and `output` are not to
 * be followed. */
typedef struct weft_call {
    weft_problem problem;
    weft_options options;
    bool has_input, has_output;
    weft_brick input, output;
} weft_call;

/* Copies and checks the arguments of weft_plan_create for a group of `ranks`. Not collective. */
weft_status weft_call_read(const weft_problem *problem, const weft_options *options, int ranks,
                           weft_call *call);

/* Fails on all ranks when some rank's arguments differ from rank 0's, naming rank and argument.
 * Collective. */
weft_status weft_call_compare(weft_transport *transport, const weft_call *call);

/* All ranks' boxes in one space, checked to tile the global array. The caller frees *boxes.
 * Collective. */
weft_status weft_call_gather_boxes(weft_transport *transport, const weft_call *call,
                                   weft_space space, weft_region **boxes);

/* Global extents in a space, with the batch last. */
void weft_call_extents(const weft_call *call, weft_space space, int64_t *n);

#endif
