/*
 * Steps without exchange: what they put on the default queue. Ranks that are alone put the same
 * there again and again, so what has been enqueued with the same buffers before is kept as a graph:
 * then one call enqueues all kernels, and less time passes between them.
 */
#include "exec/plan.h"
#include "support/error.h"

/* Scaling alone is the device's own work in place. */
static weft_status enqueue_pointwise(weft_build *b, const weft_step *step, int slot,
                                     void *const *buffer) {
    const weft_device_handle *d = &b->device;
    const weft_precision precision = step->layout.precision;
    const int64_t number = (int64_t)weft_number_bytes(precision);
    const void *src = buffer[step->src];
    void *dst = buffer[step->dst];
    double factor = 1;
    if (step->dst_bytes == 0) return WEFT_SUCCESS;
    if (weft_step_scales(step, &factor))
        return d->ops->scale(d->state, NULL, precision, dst, step->dst_bytes / number, factor);
    if (b->operator_pass[slot]) {
        weft_operator_pass_keep_at(b->operator_pass[slot], b->kept);
        return weft_operator_pass_run(b->operator_pass[slot], NULL, src, dst);
    }
    WEFT_TRY(d->ops->run(d->state, NULL, weft_pointwise_run, b->pointwise[slot], src, dst));
    if (!step->layout.keeps) return WEFT_SUCCESS;
    return d->ops->run(d->state, NULL, weft_pointwise_keep, b->pointwise[slot], dst, b->kept);
}

static weft_status enqueue_step(weft_build *b, int s, int i, void *const *buffer) {
    const weft_step *step = &b->schedule[s].step[i];
    const weft_device_handle *device = &b->device;
    void *dst = buffer[step->dst];
    switch (step->kind) {
    case WEFT_STEP_FFT:
        for (int k = 0; k < step->chunks; k++)
            WEFT_TRY(weft_build_run_transform(b, s, i, k, buffer));
        return WEFT_SUCCESS;
    case WEFT_STEP_COPY:
        if (step->copy.elements == 0) return WEFT_SUCCESS;
        return device->ops->copy(device->state, NULL, &step->copy, buffer[step->src], dst,
                                 step->transfer);
    case WEFT_STEP_POINTWISE:
        return enqueue_pointwise(b, step, weft_operator_slot(&b->schedule[s], step), buffer);
    case WEFT_STEP_EXCHANGE:
        break;
    }
    return WEFT_SUCCESS;
}

/* At the end, and on devices where the kind of work changes, so that the phases are told apart.
 * Most exchanges have waited for messages themselves. */
bool weft_build_ends_phase(const weft_build *b, const weft_schedule *schedule, int i) {
    if (i + 1 == schedule->steps) return true;
    const weft_step *step = &schedule->step[i];
    if (step->kind == WEFT_STEP_EXCHANGE) return step->method->by_device;
    return step[1].kind != step->kind && !b->device.ops->host_addressable;
}

/* ---- work that is repeated ---- */

/* Graphs wait for no partners, and copies to and from the caller's host memory are not kept. */
static bool can_be_kept(const weft_schedule *schedule) {
    for (int i = 0; i < schedule->steps; i++) {
        const weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_EXCHANGE) return false;
        if (step->kind == WEFT_STEP_COPY && step->transfer != WEFT_DEVICE_TO_DEVICE) return false;
    }
    return true;
}

void weft_build_find_repeating(weft_build *b) {
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        b->repeats[s] = b->device.ops->graph_begin && can_be_kept(&b->schedule[s]);
}

int weft_build_stretch(const weft_build *b, int s, int first) {
    int last = first;
    if (b->repeats[s])
        while (!weft_build_ends_phase(b, &b->schedule[s], last)) last++;
    return last;
}

static void forget(weft_build *b, weft_repeated *r) {
    if (r->graph) b->device.ops->graph_destroy(b->device.state, r->graph);
    *r = (weft_repeated){0};
}

/* What is known of this work; new work takes the place of what was not done for longest. */
static weft_repeated *look_up(weft_build *b, int s, int first, void *const *buffer) {
    weft_repeated *oldest = &b->repeated[0], *found = NULL;
    for (int k = 0; k < WEFT_REPEATED && !found; k++) {
        weft_repeated *r = &b->repeated[k];
        if (r->times > 0 && r->schedule == s && r->first == first &&
            r->in == buffer[WEFT_BUFFER_IN] && r->out == buffer[WEFT_BUFFER_OUT] &&
            r->kept == b->kept)
            found = r;
        if (r->last < oldest->last) oldest = r;
    }
    if (!found) {
        found = oldest;
        forget(b, found);
        *found = (weft_repeated){.schedule = s,
                                 .first = first,
                                 .in = buffer[WEFT_BUFFER_IN],
                                 .out = buffer[WEFT_BUFFER_OUT],
                                 .kept = b->kept};
    }
    found->times++;
    found->last = ++b->enqueued;
    return found;
}

static weft_status enqueue_steps(weft_build *b, int s, int first, int last, void *const *buffer) {
    for (int i = first; i <= last; i++) WEFT_TRY(enqueue_step(b, s, i, buffer));
    return WEFT_SUCCESS;
}

/* No graph is no failure: the work can be enqueued without. */
static void make_graph(weft_build *b, int s, int first, int last, void *const *buffer,
                       weft_repeated *r) {
    const weft_device_handle *d = &b->device;
    if (d->ops->graph_begin(d->state) != WEFT_SUCCESS) return;
    weft_status kept = enqueue_steps(b, s, first, last, buffer);
    weft_status ended = d->ops->graph_end(d->state, &r->graph);
    if (kept == WEFT_SUCCESS || ended != WEFT_SUCCESS) return;
    d->ops->graph_destroy(d->state, r->graph);
    r->graph = NULL;
}

weft_status weft_build_enqueue(weft_build *b, int s, int first, int last, void *const *buffer) {
    const weft_device_handle *d = &b->device;
    if (b->repeats[s]) {
        weft_repeated *r = look_up(b, s, first, buffer);
        if (r->times == 2) make_graph(b, s, first, last, buffer, r);
        if (r->graph) return d->ops->graph_run(d->state, r->graph);
    }
    return enqueue_steps(b, s, first, last, buffer);
}

void weft_build_release_graphs(weft_build *b) {
    for (int k = 0; k < WEFT_REPEATED; k++) forget(b, &b->repeated[k]);
}
