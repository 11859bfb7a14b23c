/*
 * What of an execution is done: tasks release those that wait for them, and lanes of the device
 * tell by events, or by a wait, how far they are.
 */
#include "exec/run.h"

#include "support/error.h"

#include <stdio.h>

static void release(weft_execution *r, int t) {
    if (--r->now->blockers[t] == 0 && r->now->state[t] == WEFT_TASK_WAITING)
        r->now->ready[t / 64] |= UINT64_C(1) << t % 64;
}

/* A task is done for all that its end has not released yet: of those behind an asynchronous task
 * that also are, its being issued has. */
void weft_execution_complete(weft_execution *r, int t) {
    const weft_dependencies *order = &r->p->order;
    const bool async = weft_execution_is_async(r, t) && r->now->state[t] == WEFT_TASK_ISSUED;
    if (!async) r->left--;
    r->now->state[t] = WEFT_TASK_DONE;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (!async || !weft_execution_is_async(r, order->after[i])) release(r, order->after[i]);
}

void weft_execution_mark_issued(weft_execution *r, int t) {
    const weft_dependencies *order = &r->p->order;
    r->now->ready[t / 64] &= ~(UINT64_C(1) << t % 64);
    r->now->state[t] = WEFT_TASK_ISSUED;
    r->now->order[t] = r->issued++;
    for (int u = r->p->prepared[t].first_released; u >= 0; u = r->p->prepared[u].next_released)
        release(r, u);
    if (!weft_execution_is_async(r, t)) return;
    r->left--;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (weft_execution_is_async(r, order->after[i])) release(r, order->after[i]);
}

/* ---- what the device has done ---- */

void weft_execution_append(weft_execution *r, int t) {
    const int lane = weft_execution_task(r, t)->lane;
    r->now->next_in_lane[t] = WEFT_NO_TASK;
    if (r->lanes.oldest[lane] == WEFT_NO_TASK)
        r->lanes.oldest[lane] = t;
    else
        r->now->next_in_lane[r->lanes.newest[lane]] = t;
    r->lanes.newest[lane] = t;
    r->lanes.copies[lane] += weft_execution_is_remote_copy(r, t) && r->now->recorded_by[t] == t;
    r->lanes.watched += r->p->prepared[t].watched;
}

/* The tasks of a lane up to `last` are done. */
static void complete_through(weft_execution *r, int lane, int last) {
    for (int t = WEFT_NO_TASK; t != last;) {
        t = r->lanes.oldest[lane];
        r->lanes.oldest[lane] = r->now->next_in_lane[t];
        r->lanes.copies[lane] -= weft_execution_is_remote_copy(r, t) && r->now->recorded_by[t] == t;
        r->lanes.watched -= r->p->prepared[t].watched;
        weft_execution_complete(r, t);
    }
}

/* Whether the lane carries messages of the device: then waiting for it is waiting for partners. */
static weft_phase phase_of_lane(const weft_execution *r, int lane) {
    weft_phase phase = weft_execution_task(r, r->lanes.oldest[lane])->phase;
    for (int t = r->lanes.oldest[lane]; t != WEFT_NO_TASK; t = r->now->next_in_lane[t])
        if (weft_execution_task(r, t)->kind == WEFT_TASK_DEVICE_MESSAGES)
            phase = WEFT_PHASE_EXCHANGE;
    return phase;
}

static void note_arrivals(weft_execution *r, int lane) {
    for (int t = r->lanes.oldest[lane]; t != WEFT_NO_TASK; t = r->now->next_in_lane[t])
        for (int i = 0; weft_execution_task(r, t)->kind == WEFT_TASK_DEVICE_MESSAGES &&
                        i < weft_execution_task(r, t)->accesses;
             i++)
            if (weft_execution_access(r, t, i)->writes) weft_record_arrived(r->recorder, r->moment);
}

/* Waits until everything on the lane is done. */
void weft_execution_wait_for_lane(weft_execution *r, int lane) {
    const weft_device_handle *d = &r->b->device;
    if (r->lanes.oldest[lane] == WEFT_NO_TASK) return;
    weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->lanes.queue[lane]));
    r->recorder->step = weft_execution_task(r, r->lanes.newest[lane])->step;
    r->moment = weft_record(r->recorder, phase_of_lane(r, lane), WEFT_NO_PARTNER, r->moment);
    note_arrivals(r, lane);
    complete_through(r, lane, r->lanes.newest[lane]);
}

/* The first task of the lane that an event was recorded behind; WEFT_NO_TASK: no event tells more.
 */
static int next_event(const weft_execution *r, int lane) {
    int t = r->lanes.oldest[lane];
    while (t != WEFT_NO_TASK && (!r->p->prepared[t].event || r->now->recorded_by[t] != t))
        t = r->now->next_in_lane[t];
    return t;
}

bool weft_execution_look_at_device(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    bool moved = false;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        for (int t = next_event(r, lane); t != WEFT_NO_TASK; t = next_event(r, lane)) {
            if (r->status == WEFT_SUCCESS && !d->ops->event_done(d->state, r->p->prepared[t].event))
                break;
            r->recorder->step = weft_execution_task(r, t)->step;
            if (r->paused)
                r->moment = weft_record(r->recorder, weft_execution_task(r, t)->phase,
                                        WEFT_NO_PARTNER, r->moment);
            r->paused = false;
            complete_through(r, lane, t);
            moved = true;
        }
    return moved;
}

/* Also of work that was enqueued and then failed to be put in order: what is still to run would run
 * into what comes next. */
void weft_execution_wait_for_device(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    char sentence[WEFT_ERROR_BYTES];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        if (lane == WEFT_LANE_COMPUTE || r->b->lanes.queue[lane])
            (void)d->ops->queue_wait(d->state, r->b->lanes.queue[lane]);
    weft_thread_error_set(sentence);
}
