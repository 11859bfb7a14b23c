/*
 * GPUs of this process: the primary context of each, which the process's other users of CUDA share,
 * and weft's kernels in it. Opened when first asked for and kept for the life of the process, since
 * every plan opens a device.
 */
#ifndef WEFT_DEVICE_CUDA_GPU_H
#define WEFT_DEVICE_CUDA_GPU_H

#include "device/cuda/driver.h"

enum { WEFT_CUDA_UNITS = 5 }; /* kernels move units of 1, 2, 4, 8 and 16 bytes */

typedef struct weft_cuda_gpu {
    const weft_cuda_driver *driver;
    int number;
    weft_cuda_context context;
    weft_cuda_function rows[WEFT_CUDA_UNITS], tiles[WEFT_CUDA_UNITS];
    weft_cuda_function scale[2]; /* by precision */
} weft_cuda_gpu;

/* The GPU of this process: WEFT_CUDA_DEVICE if that is set, else by the rank on this node that the
 * launcher tells, modulo the number of GPUs. Thread-safe. */
weft_status weft_cuda_gpu_open(const weft_cuda_gpu **gpu);

/* Which that is, without opening it. */
weft_status weft_cuda_gpu_choose(int *number);

/* The PCI address of a GPU: "0000:19:00.0". */
weft_status weft_cuda_gpu_address(int number, char *address, int size);

/* Everything between these two happens in the GPU's context; the caller's is restored. */
weft_status weft_cuda_enter(const weft_cuda_gpu *gpu);
void weft_cuda_leave(const weft_cuda_gpu *gpu);

#endif
