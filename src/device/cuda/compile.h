/*
 * Compiles the kernels for the architecture of a GPU at run time, with NVRTC, and keeps the result
 * in the cache folder: a file for each architecture, text, set of options and version of NVRTC.
 */
#ifndef WEFT_DEVICE_CUDA_COMPILE_H
#define WEFT_DEVICE_CUDA_COMPILE_H

#include <stdbool.h>

#include "device/cuda/driver.h"

typedef struct weft_cuda_image {
    void *data; /* machine code, or PTX for GPUs that NVRTC does not know; freed by the caller */
    bool cached;
} weft_cuda_image;

/* The whole text of a source (`name` is for messages and files) for compute capability
 * `architecture` (90 is 9.0). use_cache false: compiles even if the file is there, and replaces it.
 */
weft_status weft_cuda_compile(const char *name, const char *text, int architecture, bool use_cache,
                              weft_cuda_image *image);

#endif
