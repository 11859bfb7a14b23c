/*
 * Tasks on the lanes of the device. Ranks that are alone put the same on the compute lane again and
 * again, so what has been enqueued with the same buffers before is kept as a graph: then one call
 * enqueues all kernels, and less time passes between them.
 */
#include "exec/plan.h"
#include "support/error.h"

void *weft_program_address(const weft_program *p, const weft_access *access) {
    return (char *)p->progress.address[access->buffer] + access->base;
}

static weft_status enqueue_fft(weft_build *b, const weft_program *p, int t, weft_queue *queue) {
    const weft_fft_task *fft = &p->lowered.tasks.task[t].as.fft;
    void *const *address = p->progress.address;
    weft_engine_plan *plan = p->prepared[t].plan;
    void *out = (char *)address[fft->dst] + fft->out_offset;
    const void *in = p->progress.array; /* read before the engine returns */
    if (fft->arrays == 0) in = (const char *)address[fft->src] + fft->in_offset;
    for (int i = 0; i < fft->arrays; i++)
        p->progress.array[i] = address[p->lowered.tasks.array[fft->first_array + i]];
    if (b->candidate.engine->begin_at)
        b->candidate.engine->begin_at(plan, fft->first, b->buffers.kept);
    return b->candidate.engine->execute(plan, &b->device, queue, in, out);
}

/* Scaling alone is the device's own work in place. */
static weft_status enqueue_pointwise(weft_build *b, const weft_step *step, int slot,
                                     weft_queue *queue, void *const *buffer) {
    const weft_device_handle *d = &b->device;
    const weft_precision precision = step->layout.precision;
    const int64_t number = (int64_t)weft_number_bytes(precision);
    const void *src = buffer[step->src];
    void *dst = buffer[step->dst];
    double factor = 1;
    if (weft_step_scales(step, &factor))
        return d->ops->scale(d->state, queue, precision, dst, step->dst_bytes / number, factor);
    if (b->operators.pass[slot]) {
        weft_operator_pass_keep_at(b->operators.pass[slot], b->buffers.kept);
        return weft_operator_pass_run(b->operators.pass[slot], queue, src, dst);
    }
    WEFT_TRY(
        d->ops->run(d->state, queue, weft_pointwise_run, b->operators.pointwise[slot], src, dst));
    if (!step->layout.keeps) return WEFT_SUCCESS;
    return d->ops->run(d->state, queue, weft_pointwise_keep, b->operators.pointwise[slot], dst,
                       b->buffers.kept);
}

weft_status weft_build_enqueue(weft_build *b, int s, int t) {
    const weft_program *p = &b->program[s];
    const weft_task *task = &p->lowered.tasks.task[t];
    const weft_step *step = &b->schedule[s].step[task->step];
    const weft_access *access = &p->lowered.tasks.access[task->first_access];
    weft_queue *queue = b->lanes.queue[task->lane];
    switch (task->kind) {
    case WEFT_TASK_FFT:
        return enqueue_fft(b, p, t, queue);
    case WEFT_TASK_POINTWISE:
        return enqueue_pointwise(b, step, weft_operator_slot(&b->schedule[s], step), queue,
                                 p->progress.address);
    default: /* COPY; what the network carries is not enqueued here */
        return b->device.ops->copy(b->device.state, queue, &task->as.copy.copy,
                                   weft_program_address(p, &access[0]),
                                   weft_program_address(p, &access[1]), task->as.copy.transfer);
    }
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
        b->repetition.possible[s] = b->device.ops->graph_begin && can_be_kept(&b->schedule[s]);
}

static void forget(weft_build *b, weft_repeated *r) {
    if (r->graph) b->device.ops->graph_destroy(b->device.state, r->graph);
    *r = (weft_repeated){0};
}

/* What is known of this work; new work takes the place of what was not done for longest. */
static weft_repeated *look_up(weft_build *b, int s, int first) {
    void *const *buffer = b->program[s].progress.address;
    weft_repeated *oldest = &b->repetition.list[0], *found = NULL;
    for (int k = 0; k < WEFT_REPEATED && !found; k++) {
        weft_repeated *r = &b->repetition.list[k];
        if (r->times > 0 && r->schedule == s && r->first == first &&
            r->in == buffer[WEFT_BUFFER_IN] && r->out == buffer[WEFT_BUFFER_OUT] &&
            r->kept == b->buffers.kept)
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
                                 .kept = b->buffers.kept};
    }
    found->times++;
    found->last = ++b->repetition.enqueued;
    return found;
}

static weft_status enqueue_each(weft_build *b, int s, int first, int last) {
    for (int t = first; t < last; t++) WEFT_TRY(weft_build_enqueue(b, s, t));
    return WEFT_SUCCESS;
}

/* No graph is no failure: the work can be enqueued without. */
static void make_graph(weft_build *b, int s, int first, int last, weft_repeated *r) {
    const weft_device_handle *d = &b->device;
    if (d->ops->graph_begin(d->state) != WEFT_SUCCESS) return;
    weft_status kept = enqueue_each(b, s, first, last);
    weft_status ended = d->ops->graph_end(d->state, &r->graph);
    if (kept == WEFT_SUCCESS || ended != WEFT_SUCCESS) return;
    d->ops->graph_destroy(d->state, r->graph);
    r->graph = NULL;
}

weft_status weft_build_enqueue_all(weft_build *b, int s, int first, int last) {
    const weft_device_handle *d = &b->device;
    if (b->repetition.possible[s]) {
        weft_repeated *r = look_up(b, s, first);
        if (r->times == 2) make_graph(b, s, first, last, r);
        if (r->graph) return d->ops->graph_run(d->state, r->graph);
    }
    return enqueue_each(b, s, first, last);
}

void weft_build_release_graphs(weft_build *b) {
    for (int k = 0; k < WEFT_REPEATED; k++) forget(b, &b->repetition.list[k]);
}
