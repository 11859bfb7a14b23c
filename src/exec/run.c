/*
 * Running a program. A task of the device's lanes is enqueued as soon as what it waits for is
 * enqueued, with events where lanes meet. Tasks of the network are done first, for partners wait
 * for them; else the first task of the list that can be issued is issued. The calling thread waits
 * only when none can.
 *
 * After a failure on this rank the tasks that only concern it are skipped, but all that partners
 * wait for still takes place, so that no other rank waits forever.
 */
#include "exec/run.h"

#include "support/error.h"
#include "support/host_memory.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

enum {
    AHEAD = 2,   /* copies from a partner on a lane: one in progress and one to follow at once. A
                    later choice of the next tile is a better one */
    SPINS = 2000 /* looks before the calling thread yields: some tens of microseconds */
};

/* ---- signals ---- */

static void signal(weft_execution *r, int t) {
    const weft_signal_task *signal = &r->task[t].as.signal;
    weft_peer *peer = r->p->peer[signal->peer];
    if (signal->tiles < 0) {
        if (r->status != WEFT_SUCCESS)
            weft_execution_wait_for_device(r); /* nothing may still be reading */
        weft_peer_finish(peer);
        return;
    }
    const int workspace = signal->buffer - WEFT_BUFFER_WORKSPACE;
    if (signal->opens) weft_peer_open(peer, workspace, r->p->progress.address[signal->buffer]);
    weft_peer_complete(peer, signal->all ? WEFT_PEER_TILES - 1 : signal->tiles);
    /* An array of nothing was not written, so who reads the one before it may not have been waited
     * for, and must still be. */
    if (signal->all && peer->readers > 0)
        r->b->sharing.readers[workspace] = weft_peer_current_readers(peer);
}

/* Whether the partners allow the task: they have read what it overwrites, or have written what it
 * awaits. */
static bool partners_allow(weft_execution *r, int t) {
    const weft_task *task = &r->task[t];
    const weft_signal_task *signal = &task->as.signal;
    const unsigned claims = r->prepared[t].claims;
    if (task->kind == WEFT_TASK_AWAIT && r->status == WEFT_SUCCESS)
        return weft_peer_ready(r->p->peer[signal->peer], signal->member, signal->tiles);
    if (task->kind == WEFT_TASK_SIGNAL && signal->opens)
        return weft_peer_may_open(r->p->peer[signal->peer]);
    for (int w = 0; claims >> w != 0; w++)
        if ((claims >> w & 1) && !weft_peer_have_read(&r->b->sharing.readers[w])) return false;
    return true;
}

/* ---- issuing ---- */

/* Makes the task's lane wait for its predecessors on other lanes: for the latest of each lane,
 * which does its work in order. */
static void await_other_lanes(weft_execution *r, int t) {
    const weft_device_handle *d = &r->b->device;
    const weft_dependencies *order = &r->p->order;
    int latest[WEFT_LANES];
    for (int lane = 0; lane < WEFT_LANES; lane++) latest[lane] = WEFT_NO_TASK;
    for (int i = order->first_before[t]; i < order->first_before[t + 1]; i++) {
        const int u = order->before[i], lane = r->task[u].lane;
        if (lane == r->task[t].lane || r->now[u].stage != WEFT_TASK_ISSUED) continue;
        if (latest[lane] == WEFT_NO_TASK || r->now[u].issued > r->now[latest[lane]].issued)
            latest[lane] = u;
    }
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++)
        if (latest[lane] != WEFT_NO_TASK)
            weft_keep(&r->status,
                      d->ops->event_await(d->state, r->b->lanes.queue[r->task[t].lane],
                                          r->prepared[r->now[latest[lane]].recorded_by].event));
}

/* Whether the copy waits for something of this rank's, or for data that a partner has yet to write.
 */
static bool is_blocked(const weft_execution *r, int t) {
    return r->now[t].stage == WEFT_TASK_WAITING && !(r->p->progress.ready[t / 64] >> t % 64 & 1);
}

/* The copies of a tile from the partners follow each other in the list: the first of them, and the
 * task behind the last one. */
static bool is_of_tile(const weft_execution *r, int t, int u) {
    return u >= 0 && u < r->p->lowered.tasks.count && weft_execution_is_remote_copy(r, u) &&
           r->task[u].step == r->task[t].step && r->task[u].tile == r->task[t].tile;
}

static int first_of_tile(const weft_execution *r, int t) {
    while (is_of_tile(r, t, t - 1)) t--;
    return t;
}

static int end_of_tile(const weft_execution *r, int t) {
    int end = t + 1;
    while (is_of_tile(r, t, end)) end++;
    return end;
}

/* Copies that continue each other are done as one, since each costs time of its own, but only once
 * all of them may begin, those of the tile from other partners too, so that ranks stay in step.
 * Before that, a long copy would delay those that become ready meanwhile and are wanted earlier.
 * Returns the last copy that is done with this one. */
static int last_of_copy(const weft_execution *r, int t) {
    const int end = end_of_tile(r, t);
    int last = t;
    for (int v = first_of_tile(r, t); v < end; v++)
        for (int u = v; u >= 0; u = r->task[u].as.copy.next)
            if (is_blocked(r, u)) return t;
    for (int u = t; u >= 0 && r->now[u].stage == WEFT_TASK_WAITING; u = r->task[u].as.copy.next)
        last = u;
    return last;
}

static int next_copy(const weft_execution *r, int t, int last) {
    return t == last ? WEFT_NO_TASK : r->task[t].as.copy.next;
}

static weft_status copy_through(weft_execution *r, int t, int last) {
    const weft_device_handle *d = &r->b->device;
    const weft_access *from = weft_execution_access(r, t, 0), *to = weft_execution_access(r, t, 1);
    const int axis = r->task[t].as.copy.axis;
    const weft_view source =
        weft_view_through(&from->view, &weft_execution_access(r, last, 0)->view, axis);
    const weft_view target =
        weft_view_through(&to->view, &weft_execution_access(r, last, 1)->view, axis);
    const weft_copy copy = weft_copy_between(&source, &target, from->element_bytes);
    return d->ops->copy(d->state, r->b->lanes.queue[r->task[t].lane], &copy,
                        weft_program_address(r->p, from), weft_program_address(r->p, to),
                        r->task[t].as.copy.transfer);
}

/* Enqueues a task behind what it waits for, and with a copy from a partner those that are done as
 * one with it. */
static void issue_on_device(weft_execution *r, int t) {
    const weft_device_handle *d = &r->b->device;
    const bool copies = weft_execution_is_remote_copy(r, t);
    weft_queue *queue = r->b->lanes.queue[r->task[t].lane];
    if (r->task[t].waits && !r->p->meets) weft_execution_wait_for_lane(r, WEFT_LANE_COMPUTE);
    const int last = copies ? last_of_copy(r, t) : t;
    for (int u = t; u != WEFT_NO_TASK; u = next_copy(r, u, last)) await_other_lanes(r, u);
    if (r->task[t].kind == WEFT_TASK_DEVICE_MESSAGES)
        weft_execution_exchange_by_device(r, t);
    else if (r->status == WEFT_SUCCESS)
        weft_keep(&r->status,
                  copies ? copy_through(r, t, last) : weft_build_enqueue(r->b, r->s, t));
    for (int u = t; u != WEFT_NO_TASK; u = next_copy(r, u, last)) {
        r->now[u].recorded_by = last;
        weft_execution_mark_issued(r, u);
        if (r->prepared[u].async)
            weft_execution_append(r, u);
        else
            weft_execution_complete(r, u);
    }
    if (r->prepared[last].event)
        weft_keep(&r->status, d->ops->event_record(d->state, queue, r->prepared[last].event));
    if (r->prepared[t].notice) weft_execution_call_when_packed(r, t);
}

/* A copy within host memory. */
static void copy_on_host(const weft_execution *r, int t) {
    weft_copy_run(&r->task[t].as.copy.copy,
                  weft_program_address(r->p, weft_execution_access(r, t, 0)),
                  weft_program_address(r->p, weft_execution_access(r, t, 1)),
                  r->b->planner->call->options.threads);
}

static void issue_on_network(weft_execution *r, int t) {
    const weft_task *task = &r->task[t];
    switch (task->kind) {
    case WEFT_TASK_COPY:
        copy_on_host(r, t);
        break;
    case WEFT_TASK_SEND:
        weft_execution_send(r, t);
        return;
    case WEFT_TASK_RECEIVE:
        weft_execution_receive(r, t);
        return;
    case WEFT_TASK_ALLTOALL:
        weft_execution_alltoall(r, t);
        break;
    case WEFT_TASK_AWAIT:
        r->p->progress.address[task->as.signal.buffer] =
            (void *)(uintptr_t)r->p->peer[task->as.signal.peer]->src[task->as.signal.member];
        break;
    default:
        signal(r, t);
    }
    weft_execution_mark_issued(r, t);
    weft_execution_complete(r, t);
}

static bool partners_wait_for(const weft_execution *r, int t) {
    return r->task[t].kind >= WEFT_TASK_SEND && r->task[t].kind <= WEFT_TASK_SIGNAL;
}

static void issue(weft_execution *r, int t) {
    const weft_task *task = &r->task[t];
    r->recorder->step = task->step;
    if (r->status != WEFT_SUCCESS && !partners_wait_for(r, t)) {
        weft_execution_mark_issued(r, t);
        weft_execution_complete(r, t);
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

/* Whether the compute lane has done what the task waits for. Where that may depend on partners,
 * this thread must not stop: they may need it to let messages progress. */
static bool lane_allows(const weft_execution *r, int t) {
    const int latest = r->prepared[t].waits_for;
    return !r->p->meets || latest < 0 || r->now[latest].stage == WEFT_TASK_DONE;
}

/* Whether every task before this one that partners wait for has been begun. A task that stops this
 * thread is begun only then: until its lane is done, or until the partners begin theirs, for which
 * they may need what comes before it. */
static bool is_next_for_partners(weft_execution *r, int t) {
    while (r->served < t &&
           (!partners_wait_for(r, r->served) || r->now[r->served].stage != WEFT_TASK_WAITING))
        r->served++;
    return r->served >= t && (r->messages.to_send == 0 || weft_sender_threaded(r->b->lanes.sender));
}

/* A tile is copied once all partners have written it, and from one after the other, beginning with
 * the next rank. Ranks that do so keep in step, each reading from a partner of its own. If each
 * began with the partner that is ready first, two would read from the same one, at half the speed
 * of its link, while nobody reads from another: c2c 1024^3 on four H200 took 16.0 ms instead
 * of 12.7. */
static bool tile_may_be_copied(weft_execution *r, int t) {
    const int end = end_of_tile(r, t);
    for (int u = first_of_tile(r, t); u < end; u++)
        if (is_blocked(r, u) ||
            (r->now[u].stage == WEFT_TASK_WAITING &&
             (r->lanes.copies[r->task[u].lane] >= AHEAD || !partners_allow(r, u))))
            return false;
    return true;
}

static bool may_be_issued(weft_execution *r, int t) {
    const weft_task *task = &r->task[t];
    if (task->kind == WEFT_TASK_SEND && !weft_execution_keeps_order(r, t)) return false;
    if ((task->waits || task->kind == WEFT_TASK_ALLTOALL ||
         task->kind == WEFT_TASK_DEVICE_MESSAGES) &&
        !is_next_for_partners(r, t))
        return false;
    if (!lane_allows(r, t)) return false;
    if (!partners_allow(r, t)) {
        r->held++;
        return false;
    }
    return r->status != WEFT_SUCCESS || !weft_execution_is_remote_copy(r, t) ||
           tile_may_be_copied(r, t);
}

/* The first task, on the device's lanes or on the others, that may be issued, or WEFT_NO_TASK. */
static int next_ready(weft_execution *r, bool device) {
    for (int i = 0; i <= r->p->lowered.tasks.count / 64; i++)
        for (uint64_t bits = r->p->progress.ready[i]; bits != 0; bits &= bits - 1) {
            const int t = 64 * i + __builtin_ctzll(bits);
            if (weft_lane_of_device(r->task[t].lane) == device && may_be_issued(r, t)) return t;
        }
    return WEFT_NO_TASK;
}

/* Issues what can be issued; whether there was anything. It returns after work that the calling
 * thread has done itself, for messages may have arrived in that time. */
static bool issue_ready(weft_execution *r) {
    bool moved = false;
    for (;;) {
        r->held = 0;
        int t = next_ready(r, false);
        if (t == WEFT_NO_TASK) t = next_ready(r, true);
        if (t == WEFT_NO_TASK) return moved;
        const bool tile = r->status == WEFT_SUCCESS && weft_execution_is_remote_copy(r, t);
        const int end = tile ? end_of_tile(r, t) : t + 1;
        for (int u = t; u < end; u++)
            if (r->now[u].stage == WEFT_TASK_WAITING) issue(r, u);
        moved = true;
        if (weft_lane_of_device(r->task[t].lane) && !r->prepared[t].async) return true;
    }
}

/* ---- waiting ---- */

/* Lets others work: there may be more ranks than cores, and another rank may wait for a message
 * that this rank's transport still holds. */
static void yield(weft_execution *r, int *spins) {
    r->paused = true;
    if (++*spins < SPINS) {
#if defined(__x86_64__) || defined(__i386__)
        _mm_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        return;
    }
    if (r->b->groups.of[0]) r->b->groups.of[0]->ops->progress(r->b->groups.of[0]);
    sched_yield();
}

/* Waits for the lanes of a streamed program alone, whose tasks take milliseconds: nobody needs this
 * thread, and on the host the lanes need its processor. */
static void doze(weft_execution *r, int *spins) {
    const struct timespec some = {0, 20000};
    if (*spins < SPINS)
        yield(r, spins);
    else
        nanosleep(&some, NULL);
}

/* No task can be issued. Where only one kind of event can change that, this waits for it; else it
 * returns at once, and the caller looks at everything again. A lane is waited for as a whole only
 * in programs (without `polls`) that use the compute lane alone: elsewhere the task that ends first
 * on one lane lets partners, or another lane, go on. */
static void wait(weft_execution *r, int *spins) {
    const bool device = r->lanes.watched > 0, partners = r->held > 0,
               sender = r->messages.to_send > 0;
    const bool messages = r->messages.receives > 0 || (r->messages.awaited_sends > 0 && !sender);
    const bool thread = !sender || weft_sender_threaded(r->b->lanes.sender);
    if (device && !r->p->polls) {
        weft_execution_wait_for_lane(r, WEFT_LANE_COMPUTE);
    } else if (messages && !device && !partners && thread &&
               (!sender || r->messages.awaited_sends == 0)) {
        weft_execution_look_at_messages(r, true);
    } else if (sender && !device && !partners && !messages && !r->p->meets) {
        weft_sender_wait(r->b->lanes.sender, r->messages.given - r->messages.to_send);
    } else if (r->messages.sends > 0 && !device && !partners && !messages && !sender) {
        weft_execution_finish_sends(r);
    } else if (device && !partners && !messages && !sender && r->messages.sends == 0 &&
               r->b->schedule[r->s].stream.slots > 0) {
        doze(r, spins);
        return;
    } else {
        yield(r, spins);
        return;
    }
    *spins = 0;
}

/* ---- a run ---- */

static void begin(weft_execution *r) {
    const int tasks = r->p->lowered.tasks.count;
    uint64_t *ready = r->p->progress.ready;
    r->left = tasks;
    memset(ready, 0, ((size_t)tasks / 64 + 1) * sizeof *ready);
    for (int t = 0; t < tasks; t++) {
        r->now[t] = (weft_task_progress){.blockers = r->prepared[t].blockers};
        if (r->now[t].blockers == 0) ready[t / 64] |= UINT64_C(1) << t % 64;
    }
    for (int lane = 0; lane < WEFT_LANES; lane++) r->lanes.oldest[lane] = WEFT_NO_TASK;
    weft_execution_open_traffic(r);
}

static void end(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    for (int lane = 0; lane < WEFT_LANE_NETWORK; lane++) {
        if (r->lanes.oldest[lane] != WEFT_NO_TASK)
            weft_execution_wait_for_lane(r, lane);
        else if (r->p->polls && (r->p->lowered.lanes >> lane & 1)) /* events report no failure */
            weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->lanes.queue[lane]));
    }
    weft_execution_close_traffic(r);
}

static void run_tasks(weft_execution *r) {
    int spins = 0;
    begin(r);
    while (r->left > 0) {
        bool moved = weft_execution_look_at_device(r);
        moved = weft_execution_look_at_messages(r, false) || moved;
        weft_execution_look_at_sender(r);
        moved = issue_ready(r) || moved;
        if (moved)
            spins = 0;
        else if (r->left > 0)
            wait(r, &spins);
    }
    end(r);
}

/* Every task is on the compute lane, so the tasks are enqueued in their order, and the lane is
 * waited for where a task says so and at the end. The tasks of a step are enqueued together; where
 * they may become a graph, all tasks up to the next wait. */
static void run_in_order(weft_execution *r) {
    const weft_device_handle *d = &r->b->device;
    const weft_task *task = r->task;
    const int tasks = r->p->lowered.tasks.count;
    for (int first = 0, last; first < tasks && r->status == WEFT_SUCCESS; first = last) {
        last = first + 1;
        while (last < tasks && !task[last].waits &&
               (r->b->repetition.possible[r->s] || task[last].step == task[first].step))
            last++;
        r->recorder->step = task[last - 1].step;
        r->status = weft_build_enqueue_all(r->b, r->s, first, last);
        if (r->status == WEFT_SUCCESS && (last == tasks || task[last].waits))
            r->status = d->ops->queue_wait(d->state, NULL);
        r->moment = weft_record(r->recorder, task[last - 1].phase, WEFT_NO_PARTNER, r->moment);
    }
}

static void set_addresses(weft_build *b, int s, const void *in, void *out) {
    void **address = b->program[s].progress.address;
    address[WEFT_BUFFER_IN] = (void *)(uintptr_t)in; /* only ever read */
    address[WEFT_BUFFER_OUT] = out;
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++) address[i] = b->buffers.memory[i];
}

static void trace_to(weft_recorder *recorder, const weft_program *p) {
    for (int t = 0; t < p->lowered.tasks.count && p->progress.span; t++)
        p->progress.span[t] =
            (weft_lane_span){.recorder = recorder, .task = &p->lowered.tasks.task[t]};
}

/* Page-locks the arrays of a streamed program, of which every byte crosses the link once in each of
 * several passes. Not files, which have a hook, nor arrays that memory hardly holds: locking brings
 * all of their pages into memory at once. */
static void lock_arrays(const weft_execution *r, bool locked[2]) {
    const weft_device_handle *d = &r->b->device;
    const weft_schedule *schedule = &r->b->schedule[r->s];
    const size_t *bytes = schedule->buffer_bytes;
    if (schedule->stream.slots == 0 || !d->ops->host_lock || r->p->hooked ||
        bytes[WEFT_BUFFER_IN] + bytes[WEFT_BUFFER_OUT] > weft_host_memory() / 4 * 3)
        return;
    for (int i = 0; i < 2; i++)
        locked[i] = d->ops->host_lock(d->state, r->p->progress.address[WEFT_BUFFER_IN + i],
                                      bytes[WEFT_BUFFER_IN + i]);
}

static void unlock_arrays(const weft_execution *r, const bool locked[2]) {
    const weft_device_handle *d = &r->b->device;
    for (int i = 0; i < 2; i++)
        if (locked[i]) d->ops->host_unlock(d->state, r->p->progress.address[WEFT_BUFFER_IN + i]);
}

weft_status weft_build_run(weft_build *b, weft_direction direction, bool in_place, const void *in,
                           void *out, weft_recorder *recorder) {
    const int s = weft_schedule_index(direction, in_place);
    weft_program *p = &b->program[s];
    weft_execution r = {.b = b,
                        .s = s,
                        .p = p,
                        .task = p->lowered.tasks.task,
                        .prepared = p->prepared,
                        .now = p->progress.task,
                        .recorder = recorder};
    bool locked[2] = {false, false};
    set_addresses(b, s, in, out);
    trace_to(recorder, p);
    weft_recorder_start(recorder);
    r.moment = recorder->start;
    recorder->timings.bytes_sent = p->lowered.bytes_sent;
    recorder->timings.messages_sent = p->lowered.messages_sent;
    if (b->device.ops->await_caller) r.status = b->device.ops->await_caller(b->device.state);
    lock_arrays(&r, locked);
    if (p->sequential)
        run_in_order(&r);
    else
        run_tasks(&r);
    if (r.status != WEFT_SUCCESS) weft_execution_wait_for_device(&r);
    unlock_arrays(&r, locked);
    recorder->timings.total = r.moment - recorder->start;
    return r.status;
}

/* The waits between tasks of run_in_order only tell phases apart, so none is needed here. */
weft_status weft_build_run_behind(weft_build *b, weft_direction direction, bool in_place,
                                  const void *in, void *out, void *stream) {
    const int s = weft_schedule_index(direction, in_place);
    const weft_device_handle *d = &b->device;
    const weft_program *p = &b->program[s];
    if (!d->ops->join_caller || !p->sequential || b->planner->host_buffers)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "weft_enqueue: only plans of one process on device cuda, with arrays on "
                         "the GPU, are enqueued; call weft_execute");
    set_addresses(b, s, in, out);
    WEFT_TRY(d->ops->join_caller(d->state, stream));
    b->enqueued = true;
    weft_status status = weft_build_enqueue_all(b, s, 0, p->lowered.tasks.count);
    weft_keep(&status, d->ops->part_from_caller(d->state));
    if (status != WEFT_SUCCESS) /* what was enqueued may use the caller's arrays */
        weft_execution_wait_for_device(&(weft_execution){.b = b});
    return status;
}
