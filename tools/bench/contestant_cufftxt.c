/*
 * cuFFTXt: one process, its arrays split in slabs over several GPUs. A cell's member "gpus" says
 * how many; without it, all that are visible.
 *
 * Multi-GPU transforms are in place: they take an array in natural order and leave it permuted, or
 * the other way about (cufftXtSubFormat in the "cuFFT API Reference"). Complex to real must start
 * from permuted order; all others start from natural order here. cufftXtMemcpy brings arrays from
 * the host into the order that a transform starts from, and back to the host in natural order; it
 * is not part of the time. Real arrays are padded, as in place they must be.
 */
#include "bench/contestant.h"
#include "bench/contestant_cufft.h"
#include "bench/cuda_libraries.h"
#include "support/clock.h"
#include "support/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cufftxt_state {
    const cuda_runtime *cuda;
    const cufft_library *cufft;
    int gpus, plan;
    bool planned;
    int first_format; /* the order that the transform starts from */
    cufft_xt_array *array;
} cufftxt_state;

static weft_status take_gpus(const json_t *cell, const cuda_runtime *cuda, int *gpus) {
    const json_t *wanted = json_object_get(cell, "gpus");
    json_int_t number = cuda->devices;
    if (wanted && !json_is_null(wanted)) {
        if (!json_is_integer(wanted))
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "cuFFTXt: gpus must be a whole number");
        number = json_integer_value(wanted);
    }
    if (number > cuda->devices)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFTXt: %lld GPUs are asked for, %d are visible",
                         (long long)number, cuda->devices);
    if (number < 2 || number > CUFFT_XT_MAX_GPUS)
        return weft_fail(
            WEFT_ERROR_UNSUPPORTED,
            "cuFFTXt: needs 2 to %d GPUs and %s %lld; cufft is the library for one GPU",
            CUFFT_XT_MAX_GPUS, wanted ? "gets" : "sees", (long long)number);
    *gpus = (int)number;
    return WEFT_SUCCESS;
}

/* What cuFFTXt does of what the benchmark asks. */
static weft_status supports(const bench_problem *p) {
    if (p->ranks != 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFTXt: one process only; ask for 1 rank");
    if (p->rank < 2 || p->batch != 1 || p->strided)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFTXt: single 2-D and 3-D transforms only, contiguous");
    for (int axis = 0; axis < p->rank; axis++)
        if (p->n[axis] > INT_MAX)
            return weft_fail(WEFT_ERROR_UNSUPPORTED, "cuFFTXt: axes up to %d only", INT_MAX);
    return WEFT_SUCCESS;
}

/* In place, a row of real numbers has room for the complex numbers that replace it. */
static bench_share share_in_place(const bench_problem *p, weft_space space, size_t *bytes) {
    bench_share share = cufft_whole_share(p, space, bytes);
    if (p->kind != WEFT_R2C || space != WEFT_INPUT) return share;
    int64_t row = 2 * (p->n[p->rank - 1] / 2 + 1), stride = 1;
    for (int axis = p->rank - 1; axis >= 0; axis--) {
        share.stride[axis] = stride;
        stride *= axis == p->rank - 1 ? row : p->n[axis];
    }
    share.batch_stride = stride;
    *bytes = bench_element_bytes(p, space) * (size_t)stride;
    return share;
}

static weft_status cufftxt_describe(bench_contestant *c, const bench_problem *p,
                                    const json_t *cell) {
    WEFT_TRY(supports(p));
    cufftxt_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "cuFFTXt: no memory for a contestant");
    c->state = state;
    state->cuda = cuda_runtime_open();
    if (!state->cuda) return WEFT_ERROR_UNSUPPORTED;
    if (p->kind == WEFT_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "cuFFTXt: has no real-to-real transforms; ask for r2c or c2c");
    state->cufft = cufft_library_open();
    if (!state->cufft) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(take_gpus(cell, state->cuda, &state->gpus));
    snprintf(c->version, sizeof c->version, "%s", state->cufft->version);
    snprintf(c->device, sizeof c->device, "cuda");
    snprintf(c->engine, sizeof c->engine, "cufft");
    snprintf(c->grid, sizeof c->grid, "%d", state->gpus);
    c->in = share_in_place(p, bench_from(p), &c->in_bytes);
    c->out = share_in_place(p, bench_to(p), &c->out_bytes);
    c->destroys_input = true;
    bool to_real = p->kind == WEFT_R2C && p->direction == WEFT_INVERSE;
    state->first_format = to_real ? CUFFT_XT_PERMUTED : CUFFT_XT_NATURAL;
    return WEFT_SUCCESS;
}

static weft_status make_plan(cufftxt_state *state, const bench_problem *p, size_t *work_bytes) {
    int gpu[CUFFT_XT_MAX_GPUS], n[WEFT_MAX_RANK] = {0}, type = cufft_transform_type(p);
    for (int g = 0; g < state->gpus; g++) gpu[g] = g;
    for (int axis = 0; axis < p->rank; axis++) n[axis] = (int)p->n[axis];
    const cufft_library *cufft = state->cufft;
    WEFT_TRY(cufft_check(cufft->create(&state->plan), "no plan created"));
    state->planned = true;
    WEFT_TRY(cufft_check(cufft->xt_set_gpus(state->plan, state->gpus, gpu),
                         "the GPUs cannot work together"));
    int result = p->rank == 2
                     ? cufft->make_plan_2d(state->plan, n[0], n[1], type, work_bytes)
                     : cufft->make_plan_3d(state->plan, n[0], n[1], n[2], type, work_bytes);
    return cufft_check(result, "no plan for several GPUs");
}

static weft_status cufftxt_plan(bench_contestant *c, void *in, void *out) {
    (void)in, (void)out;
    cufftxt_state *state = c->state;
    size_t work_bytes[CUFFT_XT_MAX_GPUS] = {0};
    WEFT_TRY(make_plan(state, c->problem, work_bytes));
    WEFT_TRY(cufft_check(state->cufft->xt_allocate(state->plan, &state->array, state->first_format),
                         "no array on the GPUs"));
    c->own_memory = 0;
    for (int g = 0; g < state->gpus; g++)
        c->own_memory += (double)(state->array->memory->size[g] + work_bytes[g]);
    return WEFT_SUCCESS;
}

static weft_status wait_for_devices(const cufftxt_state *state) {
    const cuda_runtime *cuda = state->cuda;
    for (int g = state->gpus - 1; g >= 0; g--) {
        WEFT_TRY(cuda_check(cuda, cuda->set_device(g), "a device is not usable"));
        WEFT_TRY(cuda_check(cuda, cuda->device_synchronize(), "the transform failed"));
    }
    return WEFT_SUCCESS;
}

static weft_status cufftxt_run(bench_contestant *c, void *in, void *out) {
    (void)in, (void)out;
    cufftxt_state *state = c->state;
    int direction = c->problem->direction == WEFT_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE;
    WEFT_TRY(wait_for_devices(state));
    double start = weft_clock();
    int result = state->cufft->xt_execute(state->plan, state->array, state->array, direction);
    WEFT_TRY(cufft_check(result, "the transform failed"));
    WEFT_TRY(wait_for_devices(state));
    c->phases.total = weft_clock() - start; /* exchanges and transforms are not told apart */
    return WEFT_SUCCESS;
}

static weft_status cufftxt_load(bench_contestant *c, const void *in) {
    cufftxt_state *state = c->state;
    state->array->format = state->first_format; /* the last run has changed it */
    /* cuFFT's prototype lacks the const. */
    void *source = (void *)(uintptr_t)in;
    int result = state->cufft->xt_copy(state->plan, state->array, source, CUFFT_XT_TO_DEVICES);
    return cufft_check(result, "no copy to the GPUs");
}

static weft_status cufftxt_store(bench_contestant *c, void *out) {
    cufftxt_state *state = c->state;
    int result = state->cufft->xt_copy(state->plan, out, state->array, CUFFT_XT_TO_HOST);
    return cufft_check(result, "no copy from the GPUs");
}

static void cufftxt_close(bench_contestant *c) {
    cufftxt_state *state = c->state;
    if (!state) return;
    if (state->array) state->cufft->xt_release(state->array);
    if (state->planned) state->cufft->destroy(state->plan);
    free(state);
    c->state = NULL;
}

const bench_contestant_ops bench_cufftxt = {.library = "cufftxt",
                                            .describe = cufftxt_describe,
                                            .plan = cufftxt_plan,
                                            .run = cufftxt_run,
                                            .load = cufftxt_load,
                                            .store = cufftxt_store,
                                            .close = cufftxt_close};
