/*
 * FFTW-MPI: one, two and three dimensions split along the first axis, out of place. Configuration
 * "natural" splits the spectrum as the real array is split; "transposed" leaves it split along the
 * second axis and stored with that axis first, which saves one of two exchanges.
 */
#include "bench/contestant.h"
#include "bench/fftw_mpi_library.h"
#include "bench/fftw_setting.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fftw_mpi_state {
    fftw_setting setting;
    const fftw_mpi_library *library;
    bool transposed;
    weft_fftw_plan plan;
    weft_fftw_execute execute;
} fftw_mpi_state;

static weft_status check_problem(const bench_problem *p, const char *config, bool *transposed) {
    *transposed = strcmp(config, "transposed") == 0;
    if (!*transposed && strcmp(config, "natural") != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "FFTW-MPI: config %s; choose natural or transposed", config);
    if (p->batch > 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "FFTW-MPI: no batches here; ask for batch 1");
    /* 3.3.10 drops axes of one element from its plans, but not from the sizes that it tells: it
     * then writes past its buffers, or transposes other axes than it was asked to. */
    if (p->n[0] == 1 || (p->rank > 1 && p->n[1] == 1))
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW-MPI: goes wrong where the first or second axis has one element; ask "
                         "for a shape without");
    if (p->kind == WEFT_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW-MPI: no real-to-real transforms here; ask for fftw on 1 rank");
    if (p->rank == 1 && p->kind == WEFT_R2C)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW-MPI: has no real transforms in one dimension; ask for c2c");
    if (p->rank == 1 && *transposed)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "FFTW-MPI: nothing to transpose in one dimension; ask for natural");
    return WEFT_SUCCESS;
}

static int sign_of(const bench_problem *p) {
    return p->direction == WEFT_FORWARD ? WEFT_FFTW_FORWARD : WEFT_FFTW_BACKWARD;
}

/* ---- shares ---- */

/* Axes 0 and 1 in each other's place. */
static bench_share transposed_share(const bench_problem *p, ptrdiff_t start, ptrdiff_t count) {
    weft_box box = {.lo = {0, start}};
    for (int a = 0; a < p->rank; a++) box.n[a] = bench_extent(p, WEFT_OUTPUT, a);
    box.n[1] = count;
    bench_share share = bench_share_of(p, &box);
    share.stride[0] = p->rank == 3 ? box.n[2] : 1;
    share.stride[1] = share.stride[0] * box.n[0];
    return share;
}

static void describe_1d(bench_contestant *c, const bench_problem *p, ptrdiff_t *elements) {
    const fftw_mpi_state *state = c->state;
    ptrdiff_t in_n, in_start, out_n, out_start;
    *elements = state->library->local_size_1d(p->n[0], p->comm, sign_of(p), state->setting.flags,
                                              &in_n, &in_start, &out_n, &out_start);
    c->in = bench_padded_share(p, bench_from(p), in_start, in_n);
    c->out = bench_padded_share(p, bench_to(p), out_start, out_n);
}

static void describe_shares(bench_contestant *c, const bench_problem *p, ptrdiff_t *elements) {
    const fftw_mpi_state *state = c->state;
    ptrdiff_t n[WEFT_MAX_RANK], n0, start0, n1, start1;
    for (int a = 0; a < p->rank; a++) n[a] = bench_extent(p, WEFT_OUTPUT, a);
    *elements =
        state->library->local_size(p->rank, n, 1, 0, 0, p->comm, &n0, &start0, &n1, &start1);
    const bench_share real = bench_padded_share(p, WEFT_INPUT, start0, n0);
    const bench_share spectrum = state->transposed ? transposed_share(p, start1, n1)
                                                   : bench_padded_share(p, WEFT_OUTPUT, start0, n0);
    c->in = p->direction == WEFT_FORWARD ? real : spectrum;
    c->out = p->direction == WEFT_FORWARD ? spectrum : real;
}

static weft_status fftw_mpi_describe(bench_contestant *c, const bench_problem *p,
                                     const json_t *cell) {
    const char *config = json_string_value(json_object_get(cell, "config"));
    bool transposed;
    WEFT_TRY(check_problem(p, config ? config : "?", &transposed));
    fftw_mpi_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "FFTW-MPI: no memory for a contestant");
    c->state = state;
    state->transposed = transposed;
    WEFT_TRY(fftw_setting_read(c, p, cell, &state->setting));
    state->library = fftw_mpi_open(c->ops->library, p->precision);
    if (!state->library) return WEFT_ERROR_UNSUPPORTED;
    state->execute = p->kind == WEFT_C2C            ? state->library->execute_c2c
                     : p->direction == WEFT_FORWARD ? state->library->execute_r2c
                                                    : state->library->execute_c2r;
    snprintf(c->grid, sizeof c->grid, "%d", p->ranks);
    snprintf(c->strategy, sizeof c->strategy, "%s", p->rank == 3 ? "slab-2d1d" : "");
    snprintf(c->variant, sizeof c->variant, "%s", config);
    ptrdiff_t elements;
    if (p->rank == 1)
        describe_1d(c, p, &elements);
    else
        describe_shares(c, p, &elements);
    /* Also where a rank has no rows: FFTW tells in place from out of place by the addresses. */
    c->in_bytes = (size_t)(elements > 0 ? elements : 1) * bench_element_bytes(p, WEFT_OUTPUT);
    c->out_bytes = c->in_bytes;
    c->destroys_input = p->kind == WEFT_R2C && p->direction == WEFT_INVERSE;
    c->own_error = c->own_memory = NAN;
    return WEFT_SUCCESS;
}

/* ---- plans ---- */

static weft_fftw_plan make_plan(const bench_contestant *c, void *in, void *out) {
    const bench_problem *p = c->problem;
    const fftw_mpi_state *state = c->state;
    const fftw_mpi_library *library = state->library;
    const bool forward = p->direction == WEFT_FORWARD;
    unsigned flags = state->setting.flags |
                     (c->destroys_input ? WEFT_FFTW_DESTROY_INPUT : WEFT_FFTW_PRESERVE_INPUT);
    if (p->rank == 1) return library->plan_c2c_1d(p->n[0], in, out, p->comm, sign_of(p), flags);
    ptrdiff_t n[WEFT_MAX_RANK];
    for (int a = 0; a < p->rank; a++) n[a] = p->n[a];
    if (state->transposed)
        flags |= forward ? FFTW_MPI_TRANSPOSED_OUT_FLAG : FFTW_MPI_TRANSPOSED_IN_FLAG;
    if (p->kind == WEFT_C2C)
        return library->plan_c2c(p->rank, n, 1, 0, 0, in, out, p->comm, sign_of(p), flags);
    return (forward ? library->plan_r2c : library->plan_c2r)(p->rank, n, 1, 0, 0, in, out, p->comm,
                                                             flags);
}

static weft_status fftw_mpi_plan(bench_contestant *c, void *in, void *out) {
    fftw_mpi_state *state = c->state;
    fftw_planner_enter(&state->setting);
    state->plan = make_plan(c, in, out);
    fftw_planner_leave(&state->setting);
    if (state->plan) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "FFTW-MPI: %s makes no plan for this problem",
                     state->setting.library->version);
}

static weft_status fftw_mpi_run(bench_contestant *c, void *in, void *out) {
    const fftw_mpi_state *state = c->state;
    state->execute(state->plan, in, out);
    return WEFT_SUCCESS;
}

/* fftw_mpi_cleanup is never called: it would take weft's own plans along. */
static void fftw_mpi_close(bench_contestant *c) {
    fftw_mpi_state *state = c->state;
    if (!state) return;
    fftw_plan_destroy(&state->setting, state->plan);
    free(state);
    c->state = NULL;
}

#define FFTW_MPI_CONTESTANT(ops, name)                                                             \
    const bench_contestant_ops ops = {.library = name,                                             \
                                      .describe = fftw_mpi_describe,                               \
                                      .plan = fftw_mpi_plan,                                       \
                                      .run = fftw_mpi_run,                                         \
                                      .close = fftw_mpi_close}

FFTW_MPI_CONTESTANT(bench_fftw_mpi, "fftw-mpi");
FFTW_MPI_CONTESTANT(bench_fftw_mpi_avx512, "fftw-mpi-avx512");
