/*
 * Programs: a schedule made ready to be executed any number of times. A program has the tasks, what
 * waits for what, and what the tasks need of the device, the engine and the transport: engine
 * plans, events, messages. Made by program.c, run by run.c.
 */
#ifndef WEFT_EXEC_PROGRAM_H
#define WEFT_EXEC_PROGRAM_H

#include "device/messages.h"
#include "engine/engine.h"
#include "exchange/peer.h"
#include "exec/hook.h"
#include "exec/lane_span.h"
#include "exec/sender.h"
#include "plan/lower.h"
#include "schedule/dependencies.h"
#include "support/recorder.h"
#include "transport/transport.h"

typedef struct weft_build weft_build;

/* What a device's callback is told when a block is packed. */
typedef struct weft_packed_notice {
    struct weft_execution *run;
    int copy, message;       /* the task that packs the block, and the one that may send it now */
    double enqueued, packed; /* clocks of this run; enqueued 0: not yet */
} weft_packed_notice;

/* What a task needs, made at planning. */
typedef struct weft_prepared {
    weft_engine_plan *plan;     /* FFT; not owned */
    weft_event *event;          /* where another lane or the calling thread waits for the task */
    weft_message *message;      /* SEND, RECEIVE */
    weft_alltoall *alltoall;    /* ALLTOALL */
    weft_packed_notice *notice; /* COPY: the message that leaves when it is done */
    unsigned claims;            /* bit w: it writes workspace w, which partners may read */
    bool async;                 /* a queue carries it out, and not the calling thread */
    bool watched;               /* the calling thread waits for its end on a device's lane */
    int waits_for;              /* where the task waits for the compute lane: the lane's last task
                                   before it; -1: none */
    int blockers;               /* how many tasks must end, or begin, before it may be issued */
    int first_released;         /* the first task that has this one as `after`, and ... */
    int next_released;          /* ... the next one with the same `after`; -1: none */
} weft_prepared;

/* A task of a tile whose plan has a hook (hook.c). */
typedef struct weft_hooked_task {
    const weft_copy_hook *hook;
    weft_tile_copy tile;
    int64_t bytes; /* of a copy that the hook is for; else 0 */
} weft_hooked_task;

typedef enum weft_task_stage {
    WEFT_TASK_WAITING,
    WEFT_TASK_ISSUED,
    WEFT_TASK_DONE
} weft_task_stage;

/* How far a task is in this run. */
typedef struct weft_task_progress {
    weft_task_stage stage;
    int blockers;     /* those of weft_prepared that are left */
    int issued;       /* how many were issued before it */
    int recorded_by;  /* the task whose event stands for its end */
    int next_in_lane; /* issued behind it and not known to be done; -1: none */
} weft_task_progress;

/* The state of a run (run.c), which belongs to the program so that runs allocate nothing. */
typedef struct weft_progress {
    weft_task_progress *task; /* [tasks] */
    uint64_t *ready;          /* bits of tasks that nothing blocks */
    weft_request *request;    /* [receives + sends] */
    int *message;             /* [receives + sends]: the task of each request */
    void **address;           /* [buffers] */
    const void **array;       /* [buffers]: those of a transform's input that lies in pieces */
    weft_lane_span *span;     /* [tasks], of a streamed plan that keeps a trace; or NULL */
} weft_progress;

typedef struct weft_program {
    weft_lowered lowered;
    weft_dependencies order;
    weft_prepared *prepared;    /* [tasks] */
    weft_hooked_task *hooked;   /* [tasks], or NULL: those without a hook are zero */
    weft_peer **peer;           /* [lowered.peers]; not owned */
    weft_packed_notice *notice; /* [sends], of which there are `notices` */
    int notices;
    double last_packed[WEFT_LINKS];      /* the clock of each link lane's last callback */
    weft_device_message *device_message; /* [accesses of all tasks] */
    int receives, sends;
    bool sequential; /* every task is on the compute lane and concerns this rank alone */
    bool meets;      /* devices meet their partners in it: what a lane does may depend on them */
    bool polls; /* events tell how far lanes are; else the compute lane, which is the device's only
                   one in use and depends on no partner, is waited for */
    weft_progress progress;
    size_t bytes;
} weft_program;

/* Makes what of schedule number `s` no other rank is needed for: tasks, engine plans, events,
 * lanes. Not collective. */
weft_status weft_program_create(weft_build *build, int s);
/* Makes the engine plans, events and lanes of a program that has its tasks. Not collective. */
weft_status weft_program_prepare(weft_build *build, int s);
/* Makes the messages and signals of a program, once there are groups, communicators and shared
 * workspaces. A rank that fails goes on with the others. Collective. */
weft_status weft_program_connect(weft_build *build, int s);
void weft_program_release(weft_build *build, int s);

#endif
