/* Opens GPUs: chooses one for this rank, retains its primary context, loads the kernels. */
#include "device/cuda/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda/kernel.h"
#include "device/scale_kernel.h"
#include "kernels/copy_shape.h"
#include "support/error.h"
#include "support/node_rank.h"

enum { MOST_GPUS = 64 };

/* Contexts and kernels are shared by all users in the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_cuda_gpu opened[MOST_GPUS];

weft_status weft_cuda_gpu_choose(int *number) {
    const char *wanted = getenv("WEFT_CUDA_DEVICE");
    int gpus = weft_cuda_gpus();
    if (gpus > MOST_GPUS) gpus = MOST_GPUS;
    if (!wanted || !wanted[0]) {
        *number = weft_node_rank() % gpus;
        return WEFT_SUCCESS;
    }
    char *end;
    long given = strtol(wanted, &end, 10);
    if (*end != '\0' || given < 0 || given >= gpus)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "WEFT_CUDA_DEVICE=\"%.40s\": give the number of a GPU, 0 to %d", wanted,
                         gpus - 1);
    *number = (int)given;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_gpu_address(int number, char *address, int size) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    int device;
    if (!driver) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_cuda_check(driver->device_get(&device, number), "there is no such GPU"));
    return weft_cuda_check(driver->device_pci_address(address, size, device),
                           "a GPU does not tell its address");
}

weft_status weft_cuda_enter(const weft_cuda_gpu *gpu) {
    return weft_cuda_check(gpu->driver->context_push(gpu->context), "its context is not usable");
}

void weft_cuda_leave(const weft_cuda_gpu *gpu) {
    weft_cuda_context left;
    gpu->driver->context_pop(&left);
}

static weft_status ask(const weft_cuda_gpu *gpu, int device, int attribute, int *value) {
    return weft_cuda_check(gpu->driver->device_attribute(value, attribute, device),
                           "a GPU does not tell what it has");
}

static weft_status find_limits(weft_cuda_gpu *gpu, int device) {
    int major, minor, threads, width, units, bytes, clusters = 0;
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_CAPABILITY_MAJOR, &major));
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_CAPABILITY_MINOR, &minor));
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_THREADS_OF_BLOCK, &threads));
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_WARP_SIZE, &width));
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_MULTIPROCESSORS, &units));
    WEFT_TRY(ask(gpu, device, WEFT_CUDA_SHARED_MEMORY_OF_BLOCK, &bytes));
    if (gpu->driver->device_attribute(&clusters, WEFT_CUDA_CLUSTER_LAUNCH, device) != 0)
        clusters = 0; /* a driver that is older than they are */
    gpu->architecture = 10 * major + minor;
    gpu->limits = (weft_kernel_limits){.threads = (unsigned)threads,
                                       .width = (unsigned)width,
                                       .cluster = clusters ? 8 : 1,
                                       .units = (unsigned)units,
                                       .local_bytes = (size_t)bytes,
                                       .has_double = true};
    return WEFT_SUCCESS;
}

static weft_status load_kernels(weft_cuda_gpu *gpu) {
    weft_kernel_source source[WEFT_CUDA_FUNCTIONS];
    weft_cuda_function *function[WEFT_CUDA_FUNCTIONS];
    int count = 0;
    for (int kernel = WEFT_COPY_KERNEL_ROWS; kernel < WEFT_COPY_KERNELS; kernel++)
        for (int unit = 0; unit < WEFT_COPY_UNITS; unit++) {
            source[count] = weft_copy_source((weft_copy_kernel)kernel, unit);
            function[count++] = &gpu->copy[kernel][unit];
        }
    for (int p = WEFT_DOUBLE; p <= WEFT_SINGLE; p++) {
        source[count] = weft_scale_source((weft_precision)p);
        function[count++] = &gpu->scale[p];
    }
    return weft_cuda_functions_find(gpu, source, count, function);
}

static weft_status open_gpu(const weft_cuda_driver *driver, int number, weft_cuda_gpu *out) {
    weft_cuda_gpu gpu = {.driver = driver, .number = number};
    int device;
    WEFT_TRY(weft_cuda_check(driver->device_get(&device, number), "there is no such GPU"));
    WEFT_TRY(
        weft_cuda_check(driver->context_retain(&gpu.context, device), "no context on the GPU"));
    WEFT_TRY(find_limits(&gpu, device));
    WEFT_TRY(weft_cuda_enter(&gpu));
    weft_status status = load_kernels(&gpu);
    weft_cuda_leave(&gpu);
    WEFT_TRY(status);
    *out = gpu;
    return WEFT_SUCCESS;
}

/* The number of the GPU that is wanted, as weft_cuda_gpu_open takes it. */
static weft_status find_number(int wanted, int *number) {
    if (wanted == 0) return weft_cuda_gpu_choose(number);
    const int gpus = weft_cuda_gpus() < MOST_GPUS ? weft_cuda_gpus() : MOST_GPUS;
    if (wanted > gpus)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "options.device_number is %d, for GPU number %d; there are %d", wanted,
                         wanted - 1, gpus);
    *number = wanted - 1;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_gpu_open(int wanted, const weft_cuda_gpu **gpu) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    int number;
    if (!driver) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(find_number(wanted, &number));
    pthread_mutex_lock(&lock);
    weft_status status =
        opened[number].context ? WEFT_SUCCESS : open_gpu(driver, number, &opened[number]);
    pthread_mutex_unlock(&lock);
    if (status == WEFT_SUCCESS) *gpu = &opened[number];
    return status;
}
