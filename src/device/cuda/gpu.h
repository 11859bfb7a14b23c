/*
 * GPUs of this process: the primary context of each, which the process's other users of CUDA share,
 * and weft's kernels in it. Opened when first asked for and kept for the life of the process, since
 * every plan opens a device.
 */
#ifndef WEFT_DEVICE_CUDA_GPU_H
#define WEFT_DEVICE_CUDA_GPU_H

#include "device/cuda/driver.h"
#include "device/strided_copy.h"

typedef struct weft_cuda_gpu {
    const weft_cuda_driver *driver;
    int number;
    int architecture; /* 90 is compute capability 9.0 */
    weft_kernel_limits limits;
    weft_cuda_context context;
    weft_cuda_function copy[WEFT_COPY_KERNELS][WEFT_COPY_UNITS]; /* by weft_copy_kernel and unit */
    weft_cuda_function scale[2];                                 /* by precision */
} weft_cuda_gpu;

/* GPU number `wanted` - 1. 0: that of this process, which is WEFT_CUDA_DEVICE if that is set, else
 * by the rank on this node that the launcher tells, modulo the number of GPUs. Thread-safe. */
weft_status weft_cuda_gpu_open(int wanted, const weft_cuda_gpu **gpu);

/* The number of the process's GPU, without opening it. */
weft_status weft_cuda_gpu_choose(int *number);

/* The PCI address of a GPU: "0000:19:00.0". */
weft_status weft_cuda_gpu_address(int number, char *address, int size);

/* Enter and leave the GPU's context; leaving restores the caller's. */
weft_status weft_cuda_enter(const weft_cuda_gpu *gpu);
void weft_cuda_leave(const weft_cuda_gpu *gpu);

#endif
