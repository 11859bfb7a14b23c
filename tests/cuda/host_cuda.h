/*
 * A CUDA driver, NVRTC, cuFFT and NCCL on host memory, for tests where there is no GPU: one library
 * under four of NVIDIA's file names, found through WEFT_CUDA_LIBRARY_PATH. Device memory may not be
 * touched but by work on streams; streams are threads that run late; every call wants a current
 * context; kernels are the very .cu files, compiled for the host.
 */
#ifndef WEFT_TESTS_HOST_CUDA_H
#define WEFT_TESTS_HOST_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXPORTED __attribute__((visibility("default")))

/* Kernels (kernels.cpp). */
typedef struct host_kernel {
    const char *name;
    bool waits; /* has barriers: its threads must take turns */
    size_t parameter_bytes[3];
    void (*run)(void **parameters); /* one thread of one block */
} host_kernel;

const host_kernel *host_kernel_find(const char *name);
void host_kernel_launch(const host_kernel *kernel, unsigned blocks, unsigned threads,
                        void **parameters);

/* How what NVRTC makes begins. */
extern const char host_image[];

/* For cuFFT and NCCL: work on a stream, with device memory open; whether bytes lie in one
 * allocation of device memory. */
int host_stream_put(void *stream, void (*function)(void *), void *argument);
bool host_is_device(const void *address, size_t bytes);
/* Bytes of device memory from this address on; 0 for host memory. */
size_t host_device_bytes(const void *address);
bool host_context_is_current(void);
int host_context_device(void); /* of the current one */

#ifdef __cplusplus
}
#endif

#endif
