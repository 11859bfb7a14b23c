/* The table of the OpenMP device's functions: memory, queues, events, and what is enqueued. */
#include "device/openmp/openmp.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/openmp/runtime.h"
#include "support/error.h"

static weft_status openmp_probe(const char **description) {
    static _Thread_local char described[128];
    weft_openmp_processor p;
    weft_openmp_copies copies;
    WEFT_TRY(weft_openmp_choose(0, &p));
    WEFT_TRY(weft_openmp_copies_read(&copies));
    if (p.is_host)
        snprintf(described, sizeof described, "OpenMP target regions on the host, %d other devices",
                 weft_omp_devices());
    else
        snprintf(described, sizeof described, "OpenMP target regions on device %d of %d", p.number,
                 weft_omp_devices());
    if (description) *description = described;
    return WEFT_SUCCESS;
}

/* ---- memory ---- */

static void free_record(weft_device_state *device, weft_allocation *allocation) {
    if (allocation->kind == WEFT_MEMORY_DEVICE) {
        weft_omp_free(allocation->address, device->processor.number);
    } else {
        weft_openmp_host_unlock(device, allocation->address);
        free(allocation->address);
    }
    free(allocation);
}

weft_status weft_openmp_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                                 void **memory) {
    const bool there = kind == WEFT_MEMORY_DEVICE;
    if (bytes == 0) {
        *memory = NULL;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(weft_allocations_reserve(&device->allocations, kind, bytes));
    weft_allocation *made = calloc(1, sizeof *made);
    char *address = NULL;
    if (made)
        address = there ? weft_omp_allocate(bytes, device->processor.number)
                        : weft_storage_allocate(bytes);
    if (!address) {
        free(made);
        weft_allocations_release(&device->allocations, kind, bytes);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "OpenMP device %d: no %zu bytes of %s memory; use more ranks",
                         device->processor.number, bytes, there ? "device" : "host");
    }
    if (kind == WEFT_MEMORY_PAGE_LOCKED) (void)weft_openmp_host_lock(device, address, bytes);
    *made = (weft_allocation){.address = address, .storage = address, .bytes = bytes, .kind = kind};
    weft_allocations_add(&device->allocations, made);
    *memory = address;
    return WEFT_SUCCESS;
}

/* The caller has waited for the work that uses the memory. */
void weft_openmp_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    (void)kind;
    if (!memory) return;
    weft_allocation *taken = weft_allocations_take(&device->allocations, memory);
    if (taken) free_record(device, taken);
}

weft_status weft_openmp_reserve(weft_device_state *device, size_t bytes, size_t *grown) {
    weft_openmp_area *area = &device->scratch;
    weft_status status = WEFT_SUCCESS;
    void *memory = NULL;
    *grown = 0;
    pthread_mutex_lock(&area->lock); /* no transform is running */
    if (bytes > area->bytes) {
        *grown = bytes - area->bytes;
        weft_openmp_free(device, WEFT_MEMORY_DEVICE, area->memory);
        area->memory = NULL;
        area->bytes = 0;
        status = weft_openmp_allocate(device, WEFT_MEMORY_DEVICE, bytes, &memory);
        if (status == WEFT_SUCCESS) {
            area->memory = memory;
            area->bytes = bytes;
        }
    }
    pthread_mutex_unlock(&area->lock);
    return status;
}

/* ---- opening and closing ---- */

static void openmp_close(weft_device_state *device) {
    if (!device) return;
    weft_openmp_queue_destroy(device->default_queue);
    weft_openmp_team_destroy(device->team);
    weft_allocation *left;
    while ((left = weft_allocations_take(&device->allocations, NULL)) != NULL)
        free_record(device, left);
    if (device->staging.host) weft_openmp_host_unlock(device, device->staging.host);
    free(device->staging.host);
    pthread_mutex_destroy(&device->scratch.lock);
    pthread_mutex_destroy(&device->staging.lock);
    weft_allocations_close(&device->allocations);
    free(device);
}

static weft_status openmp_open(const weft_device_settings *settings, weft_device_state **device) {
    weft_openmp_processor processor;
    weft_openmp_copies copies;
    WEFT_TRY(weft_openmp_choose(settings->number, &processor));
    WEFT_TRY(weft_openmp_copies_read(&copies));
    weft_device_state *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a device");
    made->processor = processor;
    made->copies = copies;
    weft_openmp_find_gpu(made);
    made->threads = settings->threads > 0 ? settings->threads : 1;
    weft_allocations_open(&made->allocations, settings->memory_limit);
    pthread_mutex_init(&made->staging.lock, NULL);
    pthread_mutex_init(&made->scratch.lock, NULL);
    weft_status status = weft_openmp_team_create(&made->team);
    if (status == WEFT_SUCCESS) status = weft_openmp_queue_create(made->team, &made->default_queue);
    if (status != WEFT_SUCCESS) {
        openmp_close(made);
        return status;
    }
    *device = made;
    return WEFT_SUCCESS;
}

/* As options.device_number counts; 0 for the host. */
static int openmp_number(const weft_device_state *device) {
    return device->processor.is_host ? 0 : 1 + device->processor.number;
}

/* ---- queues and events ---- */

static weft_status openmp_queue_create(weft_device_state *device, bool low_priority,
                                       weft_queue **queue) {
    (void)low_priority;
    return weft_openmp_queue_create(device->team, queue);
}

static void openmp_queue_destroy(weft_device_state *device, weft_queue *queue) {
    (void)device;
    weft_openmp_queue_destroy(queue);
}

static weft_queue *queue_or_default(weft_device_state *device, weft_queue *queue) {
    return queue ? queue : device->default_queue;
}

static weft_status openmp_queue_wait(weft_device_state *device, weft_queue *queue) {
    return weft_openmp_queue_wait(queue_or_default(device, queue));
}

static weft_status openmp_event_create(weft_device_state *device, weft_event **event) {
    return weft_openmp_event_create(device->team, event);
}

static void openmp_event_destroy(weft_device_state *device, weft_event *event) {
    (void)device;
    weft_openmp_event_destroy(event);
}

static bool openmp_event_done(weft_device_state *device, weft_event *event) {
    (void)device;
    return weft_openmp_event_done(event);
}

static weft_status put(weft_device_state *device, weft_queue *queue, const weft_work *work) {
    weft_openmp_queue_put(queue_or_default(device, queue), work);
    return WEFT_SUCCESS;
}

static weft_status openmp_event_record(weft_device_state *device, weft_queue *queue,
                                       weft_event *event) {
    weft_openmp_event_record(queue_or_default(device, queue), event);
    return WEFT_SUCCESS;
}

static weft_status openmp_event_await(weft_device_state *device, weft_queue *queue,
                                      weft_event *event) {
    weft_openmp_event_await(queue_or_default(device, queue), event);
    return WEFT_SUCCESS;
}

/* ---- work ---- */

static weft_status openmp_copy(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                               const void *src, void *dst, weft_transfer transfer) {
    if (copy->elements == 0) return WEFT_SUCCESS;
    const weft_work work = {.kind = WEFT_WORK_COPY,
                            .own = weft_openmp_copy_now,
                            .context = device,
                            .src = src,
                            .dst = dst,
                            .transfer = transfer,
                            .as.copy = *copy};
    return put(device, queue, &work);
}

static weft_status openmp_callback(weft_device_state *device, weft_queue *queue,
                                   void (*function)(void *), void *argument) {
    const weft_work work = {.kind = WEFT_WORK_CALLBACK, .as.callback = {function, argument}};
    return put(device, queue, &work);
}

weft_status weft_openmp_enqueue(weft_device_state *device, weft_queue *queue,
                                weft_device_function function, void *argument, const void *in,
                                void *out) {
    const weft_work work = {
        .kind = WEFT_WORK_RUN, .src = in, .dst = out, .as.run = {function, argument}};
    return put(device, queue, &work);
}

static weft_status openmp_scale(weft_device_state *device, weft_queue *queue,
                                weft_precision precision, void *data, int64_t count,
                                double factor) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the OpenMP device scales double and single precision only");
    if (count == 0) return WEFT_SUCCESS;
    const weft_work work = {.kind = WEFT_WORK_SCALE,
                            .own = weft_openmp_scale_now,
                            .context = device,
                            .dst = data,
                            .as.scale = {precision, count, factor}};
    return put(device, queue, &work);
}

static weft_status openmp_operate(weft_device_state *device, weft_queue *queue,
                                  const weft_device_operators *operators, const void *in,
                                  void *out) {
    if (operators->elements == 0) return WEFT_SUCCESS;
    const weft_work work = {.kind = WEFT_WORK_OPERATE,
                            .own = weft_openmp_operate_now,
                            .context = device,
                            .src = in,
                            .dst = out,
                            .as.operators = operators};
    return put(device, queue, &work);
}

/* No `run`: the functions of the host are not compiled for a GPU. */
const weft_device_ops weft_device_openmp = {
    .name = "openmp",
    .id = WEFT_OPENMP,
    .host_addressable = false,
    .can_fail = true,
    .transport_aware = false, /* no transport is asked whether it reads the device's memory */
    .probe = openmp_probe,
    .open = openmp_open,
    .close = openmp_close,
    .number = openmp_number,
    .allocate = weft_openmp_allocate,
    .free = weft_openmp_free,
    .host_lock = weft_openmp_host_lock,
    .host_unlock = weft_openmp_host_unlock,
    .queue_create = openmp_queue_create,
    .queue_destroy = openmp_queue_destroy,
    .queue_wait = openmp_queue_wait,
    .event_create = openmp_event_create,
    .event_destroy = openmp_event_destroy,
    .event_record = openmp_event_record,
    .event_await = openmp_event_await,
    .event_done = openmp_event_done,
    .copy = openmp_copy,
    .prepare_transfers = weft_openmp_prepare_transfers,
    .callback = openmp_callback,
    .scale = openmp_scale,
    .operate = openmp_operate,
};
