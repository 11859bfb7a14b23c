/* Sums and spans of an execution: see recorder.h. */
#include "support/recorder.h"

#include <stddef.h>
#include <string.h>

void weft_recorder_start(weft_recorder *r) {
    memset(&r->timings, 0, offsetof(weft_timings, reserved));
    r->single = false;
    r->step = 0;
    atomic_store_explicit(&r->count, 0, memory_order_relaxed);
    r->start = weft_clock();
}

weft_timings weft_recorder_timings(const weft_recorder *r) {
    if (!r->single) return r->timings;
    const double seconds = weft_ticks_seconds(r->ticker, r->ticks);
    return (weft_timings){.total = seconds, .fft = seconds};
}

static double *phase_sum(weft_timings *timings, weft_phase phase) {
    switch (phase) {
    case WEFT_PHASE_FFT:
        return &timings->fft;
    case WEFT_PHASE_PACK:
        return &timings->pack;
    case WEFT_PHASE_EXCHANGE:
        return &timings->exchange;
    case WEFT_PHASE_UNPACK:
        return &timings->unpack;
    case WEFT_PHASE_COPY:
        return &timings->copy;
    case WEFT_PHASE_LOCAL:
        break;
    }
    return &timings->local;
}

double weft_record(weft_recorder *r, weft_phase phase, int partner, double begin) {
    double end = weft_clock();
    *phase_sum(&r->timings, phase) += end - begin;
    weft_record_span(r, r->step, phase, WEFT_CALLER_QUEUE, partner, begin, end);
    return end;
}

void weft_record_tile(weft_recorder *r, const weft_span *span) {
    if (!r->spans) return;
    int place = atomic_fetch_add_explicit(&r->count, 1, memory_order_relaxed);
    if (place < r->capacity) r->spans[place] = *span;
}

void weft_record_span(weft_recorder *r, int step, weft_phase phase, int queue, int partner,
                      double begin, double end) {
    weft_record_tile(r, &(weft_span){.phase = phase,
                                     .step = step,
                                     .queue = queue,
                                     .partner = partner,
                                     .begin = begin,
                                     .end = end,
                                     .tile = -1});
}

void weft_record_sent(weft_recorder *r, double moment) {
    if (r->timings.first_message == 0) r->timings.first_message = moment - r->start;
}

void weft_record_arrived(weft_recorder *r, double moment) {
    r->timings.last_message = moment - r->start;
}

int weft_recorder_spans(weft_recorder *r) {
    int count = atomic_load_explicit(&r->count, memory_order_relaxed);
    return count < r->capacity ? count : r->capacity;
}
