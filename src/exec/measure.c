/* Choosing among candidates by the clock: the slowest rank's best of a few forward runs. */
#include "exec/plan.h"
#include "plan/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>

enum { MEASURED_CANDIDATES = 6, RUNS = 3 };

typedef struct trial {
    weft_build *build;
    void *in, *out;
} trial;

static weft_status allocate(const trial *t, weft_space space, void **buffer) {
    const weft_device_handle *d = &t->build->device;
    const weft_options *o = &t->build->planner->call->options;
    bool host = o->location == WEFT_LOCATION_HOST;
    size_t bytes = weft_build_bytes(t->build, space);
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
    *seconds = 1e300;
    for (int run = 0; run <= RUNS; run++) { /* the first one only warms up */
        weft_owe(transport, transport->ops->barrier(transport));
        double start = weft_clock();
        weft_status status =
            weft_build_run(t->build, WEFT_FORWARD, in_place, t->in, t->out, &recorder);
        double elapsed = weft_clock() - start;
        WEFT_TRY(weft_build_agree(t->build, transport, status));
        weft_owe(transport, transport->ops->maximum_double(transport, &elapsed, 1));
        if (run > 0 && elapsed < *seconds) *seconds = elapsed;
    }
    return WEFT_SUCCESS;
}

static weft_status measure(weft_transport *transport, const weft_planner *planner,
                           weft_candidate *candidate) {
    trial t = {.build = malloc(sizeof *t.build)};
    bool in_place = planner->call->options.placement == WEFT_IN_PLACE;
    weft_status status =
        t.build ? WEFT_SUCCESS
                : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to measure a candidate");
    status = weft_agree(transport, status);
    if (status == WEFT_SUCCESS) {
        status = weft_build_create(transport, planner, candidate, t.build);
        for (int i = 0; i < WEFT_OPERATOR_SLOTS; i++) /* there is no data of the caller's yet */
            if (t.build->pointwise[i]) weft_pointwise_omit_functions(t.build->pointwise[i]);
        if (status == WEFT_SUCCESS) {
            status = weft_agree(transport, allocate_both(&t, in_place));
            if (status == WEFT_SUCCESS)
                status = time_runs(transport, &t, in_place, &candidate->measured);
            if (t.in != t.out) release(&t, t.in);
            release(&t, t.out);
        }
        weft_build_release(t.build);
    }
    free(t.build);
    return status;
}

weft_status weft_measure_candidates(weft_transport *transport, weft_planner *planner) {
    bool patient = planner->call->options.effort == WEFT_PATIENT;
    int count =
        patient || planner->count < MEASURED_CANDIDATES ? planner->count : MEASURED_CANDIDATES;
    int best = 0;
    for (int i = 0; i < count; i++) {
        WEFT_TRY(measure(transport, planner, &planner->candidates[i]));
        if (planner->candidates[i].measured < planner->candidates[best].measured) best = i;
    }
    weft_candidate fastest = planner->candidates[best];
    for (int i = best; i > 0; i--) planner->candidates[i] = planner->candidates[i - 1];
    planner->candidates[0] = fastest;
    return WEFT_SUCCESS;
}
