/* Spans of the lanes of a streamed plan. */
#include "exec/lane_span.h"

/* weft_span.queue: whatever lane a task is on, for without overlap all tasks are on one. */
static int queue_of(const weft_task *task) {
    enum { COMPUTES = 1, TO_DEVICE, FROM_DEVICE };
    if (task->kind != WEFT_TASK_COPY || task->as.copy.transfer == WEFT_DEVICE_TO_DEVICE)
        return COMPUTES;
    return task->as.copy.transfer == WEFT_HOST_TO_DEVICE ? TO_DEVICE : FROM_DEVICE;
}

void weft_lane_span_begin(void *span) {
    weft_lane_span *s = span;
    s->begin = weft_clock();
}

void weft_lane_span_end(void *span) {
    const weft_lane_span *s = span;
    weft_record_tile(s->recorder, &(weft_span){.phase = s->task->phase,
                                               .step = s->task->step,
                                               .queue = queue_of(s->task),
                                               .partner = s->task->partner,
                                               .begin = s->begin,
                                               .end = weft_clock(),
                                               .tile = s->task->tile});
}
