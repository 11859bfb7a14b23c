/* What the lanes of a streamed plan do, for its trace: the device calls back before and behind each
 * task, which takes some microseconds, so it does only where a trace is kept. */
#ifndef WEFT_EXEC_LANE_SPAN_H
#define WEFT_EXEC_LANE_SPAN_H

#include "schedule/task.h"
#include "support/recorder.h"

typedef struct weft_lane_span {
    weft_recorder *recorder;
    const weft_task *task;
    double begin;
} weft_lane_span;

/* Functions for weft_device_ops.callback, whose argument is a weft_lane_span. */
void weft_lane_span_begin(void *span);
void weft_lane_span_end(void *span);

#endif
