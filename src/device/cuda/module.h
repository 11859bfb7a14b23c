/*
 * Modules of kernels on a GPU: sources compiled when they are first asked for, by threads of their
 * own, since a kernel takes NVRTC some 0.2 s and a plan has up to a dozen; and loaded once in the
 * life of the process.
 */
#ifndef WEFT_DEVICE_CUDA_MODULE_H
#define WEFT_DEVICE_CUDA_MODULE_H

#include "device/cuda/gpu.h"
#include "device/device.h"

typedef struct weft_cuda_loading weft_cuda_loading; /* a module, or one that is being made */

/* Begins to make the module of a source, or finds it. The caller calls weft_cuda_module_await for
 * each success of this. In the GPU's context; thread-safe. */
weft_status weft_cuda_module_begin(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                   weft_cuda_loading **loading);
/* Waits for the module, or for what prevents it. Thread-safe. */
weft_status weft_cuda_module_await(weft_cuda_loading *loading, weft_cuda_module *module);

#endif
