/*
 * A CUDA runtime and a cuFFT on host memory, for tests where there is no GPU: built under NVIDIA's
 * file names, found through WEFT_CUDA_LIBRARY_PATH. Device addresses carry a mark, so that a host
 * address where a device's belongs, or the other way about, is an error and no luck.
 */
#ifndef WEFT_TESTS_HOST_CUDA_H
#define WEFT_TESTS_HOST_CUDA_H

#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
#define DEVICE_MARK ((uintptr_t)1 << 62)

static inline void *as_device(void *host) {
    return (void *)((uintptr_t)host | DEVICE_MARK);
}

/* The host address behind a device address; NULL for one that is none. */
static inline void *as_host(const void *device) {
    return (uintptr_t)device & DEVICE_MARK ? (void *)((uintptr_t)device & ~DEVICE_MARK) : 0;
}

#endif
