/*
 * Enqueuing a task on its lane of the device: an engine's transform, a pass of operators, or a
 * copy, from and to where the buffers of this run lie.
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
        b->candidate.engine->begin_at(plan, fft->first, b->buffers.spectrum);
    return b->candidate.engine->execute(plan, &b->device, queue, in, out);
}

/* Scaling alone is the device's own work in place. */
static weft_status enqueue_pointwise(weft_build *b, const weft_step *step, int slot,
                                     weft_queue *queue, const void *src, void *dst) {
    const weft_device_handle *d = &b->device;
    const weft_pointwise_layout *layout = &step->as.pointwise.layout;
    const int64_t number = (int64_t)weft_number_bytes(layout->precision);
    double factor = 1;
    if (weft_step_scales(step, &factor))
        return d->ops->scale(d->state, queue, layout->precision, dst, step->dst_bytes / number,
                             factor);
    if (b->operators.offload[slot])
        return weft_operator_offload_run(b->operators.offload[slot], queue, src, dst,
                                         b->buffers.spectrum);
    if (b->operators.pass[slot]) {
        weft_operator_pass_keep_at(b->operators.pass[slot], b->buffers.spectrum);
        return weft_operator_pass_run(b->operators.pass[slot], queue, src, dst);
    }
    WEFT_TRY(
        d->ops->run(d->state, queue, weft_pointwise_run, b->operators.pointwise[slot], src, dst));
    if (!layout->keeps) return WEFT_SUCCESS;
    return d->ops->run(d->state, queue, weft_pointwise_keep, b->operators.pointwise[slot], dst,
                       b->buffers.spectrum);
}

static weft_status enqueue_copy(weft_build *b, const weft_program *p, int t, weft_queue *queue) {
    const weft_task *task = &p->lowered.tasks.task[t];
    const void *src = weft_program_address(p, weft_tasks_accessed(&p->lowered.tasks, t, 0));
    void *dst = weft_program_address(p, weft_tasks_accessed(&p->lowered.tasks, t, 1));
    if (p->hooked && p->hooked[t].bytes > 0)
        return weft_build_enqueue_hooked(b, task, &p->hooked[t], src, dst);
    return b->device.ops->copy(b->device.state, queue, &task->as.copy.copy, src, dst,
                               task->as.copy.transfer);
}

static weft_status enqueue(weft_build *b, int s, int t) {
    const weft_program *p = &b->program[s];
    const weft_task *task = &p->lowered.tasks.task[t];
    const weft_step *step = &b->schedule[s].step[task->step];
    weft_queue *queue = b->lanes.queue[task->lane];
    if (p->hooked && !weft_hooked_task_is_wanted(&p->hooked[t])) return WEFT_SUCCESS;
    switch (task->kind) {
    case WEFT_TASK_FFT:
        return enqueue_fft(b, p, t, queue);
    case WEFT_TASK_POINTWISE:
        return enqueue_pointwise(
            b, step, weft_operator_slot(&b->schedule[s], step), queue,
            weft_program_address(p, weft_tasks_accessed(&p->lowered.tasks, t, 0)),
            weft_program_address(p, weft_tasks_accessed(&p->lowered.tasks, t, 1)));
    default: /* COPY; what the network carries is not enqueued here */
        return enqueue_copy(b, p, t, queue);
    }
}

weft_status weft_build_enqueue(weft_build *b, int s, int t) {
    const weft_program *p = &b->program[s];
    const weft_device_handle *d = &b->device;
    weft_queue *queue = b->lanes.queue[p->lowered.tasks.task[t].lane];
    if (!p->progress.span) return enqueue(b, s, t);
    WEFT_TRY(d->ops->callback(d->state, queue, weft_lane_span_begin, &p->progress.span[t]));
    WEFT_TRY(enqueue(b, s, t));
    return d->ops->callback(d->state, queue, weft_lane_span_end, &p->progress.span[t]);
}
