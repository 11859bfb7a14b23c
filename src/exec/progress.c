/*
 * How far an execution is. A task that has been issued or has ended unblocks the tasks that wait
 * for that. Which tasks of the device's lanes have ended is known from events, or from waiting for
 * a lane.
 */
#include "exec/run.h"

#include "support/error.h"

#include <stdio.h>

static void unblock(weft_execution *r, int t) {
    if (--r->now[t].blockers == 0 && r->now[t].stage == WEFT_TASK_WAITING)
        r->p->progress.ready[t / 64] |= UINT64_C(1) << t % 64;
}

/* Unblocks what the end of a task unblocks: everything that depends on it, except that tasks of the
 * device behind a task of the device were unblocked when that one was issued. */
void weft_execution_complete(weft_execution *r, int t) {
    const weft_dependencies *order = &r->p->order;
    const bool async = r->prepared[t].async && r->now[t].stage == WEFT_TASK_ISSUED;
    if (!async) r->left--;
    r->now[t].stage = WEFT_TASK_DONE;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (!async || !r->prepared[order->after[i]].async) unblock(r, order->after[i]);
}

void weft_execution_mark_issued(weft_execution *r, int t) {
    const weft_dependencies *order = &r->p->order;
    r->p->progress.ready[t / 64] &= ~(UINT64_C(1) << t % 64);
    r->now[t].stage = WEFT_TASK_ISSUED;
    r->now[t].issued = r->issued++;
    for (int u = r->prepared[t].first_released; u >= 0; u = r->prepared[u].next_released)
        unblock(r, u);
    if (!r->prepared[t].async) return;
    r->left--;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (r->prepared[order->after[i]].async) unblock(r, order->after[i]);
}

/* ---- what the device has done ---- */

void weft_execution_append(weft_execution *r, int t) {
    const int lane = r->task[t].lane;
    r->now[t].next_in_lane = WEFT_NO_TASK;
    if (r->lanes.oldest[lane] == WEFT_NO_TASK)
        r->lanes.oldest[lane] = t;
    else
        r->now[r->lanes.newest[lane]].next_in_lane = t;
    r->lanes.newest[lane] = t;
    r->lanes.copies[lane] += weft_execution_is_remote_copy(r, t) && r->now[t].recorded_by == t;
    r->lanes.watched += r->prepared[t].watched;
}

/* Completes the tasks of a lane up to `last`. */
static void complete_through(weft_execution *r, int lane, int last) {
    for (int t = WEFT_NO_TASK; t != last;) {
        t = r->lanes.oldest[lane];
        r->lanes.oldest[lane] = r->now[t].next_in_lane;
        r->lanes.copies[lane] -= weft_execution_is_remote_copy(r, t) && r->now[t].recorded_by == t;
        r->lanes.watched -= r->prepared[t].watched;
        weft_execution_complete(r, t);
    }
}

/* Records the time until now for the tasks of a lane up to `last`, if the calling thread has waited
 * for them or messages are among them, which the device carries. */
static void record_through(weft_execution *r, int lane, int last, bool waited) {
    const int oldest = r->lanes.oldest[lane];
    bool messages = false, arrivals = false;
    for (int t = oldest;; t = r->now[t].next_in_lane) {
        messages = messages || r->task[t].kind == WEFT_TASK_DEVICE_MESSAGES;
        for (int i = 0; i < r->task[t].accesses && r->task[t].kind == WEFT_TASK_DEVICE_MESSAGES;
             i++)
            arrivals = arrivals || weft_execution_access(r, t, i)->writes;
        if (t == last) break;
    }
    r->recorder->step = r->task[last].step;
    if (waited || messages)
        r->moment = weft_record(r->recorder, messages ? WEFT_PHASE_EXCHANGE : r->task[oldest].phase,
                                WEFT_NO_PARTNER, r->moment);
    if (arrivals) weft_record_arrived(r->recorder, r->moment);
}

void weft_execution_wait_for_lane(weft_execution *r, int lane) {
    const weft_device_handle *d = &r->b->device;
    const int newest = r->lanes.newest[lane];
    if (r->lanes.oldest[lane] == WEFT_NO_TASK) return;
    weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->lanes.queue[lane]));
    record_through(r, lane, newest, true);
    complete_through(r, lane, newest);
}

/* The oldest task of the lane that an event was recorded behind, or WEFT_NO_TASK. */
static int next_event(const weft_execution *r, int lane) {
    int t = r->lanes.oldest[lane];
    while (t != WEFT_NO_TASK && (!r->prepared[t].event || r->now[t].recorded_by != t))
        t = r->now[t].next_in_lane;
    return t;
}

bool weft_execution_look_at_device(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    bool moved = false;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        for (int t = next_event(r, lane); t != WEFT_NO_TASK; t = next_event(r, lane)) {
            if (r->status == WEFT_SUCCESS && !d->ops->event_done(d->state, r->prepared[t].event))
                break;
            record_through(r, lane, t, r->paused);
            r->paused = false;
            complete_through(r, lane, t);
            moved = true;
        }
    return moved;
}

/* After a failure, work may still be on any queue, and must not run into the next execution. */
void weft_execution_wait_for_device(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    char sentence[WEFT_ERROR_BYTES];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        if (lane == WEFT_LANE_COMPUTE || r->b->lanes.queue[lane])
            (void)d->ops->queue_wait(d->state, r->b->lanes.queue[lane]);
    weft_thread_error_set(sentence);
}
