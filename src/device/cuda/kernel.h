/* Kernels on a GPU, found in modules (module.h). */
#ifndef WEFT_DEVICE_CUDA_KERNEL_H
#define WEFT_DEVICE_CUDA_KERNEL_H

#include "device/cuda/gpu.h"
#include "device/device.h"

enum { WEFT_CUDA_FUNCTIONS = 32 };

/* The kernels of up to WEFT_CUDA_FUNCTIONS sources, compiled side by side. In the GPU's context;
 * thread-safe. */
weft_status weft_cuda_functions_find(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                     int count, weft_cuda_function *const *function);

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
weft_status weft_cuda_kernels_await(weft_device_state *device);
void weft_cuda_kernel_destroy(weft_device_state *device, weft_kernel *kernel);
weft_status weft_cuda_kernel_launch(weft_device_state *device, weft_queue *queue,
                                    weft_kernel *kernel, const unsigned groups[3],
                                    const weft_kernel_argument *argument, int arguments);

#endif
