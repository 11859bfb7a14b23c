/*
 * Kernels on a GPU: sources compiled when they are first asked for, and loaded once in the life of
 * the process.
 */
#ifndef WEFT_DEVICE_CUDA_KERNEL_H
#define WEFT_DEVICE_CUDA_KERNEL_H

#include "device/cuda/gpu.h"
#include "device/device.h"

/* The kernel of a source. In the GPU's context; thread-safe. */
weft_status weft_cuda_function_find(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                    weft_cuda_function *function);

typedef struct weft_cuda_launchable {
    weft_cuda_function function;
    unsigned threads, local_bytes;
} weft_cuda_launchable;

weft_status weft_cuda_launch(weft_device_state *device, weft_queue *queue,
                             const weft_cuda_launchable *kernel, const unsigned groups[3],
                             const weft_kernel_argument *argument, int arguments);

/* Operations of the device. */
weft_status weft_cuda_kernel_limits(weft_device_state *device, weft_kernel_limits *limits);
weft_status weft_cuda_kernel_create(weft_device_state *device, const weft_kernel_source *source,
                                    weft_kernel **kernel);
void weft_cuda_kernel_destroy(weft_device_state *device, weft_kernel *kernel);
weft_status weft_cuda_kernel_launch(weft_device_state *device, weft_queue *queue,
                                    weft_kernel *kernel, const unsigned groups[3],
                                    const weft_kernel_argument *argument, int arguments);

#endif
