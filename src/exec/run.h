/*
 * One execution of a program, as the files that carry it out share it: run.c decides what goes on
 * next, progress.c knows what is done, traffic.c has the messages.
 */
#ifndef WEFT_EXEC_RUN_H
#define WEFT_EXEC_RUN_H

#include "exec/plan.h"

enum { WEFT_NO_TASK = -1 };

/* weft_progress.state */
enum { WEFT_TASK_WAITING, WEFT_TASK_ISSUED, WEFT_TASK_DONE };

/* Messages of an execution. */
typedef struct weft_traffic {
    int receives, sends;   /* on their way */
    int awaited_sends;     /* those sent whose buffer some task wants to write */
    int promised, to_send; /* to the sender: all, and those that it has not taken yet */
    int packed;            /* promised up to the last one that is packed */
    double first_sent;     /* clock of the sender's first message; 0: none yet */
} weft_traffic;

/* Tasks on the lanes of the device that are issued and not known to be done. */
typedef struct weft_lane_work {
    int oldest[WEFT_LANES], newest[WEFT_LANES];
    int copies[WEFT_LANES]; /* from partners; several that are done as one are one */
    int watched;            /* tasks whose end the calling thread waits for */
} weft_lane_work;

/* One execution. */
typedef struct weft_execution {
    weft_build *b;
    int s;
    weft_program *p;
    weft_progress *now;
    weft_recorder *recorder;
    weft_status status; /* the first failure */
    double moment;      /* when the last recorded work ended */
    bool paused;        /* the calling thread has waited since */
    int left;           /* tasks that are not issued, or not done though the network carries them */
    int issued;
    int served; /* all tasks before it that partners wait for have been begun */
    int held;   /* tasks that only wait for partners' signals, at the last look */
    weft_traffic messages;
    weft_lane_work lanes;
} weft_execution;

static inline const weft_task *weft_execution_task(const weft_execution *r, int t) {
    return &r->p->lowered.tasks.task[t];
}

static inline bool weft_execution_is_async(const weft_execution *r, int t) {
    return weft_lane_is_async(r->b, weft_execution_task(r, t)->lane);
}

static inline const weft_access *weft_execution_access(const weft_execution *r, int t, int i) {
    return weft_tasks_accessed(&r->p->lowered.tasks, t, i);
}

static inline weft_transport *weft_execution_group(const weft_execution *r, int t) {
    return r->b->group[weft_execution_task(r, t)->as.message.redistribution];
}

/* Whether it is a copy from a partner's array that goes on by itself. */
static inline bool weft_execution_is_remote_copy(const weft_execution *r, int t) {
    const weft_task *task = weft_execution_task(r, t);
    return task->kind == WEFT_TASK_COPY && task->as.copy.from_partner &&
           weft_execution_is_async(r, t);
}

/* ---- progress.c ---- */

/* The task has begun, or has ended: releases what waits for that. */
void weft_execution_mark_issued(weft_execution *r, int t);
void weft_execution_complete(weft_execution *r, int t);
/* The task is enqueued on its lane, behind all that is there. */
void weft_execution_append(weft_execution *r, int t);
/* Waits until everything on the lane is done. */
void weft_execution_wait_for_lane(weft_execution *r, int lane);
/* Completes what events tell to be done; whether there was any. */
bool weft_execution_look_at_device(weft_execution *r);
/* Waits for all lanes, whatever is on them, and keeps the calling thread's last sentence. */
void weft_execution_wait_for_device(weft_execution *r);

/* ---- traffic.c ---- */

/* The run begins and ends. */
void weft_execution_open_traffic(weft_execution *r);
void weft_execution_close_traffic(weft_execution *r);
/* Messages, begun by kind. A failure is kept in the run. */
void weft_execution_send(weft_execution *r, int t);
void weft_execution_receive(weft_execution *r, int t);
void weft_execution_alltoall(weft_execution *r, int t);
void weft_execution_exchange_by_device(weft_execution *r, int t);
/* Behind a copy that packs for the sender. */
void weft_execution_call_when_packed(weft_execution *r, int t);
/* Whether no message to the same partner can still be behind this one at the sender. */
bool weft_execution_keeps_order(const weft_execution *r, int t);
/* Completes a message that has arrived, or, where tasks wait for that, has left; waits for one with
 * `wait`. Whether there was any. */
bool weft_execution_look_at_messages(weft_execution *r, bool wait);
void weft_execution_look_at_sender(weft_execution *r);
/* Waits until every message has left this rank. */
void weft_execution_finish_sends(weft_execution *r);

#endif
