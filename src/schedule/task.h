/*
 * Tasks: what one rank does in an execution, as a list in an order that would be right if every
 * task ended before the next began. What may really overlap is derived from what tasks read and
 * write (schedule/dependencies.h); nothing else says so. Pure data: no memory is allocated for
 * arrays, nothing is communicated.
 */
#ifndef WEFT_SCHEDULE_TASK_H
#define WEFT_SCHEDULE_TASK_H

#include "device/device.h"
#include "layout/layout.h"

typedef enum weft_task_kind {
    WEFT_TASK_FFT,
    WEFT_TASK_COPY,
    WEFT_TASK_POINTWISE,
    WEFT_TASK_SEND,
    WEFT_TASK_RECEIVE,
    WEFT_TASK_ALLTOALL,
    WEFT_TASK_DEVICE_MESSAGES, /* sends and receives that the device itself carries out */
    WEFT_TASK_SIGNAL,          /* tells partners that they may read, or that this rank has read */
    WEFT_TASK_AWAIT            /* waits until a partner says that its array may be read */
} weft_task_kind;

/* Where a task runs. Work on one lane of the device is done in the order in which it is enqueued.
 * On the network lane the calling thread talks to partners; on the sender lane a thread of its own
 * does, where the transport allows that. */
enum {
    WEFT_LANE_COMPUTE,
    WEFT_LANE_LOW_PRIORITY, /* computes too, but gives way to everything else */
    WEFT_LANE_LINK,         /* the first of WEFT_LINKS lanes for copies */
    WEFT_LANE_NETWORK = WEFT_LANE_LINK + 4,
    WEFT_LANE_SENDER,
    WEFT_LANES
};
enum { WEFT_LINKS = WEFT_LANE_NETWORK - WEFT_LANE_LINK };

static inline bool weft_lane_of_device(int lane) {
    return lane < WEFT_LANE_NETWORK;
}

/* A strided box of a buffer that a task reads or writes: the view, in elements, from `base` bytes
 * on. `member` is the partner that the data goes to or comes from, where the task has several. */
typedef struct weft_access {
    int buffer;
    bool writes;
    int member;
    size_t element_bytes;
    int64_t base;
    weft_view view;
} weft_access;

/* All of a buffer, whatever lies in it. */
weft_access weft_access_all(int buffer, bool writes);

/* FFT: the share of the transform that begins with index `first` of the loop that its tiles share
 * out. Its arrays begin `in_offset` and `out_offset` bytes into their buffers. An input that lies
 * in pieces has `arrays` arrays instead, entries of weft_tasks.array from `first_array` on. */
typedef struct weft_fft_task {
    int64_t first, n; /* n: indices of that loop; 0: the transform is not tiled */
    bool from_partners;
    int src, dst;
    int64_t in_offset, out_offset;
    int first_array, arrays;
} weft_fft_task;

/* COPY: from the first access to the second. `next` is the task that continues this copy along
 * `axis`, or -1: both can be done as one. */
typedef struct weft_copy_task {
    weft_copy copy;
    weft_transfer transfer;
    int axis, next;
    bool from_partner; /* read over a link, few at a time */
} weft_copy_task;

/* SEND, RECEIVE: one message of the first access, whose elements travel in the order `order`;
 * `packed` is the task whose end lets the sender thread go ahead, or -1. ALLTOALL and
 * DEVICE_MESSAGES: a message for each access. */
typedef struct weft_message_task {
    int redistribution; /* whose group carries it */
    int request;        /* SEND, RECEIVE: its number among those of its kind */
    bool typed;         /* ALLTOALL: of views, not of runs */
    int packed;
    size_t element_bytes;
    int order[WEFT_AXES];
} weft_message_task;

/* SIGNAL: `tiles` tiles of the array before the exchange are complete, or, with tiles < 0, this
 * rank has read all that it needs. AWAIT: partner `member` has completed tile `tile`. */
typedef struct weft_signal_task {
    int peer; /* number of the exchange among those that read partners' arrays */
    int tiles;
    bool opens,
        all; /* the first of an execution; the last one, after which all of it may be read */
    int member;
    int buffer; /* SIGNAL: the workspace that partners read; AWAIT: where its array appears */
} weft_signal_task;

typedef struct weft_task {
    weft_task_kind kind;
    int lane;
    int step;         /* the step of the schedule that it is part of */
    weft_phase phase; /* what its time counts as */
    int partner;      /* member of the exchange's group, or WEFT_NO_PARTNER */
    int tile;
    int first_access, accesses;
    int after;  /* a task that is issued before this one, data or not; -1: none */
    bool waits; /* the calling thread waits for the compute lane before it issues this task */
    union {
        weft_fft_task fft;
        weft_copy_task copy;
        weft_message_task message;
        weft_signal_task signal;
    } as;
} weft_task;

typedef struct weft_tasks {
    weft_task *task;
    int count, capacity;
    weft_access *access;
    int accesses, access_capacity;
    int *array;
    int arrays, array_capacity;
    weft_status status; /* of adding: the first failure, after which nothing is added */
} weft_tasks;

/* Adds a task at the end, which accesses nothing yet; returns its number, or -1 after a failure.
 * Failures are kept in tasks->status. */
int weft_tasks_add(weft_tasks *tasks, weft_task task);
/* Adds to what the last task accesses. */
void weft_tasks_access(weft_tasks *tasks, weft_access access);
/* Adds to the buffers of the last task, an FFT. */
void weft_tasks_array(weft_tasks *tasks, int buffer);

/* Adds a copy from one view to another of equal extents, unless they are empty; returns its number
 * or -1. The task's kind, accesses and copy are filled in here. */
int weft_tasks_add_copy(weft_tasks *tasks, weft_task task, weft_transfer transfer, weft_access from,
                        weft_access to);

/* What task t accesses: number i; NULL where no task accesses anything, on ranks without data. */
static inline const weft_access *weft_tasks_accessed(const weft_tasks *tasks, int t, int i) {
    return tasks->access ? &tasks->access[tasks->task[t].first_access + i] : NULL;
}

void weft_tasks_release(weft_tasks *tasks);

#endif
