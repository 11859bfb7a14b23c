/*
 * One execution of a program, as the files that carry it out share it: run.c decides which task is
 * issued next, progress.c knows what is done, traffic.c has the messages.
 */
#ifndef WEFT_EXEC_RUN_H
#define WEFT_EXEC_RUN_H

#include "exec/plan.h"

enum { WEFT_NO_TASK = -1 };

/* Messages of an execution. */
typedef struct weft_traffic {
    int receives, sends; /* on their way */
    int awaited_sends;   /* those of `sends` whose buffer some task is to write */
    int given, to_send;  /* to the sender: all, and those that it has not sent yet */
    int packed;          /* `given` when the last copy that packs for the sender was enqueued */
    double first_sent;   /* clock of the sender's first message; 0: none yet */
} weft_traffic;

/* Tasks on the lanes of the device that are issued and not known to be done. */
typedef struct weft_lane_work {
    int oldest[WEFT_LANES], newest[WEFT_LANES];
    int copies[WEFT_LANES]; /* from partners; those that are done as one count once */
    int watched;            /* tasks whose end the calling thread waits for */
} weft_lane_work;

/* One execution. */
typedef struct weft_execution {
    weft_build *b;
    int s;
    weft_program *p;
    const weft_task *task;   /* those of the program, ... */
    weft_prepared *prepared; /* ... what is known of them, ... */
    weft_task_progress *now; /* ... and how far they are */
    weft_recorder *recorder;
    weft_status status; /* the first failure */
    double moment;      /* when the last recorded work ended */
    bool paused;        /* the calling thread has waited since */
    int left;           /* tasks of the device that are not issued, others that are not done */
    int issued;
    int served; /* all tasks before this one that partners wait for have been begun */
    int held;   /* tasks that waited for nothing but partners' signals at the last look */
    weft_traffic messages;
    weft_lane_work lanes;
} weft_execution;

static inline const weft_access *weft_execution_access(const weft_execution *r, int t, int i) {
    return weft_tasks_accessed(&r->p->lowered.tasks, t, i);
}

static inline weft_transport *weft_execution_group(const weft_execution *r, int t) {
    return r->b->groups.of[r->task[t].as.message.redistribution];
}

/* Whether the task is a copy from a partner's array that a queue carries out. */
static inline bool weft_execution_is_remote_copy(const weft_execution *r, int t) {
    return r->task[t].kind == WEFT_TASK_COPY && r->task[t].as.copy.from_partner &&
           r->prepared[t].async;
}

/* ---- progress.c ---- */

/* The task has been issued, or has ended: unblocks the tasks that wait for that. */
void weft_execution_mark_issued(weft_execution *r, int t);
void weft_execution_complete(weft_execution *r, int t);
/* Lists the task as the newest of its lane. */
void weft_execution_append(weft_execution *r, int t);
/* Waits until everything on the lane is done. */
void weft_execution_wait_for_lane(weft_execution *r, int lane);
/* Completes the tasks that events report as done; whether there were any. */
bool weft_execution_look_at_device(weft_execution *r);
/* Waits for all lanes, whatever is on them; the calling thread's last sentence remains. */
void weft_execution_wait_for_device(weft_execution *r);

/* ---- traffic.c ---- */

/* At the beginning and at the end of a run. */
void weft_execution_open_traffic(weft_execution *r);
void weft_execution_close_traffic(weft_execution *r);
/* Begin messages, by the kind of their task. A failure is kept in r->status. */
void weft_execution_send(weft_execution *r, int t);
void weft_execution_receive(weft_execution *r, int t);
void weft_execution_alltoall(weft_execution *r, int t);
void weft_execution_exchange_by_device(weft_execution *r, int t);
/* Enqueues a callback behind a copy that packs for the sender. */
void weft_execution_call_when_packed(weft_execution *r, int t);
/* Whether this message, if it begins now, begins after all that come before it in the list. */
bool weft_execution_keeps_order(const weft_execution *r, int t);
/* Completes a message that has arrived or, where tasks wait for that, has left; with `wait`, waits
 * for one. Whether there was any. */
bool weft_execution_look_at_messages(weft_execution *r, bool wait);
/* Learns how many messages the sender has sent. */
void weft_execution_look_at_sender(weft_execution *r);
/* Waits until every message has left this rank. */
void weft_execution_finish_sends(weft_execution *r);

#endif
