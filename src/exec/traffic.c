/*
 * The messages of an execution: how they begin, and how the calling thread learns that they have
 * arrived or left.
 */
#include "exec/run.h"

#include "support/error.h"

static bool has_followers(const weft_execution *r, int t) {
    return r->p->order.first_after[t + 1] > r->p->order.first_after[t];
}

static void count_send(weft_execution *r, int t) {
    weft_execution_mark_issued(r, t);
    r->messages.sends++;
    r->messages.awaited_sends += has_followers(r, t);
}

static weft_status begin_send(weft_execution *r, int t) {
    const weft_task *task = &r->task[t];
    weft_transport *group = weft_execution_group(r, t);
    return group->ops->send(group, weft_program_address(r->p, weft_execution_access(r, t, 0)),
                            r->prepared[t].message, task->partner,
                            &r->p->progress.request[r->p->receives + task->as.message.request]);
}

/* Runs on the sender's thread, or on the calling thread where the sender has none. */
static weft_status send_announced(void *argument, int t) {
    weft_execution *r = argument;
    const double begin = weft_clock();
    const weft_status status = begin_send(r, t);
    weft_record_span(r->recorder, r->task[t].step, WEFT_PHASE_EXCHANGE,
                     weft_sender_threaded(r->b->lanes.sender) ? WEFT_SENDER_QUEUE
                                                              : WEFT_CALLER_QUEUE,
                     r->task[t].partner, begin, weft_clock());
    if (r->messages.first_sent == 0) r->messages.first_sent = begin;
    return status;
}

/* Runs on a thread of the device, or on the calling thread. */
static void on_packed(void *argument) {
    weft_packed_notice *notice = argument;
    const weft_execution *r = notice->run;
    const weft_task *copy = &r->task[notice->copy];
    const int link = copy->lane - WEFT_LANE_LINK;
    double *last_packed = &r->p->last_packed[link]; /* the lane's next copy began then */
    notice->packed = weft_clock();
    weft_record_span(r->recorder, copy->step, WEFT_PHASE_PACK, link + 1, copy->partner,
                     *last_packed > notice->enqueued ? *last_packed : notice->enqueued,
                     notice->packed);
    *last_packed = notice->packed;
    weft_sender_announce(r->b->lanes.sender, notice->message);
}

/* Counts a message that the sender sends once it is announced. */
static void give_to_sender(weft_execution *r, int t) {
    count_send(r, t);
    r->messages.to_send++;
    r->messages.given++;
}

/* Where the device fails to take the callback, the message leaves at once, for the partner waits
 * for it. */
void weft_execution_call_when_packed(weft_execution *r, int t) {
    const weft_device_handle *d = &r->b->device;
    weft_packed_notice *notice = r->prepared[t].notice;
    notice->run = r;
    notice->enqueued = weft_clock();
    give_to_sender(r, notice->message);
    r->messages.packed = r->messages.given;
    const weft_status status =
        d->ops->callback(d->state, r->b->lanes.queue[r->task[t].lane], on_packed, notice);
    if (status != WEFT_SUCCESS) on_packed(notice);
    weft_keep(&r->status, status);
}

void weft_execution_send(weft_execution *r, int t) {
    if (r->task[t].lane == WEFT_LANE_SENDER) {
        give_to_sender(r, t);
        weft_sender_announce(r->b->lanes.sender, t);
        return;
    }
    count_send(r, t);
    weft_record_sent(r->recorder, r->moment);
    weft_keep(&r->status, begin_send(r, t));
}

void weft_execution_receive(weft_execution *r, int t) {
    weft_transport *group = weft_execution_group(r, t);
    const weft_task *task = &r->task[t];
    weft_execution_mark_issued(r, t);
    r->messages.receives++;
    weft_keep(&r->status,
              group->ops->receive(group, weft_program_address(r->p, weft_execution_access(r, t, 0)),
                                  r->prepared[t].message, task->partner,
                                  &r->p->progress.request[task->as.message.request]));
}

void weft_execution_alltoall(weft_execution *r, int t) {
    weft_transport *group = weft_execution_group(r, t);
    const weft_exchange_step *x = &r->b->schedule[r->s].step[r->task[t].step].as.exchange;
    const void *from = r->p->progress.address[x->send];
    void *to = r->p->progress.address[x->receive];
    for (int i = 0; i < r->task[t].accesses; i++) {
        const weft_access *a = weft_execution_access(r, t, i);
        if (a->writes)
            to = weft_program_address(r->p, a);
        else
            from = weft_program_address(r->p, a);
    }
    if (r->task[t].accesses > 0) weft_record_sent(r->recorder, r->moment);
    weft_keep(&r->status, group->ops->alltoall(group, r->prepared[t].alltoall, from, to));
}

/* Lists the messages that this rank sends, or those that it receives, for the device; returns how
 * many there are. */
static int list_device_messages(const weft_execution *r, int t, bool receive,
                                weft_device_message *list) {
    int count = 0;
    for (int i = 0; i < r->task[t].accesses; i++) {
        const weft_access *a = weft_execution_access(r, t, i);
        const int64_t offset = a->view.offset * (int64_t)a->element_bytes;
        if (a->writes == receive)
            list[count++] =
                (weft_device_message){a->member, (char *)weft_program_address(r->p, a) + offset,
                                      (size_t)weft_view_elements(&a->view) * a->element_bytes};
    }
    return count;
}

/* The partners' sends and receives wait for this rank's, so they are enqueued also after a failure.
 */
void weft_execution_exchange_by_device(weft_execution *r, int t) {
    const weft_device_handle *d = &r->b->device;
    const weft_task *task = &r->task[t];
    weft_device_message *list = r->p->device_message + task->first_access;
    weft_device_exchange messages = {.send = list};
    messages.sends = list_device_messages(r, t, false, list);
    messages.receive = list + messages.sends;
    messages.receives = list_device_messages(r, t, true, list + messages.sends);
    if (messages.sends > 0) weft_record_sent(r->recorder, r->moment);
    weft_keep(&r->status,
              d->ops->messages->exchange(r->b->groups.communicator[task->as.message.redistribution],
                                         r->b->lanes.queue[task->lane], &messages));
}

/* A message has arrived, or has left. */
static void finish_message(weft_execution *r, int request) {
    const int t = r->p->progress.message[request];
    const bool arrived = request < r->p->receives;
    r->paused = false;
    r->recorder->step = r->task[t].step;
    r->moment = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, r->task[t].partner, r->moment);
    if (arrived) weft_record_arrived(r->recorder, r->moment);
    *(arrived ? &r->messages.receives : &r->messages.sends) -= 1;
    if (!arrived) r->messages.awaited_sends -= has_followers(r, t);
    weft_execution_complete(r, t);
}

/* No message of a kind is on its way any more; those that failed to begin never were. */
static void finish_all(weft_execution *r, weft_task_kind kind) {
    for (int t = 0; t < r->p->lowered.tasks.count; t++)
        if (r->task[t].kind == kind && r->now[t].stage == WEFT_TASK_ISSUED)
            weft_execution_complete(r, t);
    if (kind == WEFT_TASK_RECEIVE)
        r->messages.receives = 0;
    else
        r->messages.sends = r->messages.awaited_sends = 0;
}

/* Requests of sends are not looked at while the sender's thread may be writing them. */
bool weft_execution_look_at_messages(weft_execution *r, bool wait) {
    weft_transport *any = r->b->groups.of[0];
    const bool sends = r->messages.awaited_sends > 0 && r->messages.to_send == 0;
    int request = WEFT_NO_TASK;
    if (r->messages.receives == 0 && !sends) return false;
    weft_keep(&r->status, (wait ? any->ops->wait_any : any->ops->test_any)(
                              any, r->p->progress.request,
                              r->p->receives + (sends ? r->p->sends : 0), &request));
    if (request >= 0) finish_message(r, request);
    if (request == WEFT_NO_TASK) finish_all(r, WEFT_TASK_RECEIVE);
    if (request == WEFT_NO_TASK && sends) finish_all(r, WEFT_TASK_SEND);
    return request >= WEFT_NO_TASK;
}

void weft_execution_finish_sends(weft_execution *r) {
    weft_transport *any = r->b->groups.of[0];
    weft_keep(&r->status,
              any->ops->wait_all(any, r->p->progress.request + r->p->receives, r->p->sends));
    r->moment = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, r->moment);
    finish_all(r, WEFT_TASK_SEND);
}

bool weft_execution_keeps_order(const weft_execution *r, int t) {
    if (r->task[t].lane == WEFT_LANE_SENDER)
        return r->messages.given - r->messages.to_send >= r->messages.packed;
    return r->messages.to_send == 0;
}

void weft_execution_look_at_sender(weft_execution *r) {
    if (r->messages.to_send > 0)
        r->messages.to_send = r->messages.given - weft_sender_sent(r->b->lanes.sender);
}

void weft_execution_open_traffic(weft_execution *r) {
    for (int i = 0; i < r->p->receives + r->p->sends; i++)
        r->p->progress.request[i] = r->b->groups.of[0]->ops->no_request();
    for (int i = 0; i < r->p->notices; i++) r->p->notice[i].enqueued = 0;
    if (r->p->lowered.lanes & 1 << WEFT_LANE_SENDER)
        weft_sender_begin(r->b->lanes.sender, send_announced, r);
}

/* Seconds between the first and the last packing of a block for the sender, which happens on lanes
 * of its own beside all other work. */
static double packing_time(const weft_execution *r) {
    double first = 0, last = 0;
    for (int i = 0; i < r->p->notices; i++) {
        const weft_packed_notice *n = &r->p->notice[i];
        if (n->enqueued > 0 && (first == 0 || n->enqueued < first)) first = n->enqueued;
        if (n->enqueued > 0 && n->packed > last) last = n->packed;
    }
    return last - first;
}

void weft_execution_close_traffic(weft_execution *r) {
    if (!(r->p->lowered.lanes & 1 << WEFT_LANE_SENDER)) return;
    r->recorder->timings.pack += packing_time(r);
    if (r->messages.first_sent > 0) weft_record_sent(r->recorder, r->messages.first_sent);
    weft_keep(&r->status, weft_sender_end(r->b->lanes.sender));
}
