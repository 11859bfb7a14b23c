/*
 * A CUDA driver, NVRTC, cuFFT and NCCL on host memory, for tests where there is no GPU: one library
 * under four of NVIDIA's file names, found through WEFT_CUDA_LIBRARY_PATH. Device memory may not be
 * touched but by work on streams; streams are threads that run late; every call wants a current
 * context; kernels are those of src/kernels, compiled for the host.
 */
#ifndef WEFT_TESTS_HOST_CUDA_H
#define WEFT_TESTS_HOST_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXPORTED __attribute__((visibility("default")))

/* Kernels: a table in this library (kernels.cpp), and one in each shared object that NVRTC makes;
 * the last entry has no name. */
enum { HOST_ARGUMENTS = 32, HOST_SHARED_MEMORY = 227 << 10 };

/* The threads of a block, if they wait for each other: run calls a function for each of them, and
 * barrier, called there, lets the others come as far (fibers.cpp). */
typedef struct host_fibers {
    void (*run)(unsigned threads, void (*function)(unsigned thread));
    void (*barrier)(void);
} host_fibers;

extern const host_fibers host_block_fibers;

typedef struct host_kernel {
    const char *name;
    int arguments;
    size_t bytes[HOST_ARGUMENTS]; /* of each */
    void (*launch)(const host_fibers *fibers, const unsigned blocks[3], unsigned threads,
                   size_t local_bytes, void **parameters);
    size_t local_bytes; /* beyond 48 KiB: what the function was told to take */
} host_kernel;

extern host_kernel host_kernels[];

/* How what NVRTC makes begins; then the bytes of a shared object as text, 0 for none, and a new
 * line. */
extern const char host_image[];

/* For cuFFT and NCCL: work on a stream, with device memory open, which gets a copy of the argument,
 * aligned to 16 bytes, and gets one again for each launch of a graph; whether bytes lie in one
 * allocation of device memory. */
int host_stream_put(void *stream, void (*function)(void *), const void *argument, size_t bytes);
bool host_is_device(const void *address, size_t bytes);
/* Bytes of device memory from this address on; 0 for host memory. */
size_t host_device_bytes(const void *address);
bool host_context_is_current(void);
int host_context_device(void);              /* of the current one */
void *host_context_of(const void *address); /* of device memory */
int host_device_of(const void *address);    /* -1: of none */

/* How many graphs have been launched: for tests, by dlsym. */
EXPORTED int host_graph_launches(void);

/* How many arrays are registered, and how many ever were. */
EXPORTED int host_registrations(int *ever);

#ifdef __cplusplus
}
#endif

#endif
