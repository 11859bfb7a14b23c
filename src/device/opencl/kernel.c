/* Operations on kernels: see program.h. */
#include "device/opencl/opencl.h"
#include "device/opencl/program.h"
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

/* The dialect's MEMORY: a buffer and an offset. */
static weft_status set_memory(weft_device_state *device, const weft_kernel *kernel, unsigned *at,
                              const void *address) {
    const weft_cl *cl = device->processor->cl;
    weft_cl_memory memory = NULL;
    size_t found = 0;
    if (address) WEFT_TRY(weft_cl_locate(device, address, &memory, &found));
    uint64_t offset = found;
    WEFT_TRY(weft_cl_check(cl->kernel_argument(kernel->kernel, (*at)++, sizeof memory, &memory),
                           "a kernel does not take a buffer"));
    return weft_cl_check(cl->kernel_argument(kernel->kernel, (*at)++, sizeof offset, &offset),
                         "a kernel does not take an offset");
}

static weft_status set_arguments(weft_device_state *device, const weft_kernel *kernel,
                                 const weft_kernel_argument *argument, int arguments) {
    const weft_cl *cl = device->processor->cl;
    unsigned at = 0;
    for (int i = 0; i < arguments; i++) {
        if (!argument[i].value)
            WEFT_TRY(set_memory(device, kernel, &at, argument[i].memory));
        else
            WEFT_TRY(weft_cl_check(
                cl->kernel_argument(kernel->kernel, at++, argument[i].bytes, argument[i].value),
                "a kernel does not take a value"));
    }
    if (kernel->local_bytes == 0) return WEFT_SUCCESS;
    return weft_cl_check(cl->kernel_argument(kernel->kernel, at, kernel->local_bytes, NULL),
                         "a kernel does not take local memory");
}

weft_status weft_cl_kernel_launch(weft_device_state *device, weft_queue *queue, weft_kernel *kernel,
                                  const unsigned groups[3], const weft_kernel_argument *argument,
                                  int arguments) {
    const size_t group[3] = {kernel->threads, 1, 1};
    const size_t threads[3] = {(size_t)groups[0] * kernel->threads, groups[1], groups[2]};
    const unsigned axes = groups[2] > 1 ? 3 : groups[1] > 1 ? 2 : 1;
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return WEFT_SUCCESS;
    pthread_mutex_lock(&kernel->lock);
    weft_status status = set_arguments(device, kernel, argument, arguments);
    if (status == WEFT_SUCCESS)
        status = weft_cl_check(device->processor->cl->launch(
                                   weft_cl_queue_or_default(device, queue)->queue, kernel->kernel,
                                   axes, NULL, threads, group, 0, NULL, NULL),
                               "a kernel could not be launched");
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
