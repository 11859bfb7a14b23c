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

static weft_status run_exchange(weft_build *b, int s, int i, void *const *buffer,
                                weft_recorder *recorder) {
    const weft_step *step = &b->schedule[s].step[i];
    weft_exchange_plan *e = &b->exchange[s][i];
    e->src = buffer[step->src];
    e->send = buffer[step->send];
    e->receive = buffer[step->receive];
    e->dst = buffer[step->dst];
    e->recorder = recorder;
    recorder->timings.bytes_sent += step->bytes_sent;
    recorder->timings.messages_sent += step->messages_sent;
    weft_status status = b->fused[s][i] ? await_partners(e) : e->ops->run(e);
    if (e->ops->shared) weft_build_lend(b, e);
    return status;
}

static weft_status run_local(weft_build *b, int s, int i, void *const *buffer) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_device_handle *device = &b->device;
    const void *src = buffer[step->src];
    void *dst = buffer[step->dst];
    if (i > 0 && b->fused[s][i - 1]) src = b->exchange[s][i - 1].peer_src;
    switch (step->kind) {
    case WEFT_STEP_FFT:
        if (!b->transform[s][i]) return WEFT_SUCCESS; /* nothing here */
        return b->engine->execute(b->transform[s][i], device, NULL, src, dst);
    case WEFT_STEP_COPY:
        if (step->copy.elements == 0) return WEFT_SUCCESS;
        return device->ops->copy(device->state, NULL, &step->copy, src, dst, step->transfer);
    case WEFT_STEP_SCALE:
        if (step->count == 0) return WEFT_SUCCESS;
        return device->ops->scale(device->state, NULL, b->schedule[s].precision, dst, step->count,
                                  step->factor);
    case WEFT_STEP_EXCHANGE:
        break;
    }
    return WEFT_SUCCESS;
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

    for (int i = 0; i < schedule->steps; i++) {
        weft_status step_status = WEFT_SUCCESS;
        weft_step_kind kind = schedule->step[i].kind;
        recorder->step = i;
        weft_build_take_back(b, &schedule->step[i]);
        if (b->shared) moment = weft_clock(); /* partners may have been waited for */
        if (kind == WEFT_STEP_EXCHANGE) {
            step_status = run_exchange(b, s, i, buffer, recorder);
            moment = weft_clock();
        } else if (status == WEFT_SUCCESS) {
            bool wait = i + 1 == schedule->steps ||
                        (schedule->step[i + 1].kind != kind && !b->device.ops->host_addressable);
            step_status = run_local(b, s, i, buffer);
            if (step_status == WEFT_SUCCESS && wait)
                step_status = b->device.ops->queue_wait(b->device.state, NULL);
            moment = weft_record(recorder, phase_of(kind), WEFT_NO_PARTNER, moment);
        }
        if (i > 0 && b->fused[s][i - 1]) weft_peer_finish(&b->exchange[s][i - 1]);
        if (status == WEFT_SUCCESS) status = step_status;
    }
    if (status != WEFT_SUCCESS && !b->device.ops->host_addressable) {
        char sentence[1024];
        snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
        b->device.ops->queue_wait(b->device.state, NULL); /* leave nothing running */
        weft_thread_error_set(sentence);
    }
    recorder->timings.total = (b->shared ? weft_clock() : moment) - recorder->start;
    return status;
}
