/* Operations on kernels: see program.h. */
#include "device/opencl/opencl.h"
#include "device/opencl/program.h"
#include <string.h>

#include "support/error.h"

weft_status weft_cl_kernel_limits(weft_device_state *device, weft_kernel_limits *limits) {
    *limits = device->processor->limits;
    return WEFT_SUCCESS;
}

weft_status weft_cl_kernel_create(weft_device_state *device, const weft_kernel_source *source,
                                  weft_kernel **kernel) {
    return weft_cl_kernel_make(device->processor, source, kernel);
}

void weft_cl_kernel_destroy(weft_device_state *device, weft_kernel *kernel) {
    weft_cl_kernel_free(device->processor, kernel);
}

/* ---- parameters in memory ---- */

/* A launch while its arguments are set. */
typedef struct launch {
    weft_device_state *device;
    weft_cl_queue queue;
    weft_kernel *kernel;
    unsigned at;            /* the next parameter's number */
    size_t parameter_bytes; /* so far */
    size_t value_bytes;     /* of the buffer of values, so far */
} launch;

/* Forgets the previous launch, which may be on another queue, if it is done or has failed, so that
 * it is not awaited. */
static void forget_done(const weft_cl *cl, weft_cl_values *values) {
    int execution = 0;
    if (!values->last) return;
    const int result =
        cl->event_info(values->last, WEFT_CL_EVENT_STATUS, sizeof execution, &execution, NULL);
    if (result == 0 && execution > WEFT_CL_COMPLETE) return;
    if (result != 0 || execution < 0) values->known = false;
    cl->event_release(values->last);
    values->last = NULL;
}

/* Enqueues the write of one block of the buffer, after the launch that reads its present content.
 * OpenCL copies the data at once. */
static weft_status write_block(launch *l, size_t at, const unsigned char *block) {
    weft_cl_values *v = &l->kernel->values;
    if (v->known && memcmp(v->content + at, block, WEFT_CL_VALUE_BLOCK) == 0) return WEFT_SUCCESS;
    memcpy(v->content + at, block, WEFT_CL_VALUE_BLOCK);
    return weft_cl_check(l->device->processor->cl->fill(
                             l->queue, v->buffer, block, WEFT_CL_VALUE_BLOCK, at,
                             WEFT_CL_VALUE_BLOCK, v->last != NULL, v->last ? &v->last : NULL, NULL),
                         "a kernel's parameters could not be written");
}

/* ---- parameters ---- */

static weft_status set(launch *l, size_t bytes, const void *value, const char *failure) {
    l->parameter_bytes += bytes;
    return weft_cl_check(
        l->device->processor->cl->kernel_argument(l->kernel->kernel, l->at++, bytes, value),
        failure);
}

/* Sets an argument for MEMORY of the dialect: a buffer and an offset. */
static weft_status set_buffer(launch *l, weft_cl_memory memory, uint64_t offset) {
    WEFT_TRY(set(l, sizeof memory, &memory, "a kernel does not take a buffer"));
    return set(l, sizeof offset, &offset, "a kernel does not take an offset");
}

static weft_status set_memory(launch *l, const void *address) {
    weft_cl_memory memory = NULL;
    size_t offset = 0;
    if (address) WEFT_TRY(weft_cl_locate(l->device, address, &memory, &offset));
    return set_buffer(l, memory, offset);
}

/* Sets an argument for VALUE of the dialect where it is kept in memory. */
static weft_status set_value(launch *l, const weft_kernel_argument *argument) {
    weft_cl_values *v = &l->kernel->values;
    const size_t first = l->value_bytes;
    for (size_t done = 0; done < argument->bytes; done += WEFT_CL_VALUE_BLOCK) {
        unsigned char block[WEFT_CL_VALUE_BLOCK] = {0};
        const size_t left = argument->bytes - done;
        if (l->value_bytes + sizeof block > v->bytes)
            return weft_fail(WEFT_ERROR_DEVICE,
                             "OpenCL device: a kernel was made with fewer bytes of parameters than "
                             "it gets");
        memcpy(block, (const char *)argument->value + done,
               left < sizeof block ? left : sizeof block);
        WEFT_TRY(write_block(l, l->value_bytes, block));
        l->value_bytes += sizeof block;
    }
    return set_buffer(l, v->buffer, first);
}

static weft_status set_arguments(launch *l, const weft_kernel_argument *argument, int arguments) {
    const size_t most = l->device->processor->parameter_bytes;
    for (int i = 0; i < arguments; i++) {
        if (!argument[i].value)
            WEFT_TRY(set_memory(l, argument[i].memory));
        else if (argument[i].is_value && l->kernel->values.buffer)
            WEFT_TRY(set_value(l, &argument[i]));
        else
            WEFT_TRY(
                set(l, argument[i].bytes, argument[i].value, "a kernel does not take a value"));
    }
    if (l->kernel->local_bytes > 0) {
        WEFT_TRY(set(l, l->kernel->local_bytes, NULL, "a kernel does not take local memory"));
        l->parameter_bytes += sizeof(void *) - l->kernel->local_bytes; /* its address is passed */
    }
    if (l->parameter_bytes <= most) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "OpenCL device: a kernel has %zu bytes of parameters; %.100s takes %zu",
                     l->parameter_bytes, l->device->processor->name, most);
}

/* ---- launches ---- */

/* Enqueues the launch. The parameters in memory belong to it until it is done, also if the next
 * launch is on another queue. */
static weft_status enqueue(launch *l, unsigned axes, const size_t *threads, const size_t *group) {
    const weft_cl *cl = l->device->processor->cl;
    weft_cl_values *v = &l->kernel->values;
    weft_cl_event *before = v->last ? &v->last : NULL, made = NULL;
    WEFT_TRY(weft_cl_check(cl->launch(l->queue, l->kernel->kernel, axes, NULL, threads, group,
                                      before != NULL, before, v->buffer ? &made : NULL),
                           "a kernel could not be launched"));
    if (!v->buffer) return WEFT_SUCCESS;
    if (v->last) cl->event_release(v->last);
    v->last = made;
    v->known = true;
    /* The queue is flushed, since another queue's wait for this work would not submit it. */
    return weft_cl_check(cl->flush(l->queue), "work could not be submitted");
}

weft_status weft_cl_kernel_launch(weft_device_state *device, weft_queue *queue, weft_kernel *kernel,
                                  const unsigned groups[3], const weft_kernel_argument *argument,
                                  int arguments) {
    const size_t group[3] = {kernel->threads, 1, 1};
    const size_t threads[3] = {(size_t)groups[0] * kernel->threads, groups[1], groups[2]};
    const unsigned axes = groups[2] > 1 ? 3 : groups[1] > 1 ? 2 : 1;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return WEFT_SUCCESS;
    launch l = {.device = device,
                .queue = weft_cl_queue_or_default(device, queue)->queue,
                .kernel = kernel};
    pthread_mutex_lock(&kernel->lock);
    forget_done(device->processor->cl, &kernel->values);
    weft_status status = set_arguments(&l, argument, arguments);
    if (status == WEFT_SUCCESS) status = enqueue(&l, axes, threads, group);
    if (status != WEFT_SUCCESS) kernel->values.known = false;
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
