/*
 * Nanoseconds of a call of weft_execute beside those of the engine's own call: short lines, complex
 * to complex, double precision, out of place, on one rank and the host. Medians of many short runs,
 * the two in turn, and the least of them; what the library adds is the median of their differences.
 */
#include "device/device.h"
#include "engine/engine.h"
#include "measuring.h"
#include "support/error.h"

#include <stdio.h>
#include <time.h>

enum { RUNS = 2001, CALLS = 1000, LENGTHS = 3, LONGEST = 512 };

/* The same transform by a plan and by the engine alone. */
typedef struct subject {
    weft_plan plan;
    weft_device_handle device;
    const weft_engine_ops *engine;
    weft_engine_plan *transform;
} subject;

/* Seconds. */
typedef struct result {
    double call, engine, added;
    double least_call, least_engine;
} result;

static double in[2 * LONGEST], out[2 * LONGEST];

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static weft_status run_calls(const subject *s, double *taken) {
    weft_status status = WEFT_SUCCESS;
    const double start = seconds();
    for (int call = 0; call < CALLS; call++)
        weft_keep(&status, weft_execute(s->plan, WEFT_FORWARD, in, out));
    *taken = (seconds() - start) / CALLS;
    return status;
}

static weft_status run_engine(const subject *s, double *taken) {
    weft_status status = WEFT_SUCCESS;
    const double start = seconds();
    for (int call = 0; call < CALLS; call++)
        weft_keep(&status, s->engine->execute(s->transform, &s->device, NULL, in, out));
    *taken = (seconds() - start) / CALLS;
    return status;
}

static weft_status measure(const subject *s, result *r) {
    static double call[RUNS], engine[RUNS], added[RUNS];
    for (int run = 0; run < RUNS; run++) {
        WEFT_TRY(run_calls(s, &call[run]));
        WEFT_TRY(run_engine(s, &engine[run]));
        added[run] = call[run] - engine[run];
    }
    r->call = median_of(call, RUNS); /* which sorts */
    r->engine = median_of(engine, RUNS);
    r->added = median_of(added, RUNS);
    r->least_call = call[0];
    r->least_engine = engine[0];
    return WEFT_SUCCESS;
}

static weft_status make_subject(weft_context ctx, int64_t n, int threads, subject *s) {
    const weft_problem problem = {.rank = 1, .n = {n}, .kind = WEFT_C2C};
    const weft_options options = {
        .engine = WEFT_ENGINE_NATIVE, .device = WEFT_HOST, .threads = threads};
    const weft_transform transform = {.kind = WEFT_TRANSFORM_C2C,
                                      .dims = 1,
                                      .dim = {{n, 1, 1}},
                                      .threads = threads,
                                      .in_elements = n,
                                      .out_elements = n};
    const weft_device_settings settings = {.threads = threads};
    size_t bytes = 0;
    WEFT_TRY(weft_plan_create(ctx, &problem, &options, &s->plan));
    s->engine = weft_engine_find(WEFT_ENGINE_NATIVE);
    s->device.ops = weft_device_find(WEFT_HOST);
    WEFT_TRY(s->device.ops->open(&settings, &s->device.state));
    return s->engine->plan(&transform, &s->device, &s->transform, &bytes);
}

static void release_subject(subject *s) {
    weft_plan_destroy(&s->plan);
    if (s->transform) s->engine->destroy(s->transform);
    if (s->device.state) s->device.ops->close(s->device.state);
}

int main(void) {
    static const int64_t lengths[LENGTHS] = {2, 64, LONGEST};
    weft_context ctx = NULL;
    weft_status status = weft_context_create(NULL, &ctx);
    printf("threads,n,call ns,engine ns,added ns,least call ns,least engine ns\n");
    for (int threads = 1; threads <= 2; threads++)
        for (int i = 0; i < LENGTHS && status == WEFT_SUCCESS; i++) {
            subject s = {.plan = NULL};
            result r;
            status = make_subject(ctx, lengths[i], threads, &s);
            if (status == WEFT_SUCCESS) status = measure(&s, &r);
            if (status == WEFT_SUCCESS)
                printf("%d,%lld,%.1f,%.1f,%.1f,%.1f,%.1f\n", threads, (long long)lengths[i],
                       r.call * 1e9, r.engine * 1e9, r.added * 1e9, r.least_call * 1e9,
                       r.least_engine * 1e9);
            release_subject(&s);
        }
    if (status != WEFT_SUCCESS) fprintf(stderr, "calls: %s\n", weft_thread_error());
    weft_context_destroy(&ctx);
    return status != WEFT_SUCCESS;
}
