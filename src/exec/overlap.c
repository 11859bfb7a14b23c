/*
 * Running an exchange in parts: the transforms before and after it work on some parts, on the
 * default queue, while others are copied on queues of their own and travel.
 *
 *   default queue     before 0, 1, 2, ...             after 0, 1, ...
 *   exchange queues   parts of 0 once before 0 is done, of 1, 2, ...
 *
 * What partners read is announced part by part, as soon as the calling thread sees that it is
 * complete. The reader copies first what the transform after it waits for first: of the parts that
 * are complete, those that complete its earliest one; one by one, or as one once all are complete.
 * Its last parts may be far ones, which load from the partners' arrays themselves: they begin, on a
 * queue of their own, as soon as those are complete, beside the copies that are left and the near
 * parts. Messages of a part are sent and received before those of the next. Devices that send and
 * receive themselves get all parts at once, and are waited for at the end.
 */
#include "exchange/blocks.h"
#include "exchange/peer.h"
#include "exec/plan.h"
#include "support/error.h"

enum { AHEAD = 2 }; /* copies on the queues: one at work, one to follow at once */

/* One run. */
typedef struct run {
    weft_build *b;
    int s, i; /* the exchange's schedule and step */
    const weft_step *step;
    const weft_parts *parts;
    void *const *buffer;
    weft_recorder *recorder;
    weft_status status; /* the first failure; then only what partners wait for is done */
} run;

/* Part k of the transform that is step i. */
static void transform(run *r, int i, int k) {
    if (r->status != WEFT_SUCCESS) return;
    r->status = weft_build_run_transform(r->b, r->s, i, k, r->buffer);
}

/* Of the parts that the transform after takes, how many are copied. */
static int near_parts(const run *r) {
    return r->step->taken.parts - (r->step->overlaps_after ? r->step[1].far_chunks : 0);
}

static void copy_own(run *r, int made) {
    for (int k = 0; k < r->parts->count; k++) {
        weft_part *part = &r->parts->part[k];
        if (part->made == made && part->taken < near_parts(r) && r->status == WEFT_SUCCESS)
            weft_keep(&r->status, r->step->method->copy_own(&part->exchange));
    }
}

/* The transforms before the exchange, an event behind each. */
static void enqueue_before(run *r) {
    const weft_device_handle *d = &r->b->device;
    double start = weft_clock();
    for (int k = 0; k < r->step->made.parts; k++) {
        if (r->step->overlaps_before) transform(r, r->i - 1, k);
        weft_keep(&r->status, d->ops->event_record(d->state, NULL, r->parts->made[k]));
        if (r->step->method->shared && !r->step->own_stays) copy_own(r, k);
    }
    weft_record(r->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, start);
}

/* Behind the copies of so many parts: events, those of the last; and, if nothing else is missing,
 * the transform after. */
static void enqueue_after(run *r, weft_part *part, int count) {
    const weft_device_handle *d = &r->b->device;
    double start = weft_clock();
    for (int k = 0; k < count; k++) part[k].started = true;
    part += count - 1;
    for (int q = 0; q < r->parts->queues; q++)
        weft_keep(&r->status,
                  d->ops->event_record(d->state, r->b->exchange_queue[q], part->arrived[q]));
    r->parts->missing[part->taken] -= count;
    if (r->parts->missing[part->taken] > 0) return;
    for (int q = 0; q < r->parts->queues; q++)
        weft_keep(&r->status, d->ops->event_await(d->state, NULL, part->arrived[q]));
    if (r->step->overlaps_after) transform(r, r->i + 1, part->taken);
    weft_record(r->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, start);
}

static void run_messages(run *r) {
    const weft_device_handle *d = &r->b->device;
    for (int k = 0; k < r->parts->count; k++) {
        weft_part *part = &r->parts->part[k];
        weft_event *made = r->parts->made[part->made];
        weft_keep(&r->status, d->ops->event_await(d->state, r->b->exchange_queue[0], made));
        weft_keep(&r->status, part->exchange.ops->run(&part->exchange));
        enqueue_after(r, part, 1);
    }
    if (r->step->method->by_device) {
        weft_status status =
            weft_build_await_device(r->b, r->step, r->b->exchange_queue[0], r->recorder);
        weft_keep(&r->status, status);
    }
}

/* Announces parts that have become complete; after a failure they count as complete. */
static int announce(run *r, int announced) {
    const weft_device_handle *d = &r->b->device;
    int complete = announced;
    while (complete < r->step->made.parts &&
           (r->status != WEFT_SUCCESS || d->ops->event_done(d->state, r->parts->made[complete])))
        complete++;
    if (complete > announced) weft_peer_complete(&r->parts->part[0].exchange, complete);
    return complete;
}

/* Of the parts that this rank has made, how many all partners have made too. */
static int count_ready(const run *r, int ready, int announced) {
    while (ready < announced && weft_peer_all_ready(&r->parts->part[ready].exchange)) ready++;
    return ready;
}

/* The parts to be copied next, *count of them from the one returned on; NULL: no data is ready.
 * They are numbered such that what the transform after takes first comes first. Once all is there,
 * what is left of a part of that transform is one copy, for each costs time of its own; before, a
 * long copy would keep waiting what is ready next and wanted earlier. */
static weft_part *next_parts(const run *r, int ready, int *count) {
    const weft_part *end = r->parts->part + r->parts->count;
    weft_part *part = r->parts->part;
    while (part < end && (part->started || part->made >= ready)) part++;
    if (part == end) return NULL;
    *count = 1;
    if (ready == r->step->made.parts)
        while (part + *count < end && part[*count].taken == part->taken && !part[*count].started)
            ++*count;
    return part;
}

/* Whether the queues are short: what is chosen later is chosen better. */
static bool have_room(const run *r, const weft_part *earlier) {
    const weft_device_handle *d = &r->b->device;
    if (r->status != WEFT_SUCCESS || !earlier) return true;
    for (int q = 0; q < r->parts->queues; q++)
        if (!d->ops->event_done(d->state, earlier->arrived[q])) return false;
    return true;
}

static void pull(run *r, weft_part *part, int count) {
    weft_exchange_plan *first = &part->exchange, *last = &part[count - 1].exchange;
    if (r->status == WEFT_SUCCESS)
        weft_keep(&r->status, first->ops->pull(first, last, r->step->made.axis));
}

/* All arrays are complete. */
static void enqueue_far(run *r) {
    double start = weft_clock();
    for (int k = near_parts(r); k < r->step->taken.parts; k++) transform(r, r->i + 1, k);
    weft_record(r->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, start);
}

static void run_shared(run *r) {
    const weft_device_handle *d = &r->b->device;
    weft_exchange_plan *first = &r->parts->part[0].exchange;
    const weft_part *last[AHEAD] = {NULL};
    const bool far = near_parts(r) < r->step->taken.parts && r->b->far_queue;
    bool far_waits = far;
    int announced = 0, ready = 0, spins = 0, left = 0, count = 0;
    double start = weft_clock();
    weft_peer_open(first);
    for (int k = 0; k < r->parts->count; k++) {
        weft_part *part = &r->parts->part[k];
        part->exchange.peer_src = first->peer_src;
        part->started = part->taken >= near_parts(r); /* by no copy */
        if (!part->started) left++;
    }
    for (int started = 0, copies = 0;
         started < left || far_waits || announced < r->step->made.parts;) {
        announced = announce(r, announced);
        ready = count_ready(r, ready, announced);
        if (far_waits && ready == r->step->made.parts) {
            enqueue_far(r);
            far_waits = false;
        }
        weft_part *part = have_room(r, last[copies % AHEAD]) ? next_parts(r, ready, &count) : NULL;
        if (!part) {
            weft_peer_pause(first->peer, &spins);
            continue;
        }
        start = weft_record(r->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
        pull(r, part, count);
        start = weft_record(r->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
        enqueue_after(r, part, count);
        last[copies++ % AHEAD] = &part[count - 1];
        started += count;
        start = weft_clock();
    }
    if (far) weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->far_queue));
    for (int q = 0; q < r->parts->queues; q++)
        weft_keep(&r->status, d->ops->queue_wait(d->state, r->b->exchange_queue[q]));
    weft_record(r->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
    weft_peer_finish(first);
    weft_build_lend(r->b, first);
}

static void ready_parts(run *r) {
    const weft_partition *made = &r->step->made, *taken = &r->step->taken;
    for (int k = 0; k < r->parts->count; k++)
        weft_build_ready_part(r->step, &r->parts->part[k], r->buffer, r->recorder);
    for (int k = 0; k < taken->parts; k++)
        r->parts->missing[k] = made->axis == taken->axis ? 1 : made->parts;
}

weft_status weft_build_run_parts(weft_build *b, int s, int i, void *const *buffer,
                                 weft_status status, weft_recorder *recorder) {
    const weft_step *step = &b->schedule[s].step[i];
    run r = {b, s, i, step, &b->parts[s][i], buffer, recorder, status};
    if (step->overlaps_before) weft_build_take_back(b, step - 1);
    weft_build_take_back(b, step);
    if (step->overlaps_after) weft_build_take_back(b, step + 1);
    recorder->timings.bytes_sent += step->bytes_sent;
    recorder->timings.messages_sent += step->messages_sent;
    ready_parts(&r);
    enqueue_before(&r);
    if (step->method->shared)
        run_shared(&r);
    else
        run_messages(&r);
    return r.status;
}
