/* Opens as many contestants as fit, times them, writes what they did, and takes the next. */
#include "bench/block.h"

#include "bench/rounds.h"
#include "bench/verdict.h"

#include "io/agreement.h"
#include "memory.h"
#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The contestants of a problem: peers first, which are open all the time, then those of weft that
 * are in the present block. */
typedef struct lineup {
    bench_run *run;
    const bench_request *request;
    bench_expectation expected;
    bench_entrant *entrants;
    int peers, count;
    int *order;
    double limit; /* bytes that the weft plans of a rank may hold */
    bench_spent spent;
    bool ran; /* some block was */
} lineup;

static bool is_peer(const json_t *cell) {
    return strcmp(json_string_value(json_object_get(cell, "library")), "weft") != 0;
}

static bool is_in(const bench_entrant *e) {
    return e->status == WEFT_SUCCESS;
}

static int count_in(const lineup *l) {
    int count = 0;
    for (int i = 0; i < l->count; i++) count += is_in(&l->entrants[i]);
    return count;
}

/* ---- opening ---- */

/* Tells of a contestant that left, once, and closes its library. */
static void dismiss(lineup *l, bench_entrant *e) {
    if (is_in(e) || e->told) return;
    if (!bench_entrant_skipped(e)) l->run->sound = false;
    if (l->run->table) bench_verdict_left(l->run->table, e);
    bench_entrant_retire(e);
    e->told = true;
}

/* Adds the contestant of a cell to the lineup; returns whether it can take part. */
static bool enlist(lineup *l, const json_t *cell) {
    const bench_problem *p = &l->request->problem;
    bench_entrant *e = &l->entrants[l->count];
    bench_entrant_open(e, p, cell, &l->spent);
    if (is_in(e)) {
        l->count++;
        return true;
    }
    dismiss(l, e);
    bench_entrant_close(e);
    return false;
}

/* Opens contestants of weft from the next on: as many as may be together and fit into memory, where
 * one more is taken to need as much as the largest so far. */
static void enlist_weft(lineup *l, int *next) {
    const bench_request *request = l->request;
    double held = 0, most = 0;
    for (int opened = 0; *next < request->contestants; ++*next) {
        const json_t *cell = request->cell[*next];
        if (is_peer(cell)) continue;
        if (opened == request->together || (opened > 0 && held + most > l->limit)) return;
        if (!enlist(l, cell)) continue;
        double bytes = (double)l->entrants[l->count - 1].contestant.held_bytes;
        MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_MAX, l->run->world->comm);
        held += bytes;
        most = fmax(most, bytes);
        opened++;
    }
}

/* ---- preparing ---- */

static weft_status provide_buffers(lineup *l) {
    size_t in_bytes = 0, out_bytes = 0;
    for (int i = 0; i < l->count; i++) {
        const bench_contestant *c = &l->entrants[i].contestant;
        if (!is_in(&l->entrants[i])) continue;
        if (c->in_bytes > in_bytes) in_bytes = c->in_bytes;
        if (c->out_bytes > out_bytes) out_bytes = c->out_bytes;
    }
    return weft_array_agree(l->run->world->comm,
                            bench_buffers_provide(&l->run->buffers, in_bytes, out_bytes));
}

static weft_status provide_samples(lineup *l, bench_entrant *e) {
    size_t rounds = (size_t)(l->request->warmups + l->request->iterations);
    if (!e->samples) e->samples = calloc(rounds, sizeof *e->samples);
    return weft_array_agree(
        l->run->world->comm,
        e->samples ? WEFT_SUCCESS
                   : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu samples", rounds));
}

/* Whoever is new plans and runs once. The buffers are the same for all: without them, all leave. */
static void prepare(lineup *l) {
    weft_status status = count_in(l) > 0 ? provide_buffers(l) : WEFT_SUCCESS;
    for (int i = 0; i < l->count; i++) {
        bench_entrant *e = &l->entrants[i];
        if (status != WEFT_SUCCESS) bench_entrant_leave(e, status);
        if (!is_in(e) || e->prepared) continue;
        weft_status room = provide_samples(l, e);
        if (room != WEFT_SUCCESS) bench_entrant_leave(e, room);
        bench_entrant_prepare(e, &l->run->buffers, &l->expected, &l->spent);
        bench_entrant_keep_input(e, &l->run->buffers, l->entrants, i, &l->spent);
    }
    for (int i = 0; i < l->count; i++) dismiss(l, &l->entrants[i]);
}

/* ---- writing ---- */

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median over the iterations of the slowest rank's total; overwrites the samples of rank 0. */
static double median_of_slowest(const lineup *l, bench_sample *all) {
    int warmups = l->request->warmups, iterations = l->request->iterations;
    int rounds = warmups + iterations;
    double *slowest = (double *)all;
    for (int i = 0; i < iterations; i++) {
        double most = 0;
        for (int r = 0; r < l->run->world->ranks; r++)
            most = fmax(most, all[(size_t)r * (size_t)rounds + (size_t)(warmups + i)].phases.total);
        slowest[i] = most; /* behind what is still to be read */
    }
    qsort(slowest, (size_t)iterations, sizeof *slowest, compare_seconds);
    return (slowest[(iterations - 1) / 2] + slowest[iterations / 2]) / 2;
}

static void add_rows(lineup *l, const bench_entrant *e, const bench_sample *all,
                     const double *memory) {
    int warmups = l->request->warmups, rounds = warmups + l->request->iterations;
    for (int round = 0; round < rounds; round++) {
        double slowest = 0;
        for (int r = 0; r < l->run->world->ranks; r++) {
            const bench_sample *sample = &all[(size_t)r * (size_t)rounds + (size_t)round];
            slowest = fmax(slowest, sample->elapsed);
            if (round < warmups) continue;
            bench_row row = {.contestant = &e->contestant,
                             .cell = e->cell,
                             .host = l->run->hosts[r],
                             .check = "probe",
                             .iteration = round - warmups,
                             .rank = r,
                             .block = l->run->block,
                             .phases = sample->phases,
                             .memory_peak = memory[r],
                             .error = e->error};
            bench_table_add(l->run->table, &row);
        }
        l->spent.running += slowest;
    }
}

/* Brings the samples of an entrant to rank 0, which writes rows and sentences. */
static void report(lineup *l, const bench_entrant *e, bench_sample *all, double *memory,
                   json_t *cells) {
    enum { NUMBERS = sizeof(bench_sample) / sizeof(double) };
    int count = (l->request->warmups + l->request->iterations) * NUMBERS;
    double mine = bench_entrant_memory(e), bound = bench_error_bound(&l->request->problem);
    MPI_Comm comm = l->run->world->comm;
    MPI_Gather(e->samples, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, comm);
    MPI_Gather(&mine, 1, MPI_DOUBLE, memory, 1, MPI_DOUBLE, 0, comm);
    bool wrong = !(e->error <= bound);
    if (wrong) l->run->sound = false;
    if (!l->run->table) return;
    add_rows(l, e, all, memory);
    json_array_append(cells, json_object_get(e->cell, "cell"));
    if (wrong)
        bench_verdict_wrong(l->run->table, e->contestant.problem, e->cell, "error", e->error,
                            bound);
    else
        bench_verdict_time(e, median_of_slowest(l, all));
}

weft_status bench_block_end(bench_run *run, const bench_spent *spent, json_t *cells) {
    weft_status status = WEFT_SUCCESS;
    if (run->table) {
        double now = weft_clock();
        json_t *done =
            json_pack("{s:s, s:i, s:o, s:f, s:f, s:f, s:f}", "type", "done", "block", run->block,
                      "cells", cells, "planning", spent->planning, "running", spent->running,
                      "checking", spent->checking, "wall", now - run->since);
        run->since = now;
        bench_table_end_block(run->table, done);
        status = bench_table_status(run->table);
    }
    run->block++;
    return weft_array_agree(run->world->comm, status);
}

static weft_status write_block(lineup *l) {
    size_t ranks = (size_t)l->run->world->ranks;
    size_t rounds = (size_t)(l->request->warmups + l->request->iterations);
    bool keeper = l->run->table != NULL;
    bench_sample *all = keeper ? malloc(ranks * rounds * sizeof *all) : NULL;
    double *memory = keeper ? malloc(ranks * sizeof *memory) : NULL;
    weft_status status = weft_array_agree(
        l->run->world->comm,
        !keeper || (all && memory)
            ? WEFT_SUCCESS
            : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the samples of a block"));
    if (status == WEFT_SUCCESS) {
        json_t *cells = keeper ? json_array() : NULL;
        for (int i = 0; i < l->count; i++)
            if (is_in(&l->entrants[i])) report(l, &l->entrants[i], all, memory, cells);
        status = bench_block_end(l->run, &l->spent, cells);
    }
    free(all);
    free(memory);
    return status;
}

/* ---- a block ---- */

static weft_status run_block(lineup *l) {
    double restoring = 0;
    const bench_rounds rounds = {.comm = l->run->world->comm,
                                 .entrants = l->entrants,
                                 .count = l->count,
                                 .order = l->order,
                                 .buffers = &l->run->buffers,
                                 .rounds = l->request->warmups + l->request->iterations,
                                 .repeats = l->request->repeats,
                                 .seed = (uint64_t)l->run->block,
                                 .restoring = &restoring};
    bench_rounds_run(&rounds);
    l->spent.checking += restoring;
    for (int i = 0; i < l->count; i++) {
        bench_entrant *e = &l->entrants[i];
        if (is_in(e)) bench_entrant_verify(e, &l->run->buffers, &l->expected, &l->spent);
        dismiss(l, e);
    }
    weft_status status = count_in(l) > 0 ? write_block(l) : WEFT_SUCCESS;
    l->spent = (bench_spent){0};
    l->ran = true;
    return status;
}

/* The weft contestants of a block go, and the peers start the next one with a clean slate. */
static void clear_block(lineup *l) {
    while (l->count > l->peers) bench_entrant_close(&l->entrants[--l->count]);
    for (int i = 0; i < l->peers; i++) l->entrants[i].error = 0;
}

static weft_status run_all(lineup *l) {
    const bench_request *request = l->request;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < request->contestants; i++)
        if (is_peer(request->cell[i])) enlist(l, request->cell[i]);
    l->peers = l->count;
    for (int next = 0; status == WEFT_SUCCESS && (next < request->contestants || !l->ran);) {
        enlist_weft(l, &next);
        prepare(l);
        bool weft_takes_part = false;
        for (int i = l->peers; i < l->count; i++)
            weft_takes_part = weft_takes_part || is_in(&l->entrants[i]);
        /* Peers alone are measured once, where weft has nothing to run beside them. */
        if (weft_takes_part || (!l->ran && next == request->contestants)) status = run_block(l);
        clear_block(l);
    }
    while (l->count > 0) bench_entrant_close(&l->entrants[--l->count]);
    return status;
}

/* Half of what is free on the host with the least, shared by its ranks. */
static double memory_limit(const bench_run *run) {
    double limit = memory_available("", false) / 2 / run->ranks_here;
    MPI_Allreduce(MPI_IN_PLACE, &limit, 1, MPI_DOUBLE, MPI_MIN, run->world->comm);
    return limit;
}

weft_status bench_blocks_run(bench_run *run, const bench_request *request) {
    lineup l = {.run = run, .request = request, .limit = memory_limit(run)};
    double start = weft_clock();
    l.entrants = calloc((size_t)request->contestants, sizeof *l.entrants);
    l.order = calloc((size_t)request->contestants, sizeof *l.order);
    weft_status status = weft_array_agree(
        run->world->comm, l.entrants && l.order
                              ? WEFT_SUCCESS
                              : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a lineup"));
    if (status == WEFT_SUCCESS)
        status = weft_array_agree(run->world->comm, bench_expect(&request->problem, &l.expected));
    l.spent.checking = weft_clock() - start;
    if (status == WEFT_SUCCESS) status = run_all(&l);
    free(l.entrants);
    free(l.order);
    return status;
}
