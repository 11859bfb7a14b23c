/* Finds kernels in their modules and launches them. */
#include "device/cuda/kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "device/cuda/cuda.h"
#include "device/cuda/module.h"
#include "device/kernel_source.h"
#include "support/error.h"

enum {
    MOST_ARGUMENTS = 32,
    FREE_LOCAL_MEMORY = 48 << 10 /* bytes: more must be asked for, function by function */
};

struct weft_kernel {
    weft_cuda_launchable launchable;
    weft_cuda_loading *loading; /* its module is awaited; NULL: it can be launched */
    char name[64];
    weft_kernel *next; /* of the device's that are loading */
};

static weft_status find_function(const weft_cuda_gpu *gpu, weft_cuda_module module,
                                 const char *name, size_t local_bytes,
                                 weft_cuda_function *function) {
    char failure[128];
    snprintf(failure, sizeof failure, "there is no kernel %.80s", name);
    WEFT_TRY(weft_cuda_check(gpu->driver->module_function(function, module, name), failure));
    if (local_bytes <= FREE_LOCAL_MEMORY) return WEFT_SUCCESS;
    snprintf(failure, sizeof failure, "no %zu bytes of shared memory for kernel %.60s", local_bytes,
             name);
    return weft_cuda_check(gpu->driver->function_attribute(
                               *function, WEFT_CUDA_DYNAMIC_SHARED_MEMORY, (int)local_bytes),
                           failure);
}

weft_status weft_cuda_functions_find(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                     int count, weft_cuda_function *const *function) {
    weft_cuda_loading *loading[WEFT_CUDA_FUNCTIONS];
    weft_status status = WEFT_SUCCESS;
    int begun = 0;
    while (begun < count && status == WEFT_SUCCESS) {
        status = weft_kernel_check(&source[begun], &gpu->limits, "CUDA device");
        if (status == WEFT_SUCCESS)
            status = weft_cuda_module_begin(gpu, &source[begun], &loading[begun]);
        if (status == WEFT_SUCCESS) begun++;
    }
    for (int i = 0; i < begun; i++) {
        weft_cuda_module module;
        weft_status found = weft_cuda_module_await(loading[i], &module);
        if (found == WEFT_SUCCESS)
            found = find_function(gpu, module, source[i].name, source[i].local_bytes, function[i]);
        weft_keep(&status, found);
    }
    return status;
}

/* ---- operations ---- */

weft_status weft_cuda_kernel_limits(weft_device_state *device, weft_kernel_limits *limits) {
    *limits = device->gpu->limits;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_kernel_create(weft_device_state *device, const weft_kernel_source *source,
                                    weft_kernel **kernel) {
    weft_status status;
    WEFT_TRY(weft_kernel_check(source, &device->gpu->limits, "CUDA device"));
    weft_kernel *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_module_begin(device->gpu, source, &made->loading));
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    made->launchable.threads = source->threads;
    made->launchable.local_bytes = (unsigned)source->local_bytes;
    snprintf(made->name, sizeof made->name, "%s", source->name);
    made->next = device->loading;
    device->loading = made;
    *kernel = made;
    return WEFT_SUCCESS;
}

/* Waits until a kernel can be launched, or for what prevents it. */
static weft_status await(weft_device_state *device, weft_kernel *kernel) {
    weft_cuda_module module;
    weft_status status;
    if (!kernel->loading) return WEFT_SUCCESS;
    weft_kernel **at = &device->loading;
    while (*at != kernel) at = &(*at)->next;
    *at = kernel->next;
    status = weft_cuda_module_await(kernel->loading, &module);
    kernel->loading = NULL;
    WEFT_TRY(status);
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         find_function(device->gpu, module, kernel->name,
                                       kernel->launchable.local_bytes,
                                       &kernel->launchable.function));
    return status;
}

weft_status weft_cuda_kernels_await(weft_device_state *device) {
    weft_status status = WEFT_SUCCESS;
    while (device->loading) weft_keep(&status, await(device, device->loading));
    return status;
}

void weft_cuda_kernel_destroy(weft_device_state *device, weft_kernel *kernel) {
    if (kernel) (void)await(device, kernel);
    free(kernel);
}

weft_status weft_cuda_launch(weft_device_state *device, weft_queue *queue,
                             const weft_cuda_launchable *kernel, const unsigned groups[3],
                             const weft_kernel_argument *argument, int arguments) {
    void *parameter[MOST_ARGUMENTS];
    if (arguments > MOST_ARGUMENTS)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "CUDA device: a kernel takes at most %d arguments",
                         MOST_ARGUMENTS);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return WEFT_SUCCESS;
    /* The driver only reads the arguments, though its prototype lacks const. */
    for (int i = 0; i < arguments; i++)
        parameter[i] = (void *)(uintptr_t)(argument[i].value ? argument[i].value
                                                             : (const void *)&argument[i].memory);
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(
        device->gpu, status,
        weft_cuda_check(
            device->gpu->driver->launch(kernel->function, groups[0], groups[1], groups[2],
                                        kernel->threads, 1, 1, kernel->local_bytes,
                                        weft_cuda_queue_stream(device, queue), parameter, NULL),
            "a kernel could not be launched"));
    return status;
}

weft_status weft_cuda_kernel_launch(weft_device_state *device, weft_queue *queue,
                                    weft_kernel *kernel, const unsigned groups[3],
                                    const weft_kernel_argument *argument, int arguments) {
    WEFT_TRY(await(device, kernel));
    return weft_cuda_launch(device, queue, &kernel->launchable, groups, argument, arguments);
}
