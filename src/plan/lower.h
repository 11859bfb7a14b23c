/*
 * Lowering: the steps of a schedule as tasks. Tiles of transforms and of the exchanges next to them
 * become tasks of their own, exchanges what their methods make of them.
 */
#ifndef WEFT_PLAN_LOWER_H
#define WEFT_PLAN_LOWER_H

#include "exchange/exchange.h"
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
/* Where the lowering of a streamed schedule is (lower_stream.c): between two exchanges, or before
 * the first one, or behind the last one. */
typedef struct weft_streamed_lowering {
    const weft_schedule *schedule;
    weft_exchange_lowering arriving, leaving;
    int departed; /* tiles of the exchange `leaving` that have departed in the list */
    int slot;     /* that the next tile of a pass has */
    weft_tasks *tasks;
} weft_streamed_lowering;

/* Adds the tasks of a pass, and behind each of its tiles the departure of those tiles of the next
 * exchange that are complete then. */
void weft_schedule_lower_pass(weft_streamed_lowering *lowering, const weft_streamed_pass *pass);
void weft_lowered_release(weft_lowered *lowered);

#endif
