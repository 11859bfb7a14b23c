/*
 * Queues and events of the OpenMP device, made in one of two ways, which cmake/openmp_device.cmake
 * chooses.
 *
 * With GCC's runtime they are tasks that are ordered by `depend` (queue_of_tasks.c). A queue is a
 * chain of tasks that depend on it; the task that records an event writes the event, and a task
 * that awaits it, on another queue's chain, reads it. Work that a library's own queue completes is
 * a detached task (`detach`): its successors run once omp_fulfill_event was called.
 *
 * Dependences order tasks of one parent only, so all tasks of a device are made by one thread, the
 * master of a team that executes them. Other threads hand their work to it. Its parallel region is
 * open while there is work. Outside of a region nothing would be asynchronous: GCC 12 runs tasks at
 * once, on the thread that makes them, and those of `target nowait` when that thread waits. The
 * master calls omp_fulfill_event, for a team of GCC 12 may sleep on at the end of its region if a
 * thread outside of it does. All queues of a device share room for 128 pieces of work, which never
 * grows; if there is none, enqueuing waits until some is done.
 *
 * With other runtimes a queue is a thread of weft's (queue_of_threads.c, device/thread_queue.h),
 * since with that of LLVM 14 such teams failed: assertions of the runtime's own, and a heap that
 * was damaged when threads that had teams ended.
 *
 * Either way there is no deadlock: work waits only for work that was enqueued before it, and
 * functions that run on a queue enqueue nothing (device.h).
 */
#ifndef WEFT_DEVICE_OPENMP_QUEUE_H
#define WEFT_DEVICE_OPENMP_QUEUE_H

#include "device/thread_queue.h"

typedef struct weft_openmp_team weft_openmp_team;

weft_status weft_openmp_team_create(weft_openmp_team **team);

/* Finishes the work of all queues first. NULL is ignored. */
void weft_openmp_team_destroy(weft_openmp_team *team);

weft_status weft_openmp_queue_create(weft_openmp_team *team, weft_queue **queue);

/* Finishes the work that is queued. NULL is ignored. */
void weft_openmp_queue_destroy(weft_queue *queue);

/* Enqueues a copy of the work, with `own` for copies, scalings and operators. Must not be
 * called by work. */
void weft_openmp_queue_put(weft_queue *queue, const weft_work *work);

/* Waits until the queue is empty; returns and clears its first failure, with the sentence as the
 * calling thread's. */
weft_status weft_openmp_queue_wait(weft_queue *queue);

/* Ends work of kind WEFT_WORK_BEGIN, which `own` has begun with success: to be called once for
 * each, on any thread, with what `own` was given. A failure is the queue's, with the calling
 * thread's sentence. */
void weft_openmp_work_end(const weft_work *work, weft_status status);

/* As those of threads (device/thread_queue.h), to be recorded and awaited on queues of one team. */
weft_status weft_openmp_event_create(weft_openmp_team *team, weft_event **event);
void weft_openmp_event_destroy(weft_event *event);
bool weft_openmp_event_done(weft_event *event);
void weft_openmp_event_record(weft_queue *queue, weft_event *event);
void weft_openmp_event_await(weft_queue *queue, weft_event *event);

#endif
