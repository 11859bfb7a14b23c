/* From a cell to a contestant that has run once and is known to be right or wrong. */
#include "bench/entrant.h"

#include "bench/contestants.h"
#include "bench/meeting.h"

#include "support/clock.h"
#include "support/error.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

/* ---- buffers ---- */

static weft_status provide(void **buffer, size_t *bytes, size_t wanted) {
    if (*buffer && wanted <= *bytes) return WEFT_SUCCESS;
    size_t rounded = (wanted / ALIGNMENT + 1) * ALIGNMENT;
    free(*buffer);
    *bytes = 0;
    *buffer = aligned_alloc(ALIGNMENT, rounded);
    if (!*buffer)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a buffer of %zu bytes", wanted);
    memset(*buffer, 0, rounded); /* its pages are there before anything is measured */
    *bytes = wanted;
    return WEFT_SUCCESS;
}

weft_status bench_buffers_provide(bench_buffers *buffers, size_t in_bytes, size_t out_bytes) {
    WEFT_TRY(provide(&buffers->in, &buffers->in_bytes, in_bytes));
    return provide(&buffers->out, &buffers->out_bytes, out_bytes);
}

void bench_buffers_release(bench_buffers *buffers) {
    free(buffers->in);
    free(buffers->out);
    *buffers = (bench_buffers){0};
}

/* ---- describing, planning, the first run ---- */

void bench_entrant_leave(bench_entrant *e, weft_status status) {
    if (e->status != WEFT_SUCCESS) return;
    e->status = status;
    snprintf(e->sentence, sizeof e->sentence, "%s", weft_thread_error());
}

bool bench_entrant_skipped(const bench_entrant *e) {
    return e->status == WEFT_ERROR_UNSUPPORTED || e->status == WEFT_ERROR_INVALID_ARGUMENT;
}

static void agree(bench_entrant *e, weft_status mine) {
    /* Before it is described, only the cell tells that another process will be waited for. */
    bool quiet = e->contestant.quiet_wait || json_object_get(e->cell, "adapter") != NULL;
    weft_status status = bench_meet(e->contestant.problem->comm, quiet, mine);
    if (status != WEFT_SUCCESS) bench_entrant_leave(e, status);
}

void bench_entrant_open(bench_entrant *e, const bench_problem *p, const json_t *cell,
                        bench_spent *spent) {
    bench_contestant *c = &e->contestant;
    *e = (bench_entrant){.cell = cell, .contestant = {.problem = p}};
    c->own_error = c->own_memory = NAN;
    malloc_trim(0); /* what the one before freed is not to be had for nothing */
    resident_begin(&e->memory);
    double start = weft_clock();
    agree(e, bench_contestants_find(cell, &c->ops));
    if (e->status == WEFT_SUCCESS) agree(e, c->ops->describe(c, p, cell));
    spent->planning += weft_clock() - start;
    resident_end(&e->memory);
}

/* Fresh input, and an output in which everything that no run writes is NaN. */
static weft_status fill(bench_entrant *e, const bench_buffers *b) {
    bench_contestant *c = &e->contestant;
    if (e->pristine)
        memcpy(b->in, e->pristine, c->in_bytes); /* so that the copy is verified, too */
    else if (c->in_bytes > 0)
        bench_fill(c->problem, &c->in, b->in);
    memset(b->out, 0xff, c->out_bytes);
    return c->ops->load ? c->ops->load(c, b->in) : WEFT_SUCCESS;
}

/* A library in processes of its own may speak to rank 0 only. */
static void share_own_numbers(bench_contestant *c) {
    double own[2] = {c->own_error, c->own_memory};
    MPI_Bcast(own, 2, MPI_DOUBLE, 0, c->problem->comm);
    c->own_error = own[0];
    if (isnan(c->own_memory)) c->own_memory = own[1];
}

static void check(bench_entrant *e, const bench_buffers *b, const bench_expectation *expected) {
    bench_contestant *c = &e->contestant;
    if (c->ops->store) agree(e, c->ops->store(c, b->out));
    if (e->status != WEFT_SUCCESS) return;
    share_own_numbers(c);
    double error =
        isnan(c->own_error) ? bench_error(c->problem, expected, &c->out, b->out) : c->own_error;
    if (!isnan(e->error) && !(error <= e->error)) e->error = error;
}

void bench_entrant_verify(bench_entrant *e, const bench_buffers *b,
                          const bench_expectation *expected, bench_spent *spent) {
    bench_contestant *c = &e->contestant;
    double start = weft_clock();
    if (e->status == WEFT_SUCCESS) agree(e, fill(e, b));
    if (e->status == WEFT_SUCCESS) agree(e, c->ops->run(c, b->in, b->out));
    if (e->status == WEFT_SUCCESS) check(e, b, expected);
    spent->checking += weft_clock() - start;
}

void bench_entrant_prepare(bench_entrant *e, const bench_buffers *b,
                           const bench_expectation *expected, bench_spent *spent) {
    bench_contestant *c = &e->contestant;
    double start = weft_clock();
    if (e->status == WEFT_SUCCESS && c->ops->plan) {
        resident_begin(&e->memory);
        agree(e, c->ops->plan(c, b->in, b->out));
        resident_end(&e->memory);
    }
    double planned = weft_clock();
    spent->planning += planned - start;
    if (e->status == WEFT_SUCCESS) agree(e, fill(e, b));
    if (e->status == WEFT_SUCCESS) {
        resident_begin(&e->memory);
        agree(e, c->ops->run(c, b->in, b->out));
        resident_end(&e->memory);
    }
    if (e->status == WEFT_SUCCESS) check(e, b, expected);
    e->prepared = e->status == WEFT_SUCCESS;
    spent->checking += weft_clock() - planned;
}

/* ---- input that is destroyed ---- */

static bool same_share(const bench_problem *p, const bench_share *a, const bench_share *b) {
    size_t bytes = (size_t)p->rank * sizeof a->n[0];
    return memcmp(a->lo, b->lo, bytes) == 0 && memcmp(a->n, b->n, bytes) == 0 &&
           memcmp(a->stride, b->stride, bytes) == 0 && a->batch_stride == b->batch_stride;
}

static const bench_entrant *find_same_input(const bench_entrant *e, const bench_entrant *others,
                                            int count) {
    const bench_contestant *c = &e->contestant;
    for (int i = 0; i < count; i++) {
        const bench_contestant *other = &others[i].contestant;
        if (others[i].pristine && !others[i].borrowed && other->in_bytes >= c->in_bytes &&
            same_share(c->problem, &other->in, &c->in))
            return &others[i];
    }
    return NULL;
}

static weft_status copy_input(bench_entrant *e, const bench_buffers *b) {
    const bench_contestant *c = &e->contestant;
    e->pristine = malloc(c->in_bytes > 0 ? c->in_bytes : 1);
    if (!e->pristine)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a copy of the input");
    bench_fill(c->problem, &c->in, b->in);
    memcpy(e->pristine, b->in, c->in_bytes);
    return WEFT_SUCCESS;
}

void bench_entrant_keep_input(bench_entrant *e, const bench_buffers *b, const bench_entrant *others,
                              int count, bench_spent *spent) {
    double start = weft_clock();
    if (e->status != WEFT_SUCCESS || !e->contestant.destroys_input) return;
    const bench_entrant *same = find_same_input(e, others, count);
    e->borrowed = same != NULL;
    if (same) e->pristine = same->pristine;
    agree(e, same ? WEFT_SUCCESS : copy_input(e, b));
    spent->checking += weft_clock() - start;
}

weft_status bench_entrant_restore(bench_entrant *e, const bench_buffers *b) {
    bench_contestant *c = &e->contestant;
    if (!c->destroys_input || !e->pristine) return WEFT_SUCCESS;
    memcpy(b->in, e->pristine, c->in_bytes);
    return c->ops->load ? c->ops->load(c, b->in) : WEFT_SUCCESS;
}

double bench_entrant_memory(const bench_entrant *e) {
    const bench_contestant *c = &e->contestant;
    if (!isnan(c->own_memory)) return c->own_memory;
    return (double)c->in_bytes + (double)c->out_bytes + e->memory.peak;
}

void bench_entrant_retire(bench_entrant *e) {
    if (e->contestant.ops) e->contestant.ops->close(&e->contestant);
    e->contestant.ops = NULL;
}

void bench_entrant_close(bench_entrant *e) {
    bench_entrant_retire(e);
    if (!e->borrowed) free(e->pristine);
    free(e->samples);
}
