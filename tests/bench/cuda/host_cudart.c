/* The CUDA runtime of host_cuda.h. HOST_CUDA_DEVICES devices, 1 by default; all work at once. */
#include "host_cuda.h"

#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };

/* The prototypes are NVIDIA's, which no header here declares. */
EXPORTED const char *cudaGetErrorString(int error);
EXPORTED int cudaGetDeviceCount(int *count);
EXPORTED int cudaRuntimeGetVersion(int *version);
EXPORTED int cudaSetDevice(int device);
EXPORTED int cudaDeviceSynchronize(void);
EXPORTED int cudaMemGetInfo(size_t *available, size_t *total);
EXPORTED int cudaMalloc(void **memory, size_t bytes);
EXPORTED int cudaFree(void *memory);
EXPORTED int cudaMallocHost(void **memory, size_t bytes);
EXPORTED int cudaFreeHost(void *memory);
EXPORTED int cudaMemset(void *memory, int value, size_t bytes);
EXPORTED int cudaMemcpy(void *to, const void *from, size_t bytes, int direction);
EXPORTED int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream);
EXPORTED int cudaStreamCreate(void **stream);
EXPORTED int cudaStreamDestroy(void *stream);
EXPORTED int cudaStreamSynchronize(void *stream);

const char *cudaGetErrorString(int error) {
    switch (error) {
    case INVALID_VALUE:
        return "invalid argument";
    case OUT_OF_MEMORY:
        return "out of memory";
    case NO_DEVICE:
        return "no CUDA-capable device is detected";
    default:
        return "unknown error";
    }
}

int cudaGetDeviceCount(int *count) {
    const char *devices = getenv("HOST_CUDA_DEVICES");
    *count = devices ? atoi(devices) : 1;
    return *count > 0 ? SUCCESS : NO_DEVICE;
}

int cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
}

int cudaSetDevice(int device) {
    int count = 0;
    cudaGetDeviceCount(&count);
    return device >= 0 && device < count ? SUCCESS : INVALID_VALUE;
}

int cudaDeviceSynchronize(void) {
    return SUCCESS;
}

int cudaMemGetInfo(size_t *available, size_t *total) {
    *available = *total = (size_t)1 << 32;
    return SUCCESS;
}

int cudaMalloc(void **memory, size_t bytes) {
    void *made = malloc(bytes);
    *memory = made ? as_device(made) : NULL;
    return made ? SUCCESS : OUT_OF_MEMORY;
}

int cudaFree(void *memory) {
    if (memory && !as_host(memory)) return INVALID_VALUE;
    free(as_host(memory));
    return SUCCESS;
}

int cudaMallocHost(void **memory, size_t bytes) {
    *memory = malloc(bytes);
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

int cudaFreeHost(void *memory) {
    free(memory);
    return SUCCESS;
}

int cudaMemset(void *memory, int value, size_t bytes) {
    if (!as_host(memory)) return INVALID_VALUE;
    memset(as_host(memory), value, bytes);
    return SUCCESS;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int direction) {
    enum { TO_DEVICE = 1, TO_HOST, ON_DEVICE };
    void *target = direction == TO_HOST ? to : as_host(to);
    const void *source = direction == TO_DEVICE ? from : as_host(from);
    if (!target || !source || direction < TO_DEVICE || direction > ON_DEVICE ||
        (direction == TO_HOST && as_host(to)) || (direction == TO_DEVICE && as_host(from)))
        return INVALID_VALUE;
    memcpy(target, source, bytes);
    return SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream) {
    return stream ? cudaMemcpy(to, from, bytes, direction) : INVALID_VALUE;
}

int cudaStreamCreate(void **stream) {
    return cudaMallocHost(stream, 1);
}

int cudaStreamDestroy(void *stream) {
    return cudaFreeHost(stream);
}

int cudaStreamSynchronize(void *stream) {
    return stream ? SUCCESS : INVALID_VALUE;
}
