/*
 * Graphs of repeated work. A schedule without exchanges puts the same tasks on the compute lane in
 * every execution. When they are enqueued with the same buffers for the second time, a graph of
 * them is made: from then on one call enqueues all kernels, and less time passes between them.
 */
#include "exec/plan.h"
#include "support/error.h"

/* A graph waits for no partners, and has no copies to and from the caller's host memory. */
static bool can_be_graph(const weft_schedule *schedule) {
    for (int i = 0; i < schedule->steps; i++) {
        const weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_EXCHANGE) return false;
        if (step->kind == WEFT_STEP_COPY && step->as.copy.transfer != WEFT_DEVICE_TO_DEVICE)
            return false;
    }
    return true;
}

void weft_build_find_repeating(weft_build *b) {
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        b->repetition.possible[s] = b->device.ops->graph_begin && can_be_graph(&b->schedule[s]);
}

static void forget(weft_build *b, weft_repeated *r) {
    if (r->graph) b->device.ops->graph_destroy(b->device.state, r->graph);
    *r = (weft_repeated){0};
}

/* The record of these tasks with these buffers. A new one replaces the one that was not used for
 * longest. */
static weft_repeated *look_up(weft_build *b, int s, int first, int last) {
    void *const *buffer = b->program[s].progress.address;
    weft_repeated *oldest = &b->repetition.list[0], *found = NULL;
    for (int k = 0; k < WEFT_REPEATED && !found; k++) {
        weft_repeated *r = &b->repetition.list[k];
        if (r->times > 0 && r->schedule == s && r->first == first && r->last == last &&
            r->in == buffer[WEFT_BUFFER_IN] && r->out == buffer[WEFT_BUFFER_OUT] &&
            r->spectrum == b->buffers.spectrum)
            found = r;
        if (r->latest < oldest->latest) oldest = r;
    }
    if (!found) {
        found = oldest;
        forget(b, found);
        *found = (weft_repeated){.schedule = s,
                                 .first = first,
                                 .last = last,
                                 .in = buffer[WEFT_BUFFER_IN],
                                 .out = buffer[WEFT_BUFFER_OUT],
                                 .spectrum = b->buffers.spectrum};
    }
    found->times++;
    found->latest = ++b->repetition.enqueued;
    return found;
}

static weft_status enqueue_each(weft_build *b, int s, int first, int last) {
    for (int t = first; t < last; t++) WEFT_TRY(weft_build_enqueue(b, s, t));
    return WEFT_SUCCESS;
}

/* Without a graph the tasks are enqueued one by one, so no failure here is one of the execution. */
static void make_graph(weft_build *b, int s, int first, int last, weft_repeated *r) {
    const weft_device_handle *d = &b->device;
    if (d->ops->graph_begin(d->state) != WEFT_SUCCESS) return;
    weft_status captured = enqueue_each(b, s, first, last);
    weft_status ended = d->ops->graph_end(d->state, &r->graph);
    if (captured == WEFT_SUCCESS || ended != WEFT_SUCCESS) return;
    d->ops->graph_destroy(d->state, r->graph);
    r->graph = NULL;
}

weft_status weft_build_enqueue_all(weft_build *b, int s, int first, int last) {
    const weft_device_handle *d = &b->device;
    if (b->repetition.possible[s]) {
        weft_repeated *r = look_up(b, s, first, last);
        if (r->times == 2) make_graph(b, s, first, last, r);
        if (r->graph) return d->ops->graph_run(d->state, r->graph);
    }
    return enqueue_each(b, s, first, last);
}

void weft_build_release_graphs(weft_build *b) {
    for (int k = 0; k < WEFT_REPEATED; k++) forget(b, &b->repetition.list[k]);
}
