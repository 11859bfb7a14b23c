/* The internals of the OpenCL device, for its own files. */
#ifndef WEFT_DEVICE_OPENCL_OPENCL_H
#define WEFT_DEVICE_OPENCL_OPENCL_H

#include <pthread.h>

#include "device/allocations.h"
#include "device/device.h"
#include "device/notices.h"
#include "device/opencl/processor.h"

struct weft_queue {
    weft_cl_queue queue; /* in order */
    void *scratch;       /* device memory that copies to and from the host go through, or NULL */
    pthread_mutex_t lock;
    pthread_cond_t called;
    int callbacks;    /* that are still to come */
    weft_queue *next; /* of the same device */
};

/* The VALUE parameters of a kernel with more bytes of parameters than the device can pass. They lie
 * in a buffer, each from a whole number of blocks on. The buffer's content belongs to the latest
 * launch; the next launch enqueues writes of the blocks that differ. */
enum { WEFT_CL_VALUE_BLOCK = 128 }; /* bytes: the largest pattern of clEnqueueFillBuffer */

typedef struct weft_cl_values {
    weft_cl_memory buffer; /* NULL: they are passed by value */
    size_t bytes;
    unsigned char *content; /* of the buffer, if it is known */
    bool known;
    weft_cl_event last; /* that launch; NULL: none */
} weft_cl_values;

struct weft_kernel {
    weft_cl_kernel kernel;
    unsigned threads;
    size_t local_bytes;
    weft_cl_values values;
    pthread_mutex_t lock; /* arguments are set one by one */
};

/*
 * Buffers have no addresses in OpenCL 1.2, but weft_device_ops needs addresses to which offsets can
 * be added. So each buffer has a range of reserved addresses, of pages without access
 * (weft_allocation.address), and the buffer is looked up by address when work is enqueued.
 */
struct weft_device_state {
    weft_cl_processor *processor;
    weft_allocations allocations; /* .storage is the buffer */
    weft_queue *queue;            /* the default queue */
    weft_queue *queues;           /* all */
    bool prepared;                /* queues have the scratch memory that there is room for */
    weft_notices notices;         /* of callbacks */
};

weft_queue *weft_cl_queue_or_default(const weft_device_state *device, weft_queue *queue);

/* Finds the buffer that a device address is in, and the offset there. */
weft_status weft_cl_locate(weft_device_state *device, const void *address, weft_cl_memory *memory,
                           size_t *offset);

weft_status weft_cl_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                             void **memory);
void weft_cl_free(weft_device_state *device, weft_memory_kind kind, void *memory);

/* Frees an allocation that has been removed from the list. */
void weft_cl_free_record(weft_device_state *device, weft_allocation *record);

/* Operations of the device (queue.c). */
weft_status weft_cl_queue_create(weft_device_state *device, bool low_priority, weft_queue **queue);
void weft_cl_queue_destroy(weft_device_state *device, weft_queue *queue);
weft_status weft_cl_queue_wait(weft_device_state *device, weft_queue *queue);
weft_status weft_cl_event_create(weft_device_state *device, weft_event **event);
void weft_cl_event_destroy(weft_device_state *device, weft_event *event);
weft_status weft_cl_event_record(weft_device_state *device, weft_queue *queue, weft_event *event);
weft_status weft_cl_event_await(weft_device_state *device, weft_queue *queue, weft_event *event);
bool weft_cl_event_done(weft_device_state *device, weft_event *event);
weft_status weft_cl_callback(weft_device_state *device, weft_queue *queue, void (*function)(void *),
                             void *argument);

/* The strided copy, and the scratch memory of all queues. */
weft_status weft_cl_copy(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                         const void *src, void *dst, weft_transfer transfer);
void weft_cl_prepare_transfers(weft_device_state *device);

#endif
