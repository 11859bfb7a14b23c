/*
 * Choosing among candidates: by the clock, the slowest rank's best of a few forward runs, or the
 * first that can be built. A candidate that cannot be built, or that fails, on some rank is left
 * out on all of them, with what the failing rank says, and the next one is tried.
 */
#include "exec/plan.h"
#include "plan/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct trial {
    weft_build *build;
    void *in, *out;
} trial;

static weft_status allocate(const trial *t, weft_space space, void **buffer) {
    const weft_device_handle *d = &t->build->device;
    const weft_options *o = &t->build->planner->call->options;
    bool host = o->location == WEFT_LOCATION_HOST;
    size_t bytes = t->build->buffers.callers_bytes[space];
    if (bytes == 0) return WEFT_SUCCESS;
    return d->ops->allocate(d->state, host ? WEFT_MEMORY_PAGE_LOCKED : WEFT_MEMORY_DEVICE, bytes,
                            buffer);
}

static void release(const trial *t, void *buffer) {
    const weft_device_handle *d = &t->build->device;
    bool host = t->build->planner->call->options.location == WEFT_LOCATION_HOST;
    if (buffer) d->ops->free(d->state, host ? WEFT_MEMORY_PAGE_LOCKED : WEFT_MEMORY_DEVICE, buffer);
}

static weft_status allocate_both(trial *t, bool in_place) {
    WEFT_TRY(allocate(t, WEFT_OUTPUT, &t->out));
    if (in_place) {
        t->in = t->out;
        return WEFT_SUCCESS;
    }
    return allocate(t, WEFT_INPUT, &t->in);
}

static weft_status time_runs(weft_transport *transport, trial *t, bool in_place, double *seconds) {
    weft_recorder recorder = {.spans = NULL};
    const int runs = weft_planner_machine(t->build->planner)->search.runs;
    double best = 1e300;
    for (int run = 0; run <= runs; run++) { /* the first one only warms up */
        weft_owe(transport, transport->ops->barrier(transport));
        double start = weft_clock();
        weft_status status =
            weft_build_run(t->build, WEFT_FORWARD, in_place, t->in, t->out, &recorder);
        double elapsed = weft_clock() - start;
        WEFT_TRY(weft_build_agree(t->build, transport, status));
        weft_owe(transport, transport->ops->maximum_double(transport, &elapsed, 1));
        if (run > 0 && elapsed < best) best = elapsed;
    }
    *seconds = best;
    return WEFT_SUCCESS;
}

/* Runs what is built. Where some rank has no memory for the arrays that a caller would bring, the
 * candidate is not timed, which is no failure: *timed tells. */
static weft_status time_build(weft_transport *transport, weft_build *build, double *seconds,
                              bool *timed) {
    const bool in_place = build->planner->call->options.placement == WEFT_IN_PLACE;
    trial t = {.build = build};
    for (int i = 0; i < WEFT_OPERATOR_SLOTS; i++) /* there is no data of the caller's yet */
        if (build->operators.pointwise[i])
            weft_pointwise_omit_functions(build->operators.pointwise[i]);
    weft_status status = weft_agree(transport, allocate_both(&t, in_place));
    *timed = status == WEFT_SUCCESS;
    if (status == WEFT_ERROR_OUT_OF_MEMORY)
        status = WEFT_SUCCESS;
    else if (status == WEFT_SUCCESS)
        status = time_runs(transport, &t, in_place, seconds);
    if (t.in != t.out) release(&t, t.in);
    release(&t, t.out);
    return status;
}

/* The candidate has just failed, on all ranks alike. Without memory for the reason there is none.
 */
static void leave_out(weft_candidate *candidate) {
    candidate->left_out = true;
    candidate->reason = strdup(weft_thread_error());
}

/* *timed: the candidate has been; else it is left out, with the sentence of the failure, or there
 * was no memory to run it. */
static weft_status measure(weft_transport *transport, const weft_planner *planner,
                           weft_candidate *candidate, bool *timed) {
    weft_build *build = malloc(sizeof *build);
    weft_status status = weft_agree(
        transport, build ? WEFT_SUCCESS
                         : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to measure a candidate"));
    const bool begun = status == WEFT_SUCCESS;
    *timed = false;
    if (begun) status = weft_build_create(transport, planner, candidate, build);
    if (status == WEFT_SUCCESS) status = time_build(transport, build, &candidate->measured, timed);
    if (status != WEFT_SUCCESS) leave_out(candidate);
    if (begun) weft_build_release(build);
    free(build);
    return status;
}

/* Moves a candidate, and those between move on by one. */
static void move(weft_planner *planner, int from, int to) {
    const int step = from < to ? 1 : -1;
    weft_candidate moving = planner->candidates[from];
    for (int i = from; i != to; i += step) planner->candidates[i] = planner->candidates[i + step];
    planner->candidates[to] = moving;
}

/* Left-out candidates go behind the others; each kind keeps its order. */
static void sort_out(weft_planner *planner) {
    int kept = 0;
    for (int i = 0; i < planner->count; i++)
        if (!planner->candidates[i].left_out) move(planner, i, kept++);
}

/* A candidate's failure as the planner's own; what was released since may have failed, too. */
static weft_status fail_for(const weft_candidate *candidate, weft_status status) {
    if (candidate->reason) weft_thread_error_set(candidate->reason);
    return status;
}

weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner) {
    const bool patient = planner->call->options.effort == WEFT_PATIENT;
    const int most = patient ? planner->count : weft_planner_machine(planner)->search.measured;
    weft_candidate *list = planner->candidates;
    weft_status first_failure = WEFT_SUCCESS;
    int built = 0, first = -1, best = -1;
    for (int i = 0; i < planner->count && built < most; i++) {
        bool timed;
        weft_status status = measure(transport, planner, &list[i], &timed);
        if (status == WEFT_ERROR_TRANSPORT) /* ranks may be out of step */
            return fail_for(&list[i], status);
        if (first_failure == WEFT_SUCCESS) first_failure = status;
        if (status != WEFT_SUCCESS) continue;
        if (built++ == 0) first = i;
        if (timed && (best < 0 || list[i].measured < list[best].measured)) best = i;
    }
    if (built == 0) return fail_for(&list[0], first_failure);
    move(planner, best >= 0 ? best : first, 0);
    sort_out(planner);
    return WEFT_SUCCESS;
}

/* The one to try after candidate `failed`: another method of the same chain, so that the bits of
 * the result stay what they are, else the most promising one. The number of candidates: none is
 * left. */
static int next_candidate(const weft_planner *planner, int failed) {
    const weft_candidate *list = planner->candidates;
    for (int i = 0; i < planner->count; i++)
        if (!list[i].left_out && list[i].chain == list[failed].chain) return i;
    for (int i = 0; i < planner->count; i++)
        if (!list[i].left_out) return i;
    return planner->count;
}

/* Every stage of building ends with an agreement, so that all ranks go on with the same candidate.
 */
weft_status weft_build_first(weft_transport *transport, weft_planner *planner, weft_build *build) {
    weft_candidate *list = planner->candidates;
    weft_status first_failure = WEFT_SUCCESS;
    for (int i = 0; i < planner->count; i = next_candidate(planner, i)) {
        const weft_status status = weft_build_create(transport, planner, &list[i], build);
        if (status == WEFT_SUCCESS) {
            move(planner, i, 0);
            return WEFT_SUCCESS;
        }
        if (status == WEFT_ERROR_TRANSPORT) return status; /* ranks may be out of step */
        weft_keep(&first_failure, status);
        leave_out(&list[i]);
        weft_build_release(build);
        memset(build, 0, sizeof *build);
    }
    return fail_for(&list[0], first_failure);
}
