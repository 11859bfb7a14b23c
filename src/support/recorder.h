/*
 * Records the time of an execution: the sums that weft_plan_timings returns and, where the plan
 * keeps a trace, a span for each stretch of work. Memory for the spans is allocated with the plan;
 * spans that do not fit are counted but not kept.
 */
#ifndef WEFT_SUPPORT_RECORDER_H
#define WEFT_SUPPORT_RECORDER_H

#include "support/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <weft/weft.h>

enum { WEFT_NO_PARTNER = -1, WEFT_CALLER_QUEUE = 0 };

typedef struct weft_recorder {
    weft_timings timings; /* `reserved` is 0 from the beginning */
    /* An execution that is one transform counts its ticks only: `timings` are then void. */
    bool single;
    weft_ticker ticker;
    uint64_t ticks;
    double start;     /* weft_clock() when the execution began */
    int step;         /* the step of the schedule that runs */
    weft_span *spans; /* owned; NULL: no trace is kept */
    int capacity;
    atomic_int count;
} weft_recorder;

/* Begins an execution. */
void weft_recorder_start(weft_recorder *recorder);

/* Ends an execution that was one transform and began at `begin`; instead of weft_recorder_start and
 * all that follows. */
static inline void weft_record_single(weft_recorder *recorder, uint64_t begin) {
    recorder->ticks = weft_ticks(recorder->ticker) - begin;
    recorder->single = true;
}

/* What the last execution took. */
weft_timings weft_recorder_timings(const weft_recorder *recorder);

/* Ends a stretch of work of the calling thread that began at `begin`: adds it to its phase and
 * keeps a span. Returns the clock, where the next stretch begins. */
double weft_record(weft_recorder *recorder, weft_phase phase, int partner, double begin);

/* Keeps a span of work that another thread or queue did for a step. Any thread. */
void weft_record_span(weft_recorder *recorder, int step, weft_phase phase, int queue, int partner,
                      double begin, double end);

/* Keeps a span as it is. Any thread. */
void weft_record_tile(weft_recorder *recorder, const weft_span *span);

/* Records that a message was sent, or arrived, at `moment`. */
void weft_record_sent(weft_recorder *recorder, double moment);
void weft_record_arrived(weft_recorder *recorder, double moment);

/* The number of spans that the last execution kept. */
int weft_recorder_spans(weft_recorder *recorder);

#endif
