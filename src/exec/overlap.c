/*
 * Running an exchange in parts: the transforms before and after it work on some parts, on the
 * default queue, while others are copied on a queue of their own and travel.
 *
 *   default queue    before 0, 1, 2, ...             after 0, 1, ...
 *   exchange queue   part 0 once before 0 is done, 1, 2, ...
 *
 * What partners read is announced part by part, as soon as the calling thread sees that it is
 * complete; messages of a part are sent and received before those of the next. Devices that send
 * and receive themselves get all parts at once, and are waited for at the end.
 */
#include "exchange/blocks.h"
#include "exchange/peer.h"
#include "exec/plan.h"
#include "support/error.h"

/* One run. */
typedef struct run {
    weft_build *b;
    int s, i; /* the exchange's schedule and step */
    const weft_step *step;
    weft_part *part; /* [step->chunks] */
    void *const *buffer;
    weft_recorder *recorder;
    weft_status status; /* the first failure; then only what partners wait for is done */
} run;

/* Part k of the transform that is step i. */
static void transform(run *r, int i, int k) {
    const weft_step *fft = &r->b->schedule[r->s].step[i];
    if (r->status != WEFT_SUCCESS) return;
    r->status =
        weft_build_run_transform(r->b, r->s, i, k, r->buffer[fft->src], r->buffer[fft->dst]);
}

/* The transforms before the exchange, an event behind each. */
static void enqueue_before(run *r) {
    const weft_device_handle *d = &r->b->device;
    double start = weft_clock();
    for (int k = 0; k < r->step->chunks; k++) {
        if (r->step->overlaps_before) transform(r, r->i - 1, k);
        weft_keep(&r->status, d->ops->event_record(d->state, NULL, r->part[k].made));
        if (r->step->method->shared && r->status == WEFT_SUCCESS)
            weft_keep(&r->status, r->step->method->copy_own(&r->part[k].exchange));
    }
    weft_record(r->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, start);
}

/* The default queue goes on with part k once it has arrived. */
static void enqueue_after(run *r, int k) {
    const weft_device_handle *d = &r->b->device;
    weft_event *arrived = r->part[k].arrived;
    double start = weft_clock();
    weft_keep(&r->status, d->ops->event_record(d->state, r->b->exchange_queue, arrived));
    weft_keep(&r->status, d->ops->event_await(d->state, NULL, arrived));
    if (r->step->overlaps_after) transform(r, r->i + 1, k);
    weft_record(r->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, start);
}

static void run_messages(run *r) {
    const weft_device_handle *d = &r->b->device;
    for (int k = 0; k < r->step->chunks; k++) {
        weft_part *p = &r->part[k];
        weft_keep(&r->status, d->ops->event_await(d->state, r->b->exchange_queue, p->made));
        weft_keep(&r->status, p->exchange.ops->run(&p->exchange));
        enqueue_after(r, k);
    }
    if (r->step->method->by_device) {
        weft_status status =
            weft_build_await_device(r->b, r->step, r->b->exchange_queue, r->recorder);
        weft_keep(&r->status, status);
    }
}

/* Announces parts that have become complete; after a failure they count as complete. */
static int announce(run *r, int announced) {
    const weft_device_handle *d = &r->b->device;
    int complete = announced;
    while (complete < r->step->chunks &&
           (r->status != WEFT_SUCCESS || d->ops->event_done(d->state, r->part[complete].made)))
        complete++;
    if (complete > announced) weft_peer_complete(&r->part[0].exchange, complete);
    return complete;
}

static void run_shared(run *r) {
    const weft_device_handle *d = &r->b->device;
    int announced = 0, spins = 0;
    double start = weft_clock();
    weft_peer_open(&r->part[0].exchange);
    for (int k = 0; k < r->step->chunks; k++)
        r->part[k].exchange.peer_src = r->part[0].exchange.peer_src;
    for (int pulled = 0; pulled < r->step->chunks;) {
        weft_part *p = &r->part[pulled];
        announced = announce(r, announced);
        if (announced <= pulled || !weft_peer_all_ready(&p->exchange)) {
            weft_peer_pause(p->exchange.peer, &spins);
            continue;
        }
        start = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
        weft_keep(&r->status, d->ops->event_await(d->state, r->b->exchange_queue, p->made));
        if (r->status == WEFT_SUCCESS) weft_keep(&r->status, p->exchange.ops->pull(&p->exchange));
        start = weft_record(r->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
        enqueue_after(r, pulled++);
        start = weft_clock();
    }
    weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->exchange_queue));
    weft_record(r->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
    weft_peer_finish(&r->part[0].exchange);
    weft_build_lend(r->b, &r->part[0].exchange);
}

weft_status weft_build_run_parts(weft_build *b, int s, int i, void *const *buffer,
                                 weft_status status, weft_recorder *recorder) {
    const weft_step *step = &b->schedule[s].step[i];
    run r = {b, s, i, step, b->part[s][i], buffer, recorder, status};
    if (step->overlaps_before) weft_build_take_back(b, step - 1);
    weft_build_take_back(b, step);
    if (step->overlaps_after) weft_build_take_back(b, step + 1);
    recorder->timings.bytes_sent += step->bytes_sent;
    recorder->timings.messages_sent += step->messages_sent;
    for (int k = 0; k < step->chunks; k++)
        weft_build_ready_part(step, &r.part[k], buffer, recorder);
    enqueue_before(&r);
    if (step->method->shared)
        run_shared(&r);
    else
        run_messages(&r);
    return r.status;
}
