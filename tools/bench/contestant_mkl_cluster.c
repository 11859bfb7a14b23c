/*
 * The cluster FFT of Intel's MKL: two and three axes split along the first, out of place.
 * Configuration "natural" splits the spectrum as the real array is split; "transposed" is its
 * DFTI_TRANSPOSE, which leaves it split along the second axis, as FFTW-MPI's does, and saves one of
 * two exchanges. Memory then holds the second axis first and the first axis last.
 *
 * It computes in its input also where the result goes elsewhere, whatever the transform.
 */
#include "bench/contestant.h"
#include "bench/fftw_builds.h"
#include "bench/meeting.h"
#include "bench/mkl_cluster_library.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mkl_state {
    const mkl_cluster_library *library;
    void *descriptor;
    int threads;
    bool transposed;
} mkl_state;

static weft_status check_problem(const bench_problem *p, const char *config, bool *transposed) {
    *transposed = strcmp(config, "transposed") == 0;
    if (!*transposed && strcmp(config, "natural") != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "mkl-cluster: config %s; choose natural or transposed", config);
    if (p->batch > 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "mkl-cluster: has no batches; ask for batch 1");
    if (p->kind == WEFT_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "mkl-cluster: has no real-to-real transforms; ask for r2c or c2c");
    /* There libmkl_rt may be open, whose functions have the same names and are visible to all. */
    if (p->ranks == 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "mkl-cluster: on one rank ask for mkl");
    if (p->rank == 1)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "mkl-cluster: no lines here; ask for two or three axes");
    return WEFT_SUCCESS;
}

/* A call of MKL went well, or its own words. */
static weft_status check(const mkl_state *state, const char *call, long status) {
    if (status == 0) return WEFT_SUCCESS;
    if (status == MKL_CDFT_SPREAD_ERROR)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "mkl-cluster: needs a row of the first axis and of the second for each "
                         "rank; ask for fewer ranks");
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "mkl-cluster: %s: %s", call,
                     state->library->message(status));
}

/* ---- the descriptor ---- */

static weft_status create(mkl_state *state, const bench_problem *p) {
    const mkl_cluster_library *mkl = state->library = mkl_cluster_open();
    long n[WEFT_MAX_RANK];
    if (!mkl) return WEFT_ERROR_UNSUPPORTED;
    for (int a = 0; a < p->rank; a++) n[a] = (long)p->n[a];
    WEFT_TRY(
        check(state, "DftiCreateDescriptorDM",
              mkl->create(p->comm, &state->descriptor,
                          p->precision == WEFT_SINGLE ? MKL_DFTI_SINGLE : MKL_DFTI_DOUBLE,
                          p->kind == WEFT_R2C ? MKL_DFTI_REAL : MKL_DFTI_COMPLEX, p->rank, n)));
    WEFT_TRY(check(state, "DFTI_NOT_INPLACE",
                   mkl->set(state->descriptor, MKL_DFTI_PLACEMENT, MKL_DFTI_NOT_INPLACE)));
    if (!state->transposed) return WEFT_SUCCESS;
    return check(state, "DFTI_TRANSPOSE",
                 mkl->set(state->descriptor, MKL_DFTI_TRANSPOSE, MKL_DFTI_ALLOW));
}

/* Collective, whatever happens on one rank. */
static weft_status commit(mkl_state *state, const bench_problem *p) {
    WEFT_TRY(bench_meet(p->comm, false, create(state, p)));
    const mkl_cluster_library *mkl = state->library;
    const int before = mkl->set_threads(state->threads);
    const long status = mkl->commit(state->descriptor);
    mkl->set_threads(before);
    return bench_meet(p->comm, false, check(state, "DftiCommitDescriptorDM", status));
}

/* ---- shares ---- */

/* Axes of the spectrum in the order 1, 2, 0. */
static bench_share transposed_share(const bench_problem *p, int64_t start, int64_t count) {
    weft_box box = {.lo = {0, start}};
    for (int a = 0; a < p->rank; a++) box.n[a] = bench_extent(p, WEFT_OUTPUT, a);
    box.n[1] = count;
    bench_share share = bench_share_of(p, &box);
    share.stride[0] = 1;
    share.stride[1] = box.n[0];
    if (p->rank == 3) share.stride[2] = box.n[0], share.stride[1] *= box.n[2];
    return share;
}

static weft_status describe_shares(bench_contestant *c, const bench_problem *p) {
    static const int parameters[] = {MKL_CDFT_LOCAL_SIZE, MKL_CDFT_LOCAL_X_START, MKL_CDFT_LOCAL_NX,
                                     MKL_CDFT_LOCAL_OUT_X_START, MKL_CDFT_LOCAL_OUT_NX};
    const mkl_state *state = c->state;
    long told[5] = {0};
    for (int i = 0; i < 5; i++)
        WEFT_TRY(check(state, "DftiGetValueDM",
                       state->library->get(state->descriptor, parameters[i], &told[i])));
    const bench_share real = bench_padded_share(p, WEFT_INPUT, told[1], told[2]);
    const bench_share spectrum = state->transposed
                                     ? transposed_share(p, told[3], told[4])
                                     : bench_padded_share(p, WEFT_OUTPUT, told[3], told[4]);
    c->in = p->direction == WEFT_FORWARD ? real : spectrum;
    c->out = p->direction == WEFT_FORWARD ? spectrum : real;
    c->in_bytes = (size_t)(told[0] > 0 ? told[0] : 1) * bench_element_bytes(p, WEFT_OUTPUT);
    c->out_bytes = c->in_bytes;
    return WEFT_SUCCESS;
}

/* ---- the contestant ---- */

static weft_status mkl_describe(bench_contestant *c, const bench_problem *p, const json_t *cell) {
    const char *config = json_string_value(json_object_get(cell, "config"));
    const json_t *threads = json_object_get(cell, "threads");
    bool transposed;
    c->own_error = c->own_memory = NAN;
    WEFT_TRY(check_problem(p, config ? config : "?", &transposed));
    mkl_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "mkl-cluster: no memory");
    c->state = state;
    state->transposed = transposed;
    state->threads = threads ? (int)json_integer_value(threads) : 1;
    c->destroys_input = true;
    WEFT_TRY(commit(state, p));
    char text[256] = "";
    state->library->get_version(text, (int)sizeof text - 1);
    mkl_version_of(text, c->version, sizeof c->version);
    snprintf(c->device, sizeof c->device, "host");
    snprintf(c->engine, sizeof c->engine, "mkl");
    snprintf(c->grid, sizeof c->grid, "%d", p->ranks);
    snprintf(c->strategy, sizeof c->strategy, "%s", p->rank == 3 ? "slab-2d1d" : "");
    snprintf(c->variant, sizeof c->variant, "%s", config);
    return describe_shares(c, p);
}

static weft_status mkl_run(bench_contestant *c, void *in, void *out) {
    const mkl_state *state = c->state;
    const mkl_cluster_library *mkl = state->library;
    const bool forward = c->problem->direction == WEFT_FORWARD;
    const int before = mkl->set_threads(state->threads);
    const long status = (forward ? mkl->forward : mkl->backward)(state->descriptor, in, out);
    mkl->set_threads(before);
    return check(state, forward ? "DftiComputeForwardDM" : "DftiComputeBackwardDM", status);
}

static void mkl_close(bench_contestant *c) {
    mkl_state *state = c->state;
    if (!state) return;
    if (state->descriptor) state->library->release(&state->descriptor);
    free(state);
    c->state = NULL;
}

const bench_contestant_ops bench_mkl_cluster = {
    .library = "mkl-cluster", .describe = mkl_describe, .run = mkl_run, .close = mkl_close};
