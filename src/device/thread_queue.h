/*
 * Queues and events made of threads, for devices whose work the CPU does: a queue is a worker
 * thread with a ring of work; an event counts how often it was recorded and how far the recording
 * got.
 *
 * Enqueuing copies the work into the ring, which has room for 128 pieces of work and never grows,
 * so executions allocate nothing. If the ring is full, enqueuing waits until the oldest piece of
 * work is done. There is no deadlock: work waits only for work that was enqueued before it, and
 * functions that run on a queue enqueue nothing (device.h).
 */
#ifndef WEFT_DEVICE_THREAD_QUEUE_H
#define WEFT_DEVICE_THREAD_QUEUE_H

#include "device/device.h"

typedef enum weft_work_kind {
    WEFT_WORK_COPY,
    WEFT_WORK_RUN,
    WEFT_WORK_SCALE,
    WEFT_WORK_OPERATE, /* by the device itself only */
    WEFT_WORK_BEGIN,   /* likewise: what it begins ends later (device/openmp/queue.h) */
    WEFT_WORK_CALLBACK,
    WEFT_WORK_RECORD,
    WEFT_WORK_AWAIT
} weft_work_kind;

/* One piece of work, with addresses that the CPU can dereference, unless the device does it. */
typedef struct weft_work {
    weft_work_kind kind;
    /* Not NULL: how the device itself does its work, when the queue comes to it. */
    weft_status (*own)(void *context, const struct weft_work *work);
    void *context;
    const char *injected; /* not NULL: fail with this (static) sentence instead of doing the work */
    const void *src;
    void *dst;
    int threads;
    weft_transfer transfer; /* of a copy that the device does */
    union {
        weft_copy copy;
        struct {
            weft_device_function function;
            void *argument;
        } run;
        struct {
            weft_precision precision;
            int64_t count;
            double factor;
        } scale;
        const weft_device_operators *operators;
        struct {
            weft_status (*own)(void *context, const struct weft_work *work);
            void *context;
        } begin; /* where a thread waits for the end */
        struct {
            void (*function)(void *);
            void *argument;
        } callback;
        struct {
            weft_event *event;
            uint64_t ticket;
        } event;
    } as;
} weft_work;

/* A random delay before pieces of work, of up to delay_us microseconds; 0: none. It shows where a
 * wait is missing. */
typedef struct weft_random_delay {
    uint64_t seed;
    unsigned delay_us;
} weft_random_delay;

weft_status weft_thread_queue_create(weft_random_delay delay, weft_queue **queue);

/* Finishes the work that is queued, then ends the thread. NULL is ignored. */
void weft_thread_queue_destroy(weft_queue *queue);

/* Enqueues a copy of the work. Must not be called on a queue's own thread. */
void weft_thread_queue_put(weft_queue *queue, const weft_work *work);

/* Waits until the queue is empty; returns and clears its first failure, with the sentence as the
 * calling thread's. */
weft_status weft_thread_queue_wait(weft_queue *queue);

/* Does one piece of work on the calling thread. */
weft_status weft_work_do(const weft_work *work);

/* Whether work is done even after a failure on its queue, since other queues or threads depend on
 * it. */
bool weft_work_always_done(weft_work_kind kind);

/* An event stands for its latest record. It must not be recorded anew on another queue, or
 * destroyed, while a record or an await of it is pending. Awaiting an event that was never recorded
 * does not wait. */
weft_status weft_thread_event_create(weft_event **event);
void weft_thread_event_destroy(weft_event *event);

bool weft_thread_event_done(weft_event *event);

/* The work that records the event, or that awaits its latest record. */
weft_work weft_thread_event_record(weft_event *event);
weft_work weft_thread_event_await(weft_event *event);

#endif
