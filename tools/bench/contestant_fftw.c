/*
 * FFTW in one process, with threads or without: every problem, out of place, as one guru plan. It
 * is the library that weft's fftw engine opens at run time; it is never linked, being GPL. Other
 * builds of it, and other libraries with its interface, are contestants of their own.
 */
#include "bench/contestant.h"
#include "bench/fftw_setting.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

typedef struct fftw_state {
    fftw_setting setting;
    weft_fftw_plan plan;
    weft_fftw_execute execute;
} fftw_state;

static bench_share whole_share(const bench_problem *p, weft_space space, size_t *bytes) {
    weft_box box = {.n = {0}};
    *bytes = bench_element_bytes(p, space) * (size_t)p->batch;
    for (int axis = 0; axis < p->rank; axis++) {
        box.n[axis] = bench_extent(p, space, axis);
        *bytes *= (size_t)box.n[axis];
    }
    return bench_share_of(p, &box);
}

static weft_status fftw_describe(bench_contestant *c, const bench_problem *p, const json_t *cell) {
    if (p->ranks != 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "%s: one process only; ask for 1 rank, or for fftw-mpi", c->ops->library);
    fftw_state *state = calloc(1, sizeof *state);
    if (!state)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "%s: no memory for a contestant",
                         c->ops->library);
    c->state = state;
    WEFT_TRY(fftw_setting_read(c, p, cell, &state->setting));
    const weft_fftw_library *library = state->setting.library;
    if (p->kind == WEFT_R2R && !library->plan_r2r)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: %s has no real-to-real transforms",
                         c->ops->library, library->version);
    state->execute = p->kind == WEFT_R2R            ? library->execute_r2r
                     : p->kind == WEFT_C2C          ? library->execute_c2c
                     : p->direction == WEFT_FORWARD ? library->execute_r2c
                                                    : library->execute_c2r;
    c->in = whole_share(p, bench_from(p), &c->in_bytes);
    c->out = whole_share(p, bench_to(p), &c->out_bytes);
    /* FFTW keeps the input of a complex-to-real transform in one dimension only (manual, 4.3.2). */
    c->destroys_input = p->kind == WEFT_R2C && p->direction == WEFT_INVERSE && p->rank > 1;
    c->own_error = c->own_memory = NAN;
    c->only_computes = true;
    return WEFT_SUCCESS;
}

/* Axes that are left as they are become loops. */
static weft_fftw_plan make_r2r_plan(const bench_contestant *c, weft_fftw_iodim batch, void *in,
                                    void *out, unsigned flags) {
    const bench_problem *p = c->problem;
    const weft_fftw_library *library = ((fftw_state *)c->state)->setting.library;
    weft_fftw_iodim dim[WEFT_MAX_RANK], loop[WEFT_MAX_RANK + 1] = {batch};
    int dims = 0, loops = 1, kinds[WEFT_MAX_RANK];
    for (int a = 0; a < p->rank; a++) {
        const weft_fftw_iodim one = {p->n[a], c->in.stride[a], c->out.stride[a]};
        if (p->axis[a] == WEFT_AXIS_NONE) {
            loop[loops++] = one;
            continue;
        }
        kinds[dims] = weft_fftw_kind_of(bench_axis_type(p, a));
        dim[dims++] = one;
    }
    return library->plan_r2r(dims, dim, loops, loop, in, out, kinds, flags);
}

static weft_fftw_plan make_plan(const bench_contestant *c, void *in, void *out) {
    const bench_problem *p = c->problem;
    const fftw_setting *setting = &((fftw_state *)c->state)->setting;
    const weft_fftw_library *library = setting->library;
    weft_fftw_iodim dim[WEFT_MAX_RANK], batch = {p->batch, c->in.batch_stride, c->out.batch_stride};
    for (int a = 0; a < p->rank; a++)
        dim[a] = (weft_fftw_iodim){p->n[a], c->in.stride[a], c->out.stride[a]};
    const unsigned flags =
        setting->flags | (c->destroys_input ? WEFT_FFTW_DESTROY_INPUT : WEFT_FFTW_PRESERVE_INPUT);
    const bool forward = p->direction == WEFT_FORWARD;
    if (p->kind == WEFT_R2R) return make_r2r_plan(c, batch, in, out, flags);
    if (p->kind == WEFT_C2C)
        return library->plan_c2c(p->rank, dim, 1, &batch, in, out,
                                 forward ? WEFT_FFTW_FORWARD : WEFT_FFTW_BACKWARD, flags);
    return (forward ? library->plan_r2c : library->plan_c2r)(p->rank, dim, 1, &batch, in, out,
                                                             flags);
}

static weft_status fftw_plan(bench_contestant *c, void *in, void *out) {
    fftw_state *state = c->state;
    fftw_planner_enter(&state->setting);
    state->plan = make_plan(c, in, out);
    fftw_planner_leave(&state->setting);
    if (state->plan) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "%s: %s makes no plan for this problem",
                     c->ops->library, state->setting.library->version);
}

static weft_status fftw_run(bench_contestant *c, void *in, void *out) {
    const fftw_state *state = c->state;
    state->execute(state->plan, in, out);
    c->phases.bytes_sent = 0;
    return WEFT_SUCCESS;
}

static void fftw_close(bench_contestant *c) {
    fftw_state *state = c->state;
    if (!state) return;
    fftw_plan_destroy(&state->setting, state->plan);
    free(state);
    c->state = NULL;
}

#define FFTW_CONTESTANT(ops, name)                                                                 \
    const bench_contestant_ops ops = {.library = name,                                             \
                                      .describe = fftw_describe,                                   \
                                      .plan = fftw_plan,                                           \
                                      .run = fftw_run,                                             \
                                      .close = fftw_close}

FFTW_CONTESTANT(bench_fftw, "fftw");
FFTW_CONTESTANT(bench_fftw_avx512, "fftw-avx512");
FFTW_CONTESTANT(bench_mkl, "mkl");
FFTW_CONTESTANT(bench_ducc0, "ducc0");
