/*
 * Running a program. Tasks of the device's lanes are enqueued as soon as their order is known, with
 * events where lanes meet; tasks that partners wait for are done as soon as they can be; of all
 * others the first in the list that can go on goes on. The calling thread waits only when nothing
 * can.
 *
 * After a failure on this rank the tasks that only concern it are skipped, but all that partners
 * wait for still takes place, so that no other rank waits forever.
 */
#include "exec/plan.h"
#include "support/error.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

enum {
    AHEAD = 2,    /* copies from partners on a lane: one at work, one to follow at once; what is
                     chosen later is chosen better */
    SPINS = 2000, /* looks before the calling thread gives way: some tens of microseconds */
    NONE = -1
};

enum { WAITING, ISSUED, DONE }; /* weft_progress.state */

/* Messages of an execution. */
typedef struct traffic {
    int receives, sends;   /* on their way */
    int awaited_sends;     /* those sent whose buffer some task wants to write */
    int promised, to_send; /* to the sender: all, and those that it has not taken yet */
    int packed;            /* promised up to the last one that is packed */
    double first_sent;     /* clock of the sender's first message; 0: none yet */
} traffic;

/* Tasks on the lanes of the device that are issued and not known to be done. */
typedef struct work_on_lanes {
    int oldest[WEFT_LANES], newest[WEFT_LANES];
    int copies[WEFT_LANES]; /* from partners; several that are done as one are one */
    int watched;            /* tasks whose end the calling thread waits for */
} work_on_lanes;

/* One execution. */
typedef struct run {
    weft_build *b;
    int s;
    weft_program *p;
    weft_progress *now;
    weft_recorder *recorder;
    weft_status status; /* the first failure */
    double moment;      /* when the last recorded work ended */
    bool paused;        /* the calling thread has waited since */
    int left;           /* tasks that are not issued, or not done though the network carries them */
    int issued;
    int served;  /* all tasks before it that partners wait for have been begun */
    int held;    /* tasks that only wait for partners' signals, at the last look */
    int crowded; /* copies that only wait for others on their lane, at the last look */
    traffic messages;
    work_on_lanes lanes;
} run;

static const weft_task *task_of(const run *r, int t) {
    return &r->p->lowered.tasks.task[t];
}

static bool is_async(const run *r, int t) {
    return weft_lane_is_async(r->b, task_of(r, t)->lane);
}

static const weft_access *access_of(const run *r, int t, int i) {
    return &r->p->lowered.tasks.access[task_of(r, t)->first_access + i];
}

static weft_transport *group_of(const run *r, int t) {
    return r->b->group[task_of(r, t)->as.message.redistribution];
}

/* A copy from a partner's array that goes on by itself. */
static bool is_remote_copy(const run *r, int t) {
    const weft_task *task = task_of(r, t);
    return task->kind == WEFT_TASK_COPY && task->as.copy.from_partner && is_async(r, t);
}

/* ---- readiness ---- */

static void release(run *r, int t) {
    if (--r->now->blockers[t] == 0 && r->now->state[t] == WAITING)
        r->now->ready[t / 64] |= UINT64_C(1) << t % 64;
}

/* A task is done for all that its end has not released yet: of those behind an asynchronous task
 * that also are, its being issued has. */
static void complete(run *r, int t) {
    const weft_dependencies *order = &r->p->order;
    const bool async = is_async(r, t) && r->now->state[t] == ISSUED;
    if (!async) r->left--;
    r->now->state[t] = DONE;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (!async || !is_async(r, order->after[i])) release(r, order->after[i]);
}

static void mark_issued(run *r, int t) {
    const weft_dependencies *order = &r->p->order;
    r->now->ready[t / 64] &= ~(UINT64_C(1) << t % 64);
    r->now->state[t] = ISSUED;
    r->now->order[t] = r->issued++;
    for (int u = r->p->prepared[t].first_released; u >= 0; u = r->p->prepared[u].next_released)
        release(r, u);
    if (!is_async(r, t)) return;
    r->left--;
    for (int i = order->first_after[t]; i < order->first_after[t + 1]; i++)
        if (is_async(r, order->after[i])) release(r, order->after[i]);
}

/* ---- what the device has done ---- */

static void append(run *r, int t) {
    const int lane = task_of(r, t)->lane;
    r->now->next_in_lane[t] = NONE;
    if (r->lanes.oldest[lane] == NONE)
        r->lanes.oldest[lane] = t;
    else
        r->now->next_in_lane[r->lanes.newest[lane]] = t;
    r->lanes.newest[lane] = t;
    r->lanes.copies[lane] += is_remote_copy(r, t) && r->now->recorded_by[t] == t;
    r->lanes.watched += r->p->prepared[t].watched;
}

/* The tasks of a lane up to `last` are done. */
static void complete_through(run *r, int lane, int last) {
    for (int t = NONE; t != last;) {
        t = r->lanes.oldest[lane];
        r->lanes.oldest[lane] = r->now->next_in_lane[t];
        r->lanes.copies[lane] -= is_remote_copy(r, t) && r->now->recorded_by[t] == t;
        r->lanes.watched -= r->p->prepared[t].watched;
        complete(r, t);
    }
}

/* Whether the lane carries messages of the device: then waiting for it is waiting for partners. */
static weft_phase phase_of_lane(const run *r, int lane) {
    weft_phase phase = task_of(r, r->lanes.oldest[lane])->phase;
    for (int t = r->lanes.oldest[lane]; t != NONE; t = r->now->next_in_lane[t])
        if (task_of(r, t)->kind == WEFT_TASK_DEVICE_MESSAGES) phase = WEFT_PHASE_EXCHANGE;
    return phase;
}

static void note_arrivals(run *r, int lane) {
    for (int t = r->lanes.oldest[lane]; t != NONE; t = r->now->next_in_lane[t])
        for (int i = 0;
             task_of(r, t)->kind == WEFT_TASK_DEVICE_MESSAGES && i < task_of(r, t)->accesses; i++)
            if (access_of(r, t, i)->writes) weft_record_arrived(r->recorder, r->moment);
}

/* Waits until everything on the lane is done. */
static void wait_for_lane(run *r, int lane) {
    const weft_device_handle *d = &r->b->device;
    if (r->lanes.oldest[lane] == NONE) return;
    weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->lanes.queue[lane]));
    r->recorder->step = task_of(r, r->lanes.newest[lane])->step;
    r->moment = weft_record(r->recorder, phase_of_lane(r, lane), WEFT_NO_PARTNER, r->moment);
    note_arrivals(r, lane);
    complete_through(r, lane, r->lanes.newest[lane]);
}

/* The first task of the lane that an event was recorded behind; NONE: no event tells more. */
static int next_event(const run *r, int lane) {
    int t = r->lanes.oldest[lane];
    while (t != NONE && (!r->p->prepared[t].event || r->now->recorded_by[t] != t))
        t = r->now->next_in_lane[t];
    return t;
}

static bool look_at_device(run *r) {
    const weft_device_handle *d = &r->b->device;
    bool moved = false;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        for (int t = next_event(r, lane); t != NONE; t = next_event(r, lane)) {
            if (r->status == WEFT_SUCCESS && !d->ops->event_done(d->state, r->p->prepared[t].event))
                break;
            r->recorder->step = task_of(r, t)->step;
            if (r->paused)
                r->moment =
                    weft_record(r->recorder, task_of(r, t)->phase, WEFT_NO_PARTNER, r->moment);
            r->paused = false;
            complete_through(r, lane, t);
            moved = true;
        }
    return moved;
}

/* Also of work that was enqueued and then failed to be put in order: what is still to run would run
 * into what comes next. */
static void wait_for_device(run *r) {
    const weft_device_handle *d = &r->b->device;
    char sentence[WEFT_ERROR_BYTES];
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        if (lane == WEFT_LANE_COMPUTE || r->b->lanes.queue[lane])
            (void)d->ops->queue_wait(d->state, r->b->lanes.queue[lane]);
    weft_thread_error_set(sentence);
}

/* ---- messages ---- */

static bool has_followers(const run *r, int t) {
    return r->p->order.first_after[t + 1] > r->p->order.first_after[t];
}

static weft_status send(run *r, int t) {
    const weft_task *task = task_of(r, t);
    weft_transport *group = group_of(r, t);
    return group->ops->send(group, weft_program_address(r->p, access_of(r, t, 0)),
                            r->p->prepared[t].message, task->partner,
                            &r->now->request[r->p->receives + task->as.message.request]);
}

/* On the sender's thread. */
static weft_status send_announced(void *argument, int t) {
    run *r = argument;
    const double begin = weft_clock();
    const weft_status status = send(r, t);
    weft_record_span(r->recorder, task_of(r, t)->step, WEFT_PHASE_EXCHANGE,
                     weft_sender_threaded(r->b->lanes.sender) ? WEFT_SENDER_QUEUE
                                                              : WEFT_CALLER_QUEUE,
                     task_of(r, t)->partner, begin, weft_clock());
    if (r->messages.first_sent == 0) r->messages.first_sent = begin;
    return status;
}

/* On a thread of the device, or of the caller. */
static void on_packed(void *argument) {
    weft_packed_notice *notice = argument;
    const double free_since = *notice->free_since;
    notice->packed = weft_clock();
    weft_record_span(notice->recorder, notice->step, WEFT_PHASE_PACK,
                     notice->lane - WEFT_LANE_LINK + 1, notice->partner,
                     free_since > notice->enqueued ? free_since : notice->enqueued, notice->packed);
    *notice->free_since = notice->packed;
    weft_sender_announce(notice->sender, notice->task);
}

static void announce(run *r, int t) {
    mark_issued(r, t);
    r->messages.to_send++;
    r->messages.promised++;
    r->messages.sends++;
    r->messages.awaited_sends += has_followers(r, t);
}

/* Behind a copy that packs for the sender. Where the device takes no callback the message leaves at
 * once, for the partner waits for it. */
static void call_when_packed(run *r, int t) {
    const weft_device_handle *d = &r->b->device;
    weft_packed_notice *notice = r->p->prepared[t].notice;
    notice->sender = r->b->lanes.sender;
    notice->recorder = r->recorder;
    notice->enqueued = weft_clock();
    announce(r, notice->task);
    r->messages.packed = r->messages.promised;
    const weft_status status =
        d->ops->callback(d->state, r->b->lanes.queue[task_of(r, t)->lane], on_packed, notice);
    if (status != WEFT_SUCCESS) on_packed(notice);
    weft_keep(&r->status, status);
}

static void alltoall(run *r, int t) {
    weft_transport *group = group_of(r, t);
    const weft_step *step = &r->b->schedule[r->s].step[task_of(r, t)->step];
    const void *from = r->now->address[step->send];
    void *to = r->now->address[step->receive];
    for (int i = 0; i < task_of(r, t)->accesses; i++) {
        const weft_access *a = access_of(r, t, i);
        if (a->writes)
            to = weft_program_address(r->p, a);
        else
            from = weft_program_address(r->p, a);
    }
    if (task_of(r, t)->accesses > 0) weft_record_sent(r->recorder, r->moment);
    weft_keep(&r->status, group->ops->alltoall(group, r->p->prepared[t].alltoall, from, to));
}

/* The partners' sends and receives wait for this rank's, so they are enqueued also after a failure.
 */
static void exchange_by_device(run *r, int t) {
    const weft_device_handle *d = &r->b->device;
    const weft_task *task = task_of(r, t);
    weft_device_message *list = r->p->prepared[t].device;
    weft_device_exchange messages = {.send = list};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < task->accesses; i++) {
            const weft_access *a = access_of(r, t, i);
            int64_t bytes = (int64_t)a->element_bytes;
            if (a->writes != (pass == 1)) continue;
            for (int k = 0; k < a->view.axes; k++) bytes *= a->view.n[k];
            list[messages.sends + messages.receives] = (weft_device_message){
                a->member,
                (char *)weft_program_address(r->p, a) + a->view.offset * (int64_t)a->element_bytes,
                (size_t)bytes};
            *(pass == 1 ? &messages.receives : &messages.sends) += 1;
        }
    messages.receive = list + messages.sends;
    if (messages.sends > 0) weft_record_sent(r->recorder, r->moment);
    weft_keep(&r->status, d->ops->messages->exchange(
                              r->b->meeting.communicator[task->as.message.redistribution],
                              r->b->lanes.queue[task->lane], &messages));
}

/* A message has arrived, or has left. */
static void finish_message(run *r, int request) {
    const int t = r->now->message[request];
    const bool arrived = request < r->p->receives;
    r->paused = false;
    r->recorder->step = task_of(r, t)->step;
    r->moment = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, task_of(r, t)->partner, r->moment);
    if (arrived) weft_record_arrived(r->recorder, r->moment);
    *(arrived ? &r->messages.receives : &r->messages.sends) -= 1;
    if (!arrived) r->messages.awaited_sends -= has_followers(r, t);
    complete(r, t);
}

/* No message of a kind is on its way any more: what failed to begin never was. */
static void finish_all(run *r, weft_task_kind kind) {
    for (int t = 0; t < r->p->lowered.tasks.count; t++)
        if (task_of(r, t)->kind == kind && r->now->state[t] == ISSUED) complete(r, t);
    if (kind == WEFT_TASK_RECEIVE)
        r->messages.receives = 0;
    else
        r->messages.sends = r->messages.awaited_sends = 0;
}

/* Looks for a message that has arrived, or, where tasks wait for that, has left; the sender thread
 * has its requests for itself while it works. */
static bool look_at_messages(run *r, bool wait) {
    weft_transport *any = r->b->group[0];
    const bool sends = r->messages.awaited_sends > 0 && r->messages.to_send == 0;
    int request = NONE;
    if (r->messages.receives == 0 && !sends) return false;
    weft_keep(&r->status,
              (wait ? any->ops->wait_any : any->ops->test_any)(
                  any, r->now->request, r->p->receives + (sends ? r->p->sends : 0), &request));
    if (request >= 0) finish_message(r, request);
    if (request == NONE) finish_all(r, WEFT_TASK_RECEIVE);
    if (request == NONE && sends) finish_all(r, WEFT_TASK_SEND);
    return request >= NONE;
}

/* Every message has left this rank. */
static void finish_sends(run *r) {
    weft_transport *any = r->b->group[0];
    weft_keep(&r->status, any->ops->wait_all(any, r->now->request + r->p->receives, r->p->sends));
    r->moment = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, r->moment);
    finish_all(r, WEFT_TASK_SEND);
}

/* ---- signals ---- */

static int workspace_of(int buffer) {
    return buffer - WEFT_BUFFER_WORKSPACE;
}

static void signal(run *r, int t) {
    const weft_signal_task *signal = &task_of(r, t)->as.signal;
    weft_peer *peer = r->p->peer[signal->peer];
    if (signal->tiles < 0) {
        if (r->status != WEFT_SUCCESS) wait_for_device(r); /* nothing may still be reading */
        weft_peer_finish(peer);
        return;
    }
    const int workspace = workspace_of(signal->buffer);
    if (signal->opens) weft_peer_open(peer, workspace, r->now->address[signal->buffer]);
    weft_peer_complete(peer, signal->all ? WEFT_PEER_TILES - 1 : signal->tiles);
    if (signal->all) r->b->sharing.readers[workspace] = weft_peer_lend(peer);
}

/* Whether the partners let the task go ahead: they have read what it writes, or have written what
 * it awaits. */
static bool partners_allow(run *r, int t) {
    const weft_task *task = task_of(r, t);
    const unsigned claims = r->p->prepared[t].claims;
    if (task->kind == WEFT_TASK_AWAIT && r->status == WEFT_SUCCESS)
        return weft_peer_ready(r->p->peer[task->as.signal.peer], task->as.signal.member,
                               task->as.signal.tiles);
    if (task->kind == WEFT_TASK_SIGNAL && task->as.signal.opens)
        return weft_peer_may_open(r->p->peer[task->as.signal.peer]);
    for (int w = 0; claims >> w != 0; w++)
        if ((claims >> w & 1) && !weft_peer_have_read(&r->b->sharing.readers[w])) return false;
    return true;
}

/* ---- issuing ---- */

/* Events of the lanes that the task's predecessors are on: of each lane the latest, for a lane does
 * its work in order. */
static void await_other_lanes(run *r, int t) {
    const weft_device_handle *d = &r->b->device;
    const weft_dependencies *order = &r->p->order;
    int latest[WEFT_LANES];
    for (int lane = 0; lane < WEFT_LANES; lane++) latest[lane] = NONE;
    for (int i = order->first_before[t]; i < order->first_before[t + 1]; i++) {
        const int u = order->before[i], lane = task_of(r, u)->lane;
        if (lane == task_of(r, t)->lane || r->now->state[u] != ISSUED) continue;
        if (latest[lane] == NONE || r->now->order[u] > r->now->order[latest[lane]])
            latest[lane] = u;
    }
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        if (latest[lane] != NONE)
            weft_keep(&r->status,
                      d->ops->event_await(d->state, r->b->lanes.queue[task_of(r, t)->lane],
                                          r->p->prepared[r->now->recorded_by[latest[lane]]].event));
}

static void record_event(run *r, int t) {
    const weft_device_handle *d = &r->b->device;
    if (!r->p->prepared[t].event) return;
    weft_keep(&r->status, d->ops->event_record(d->state, r->b->lanes.queue[task_of(r, t)->lane],
                                               r->p->prepared[t].event));
}

/* Copies that continue each other, once all that are left of them may begin, are done as one: each
 * costs time of its own. Before, a long copy would keep waiting what is ready next and wanted
 * earlier. Returns the last one. */
static int last_of_copy(const run *r, int t) {
    int last = t;
    for (int u = t; u >= 0; u = task_of(r, u)->as.copy.next) {
        const bool ready = r->now->ready[u / 64] >> u % 64 & 1;
        if (!ready) return t;
        last = u;
    }
    return last;
}

static weft_status copy_through(run *r, int t, int last) {
    const weft_device_handle *d = &r->b->device;
    const weft_task *task = task_of(r, t);
    const weft_access *from = access_of(r, t, 0), *to = access_of(r, t, 1);
    const int axis = task->as.copy.axis;
    const weft_view source = weft_view_through(&from->view, &access_of(r, last, 0)->view, axis);
    const weft_view target = weft_view_through(&to->view, &access_of(r, last, 1)->view, axis);
    const weft_copy copy = weft_copy_between(&source, &target, from->element_bytes);
    return d->ops->copy(d->state, r->b->lanes.queue[task->lane], &copy,
                        weft_program_address(r->p, from), weft_program_address(r->p, to),
                        task->as.copy.transfer);
}

static void issue_copies(run *r, int t) {
    const int last = last_of_copy(r, t);
    for (int u = t;; u = task_of(r, u)->as.copy.next) {
        await_other_lanes(r, u);
        if (u == last) break;
    }
    if (r->status == WEFT_SUCCESS) weft_keep(&r->status, copy_through(r, t, last));
    for (int u = t;; u = task_of(r, u)->as.copy.next) {
        r->now->recorded_by[u] = last;
        append(r, u);
        mark_issued(r, u);
        if (u == last) break;
    }
    record_event(r, last);
}

static void issue_on_device(run *r, int t) {
    const weft_task *task = task_of(r, t);
    if (task->waits) wait_for_lane(r, WEFT_LANE_COMPUTE);
    if (is_remote_copy(r, t)) {
        issue_copies(r, t);
        return;
    }
    await_other_lanes(r, t);
    if (task->kind == WEFT_TASK_DEVICE_MESSAGES)
        exchange_by_device(r, t);
    else if (r->status == WEFT_SUCCESS)
        weft_keep(&r->status, weft_build_enqueue(r->b, r->s, t));
    r->now->recorded_by[t] = t;
    mark_issued(r, t);
    if (!is_async(r, t)) {
        complete(r, t);
        return;
    }
    append(r, t);
    record_event(r, t);
    if (r->p->prepared[t].notice) call_when_packed(r, t);
}

static void issue_on_network(run *r, int t) {
    const weft_task *task = task_of(r, t);
    switch (task->kind) {
    case WEFT_TASK_SEND:
        if (task->lane == WEFT_LANE_SENDER) {
            announce(r, t);
            weft_sender_announce(r->b->lanes.sender, t);
            return;
        }
        mark_issued(r, t);
        weft_record_sent(r->recorder, r->moment);
        r->messages.sends++;
        r->messages.awaited_sends += has_followers(r, t);
        weft_keep(&r->status, send(r, t));
        return;
    case WEFT_TASK_RECEIVE:
        mark_issued(r, t);
        r->messages.receives++;
        weft_keep(&r->status, group_of(r, t)->ops->receive(
                                  group_of(r, t), weft_program_address(r->p, access_of(r, t, 0)),
                                  r->p->prepared[t].message, task->partner,
                                  &r->now->request[task->as.message.request]));
        return;
    case WEFT_TASK_ALLTOALL:
        alltoall(r, t);
        break;
    case WEFT_TASK_AWAIT:
        r->now->address[task->as.signal.buffer] =
            (void *)(uintptr_t)r->p->peer[task->as.signal.peer]->src[task->as.signal.member];
        break;
    default:
        signal(r, t);
    }
    mark_issued(r, t);
    complete(r, t);
}

/* What only concerns this rank is left out after a failure. */
static bool is_skipped(const run *r, int t) {
    const weft_task_kind kind = task_of(r, t)->kind;
    if (r->status == WEFT_SUCCESS) return false;
    return kind == WEFT_TASK_FFT || kind == WEFT_TASK_COPY || kind == WEFT_TASK_POINTWISE ||
           kind == WEFT_TASK_AWAIT;
}

static void issue(run *r, int t) {
    const weft_task *task = task_of(r, t);
    r->recorder->step = task->step;
    if (is_skipped(r, t)) {
        mark_issued(r, t);
        complete(r, t);
        return;
    }
    if (r->paused && task->kind != WEFT_TASK_AWAIT)
        r->moment = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, r->moment);
    r->paused = false;
    if (weft_lane_of_device(task->lane))
        issue_on_device(r, t);
    else
        issue_on_network(r, t);
    if (task->kind == WEFT_TASK_SIGNAL || task->kind == WEFT_TASK_RECEIVE) return;
    r->moment = weft_record(r->recorder, task->phase, task->partner, r->moment);
    if (task->kind == WEFT_TASK_ALLTOALL && task->accesses > 0)
        weft_record_arrived(r->recorder, r->moment);
}

static bool partners_wait_for(const run *r, int t) {
    const weft_task_kind kind = task_of(r, t)->kind;
    return kind >= WEFT_TASK_SEND && kind <= WEFT_TASK_SIGNAL;
}

/* Whether all that partners wait for has been begun that comes before this task. What waits for all
 * of a group is begun only then, for it stops this thread, or the lane, until partners come to it.
 */
static bool is_next_for_partners(run *r, int t) {
    while (r->served < t &&
           (!partners_wait_for(r, r->served) || r->now->state[r->served] != WAITING))
        r->served++;
    return r->served == t && (r->messages.to_send == 0 || weft_sender_threaded(r->b->lanes.sender));
}

/* Whether no message to the same partner can still be behind this one at the sender. */
static bool keeps_order(const run *r, int t) {
    if (task_of(r, t)->lane == WEFT_LANE_SENDER)
        return r->messages.promised - r->messages.to_send >= r->messages.packed;
    return r->messages.to_send == 0;
}

static bool may_go(run *r, int t) {
    const weft_task *task = task_of(r, t);
    if (task->kind == WEFT_TASK_SEND && !keeps_order(r, t)) return false;
    if ((task->kind == WEFT_TASK_ALLTOALL || task->kind == WEFT_TASK_DEVICE_MESSAGES) &&
        !is_next_for_partners(r, t))
        return false;
    if (!partners_allow(r, t)) {
        r->held++;
        return false;
    }
    if (r->status == WEFT_SUCCESS && is_remote_copy(r, t) && r->lanes.copies[task->lane] >= AHEAD) {
        r->crowded++;
        return false;
    }
    return true;
}

/* The first task that may go on, of the device's lanes or of the network's; NONE: there is none. */
static int next_ready(run *r, bool device) {
    for (int i = 0; i <= r->p->lowered.tasks.count / 64; i++)
        for (uint64_t bits = r->now->ready[i]; bits != 0; bits &= bits - 1) {
            const int t = 64 * i + __builtin_ctzll(bits);
            if (weft_lane_of_device(task_of(r, t)->lane) == device && may_go(r, t)) return t;
        }
    return NONE;
}

/* What the network carries goes first, for partners wait for it. Work that the calling thread does
 * itself takes time, in which messages arrive. */
static bool issue_ready(run *r) {
    bool moved = false;
    for (;;) {
        r->held = r->crowded = 0;
        int t = next_ready(r, false);
        if (t == NONE) t = next_ready(r, true);
        if (t == NONE) return moved;
        issue(r, t);
        moved = true;
        if (weft_lane_of_device(task_of(r, t)->lane) && !is_async(r, t)) return true;
    }
}

/* ---- waiting ---- */

static void look_at_sender(run *r) {
    if (r->messages.to_send > 0)
        r->messages.to_send = r->messages.promised - weft_sender_sent(r->b->lanes.sender);
}

/* Ranks may be more than cores, and another rank may still wait for a message that this one's
 * transport holds. */
static void give_way(run *r, int *spins) {
    r->paused = true;
    if (++*spins < SPINS) {
#if defined(__x86_64__) || defined(__i386__)
        _mm_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        return;
    }
    r->b->group[0]->ops->progress(r->b->group[0]);
    sched_yield();
}

/* The lane with the task that was issued first of those whose end is waited for. */
static int watched_lane(const run *r) {
    int found = NONE, first = NONE;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        for (int t = r->lanes.oldest[lane]; t != NONE; t = r->now->next_in_lane[t])
            if (r->p->prepared[t].watched && (first == NONE || r->now->order[t] < first)) {
                first = r->now->order[t];
                found = lane;
            }
    return found;
}

/* Nothing can go on. Where only one kind of news can change that, this waits for it; else it
 * returns at once, and the caller looks at everything again. */
static void wait(run *r, int *spins) {
    const bool device = r->lanes.watched > 0, partners = r->held > 0,
               sender = r->messages.to_send > 0;
    const bool messages = r->messages.receives > 0 || (r->messages.awaited_sends > 0 && !sender);
    const bool thread = !sender || weft_sender_threaded(r->b->lanes.sender);
    if (device && !partners && !messages && !sender) {
        wait_for_lane(r, watched_lane(r));
    } else if (messages && !device && !partners && thread &&
               (!sender || r->messages.awaited_sends == 0)) {
        look_at_messages(r, true);
    } else if (sender && !device && !partners && !messages) {
        weft_sender_wait(r->b->lanes.sender, r->messages.promised - r->messages.to_send);
    } else if (r->messages.sends > 0 && !device && !partners && !messages && !sender) {
        finish_sends(r);
    } else {
        give_way(r, spins);
        return;
    }
    *spins = 0;
}

/* ---- a run ---- */

static void begin(run *r) {
    const int tasks = r->p->lowered.tasks.count;
    weft_progress *now = r->now;
    r->left = tasks;
    memcpy(now->blockers, r->p->blockers, (size_t)tasks * sizeof *now->blockers);
    memset(now->state, WAITING, (size_t)tasks);
    memset(now->ready, 0, ((size_t)tasks / 64 + 1) * sizeof *now->ready);
    for (int t = 0; t < tasks; t++)
        if (now->blockers[t] == 0) now->ready[t / 64] |= UINT64_C(1) << t % 64;
    for (int i = 0; i < r->p->receives + r->p->sends; i++)
        now->request[i] = r->b->group[0]->ops->no_request();
    for (int i = 0; i < r->p->notices; i++) r->p->notice[i].enqueued = 0;
    for (int lane = 0; lane < WEFT_LANES; lane++) r->lanes.oldest[lane] = NONE;
    if (r->p->lowered.lanes & 1 << WEFT_LANE_SENDER)
        weft_sender_begin(r->b->lanes.sender, send_announced, r);
}

/* Blocks are packed on lanes of their own, beside everything else: from the first to the last. */
static double packing_time(const run *r) {
    double first = 0, last = 0;
    for (int i = 0; i < r->p->notices; i++) {
        const weft_packed_notice *n = &r->p->notice[i];
        if (n->enqueued > 0 && (first == 0 || n->enqueued < first)) first = n->enqueued;
        if (n->enqueued > 0 && n->packed > last) last = n->packed;
    }
    return last - first;
}

static void end(run *r) {
    const weft_device_handle *d = &r->b->device;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++) {
        wait_for_lane(r, lane);
        if (r->p->lowered.lanes >> lane & 1) /* also of what has ended: only this tells failures */
            weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->lanes.queue[lane]));
    }
    if (!(r->p->lowered.lanes & 1 << WEFT_LANE_SENDER)) return;
    r->recorder->timings.pack += packing_time(r);
    if (r->messages.first_sent > 0) weft_record_sent(r->recorder, r->messages.first_sent);
    weft_keep(&r->status, weft_sender_end(r->b->lanes.sender));
}

static void run_tasks(run *r) {
    int spins = 0;
    begin(r);
    while (r->left > 0) {
        bool moved = look_at_device(r);
        moved = look_at_messages(r, false) || moved;
        look_at_sender(r);
        moved = issue_ready(r) || moved;
        if (moved)
            spins = 0;
        else if (r->left > 0)
            wait(r, &spins);
    }
    end(r);
}

/* Every task is on the compute lane: lists of tasks that are enqueued at once, and waits. A step is
 * a list, but where lists become graphs all up to the next wait. */
static void run_in_order(run *r) {
    const weft_device_handle *d = &r->b->device;
    const weft_tasks *tasks = &r->p->lowered.tasks;
    const weft_task *task = tasks->task;
    for (int first = 0, last; first < tasks->count && r->status == WEFT_SUCCESS; first = last) {
        last = first + 1;
        while (last < tasks->count && !task[last].waits &&
               (r->b->repetition.possible[r->s] || task[last].step == task[first].step))
            last++;
        r->recorder->step = task[last - 1].step;
        r->status = weft_build_enqueue_all(r->b, r->s, first, last);
        if (r->status == WEFT_SUCCESS && (last == tasks->count || task[last].waits))
            r->status = d->ops->queue_wait(d->state, NULL);
        r->moment = weft_record(r->recorder, task[last - 1].phase, WEFT_NO_PARTNER, r->moment);
    }
}

weft_status weft_build_run(weft_build *b, weft_direction direction, bool in_place, const void *in,
                           void *out, weft_recorder *recorder) {
    const int s = weft_schedule_index(direction, in_place);
    weft_program *p = &b->program[s];
    run r = {.b = b, .s = s, .p = p, .now = &p->progress, .recorder = recorder};
    void **address = p->progress.address;
    address[WEFT_BUFFER_IN] = (void *)(uintptr_t)in; /* only ever read */
    address[WEFT_BUFFER_OUT] = out;
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++) address[i] = b->buffers.memory[i];
    weft_recorder_start(recorder);
    r.moment = recorder->start;
    recorder->timings.bytes_sent = p->lowered.bytes_sent;
    recorder->timings.messages_sent = p->lowered.messages_sent;
    if (b->device.ops->await_caller) r.status = b->device.ops->await_caller(b->device.state);
    if (p->sequential)
        run_in_order(&r);
    else
        run_tasks(&r);
    if (r.status != WEFT_SUCCESS) wait_for_device(&r);
    recorder->timings.total = r.moment - recorder->start;
    return r.status;
}
