/*
 * The CUDA device: memory of a GPU, page-locked memory that kernels address too, queues that are
 * streams. Opened through the driver at run time, so weft is built without the toolkit and runs
 * where there is no GPU. Every call enters the GPU's primary context and leaves it again: callers
 * may have others, and threads of their own.
 */
#include "device/cuda/cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda/kernel.h"
#include "device/scale_kernel.h"
#include "support/error.h"

struct weft_queue {
    weft_cuda_stream stream;
};
struct weft_event {
    weft_cuda_event event;
};

/* ---- the device ---- */

/* The description that `probe` gives; written once. */
static char described[384];

static void describe(void) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    char name[256] = "GPU";
    int version = 0, device, number = 0;
    if (weft_cuda_gpu_choose(&number) == WEFT_SUCCESS && driver->device_get(&device, number) == 0)
        driver->device_name(name, (int)sizeof name, device);
    driver->driver_version(&version);
    snprintf(described, sizeof described, "%s, number %d of %d, driver for CUDA %d.%d", name,
             number, weft_cuda_gpus(), version / 1000, version % 1000 / 10);
}

static weft_status cuda_probe(const char **description) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int number;
    if (!weft_cuda_driver_open() || !weft_nvrtc_open()) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_cuda_gpu_choose(&number));
    pthread_once(&once, describe);
    if (description) *description = described;
    return WEFT_SUCCESS;
}

/* The priority of a stream's kernels. */
typedef enum queue_priority { LAST, DEFAULT, FIRST } queue_priority;

static int create_in_context(const weft_cuda_driver *driver, queue_priority which,
                             weft_cuda_stream *stream) {
    int least = 0, greatest = 0;
    driver->priority_range(&least, &greatest); /* of one kind of stream only: both are 0 */
    const int priority[] = {[LAST] = least, [DEFAULT] = (least + greatest) / 2, [FIRST] = greatest};
    return driver->stream_create(stream, WEFT_CUDA_STREAM_NON_BLOCKING, priority[which]);
}

static weft_status create_stream(const weft_cuda_gpu *gpu, queue_priority which,
                                 weft_cuda_stream *stream) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(gpu, status,
                         weft_cuda_check(create_in_context(gpu->driver, which, stream),
                                         "no stream could be created"));
    return status;
}

static weft_status create_event(const weft_cuda_gpu *gpu, weft_cuda_event *event) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(
        gpu, status,
        weft_cuda_check(gpu->driver->event_create(event, WEFT_CUDA_EVENT_NO_TIMING),
                        "no event could be created"));
    return status;
}

static void destroy_default_queue(weft_device_state *device) {
    const weft_cuda_driver *driver = device->gpu->driver;
    if (weft_cuda_enter(device->gpu) != WEFT_SUCCESS) return;
    driver->stream_synchronize(device->stream);
    driver->stream_destroy(device->stream);
    if (device->caller) driver->event_destroy(device->caller);
    if (device->enqueued) driver->event_destroy(device->enqueued);
    weft_cuda_leave(device->gpu);
}

/* The stream of the default queue, and the events by which it waits for the caller. */
static weft_status create_default_queue(weft_device_state *device) {
    WEFT_TRY(create_stream(device->gpu, DEFAULT, &device->stream));
    weft_status status = create_event(device->gpu, &device->caller);
    if (status == WEFT_SUCCESS) status = create_event(device->gpu, &device->enqueued);
    if (status != WEFT_SUCCESS) destroy_default_queue(device);
    return status;
}

static weft_status cuda_open(const weft_device_settings *settings, weft_device_state **device) {
    const weft_cuda_gpu *gpu;
    WEFT_TRY(weft_cuda_gpu_open(settings->number, &gpu));
    weft_device_state *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a device");
    made->gpu = gpu;
    weft_status status = create_default_queue(made);
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    weft_allocations_open(&made->allocations, settings->memory_limit);
    weft_notices_open(&made->notices);
    *device = made;
    return WEFT_SUCCESS;
}

void weft_cuda_free_record(const weft_device_state *device, weft_allocation *record) {
    const weft_cuda_driver *driver = device->gpu->driver;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        if (record->imported && record->storage)
            driver->ipc_close((uintptr_t)record->storage);
        else if (record->kind == WEFT_MEMORY_DEVICE && !record->imported)
            driver->release((uintptr_t)record->address);
        else if (record->callers)
            driver->host_unregister(record->address);
        else if (record->kind == WEFT_MEMORY_PAGE_LOCKED)
            driver->host_release(record->address);
        weft_cuda_leave(device->gpu);
    }
    free(record);
}

static void cuda_close(weft_device_state *device) {
    if (!device) return;
    destroy_default_queue(device);
    weft_allocation *left;
    while ((left = weft_allocations_take(&device->allocations, NULL)) != NULL)
        weft_cuda_free_record(device, left);
    weft_allocations_close(&device->allocations);
    weft_notices_close(&device->notices);
    free(device);
}

static int cuda_number(const weft_device_state *device) {
    return 1 + device->gpu->number;
}

/* ---- memory ---- */

static weft_status allocate_in_context(const weft_cuda_driver *driver, weft_memory_kind kind,
                                       size_t bytes, void **memory) {
    char failure[96];
    snprintf(failure, sizeof failure, "no %zu bytes of %s memory", bytes,
             kind == WEFT_MEMORY_DEVICE ? "device" : "page-locked");
    if (kind == WEFT_MEMORY_PAGE_LOCKED)
        return weft_cuda_check(
            driver->host_allocate(memory, bytes, WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED),
            failure);
    weft_cuda_address address = 0;
    WEFT_TRY(weft_cuda_check(driver->allocate(&address, bytes), failure));
    *memory = (void *)(uintptr_t)address;
    return WEFT_SUCCESS;
}

static weft_status cuda_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                                 void **memory) {
    void *address = NULL;
    weft_status status;
    if (bytes == 0) {
        *memory = NULL;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(weft_allocations_reserve(&device->allocations, kind, bytes));
    weft_allocation *record = malloc(sizeof *record);
    if (record)
        WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                             allocate_in_context(device->gpu->driver, kind, bytes, &address));
    else
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a record");
    if (status != WEFT_SUCCESS) {
        weft_allocations_release(&device->allocations, kind, bytes);
        free(record);
        return status;
    }
    *record =
        (weft_allocation){.address = address, .storage = address, .bytes = bytes, .kind = kind};
    weft_allocations_add(&device->allocations, record);
    *memory = address;
    return WEFT_SUCCESS;
}

static void cuda_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    (void)kind;
    if (!memory) return;
    weft_allocation *record = weft_allocations_take(&device->allocations, memory);
    if (record) weft_cuda_free_record(device, record);
}

static weft_status cuda_memory_free(weft_device_state *device, size_t *bytes) {
    const size_t left = weft_allocations_left(&device->allocations);
    size_t found = 0, total = 0;
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_check(device->gpu->driver->memory_info(&found, &total),
                                         "a GPU does not tell how much memory is free"));
    WEFT_TRY(status);
    *bytes = found < left ? found : left;
    return WEFT_SUCCESS;
}

static bool cuda_host_lock(weft_device_state *device, void *memory, size_t bytes) {
    weft_allocation known;
    if (bytes == 0 || weft_allocations_find(&device->allocations, memory, &known)) return false;
    weft_allocation *record = malloc(sizeof *record);
    if (!record) return false;
    *record = (weft_allocation){.address = memory,
                                .storage = memory,
                                .bytes = bytes,
                                .kind = WEFT_MEMORY_PAGE_LOCKED,
                                .callers = true};
    const unsigned flags = WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED;
    const weft_cuda_driver *driver = device->gpu->driver;
    bool locked = false;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        /* Memory that is mapped for reading alone, as partners' is, must be said to be so. */
        locked = driver->host_register(memory, bytes, flags) == 0 ||
                 driver->host_register(memory, bytes, flags | WEFT_CUDA_HOST_READ_ONLY) == 0;
        weft_cuda_leave(device->gpu);
    }
    if (locked)
        weft_allocations_add(&device->allocations, record);
    else
        free(record);
    return locked;
}

static void cuda_host_unlock(weft_device_state *device, void *memory) {
    cuda_free(device, WEFT_MEMORY_PAGE_LOCKED, memory);
}

weft_status weft_cuda_share(weft_device_state *device, size_t bytes, size_t *grown) {
    *grown = 0;
    if (bytes <= device->shared_bytes) return WEFT_SUCCESS;
    size_t before = device->shared_bytes;
    cuda_free(device, WEFT_MEMORY_DEVICE, device->shared);
    device->shared = NULL;
    device->shared_bytes = 0;
    WEFT_TRY(cuda_allocate(device, WEFT_MEMORY_DEVICE, bytes, &device->shared));
    device->shared_bytes = bytes;
    *grown = bytes - before;
    return WEFT_SUCCESS;
}

/* ---- queues and events ---- */

weft_cuda_stream weft_cuda_queue_stream(const weft_device_state *device, const weft_queue *queue) {
    if (queue) return queue->stream;
    return device->callers && !device->is_captured ? device->callers : device->stream;
}

static weft_status cuda_queue_create(weft_device_state *device, bool low_priority,
                                     weft_queue **queue) {
    weft_queue *made = malloc(sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a queue");
    weft_status status = create_stream(device->gpu, low_priority ? LAST : FIRST, &made->stream);
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    *queue = made;
    return WEFT_SUCCESS;
}

static void cuda_queue_destroy(weft_device_state *device, weft_queue *queue) {
    if (!queue) return;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        device->gpu->driver->stream_synchronize(
            queue->stream); /* callbacks use the caller's data */
        device->gpu->driver->stream_destroy(queue->stream);
        weft_cuda_leave(device->gpu);
    }
    free(queue);
}

static weft_status wait_in_context(weft_device_state *device, weft_cuda_stream stream) {
    weft_status status = WEFT_SUCCESS;
    if (device->communicators) status = weft_cuda_wait_for_messages(device, stream);
    int result = device->gpu->driver->stream_synchronize(stream);
    if (status == WEFT_SUCCESS) status = weft_cuda_check(result, "work on a queue failed");
    if (status == WEFT_SUCCESS && device->untold)
        status = weft_fail(WEFT_ERROR_DEVICE, "%s", device->untold);
    device->untold = NULL;
    return status;
}

static weft_status cuda_queue_wait(weft_device_state *device, weft_queue *queue) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         wait_in_context(device, weft_cuda_queue_stream(device, queue)));
    return status;
}

/* The driver is asked for captures before a stream is given anything: an event would end one of the
 * legacy stream, and what a captured stream is given would become part of the caller's graph, which
 * may outlive the plan. */
static weft_status refuse_captured(const weft_cuda_driver *driver, weft_cuda_stream stream,
                                   const char *failure) {
    int capturing = 0;
    WEFT_TRY(weft_cuda_check(driver->is_capturing(stream, &capturing), failure));
    if (capturing == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "CUDA: a graph is being captured from the caller's stream; weft's plans "
                     "cannot be part of a graph");
}

/* An event on the legacy default stream stands for all work before it there and on the streams that
 * synchronize with it: all but those that were made as non-blocking ones. weft's own streams are
 * such, for one that synchronizes with the legacy stream cannot be captured while another thread
 * uses that. */
static weft_status await_caller_in_context(weft_device_state *device) {
    static const char failure[] = "the legacy default stream cannot be waited for";
    const weft_cuda_driver *driver = device->gpu->driver;
    WEFT_TRY(refuse_captured(driver, WEFT_CUDA_LEGACY_STREAM, failure));
    int result = driver->event_record(device->caller, WEFT_CUDA_LEGACY_STREAM);
    if (result == 0) result = driver->stream_await(device->stream, device->caller, 0);
    return weft_cuda_check(result, failure);
}

static weft_status cuda_await_caller(weft_device_state *device) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status, await_caller_in_context(device));
    return status;
}

/* The plan's own memory is free when the work before on whichever stream is done. An event that was
 * never recorded is one that has come. */
static weft_status join_in_context(weft_device_state *device, weft_cuda_stream stream) {
    static const char failure[] =
        "the caller's stream, which must be one of the plan's GPU, cannot be given work";
    const weft_cuda_driver *driver = device->gpu->driver;
    WEFT_TRY(refuse_captured(driver, stream, failure));
    WEFT_TRY(weft_cuda_check(driver->stream_await(stream, device->enqueued, 0), failure));
    device->callers = stream;
    return WEFT_SUCCESS;
}

static weft_status cuda_join_caller(weft_device_state *device, void *stream) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         join_in_context(device, stream ? stream : WEFT_CUDA_LEGACY_STREAM));
    return status;
}

/* Where the event is not to be had, nothing else says when the plan's memory is free, so the work
 * is waited for. */
static weft_status part_in_context(weft_device_state *device) {
    const weft_cuda_driver *driver = device->gpu->driver;
    const weft_cuda_stream stream = device->callers;
    device->callers = NULL;
    int result = driver->event_record(device->enqueued, stream);
    if (result == 0) result = driver->stream_await(device->stream, device->enqueued, 0);
    if (result != 0) driver->stream_synchronize(stream);
    return weft_cuda_check(result, "the end of the work on the caller's stream cannot be marked");
}

static weft_status cuda_part_from_caller(weft_device_state *device) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status, part_in_context(device));
    return status;
}

static weft_status cuda_event_create(weft_device_state *device, weft_event **event) {
    weft_event *made = malloc(sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for an event");
    weft_status status = create_event(device->gpu, &made->event);
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    *event = made;
    return WEFT_SUCCESS;
}

static void cuda_event_destroy(weft_device_state *device, weft_event *event) {
    if (!event) return;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        device->gpu->driver->event_destroy(event->event);
        weft_cuda_leave(device->gpu);
    }
    free(event);
}

static weft_status cuda_event_record(weft_device_state *device, weft_queue *queue,
                                     weft_event *event) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_check(device->gpu->driver->event_record(
                                             event->event, weft_cuda_queue_stream(device, queue)),
                                         "an event could not be recorded"));
    return status;
}

static weft_status cuda_event_await(weft_device_state *device, weft_queue *queue,
                                    weft_event *event) {
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(
        device->gpu, status,
        weft_cuda_check(device->gpu->driver->stream_await(weft_cuda_queue_stream(device, queue),
                                                          event->event, 0),
                        "an event could not be awaited"));
    return status;
}

/* Work behind messages that have failed would never end. An event that cannot be asked for counts
 * as done. */
static bool cuda_event_done(weft_device_state *device, weft_event *event) {
    int result = -1;
    if (weft_cuda_enter(device->gpu) == WEFT_SUCCESS) {
        result = device->gpu->driver->event_query(event->event);
        if (result == WEFT_CUDA_ERROR_NOT_READY &&
            weft_cuda_look_for_failures(device) != WEFT_SUCCESS)
            device->untold = "messages between GPUs failed";
        weft_cuda_leave(device->gpu);
    }
    if (result == WEFT_CUDA_ERROR_NOT_READY) return false;
    if (result != 0) device->untold = "CUDA: an event could not be asked for";
    return true;
}

/* ---- work ---- */

/* Finds where one side of a copy lies: the host side or, within device memory, the source. */
static weft_cuda_side side_of(weft_device_state *device, const weft_copy *copy, const void *src,
                              const void *dst, weft_transfer transfer) {
    const int64_t bytes = (int64_t)copy->element_bytes;
    const char *address = transfer == WEFT_DEVICE_TO_HOST
                              ? (const char *)dst + copy->dst_offset * bytes
                              : (const char *)src + copy->src_offset * bytes;
    weft_allocation in;
    bool ours = weft_allocations_find(&device->allocations, address, &in);
    if (transfer == WEFT_DEVICE_TO_DEVICE)
        return ours && in.imported ? WEFT_CUDA_SIDE_IMPORTED : WEFT_CUDA_SIDE_HERE;
    return ours && in.kind == WEFT_MEMORY_PAGE_LOCKED ? WEFT_CUDA_SIDE_LOCKED
                                                      : WEFT_CUDA_SIDE_PAGEABLE;
}

static weft_status cuda_copy(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                             const void *src, void *dst, weft_transfer transfer) {
    if (copy->elements == 0) return WEFT_SUCCESS;
    weft_cuda_side side = side_of(device, copy, src, dst, transfer);
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_copy_run(device->gpu, weft_cuda_queue_stream(device, queue),
                                            copy, src, dst, transfer, side));
    return status;
}

static void on_reached(weft_cuda_stream stream, int result, void *argument) {
    const weft_notice n = *(weft_notice *)argument;
    (void)stream, (void)result; /* the wait reports a failure */
    weft_notices_return(argument);
    n.function(n.argument);
}

/* This is cuStreamAddCallback and not cuLaunchHostFunc, which does not call the function after a
 * failure that has ended the context. */
static weft_status cuda_callback(weft_device_state *device, weft_queue *queue,
                                 void (*function)(void *), void *argument) {
    weft_status status;
    weft_notice *n = weft_notices_take(&device->notices, function, argument);
    WEFT_CUDA_IN_CONTEXT(
        device->gpu, status,
        weft_cuda_check(device->gpu->driver->stream_callback(weft_cuda_queue_stream(device, queue),
                                                             on_reached, n, 0),
                        "a callback could not be enqueued"));
    if (status != WEFT_SUCCESS) weft_notices_return(n);
    return status;
}

static weft_status cuda_scale(weft_device_state *device, weft_queue *queue,
                              weft_precision precision, void *data, int64_t count, double factor) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the CUDA device scales double and single precision only");
    if (count == 0) return WEFT_SUCCESS;
    weft_scale_launch launch;
    weft_scale_prepare(&launch, data, count, factor, true);
    const weft_cuda_launchable kernel = {.function = device->gpu->scale[precision],
                                         .threads = weft_scale_source(precision).threads};
    return weft_cuda_launch(device, queue, &kernel, launch.groups, launch.argument,
                            WEFT_SCALE_ARGUMENTS);
}

const weft_device_ops weft_device_cuda = {
    .name = "cuda",
    .id = WEFT_CUDA,
    .host_addressable = false,
    .can_fail = true,
    .transport_aware = true,
    .reads_page_locked = true,
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .number = cuda_number,
    .allocate = cuda_allocate,
    .free = cuda_free,
    .memory_free = cuda_memory_free,
    .host_lock = cuda_host_lock,
    .host_unlock = cuda_host_unlock,
    .memory_export = weft_cuda_memory_export,
    .memory_import = weft_cuda_memory_import,
    .memory_close = weft_cuda_memory_close,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .queue_wait = cuda_queue_wait,
    .await_caller = cuda_await_caller,
    .join_caller = cuda_join_caller,
    .part_from_caller = cuda_part_from_caller,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_await = cuda_event_await,
    .event_done = cuda_event_done,
    .copy = cuda_copy,
    .callback = cuda_callback,
    .scale = cuda_scale,
    .graph_begin = weft_cuda_graph_begin,
    .graph_end = weft_cuda_graph_end,
    .graph_run = weft_cuda_graph_run,
    .graph_destroy = weft_cuda_graph_destroy,
    .messages = &weft_cuda_messages,
    .kernel_limits = weft_cuda_kernel_limits,
    .kernel_create = weft_cuda_kernel_create,
    .kernels_await = weft_cuda_kernels_await,
    .kernel_destroy = weft_cuda_kernel_destroy,
    .kernel_launch = weft_cuda_kernel_launch,
};
