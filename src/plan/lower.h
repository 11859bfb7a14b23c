/*
 * Lowering: the steps of a schedule as tasks. Tiles of transforms and of the exchanges next to them
 * become tasks of their own, exchanges what their methods make of them.
 */
#ifndef WEFT_PLAN_LOWER_H
#define WEFT_PLAN_LOWER_H

#include "plan/schedule.h"
#include "schedule/task.h"

/* A schedule as tasks, and what an execution of them needs. */
typedef struct weft_lowered {
    weft_tasks tasks;
    int buffers;        /* those of the schedule, and partners' arrays after them */
    int lanes;          /* bit l: some task runs on lane l */
    int peers;          /* exchanges that read partners' arrays, ... */
    int *peer_step;     /* [peers]: ... and the step that each of them is */
    int messages_sent;  /* by this rank in one execution, ... */
    int64_t bytes_sent; /* ... and their bytes, what partners read of this rank's arrays included */
} weft_lowered;

/* The caller releases the result, also after a failure. */
weft_status weft_schedule_lower(const weft_schedule *schedule, const weft_device_ops *device,
                                weft_lowered *lowered);
void weft_lowered_release(weft_lowered *lowered);

#endif
