/*
 * The arrays that callers execute a plan with. What a valid call passes is found at planning, so
 * that a valid call costs a few compares; only a call that fails them is looked at in full, for the
 * sentence that says what is wrong with it.
 */
#ifndef WEFT_EXEC_ARGUMENTS_H
#define WEFT_EXEC_ARGUMENTS_H

#include "exec/plan.h"

/* Fills plan->arguments of a plan that is complete but for them. Not collective. */
void weft_arguments_find(weft_plan plan);

/* The arrays of the operators that a direction applies to elements that this rank has: bit n is
 * that of number n. Not collective. */
uint32_t weft_arguments_arrays(weft_plan plan, weft_direction dir);

/* Whether a call is surely valid, as nearly all are: its arrays are aligned, are not empty, and are
 * one array or two as the plan allows, and those of operators are set. It says nothing of
 * communicators that have failed. */
static inline bool weft_arguments_fit(const struct weft_plan_private *plan, weft_direction dir,
                                      const void *in, const void *out) {
    const uintptr_t from = (uintptr_t)in, to = (uintptr_t)out;
    if ((unsigned)dir >= WEFT_DIRECTIONS) return false;
    const weft_arguments *a = &plan->arguments[dir];
    if (!in || !out || (from & a->in_mask) != 0 || (to & a->out_mask) != 0) return false;
    if ((a->arrays & ~plan->set_arrays) != 0) return false;
    const uintptr_t apart = to + (uintptr_t)a->out_first - from - (uintptr_t)a->in_first;
    return from == to ? a->one_array
                      : a->two_arrays && apart >= a->in_bytes && 0 - apart >= a->out_bytes;
}

/* Checks any call of weft_execute, or of weft_convolve with `spectrum`; the failure says what to
 * change. Not collective. */
weft_status weft_arguments_check(weft_plan plan, weft_direction dir, const void *in,
                                 const void *spectrum, const void *out);

#endif
