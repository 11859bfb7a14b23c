/*
 * weft as a contestant: a plan, run in the direction of the problem. Data lives in the harness's
 * buffers where the plan computes on the host, and in buffers of the device elsewhere.
 */
#include "bench/contestant.h"
#include "bench/strided.h"
#include "bench/weft_cell.h"

#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

typedef struct weft_state {
    weft_context context;
    weft_plan plan;
    strided_plan *strided; /* instead of both */
    bool on_device;
    void *in, *out; /* there */
} weft_state;

/* ---- plans ---- */

static weft_status find_share(bench_contestant *c, weft_space space, bench_share *share,
                              size_t *bytes) {
    const weft_state *state = c->state;
    weft_box box;
    WEFT_TRY(weft_plan_box(state->plan, space, c->problem->me, &box));
    *share = bench_share_of(c->problem, &box);
    return weft_plan_bytes(state->plan, space, bytes);
}

static weft_status create_buffers(bench_contestant *c) {
    weft_state *state = c->state;
    WEFT_TRY(weft_buffer_create(state->plan, c->in_bytes, &state->in));
    return weft_buffer_create(state->plan, c->out_bytes, &state->out);
}

static weft_status describe_plan(bench_contestant *c, const weft_cell *cell) {
    weft_state *state = c->state;
    weft_memory memory;
    WEFT_TRY(weft_mpi_context_create(c->problem->comm, NULL, &state->context));
    WEFT_TRY(weft_plan_create(state->context, &cell->problem, &cell->options, &state->plan));
    WEFT_TRY(find_share(c, bench_from(c->problem), &c->in, &c->in_bytes));
    WEFT_TRY(find_share(c, bench_to(c->problem), &c->out, &c->out_bytes));
    WEFT_TRY(weft_plan_memory(state->plan, &memory));
    WEFT_TRY(weft_cell_columns(cell, state->plan, c));
    c->held_bytes = memory.total;
    state->on_device = cell->options.device != WEFT_HOST;
    return state->on_device ? create_buffers(c) : WEFT_SUCCESS;
}

static weft_status describe_strided(bench_contestant *c, const weft_cell *cell) {
    weft_state *state = c->state;
    const bench_problem *p = c->problem;
    strided_facts facts;
    weft_box in = {.n = {1, 1, 1, 1, 1, 1, 1, 1}}, out = in;
    WEFT_TRY(strided_plan_create(p, &cell->options, &state->strided, &facts));
    c->in_bytes = (size_t)p->batch * bench_element_bytes(p, bench_from(p));
    c->out_bytes = (size_t)p->batch * bench_element_bytes(p, bench_to(p));
    for (int a = 0; a < p->rank; a++) {
        in.n[a] = bench_extent(p, bench_from(p), a);
        out.n[a] = bench_extent(p, bench_to(p), a);
        c->in_bytes *= (size_t)in.n[a];
        c->out_bytes *= (size_t)out.n[a];
    }
    c->in = bench_share_of(p, &in);
    c->out = bench_share_of(p, &out);
    c->held_bytes = facts.bytes;
    c->destroys_input = facts.destroys_input;
    snprintf(c->version, sizeof c->version, "%s", weft_version());
    snprintf(c->engine, sizeof c->engine, "%s", facts.engine);
    snprintf(c->device, sizeof c->device, "%s", weft_device_name(cell->options.device));
    return WEFT_SUCCESS;
}

static weft_status describe(bench_contestant *c, const bench_problem *p, const json_t *json) {
    weft_cell cell;
    c->problem = p;
    c->own_error = c->own_memory = NAN;
    c->state = calloc(1, sizeof(weft_state));
    if (!c->state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a contestant");
    WEFT_TRY(weft_cell_read(p, json, &cell));
    return p->strided ? describe_strided(c, &cell) : describe_plan(c, &cell);
}

/* ---- runs ---- */

static weft_status run_strided(bench_contestant *c, const void *in, void *out) {
    double start = weft_clock();
    WEFT_TRY(strided_plan_execute(((weft_state *)c->state)->strided, in, out));
    c->phases.fft = weft_clock() - start;
    c->phases.bytes_sent = 0;
    return WEFT_SUCCESS;
}

static weft_status run(bench_contestant *c, void *in, void *out) {
    weft_state *state = c->state;
    if (state->strided) return run_strided(c, in, out);
    return weft_execute(state->plan, c->problem->direction, state->on_device ? state->in : in,
                        state->on_device ? state->out : out);
}

static weft_status tell(bench_contestant *c) {
    weft_state *state = c->state;
    weft_timings t;
    if (state->strided) return WEFT_SUCCESS;
    WEFT_TRY(weft_plan_timings(state->plan, &t));
    c->phases.fft = t.fft;
    c->phases.pack = t.pack;
    c->phases.exchange = t.exchange;
    c->phases.unpack = t.unpack;
    c->phases.copy = t.copy;
    c->phases.local = t.local;
    c->phases.bytes_sent = (double)t.bytes_sent;
    if (t.first_message > 0) c->phases.first_message = t.first_message; /* else nothing was sent */
    if (t.last_message > 0) c->phases.last_message = t.last_message;
    return WEFT_SUCCESS;
}

/* The output there is poisoned like the harness's own: what no run writes must show. */
static weft_status poison(weft_state *state, size_t bytes) {
    void *nan = malloc(bytes > 0 ? bytes : 1);
    if (!nan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    memset(nan, 0xff, bytes);
    weft_status status = weft_buffer_upload(state->plan, state->out, nan, bytes);
    free(nan);
    return status;
}

static weft_status load(bench_contestant *c, const void *in) {
    weft_state *state = c->state;
    if (!state->on_device) return WEFT_SUCCESS;
    WEFT_TRY(poison(state, c->out_bytes));
    return weft_buffer_upload(state->plan, state->in, in, c->in_bytes);
}

static weft_status store(bench_contestant *c, void *out) {
    weft_state *state = c->state;
    if (!state->on_device) return WEFT_SUCCESS;
    return weft_buffer_download(state->plan, out, state->out, c->out_bytes);
}

static void close_plan(bench_contestant *c) {
    weft_state *state = c->state;
    if (!state) return;
    weft_buffer_destroy(state->plan, &state->in);
    weft_buffer_destroy(state->plan, &state->out);
    weft_plan_destroy(&state->plan);
    weft_context_destroy(&state->context);
    strided_plan_destroy(state->strided);
    free(state);
    c->state = NULL;
}

const bench_contestant_ops bench_weft = {
    .library = "weft",
    .describe = describe,
    .run = run,
    .tell = tell,
    .load = load,
    .store = store,
    .close = close_plan,
};
