/*
 * The arrays that callers execute a plan with. What a valid call passes is found at planning, so
 * that a call costs a few compares; the sentence of one that is not valid is worked out apart.
 */
#ifndef WEFT_EXEC_ARGUMENTS_H
#define WEFT_EXEC_ARGUMENTS_H

#include "exec/plan.h"

/* Fills plan->arguments of a plan that is made otherwise. Not collective. */
void weft_arguments_find(weft_plan plan);

/* Whether a call is surely valid, as nearly all are: aligned arrays, neither of them empty, the
 * same or apart as the plan was made for. It says nothing of communicators that have failed. */
static inline bool weft_arguments_fit(const struct weft_plan_private *plan, weft_direction dir,
                                      const void *in, const void *out) {
    const uintptr_t from = (uintptr_t)in, to = (uintptr_t)out;
    if ((unsigned)dir >= WEFT_DIRECTIONS) return false;
    const weft_arguments *a = &plan->arguments[dir];
    if (!in || !out || (from & a->in_mask) != 0 || (to & a->out_mask) != 0) return false;
    return from == to ? a->one_array
                      : a->two_arrays && to - from >= a->in_bytes && from - to >= a->out_bytes;
}

/* Any call of weft_execute, or of weft_convolve with `spectrum`; the failure says what to change.
 * Not collective. */
weft_status weft_arguments_check(weft_plan plan, weft_direction dir, const void *in,
                                 const void *spectrum, const void *out);

#endif
