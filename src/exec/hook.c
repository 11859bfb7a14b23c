/* What is enqueued for a copy of a streamed plan that has a hook. */
#include "exec/hook.h"

#include "exec/plan.h"
#include "support/error.h"

#include <stdlib.h>

static weft_status copy_by_hook(void *argument, const void *src, void *dst) {
    const weft_hooked_copy *hooked = argument;
    const weft_copy_hook *hook = hooked->hook;
    WEFT_TRY(hook->copy(hook->context, hooked->copy, src, dst));
    hook->copied(hook->context, hooked->bytes);
    return WEFT_SUCCESS;
}

static void tell(void *argument) {
    const weft_hooked_copy *hooked = argument;
    hooked->hook->copied(hooked->hook->context, hooked->bytes);
}

weft_status weft_build_enqueue_hooked(weft_build *b, const weft_task *task,
                                      weft_hooked_copy *hooked, const void *src, void *dst) {
    const weft_device_handle *d = &b->device;
    weft_queue *queue = b->lanes.queue[task->lane];
    if (d->ops->id == WEFT_HOST)
        return d->ops->run(d->state, queue, copy_by_hook, hooked, src, dst);
    WEFT_TRY(d->ops->copy(d->state, queue, &task->as.copy.copy, src, dst, task->as.copy.transfer));
    return d->ops->callback(d->state, queue, tell, hooked);
}

static bool passes_the_link(const weft_task *task) {
    return task->kind == WEFT_TASK_COPY && (task->as.copy.transfer == WEFT_HOST_TO_DEVICE ||
                                            task->as.copy.transfer == WEFT_DEVICE_TO_HOST);
}

static weft_status hook_program(weft_program *p, const weft_copy_hook *hook, int64_t *bytes) {
    const int tasks = p->lowered.tasks.count;
    if (!p->hooked) p->hooked = calloc((size_t)tasks + 1, sizeof *p->hooked);
    if (!p->hooked) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's tasks");
    for (int t = 0; t < tasks; t++) {
        const weft_copy *copy = &p->lowered.tasks.task[t].as.copy.copy;
        if (!passes_the_link(&p->lowered.tasks.task[t])) continue;
        p->hooked[t] =
            (weft_hooked_copy){hook, copy, copy->elements * (int64_t)copy->element_bytes};
        *bytes += p->hooked[t].bytes;
    }
    return WEFT_SUCCESS;
}

weft_status weft_plan_hook_copies(weft_plan plan, const weft_copy_hook *hook,
                                  weft_direction direction, int64_t *bytes) {
    weft_build *b = plan->build;
    *bytes = 0;
    if (!b->candidate.streamed) return WEFT_SUCCESS;
    return hook_program(&b->program[weft_schedule_index(direction, false)], hook, bytes);
}
