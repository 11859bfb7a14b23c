/*
 * cuFFT on one GPU, for one process: every rank, kind and precision of the benchmark, batches
 * contiguous and strided, out of place. The data stays on the device between runs: load and store
 * carry it there and back, and a run's time is that of the call and the wait for its end, as
 * weft's.
 */
#include "bench/contestant_cufft.h"

#include "bench/contestant.h"
#include "bench/cuda_libraries.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct cufft_state {
    const cuda_runtime *cuda;
    const cufft_library *cufft;
    int plan;
    bool planned;
    void *in, *out; /* on the device */
    void *stream;
} cufft_state;

bench_share cufft_whole_share(const bench_problem *p, weft_space space, size_t *bytes) {
    weft_box box = {0};
    *bytes = bench_element_bytes(p, space) * (size_t)p->batch;
    for (int axis = 0; axis < WEFT_MAX_RANK; axis++) {
        box.n[axis] = axis < p->rank ? bench_extent(p, space, axis) : 1;
        *bytes *= (size_t)box.n[axis];
    }
    return bench_share_of(p, &box);
}

static weft_status enough_memory(const bench_contestant *c) {
    const cuda_runtime *cuda = ((cufft_state *)c->state)->cuda;
    size_t available = 0, total = 0;
    WEFT_TRY(cuda_check(cuda, cuda->memory_info(&available, &total), "no memory counted"));
    if (c->in_bytes + c->out_bytes <= total) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "cuFFT: input and output take %.1f GiB, the device has %.1f GiB",
                     (double)(c->in_bytes + c->out_bytes) / 0x1p30, (double)total / 0x1p30);
}

static weft_status cufft_describe(bench_contestant *c, const bench_problem *p, const json_t *cell) {
    (void)cell;
    if (p->ranks != 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFT: one process only; ask for 1 rank");
    if (p->kind == WEFT_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFT: has no real-to-real transforms; ask for r2c or c2c");
    cufft_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "cuFFT: no memory for a contestant");
    c->state = state;
    state->cuda = cuda_runtime_open();
    if (!state->cuda) return WEFT_ERROR_UNSUPPORTED;
    state->cufft = cufft_library_open();
    if (!state->cufft) return WEFT_ERROR_UNSUPPORTED;
    snprintf(c->version, sizeof c->version, "%s", state->cufft->version);
    snprintf(c->device, sizeof c->device, "cuda");
    snprintf(c->engine, sizeof c->engine, "cufft");
    c->in = cufft_whole_share(p, bench_from(p), &c->in_bytes);
    c->out = cufft_whole_share(p, bench_to(p), &c->out_bytes);
    /* Complex to real may use its input as a workspace, also out of place. */
    c->destroys_input = p->kind == WEFT_R2C && p->direction == WEFT_INVERSE;
    WEFT_TRY(cuda_check(state->cuda, state->cuda->set_device(0), "device 0 is not usable"));
    return enough_memory(c);
}

int cufft_transform_type(const bench_problem *p) {
    bool twice = p->precision == WEFT_DOUBLE;
    if (p->kind == WEFT_C2C) return twice ? CUFFT_Z2Z : CUFFT_C2C;
    if (p->direction == WEFT_FORWARD) return twice ? CUFFT_D2Z : CUFFT_R2C;
    return twice ? CUFFT_Z2D : CUFFT_C2R;
}

/* Contiguous batches take cuFFT's basic layout (no embedding), which it knows best. */
static weft_status make_plan(bench_contestant *c, size_t *work_bytes) {
    cufft_state *state = c->state;
    const bench_problem *p = c->problem;
    long long n[WEFT_MAX_RANK] = {0}, from[WEFT_MAX_RANK] = {0}, to[WEFT_MAX_RANK] = {0};
    for (int axis = 0; axis < p->rank; axis++) {
        n[axis] = p->n[axis];
        from[axis] = bench_extent(p, bench_from(p), axis);
        to[axis] = bench_extent(p, bench_to(p), axis);
    }
    WEFT_TRY(cufft_check(state->cufft->create(&state->plan), "no plan created"));
    state->planned = true;
    int result =
        p->strided
            ? state->cufft->make_plan_many(state->plan, p->rank, n, from, p->batch, 1, to, p->batch,
                                           1, cufft_transform_type(p), p->batch, work_bytes)
            : state->cufft->make_plan_many(state->plan, p->rank, n, NULL, 1, 0, NULL, 1, 0,
                                           cufft_transform_type(p), p->batch, work_bytes);
    WEFT_TRY(cufft_check(result, "no plan made"));
    return cufft_check(state->cufft->set_stream(state->plan, state->stream),
                       "the plan takes no stream");
}

static weft_status cufft_plan(bench_contestant *c, void *in, void *out) {
    (void)in, (void)out;
    cufft_state *state = c->state;
    const cuda_runtime *cuda = state->cuda;
    size_t work_bytes = 0;
    WEFT_TRY(cuda_check(cuda, cuda->allocate(&state->in, c->in_bytes), "no input buffer"));
    WEFT_TRY(cuda_check(cuda, cuda->allocate(&state->out, c->out_bytes), "no output buffer"));
    WEFT_TRY(cuda_check(cuda, cuda->stream_create(&state->stream), "no stream"));
    WEFT_TRY(make_plan(c, &work_bytes));
    c->own_memory = (double)(c->in_bytes + c->out_bytes + work_bytes);
    return WEFT_SUCCESS;
}

static weft_status cufft_run(bench_contestant *c, void *in, void *out) {
    (void)in, (void)out;
    cufft_state *state = c->state;
    const cuda_runtime *cuda = state->cuda;
    int direction = c->problem->direction == WEFT_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE;
    double start = weft_clock();
    WEFT_TRY(cufft_check(state->cufft->execute(state->plan, state->in, state->out, direction),
                         "the transform failed"));
    WEFT_TRY(cuda_check(cuda, cuda->stream_synchronize(state->stream), "the transform failed"));
    c->phases.total = c->phases.fft = weft_clock() - start;
    return WEFT_SUCCESS;
}

static weft_status cufft_load(bench_contestant *c, const void *in) {
    cufft_state *state = c->state;
    const cuda_runtime *cuda = state->cuda;
    /* An output that the next run leaves as it is shall be NaN, not the last run's. */
    WEFT_TRY(cuda_check(cuda, cuda->set_bytes(state->out, 0xff, c->out_bytes), "no output buffer"));
    return cuda_check(cuda, cuda->copy(state->in, in, c->in_bytes, CUDA_COPY_TO_DEVICE),
                      "no copy to the device");
}

static weft_status cufft_store(bench_contestant *c, void *out) {
    cufft_state *state = c->state;
    int error = state->cuda->copy(out, state->out, c->out_bytes, CUDA_COPY_TO_HOST);
    return cuda_check(state->cuda, error, "no copy from the device");
}

static void cufft_close(bench_contestant *c) {
    cufft_state *state = c->state;
    if (!state) return;
    if (state->planned) state->cufft->destroy(state->plan);
    if (state->stream) state->cuda->stream_destroy(state->stream);
    if (state->in) state->cuda->release(state->in);
    if (state->out) state->cuda->release(state->out);
    free(state);
    c->state = NULL;
}

const bench_contestant_ops bench_cufft = {.library = "cufft",
                                          .describe = cufft_describe,
                                          .plan = cufft_plan,
                                          .run = cufft_run,
                                          .load = cufft_load,
                                          .store = cufft_store,
                                          .close = cufft_close};
