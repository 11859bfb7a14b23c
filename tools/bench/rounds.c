/*
 * Entrants take turns in an order that is shuffled afresh in every round, so that neither drift of
 * the machine nor what the one before left in the caches favours any of them.
 *
 * One meeting of the ranks before each run is both the barrier and the place where they hear
 * whether the run before it failed somewhere.
 */
#include "bench/rounds.h"

#include "bench/meeting.h"

#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

/* Fisher and Yates. */
static void shuffle(uint64_t *state, int *order, int count) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(bench_random((*state)++) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* Whose run the ranks have not yet compared, and its status here. */
typedef struct last_run {
    bench_entrant *entrant;
    weft_status status;
} last_run;

/* The ranks meet; `next` runs after that, or nothing where it is NULL. */
static void meet(const bench_rounds *r, last_run *last, const bench_entrant *next) {
    bool quiet_next = next && next->contestant.quiet_wait;
    bool quiet = quiet_next || (last->entrant && last->entrant->contestant.quiet_wait);
    weft_status status = bench_meet(r->comm, quiet, last->status);
    if (status != WEFT_SUCCESS) bench_entrant_leave(last->entrant, status);
    *last = (last_run){0};
    /* Ranks wake up one by one. */
    if (quiet && next && !quiet_next) MPI_Barrier(r->comm);
}

/* Phases are those of the last repeat. A destroyed input is good for one transform only. */
static weft_status run_timed(bench_entrant *e, const bench_rounds *r, bench_sample *sample) {
    bench_contestant *c = &e->contestant;
    const bench_buffers *b = r->buffers;
    const int repeats = c->destroys_input ? 1 : r->repeats;
    weft_status status = WEFT_SUCCESS;
    double told = 0, start = weft_clock();
    for (int i = 0; i < repeats && status == WEFT_SUCCESS; i++) {
        status = c->ops->run(c, b->in, b->out);
        told += c->phases.total;
    }
    sample->elapsed = weft_clock() - start;
    if (status == WEFT_SUCCESS && c->ops->tell) status = c->ops->tell(c);
    sample->phases = c->phases;
    sample->phases.total = (told > 0 ? told : sample->elapsed) / repeats;
    if (c->only_computes) sample->phases.fft = sample->phases.total;
    return status;
}

void bench_rounds_run(const bench_rounds *r) {
    uint64_t state = r->seed << 32; /* blocks draw from stretches of their own */
    last_run last = {0};
    for (int i = 0; i < r->count; i++) r->order[i] = i;
    for (int round = 0; round < r->rounds; round++) {
        shuffle(&state, r->order, r->count);
        for (int i = 0; i < r->count; i++) {
            bench_entrant *e = &r->entrants[r->order[i]];
            if (e->status != WEFT_SUCCESS) continue;
            double start = weft_clock();
            weft_status restored = bench_entrant_restore(e, r->buffers);
            *r->restoring += weft_clock() - start;
            e->contestant.phases = bench_no_phases;
            meet(r, &last, e);
            if (e->status != WEFT_SUCCESS) continue; /* its last run failed */
            last = (last_run){e, restored};
            weft_status run = run_timed(e, r, &e->samples[round]);
            if (restored == WEFT_SUCCESS) last.status = run;
        }
    }
    meet(r, &last, NULL);
}
