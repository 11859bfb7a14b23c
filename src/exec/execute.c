/*
 * Running a schedule. After a failure on this rank the steps that only concern it are skipped, but
 * exchanges still take place, so that no other rank waits forever.
 */
#include "exchange/peer.h"
#include "exec/plan.h"
#include "support/error.h"

#include <stdio.h>

/* What is left of an exchange whose data the next step loads where it lies. */
static weft_status await_partners(weft_exchange_plan *e) {
    weft_status status = e->device->ops->queue_wait(e->device->state, NULL);
    weft_peer_publish(e);
    double start = weft_clock();
    weft_peer_await_all(e);
    weft_record(e->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
    return status;
}

static bool leaves_data(const weft_step *step) {
    return step->kind == WEFT_STEP_EXCHANGE && weft_step_leaves_data(step);
}

static weft_status run_exchange(weft_build *b, int s, int i, void *const *buffer,
                                weft_recorder *recorder) {
    const weft_step *step = &b->schedule[s].step[i];
    weft_exchange_plan *e = weft_build_ready_part(step, b->parts[s][i].part, buffer, recorder);
    recorder->timings.bytes_sent += step->bytes_sent;
    recorder->timings.messages_sent += step->messages_sent;
    weft_status status = leaves_data(step) ? await_partners(e) : e->ops->run(e);
    if (e->ops->shared) weft_build_lend(b, e);
    return status;
}

static weft_phase phase_of(weft_step_kind kind) {
    switch (kind) {
    case WEFT_STEP_FFT:
        return WEFT_PHASE_FFT;
    case WEFT_STEP_COPY:
        return WEFT_PHASE_COPY;
    default:
        return WEFT_PHASE_LOCAL;
    }
}

/* The exchange in parts that begins with step i; -1: none. */
static int next_in_parts(const weft_schedule *schedule, int i) {
    for (int k = i; k <= i + 1 && k < schedule->steps; k++) {
        const weft_step *step = &schedule->step[k];
        if (step->kind == WEFT_STEP_EXCHANGE && weft_step_in_parts(step) &&
            (k == i || step->overlaps_before))
            return k;
    }
    return -1;
}

/* Steps first to last, which are enqueued at once. *moment: when the last stretch of work ended. */
static weft_status run_local(weft_build *b, int s, int first, int last, void *const *buffer,
                             weft_recorder *recorder, double *moment) {
    const weft_schedule *schedule = &b->schedule[s];
    if (b->shared) *moment = weft_clock(); /* partners may have been waited for */
    weft_status status = weft_build_enqueue(b, s, first, last, buffer);
    if (status == WEFT_SUCCESS && weft_build_ends_phase(b, schedule, last))
        status = b->device.ops->queue_wait(b->device.state, NULL);
    *moment = weft_record(recorder, phase_of(schedule->step[last].kind), WEFT_NO_PARTNER, *moment);
    return status;
}

weft_status weft_build_await_device(const weft_build *b, const weft_step *step, weft_queue *queue,
                                    weft_recorder *recorder) {
    bool receives = false;
    double begin = weft_clock();
    weft_status status = b->device.ops->queue_wait(b->device.state, queue);
    double end = weft_record(recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, begin);
    for (int m = 0; m < step->exchange.members; m++)
        receives = receives || (m != step->exchange.me && step->exchange.receive[m].elements > 0);
    if (receives) weft_record_arrived(recorder, end);
    return status;
}

/* Waits for what an exchange in parts, or the last exchange, has left on the queue. */
static weft_status wait_for_rest(weft_build *b, const weft_step *step, weft_recorder *recorder) {
    if (step->kind == WEFT_STEP_EXCHANGE && step->method->by_device)
        return weft_build_await_device(b, step, NULL, recorder);
    double begin = weft_clock();
    weft_status status = b->device.ops->queue_wait(b->device.state, NULL);
    weft_record(recorder,
                step->kind == WEFT_STEP_EXCHANGE ? WEFT_PHASE_UNPACK : phase_of(step->kind),
                WEFT_NO_PARTNER, begin);
    return status;
}

/* After a failure, which may have been that of an order between queues: what is still to run on any
 * of them would run into the next execution. */
static void leave_nothing_running(weft_build *b) {
    const weft_device_handle *d = &b->device;
    char sentence[WEFT_ERROR_BYTES];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    (void)d->ops->queue_wait(d->state, NULL);
    for (int q = 0; q < WEFT_EXCHANGE_QUEUES; q++)
        if (b->exchange_queue[q]) (void)d->ops->queue_wait(d->state, b->exchange_queue[q]);
    if (b->far_queue) (void)d->ops->queue_wait(d->state, b->far_queue);
    weft_thread_error_set(sentence);
}

weft_status weft_build_run(weft_build *b, weft_direction direction, bool in_place, const void *in,
                           void *out, weft_recorder *recorder) {
    int s = weft_schedule_index(direction, in_place);
    const weft_schedule *schedule = &b->schedule[s];
    weft_status status = WEFT_SUCCESS;
    void *buffer[WEFT_BUFFERS];
    weft_recorder_start(recorder);
    double moment = recorder->start;                /* when the last stretch of work ended */
    buffer[WEFT_BUFFER_IN] = (void *)(uintptr_t)in; /* only ever read */
    buffer[WEFT_BUFFER_OUT] = out;
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++) buffer[i] = b->buffer[i];

    if (b->device.ops->await_caller) status = b->device.ops->await_caller(b->device.state);
    for (int i = 0; i < schedule->steps; i++) {
        weft_status step_status = WEFT_SUCCESS;
        const int parts = next_in_parts(schedule, i);
        if (parts >= 0) { /* with the transforms around it */
            recorder->step = parts;
            step_status = weft_build_run_parts(b, s, parts, buffer, status, recorder);
            i = schedule->step[parts].overlaps_after ? parts + 1 : parts;
        } else {
            const int first = i;
            i = weft_build_stretch(b, s, first);
            recorder->step = i;
            weft_build_take_back(b, &schedule->step[i]);
            if (schedule->step[i].kind == WEFT_STEP_EXCHANGE)
                step_status = run_exchange(b, s, i, buffer, recorder);
            else if (status == WEFT_SUCCESS)
                step_status = run_local(b, s, first, i, buffer, recorder, &moment);
            if (i > 0 && leaves_data(&schedule->step[i - 1]))
                weft_peer_finish(&b->parts[s][i - 1].part->exchange);
        }
        bool waits = parts >= 0 || schedule->step[i].kind == WEFT_STEP_EXCHANGE;
        if (waits && step_status == WEFT_SUCCESS && weft_build_ends_phase(b, schedule, i))
            step_status = wait_for_rest(b, &schedule->step[i], recorder);
        if (waits) moment = weft_clock();
        if (status == WEFT_SUCCESS) status = step_status;
    }
    if (status != WEFT_SUCCESS) leave_nothing_running(b);
    recorder->timings.total = (b->shared ? weft_clock() : moment) - recorder->start;
    return status;
}
