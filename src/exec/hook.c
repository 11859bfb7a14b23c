/* What is enqueued for a copy of a streamed plan that has a hook, and which tiles are wanted. */
#include "exec/hook.h"

#include "exec/plan.h"
#include "support/error.h"

#include <stdlib.h>

static weft_status copy_by_hook(void *argument, const void *src, void *dst) {
    const weft_hooked_task *hooked = argument;
    const weft_copy_hook *hook = hooked->hook;
    WEFT_TRY(hook->copy(hook->context, &hooked->tile, src, dst));
    hook->copied(hook->context, &hooked->tile, hooked->bytes);
    return WEFT_SUCCESS;
}

static void tell(void *argument) {
    const weft_hooked_task *hooked = argument;
    hooked->hook->copied(hooked->hook->context, &hooked->tile, hooked->bytes);
}

/* The bytes of the device's memory that a tile is stored from, as they lie there. */
static weft_status land(const weft_device_handle *d, weft_queue *queue, const weft_copy *tile,
                        const void *src, void *landing) {
    const weft_copy copy = weft_copy_of_run(weft_copy_source_bytes(tile), 1);
    const char *first = (const char *)src + tile->src_offset * (int64_t)tile->element_bytes;
    return d->ops->copy(d->state, queue, &copy, first, landing, WEFT_DEVICE_TO_HOST);
}

weft_status weft_build_enqueue_hooked(weft_build *b, const weft_task *task,
                                      weft_hooked_task *hooked, const void *src, void *dst) {
    const weft_device_handle *d = &b->device;
    weft_queue *queue = b->lanes.queue[task->lane];
    if (d->ops->id == WEFT_HOST)
        return d->ops->run(d->state, queue, copy_by_hook, hooked, src, dst);
    if (hooked->tile.stores && hooked->hook->landing)
        return land(d, queue, &task->as.copy.copy, src,
                    hooked->hook->landing(hooked->hook->context, &hooked->tile));
    WEFT_TRY(d->ops->copy(d->state, queue, &task->as.copy.copy, src, dst, task->as.copy.transfer));
    return d->ops->callback(d->state, queue, tell, hooked);
}

bool weft_hooked_task_is_wanted(const weft_hooked_task *hooked) {
    const weft_copy_hook *hook = hooked->hook;
    return !hook || !hook->wanted || hook->wanted(hook->context, &hooked->tile);
}

static bool passes_the_link(const weft_task *task) {
    return task->kind == WEFT_TASK_COPY && (task->as.copy.transfer == WEFT_HOST_TO_DEVICE ||
                                            task->as.copy.transfer == WEFT_DEVICE_TO_HOST);
}

/* The pass that a task of a streamed schedule is part of; -1: none. */
static int pass_of(const weft_streaming *stream, const weft_task *task) {
    for (int p = 0; p < stream->passes; p++)
        if (stream->pass[p].first <= task->step && task->step <= stream->pass[p].last) return p;
    return -1;
}

static weft_hooked_task hooked_task(const weft_schedule *schedule, const weft_task *task,
                                    const weft_copy_hook *hook) {
    const weft_copy *copy = &task->as.copy.copy;
    weft_hooked_task hooked = {
        .tile = {.pass = pass_of(&schedule->stream, task), .tile = task->tile}};
    if (hooked.tile.pass < 0) return (weft_hooked_task){0};
    hooked.hook = hook;
    if (!passes_the_link(task)) return hooked;
    hooked.tile.copy = copy;
    hooked.tile.stores = task->as.copy.transfer == WEFT_DEVICE_TO_HOST;
    hooked.bytes = copy->elements * (int64_t)copy->element_bytes;
    return hooked;
}

weft_status weft_plan_hook_copies(weft_plan plan, const weft_copy_hook *hook,
                                  weft_direction direction, int64_t *bytes) {
    const int s = weft_schedule_index(direction, false);
    const weft_schedule *schedule = &plan->build->schedule[s];
    weft_program *p = &plan->build->program[s];
    const int tasks = p->lowered.tasks.count;
    *bytes = 0;
    if (!plan->build->candidate.stream.used) return WEFT_SUCCESS;
    if (!p->hooked) p->hooked = calloc((size_t)tasks + 1, sizeof *p->hooked);
    if (!p->hooked) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's tasks");
    for (int t = 0; t < tasks; t++) {
        p->hooked[t] = hooked_task(schedule, &p->lowered.tasks.task[t], hook);
        if (weft_hooked_task_is_wanted(&p->hooked[t])) *bytes += p->hooked[t].bytes;
    }
    return WEFT_SUCCESS;
}

void weft_context_leave_on_host(weft_context ctx) {
    ctx->leaves_on_host = true;
}

/* ---- passes and their tiles, one by one ---- */

void weft_plan_outline(weft_plan plan, weft_direction direction,
                       weft_pass_outline pass[WEFT_MAX_PASSES], int *count) {
    const weft_schedule *schedule = &plan->build->schedule[weft_schedule_index(direction, false)];
    const weft_streaming *stream = &schedule->stream;
    *count = plan->build->candidate.stream.used ? stream->passes : 0;
    for (int p = 0; p < *count; p++) {
        const weft_streamed_pass *of = &stream->pass[p];
        const weft_step *first = &schedule->step[of->first], *last = &schedule->step[of->last];
        pass[p] = (weft_pass_outline){.tiles = (int)weft_streamed_tiles(of),
                                      .within = first->src == last->dst,
                                      .changes_size = first->bytes_moved != last->bytes_moved,
                                      .tile_bytes =
                                          stream->slot_bytes[last->src - WEFT_BUFFER_WORKSPACE]};
    }
}

int64_t weft_copy_source_bytes(const weft_copy *copy) {
    int64_t elements = 1;
    for (int a = 0; a < copy->axes; a++) elements += (copy->n[a] - 1) * copy->src_stride[a];
    return elements * (int64_t)copy->element_bytes;
}

weft_status weft_plan_store_tile(weft_plan plan, weft_direction direction, int pass, int tile,
                                 const void *bytes, void *out) {
    weft_program *p = &plan->build->program[weft_schedule_index(direction, false)];
    for (int t = 0; t < p->lowered.tasks.count; t++) {
        const weft_hooked_task *hooked = &p->hooked[t];
        if (!hooked->hook || hooked->tile.pass != pass || hooked->tile.tile != tile ||
            !hooked->tile.stores)
            continue;
        weft_copy from_first = *hooked->tile.copy;
        weft_tile_copy copy = hooked->tile;
        from_first.src_offset = 0;
        copy.copy = &from_first;
        const weft_access *to = weft_tasks_accessed(&p->lowered.tasks, t, 1);
        return hooked->hook->copy(hooked->hook->context, &copy, bytes, (char *)out + to->base);
    }
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "pass %d of the plan has no tile %d", pass + 1,
                     tile);
}
