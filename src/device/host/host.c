/*
 * The host as a device: its memory is the process's memory, so nothing is staged. A NULL queue does
 * work at once on the calling thread and returns its failure at once; other queues are threads.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "device/allocations.h"
#include "device/device.h"
#include "device/thread_queue.h"
#include "support/error.h"

struct weft_device_state {
    int threads;
    atomic_int queues; /* that work at the same time, and share the threads */
    weft_allocations allocations;
};

static weft_status host_probe(const char **description) {
    if (description) *description = "host memory and threads";
    return WEFT_SUCCESS;
}

static weft_status host_open(const weft_device_settings *settings, weft_device_state **device) {
    weft_device_state *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a device");
    made->threads = settings->threads > 0 ? settings->threads : 1;
    weft_allocations_open(&made->allocations, settings->memory_limit);
    *device = made;
    return WEFT_SUCCESS;
}

static void free_record(weft_allocation *allocation) {
    free(allocation->storage);
    free(allocation);
}

static void host_close(weft_device_state *device) {
    if (!device) return;
    weft_allocation *left;
    while ((left = weft_allocations_take(&device->allocations, NULL)) != NULL) free_record(left);
    weft_allocations_close(&device->allocations);
    free(device);
}

static weft_status host_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                                 void **memory) {
    if (bytes == 0) {
        *memory = NULL;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(weft_allocations_reserve(&device->allocations, kind, bytes));
    weft_allocation *made = calloc(1, sizeof *made);
    char *storage = made ? weft_storage_allocate(bytes) : NULL;
    if (!storage) {
        free(made);
        weft_allocations_release(&device->allocations, kind, bytes);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for %zu bytes; use more ranks",
                         bytes);
    }
    *made = (weft_allocation){.address = storage, .storage = storage, .bytes = bytes, .kind = kind};
    weft_allocations_add(&device->allocations, made);
    *memory = storage;
    return WEFT_SUCCESS;
}

static void host_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    (void)kind;
    if (!memory) return;
    weft_allocation *taken = weft_allocations_take(&device->allocations, memory);
    if (taken) free_record(taken);
}

static weft_status host_queue_create(weft_device_state *device, bool low_priority,
                                     weft_queue **queue) {
    (void)low_priority;
    WEFT_TRY(weft_thread_queue_create((weft_random_delay){0}, queue));
    atomic_fetch_add(&device->queues, 1);
    return WEFT_SUCCESS;
}

static void host_queue_destroy(weft_device_state *device, weft_queue *queue) {
    if (!queue) return;
    weft_thread_queue_destroy(queue);
    atomic_fetch_sub(&device->queues, 1);
}

static weft_status host_queue_wait(weft_device_state *device, weft_queue *queue) {
    (void)device;
    return queue ? weft_thread_queue_wait(queue) : WEFT_SUCCESS;
}

static weft_status host_event_create(weft_device_state *device, weft_event **event) {
    (void)device;
    return weft_thread_event_create(event);
}

static void host_event_destroy(weft_device_state *device, weft_event *event) {
    (void)device;
    weft_thread_event_destroy(event);
}

static weft_status put(weft_queue *queue, const weft_work *work) {
    if (!queue) return weft_work_do(work);
    weft_thread_queue_put(queue, work);
    return WEFT_SUCCESS;
}

static weft_status host_event_record(weft_device_state *device, weft_queue *queue,
                                     weft_event *event) {
    (void)device;
    weft_work work = weft_thread_event_record(event);
    return put(queue, &work);
}

static weft_status host_event_await(weft_device_state *device, weft_queue *queue,
                                    weft_event *event) {
    (void)device;
    weft_work work = weft_thread_event_await(event);
    return put(queue, &work);
}

static bool host_event_done(weft_device_state *device, weft_event *event) {
    (void)device;
    return weft_thread_event_done(event);
}

/* The number of threads that work on one queue may use, since each queue has a team of its own. */
static int threads_of_queue(weft_device_state *device) {
    const int queues = atomic_load(&device->queues);
    return device->threads > queues ? device->threads / queues : 1;
}

static weft_status host_copy(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                             const void *src, void *dst, weft_transfer transfer) {
    (void)transfer;
    if (copy->elements == 0) return WEFT_SUCCESS;
    if (!queue) {
        weft_copy_run(copy, src, dst, device->threads);
        return WEFT_SUCCESS;
    }
    weft_work work = {
        .kind = WEFT_WORK_COPY, .src = src, .dst = dst, .threads = threads_of_queue(device)};
    work.as.copy = *copy;
    return put(queue, &work);
}

static weft_status host_callback(weft_device_state *device, weft_queue *queue,
                                 void (*function)(void *), void *argument) {
    (void)device;
    weft_work work = {.kind = WEFT_WORK_CALLBACK, .as.callback = {function, argument}};
    return put(queue, &work);
}

static weft_status host_run(weft_device_state *device, weft_queue *queue,
                            weft_device_function function, void *argument, const void *in,
                            void *out) {
    (void)device;
    if (!queue) return function(argument, in, out);
    weft_work work = {.kind = WEFT_WORK_RUN, .src = in, .dst = out, .as.run = {function, argument}};
    return put(queue, &work);
}

static weft_status host_scale(weft_device_state *device, weft_queue *queue,
                              weft_precision precision, void *data, int64_t count, double factor) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the host scales double and single precision only");
    if (count == 0) return WEFT_SUCCESS;
    weft_work work = {.kind = WEFT_WORK_SCALE,
                      .dst = data,
                      .threads = queue ? threads_of_queue(device) : device->threads,
                      .as.scale = {precision, count, factor}};
    return put(queue, &work);
}

const weft_device_ops weft_device_host = {
    .name = "host",
    .id = WEFT_HOST,
    .host_addressable = true,
    .can_fail = false,
    .transport_aware = true,
    .probe = host_probe,
    .open = host_open,
    .close = host_close,
    .allocate = host_allocate,
    .free = host_free,
    .queue_create = host_queue_create,
    .queue_destroy = host_queue_destroy,
    .queue_wait = host_queue_wait,
    .event_create = host_event_create,
    .event_destroy = host_event_destroy,
    .event_record = host_event_record,
    .event_await = host_event_await,
    .event_done = host_event_done,
    .copy = host_copy,
    .callback = host_callback,
    .run = host_run,
    .scale = host_scale,
};
