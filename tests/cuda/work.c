/* The work of host_cuda.h: copies and kernels on streams. Copies must stay inside allocations, and
 * each side must be where it is said to be. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/driver.h"
#include "driver_results.h"
#include "host_cuda.h"

/* ---- copies ---- */

typedef struct planes {
    const char *src;
    char *dst;
    size_t src_pitch, dst_pitch, src_plane, dst_plane, width, height, depth;
} planes;

static void copy_planes(void *argument) {
    const planes *p = argument;
    for (size_t z = 0; z < p->depth; z++)
        for (size_t y = 0; y < p->height; y++)
            memcpy(p->dst + z * p->dst_plane + y * p->dst_pitch,
                   p->src + z * p->src_plane + y * p->src_pitch, p->width);
    free(argument);
}

/* Whether one side is of the type that it is said to be (0: of any), and holds the whole copy. */
static bool is_side(const void *address, int type, size_t pitch, size_t plane, const planes *p) {
    size_t span = (p->depth - 1) * plane + (p->height - 1) * pitch + p->width;
    size_t there = host_device_bytes(address);
    if (type == WEFT_CUDA_MEMORY_DEVICE && there == 0) return false;
    if (type == WEFT_CUDA_MEMORY_HOST && there != 0) return false;
    return (there == 0 || there >= span) &&
           (p->height == 1 || (pitch >= p->width && pitch <= WEFT_CUDA_MAX_PITCH)) &&
           (p->depth == 1 || plane >= pitch * p->height);
}

static int put_copy(const planes *given, int src_type, int dst_type, void *stream) {
    if (!is_side(given->src, src_type, given->src_pitch, given->src_plane, given) ||
        !is_side(given->dst, dst_type, given->dst_pitch, given->dst_plane, given))
        return INVALID_VALUE;
    planes *p = malloc(sizeof *p);
    if (!p) return OUT_OF_MEMORY;
    *p = *given;
    return host_stream_put(stream, copy_planes, p);
}

EXPORTED int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
                           void *stream) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    planes p = {.src = (const char *)(uintptr_t)from,
                .dst = (char *)(uintptr_t)to,
                .width = bytes,
                .height = 1,
                .depth = 1};
    return put_copy(&p, 0, 0, stream);
}

EXPORTED int cuMemcpy2DAsync_v2(const weft_cuda_copy_2d *c, void *stream) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    planes p = {.src = c->src_type == WEFT_CUDA_MEMORY_HOST ? c->src_host
                                                            : (char *)(uintptr_t)c->src_device,
                .dst = c->dst_type == WEFT_CUDA_MEMORY_HOST ? c->dst_host
                                                            : (char *)(uintptr_t)c->dst_device,
                .src_pitch = c->src_pitch,
                .dst_pitch = c->dst_pitch,
                .width = c->width,
                .height = c->height,
                .depth = 1};
    return put_copy(&p, c->src_type, c->dst_type, stream);
}

EXPORTED int cuMemcpy3DAsync_v2(const weft_cuda_copy_3d *c, void *stream) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    if (c->reserved0 || c->reserved1) return INVALID_VALUE;
    planes p = {.src = c->src_type == WEFT_CUDA_MEMORY_HOST ? c->src_host
                                                            : (char *)(uintptr_t)c->src_device,
                .dst = c->dst_type == WEFT_CUDA_MEMORY_HOST ? c->dst_host
                                                            : (char *)(uintptr_t)c->dst_device,
                .src_pitch = c->src_pitch,
                .dst_pitch = c->dst_pitch,
                .src_plane = c->src_pitch * c->src_height,
                .dst_plane = c->dst_pitch * c->dst_height,
                .width = c->width,
                .height = c->height,
                .depth = c->depth};
    return put_copy(&p, c->src_type, c->dst_type, stream);
}

/* ---- kernels ---- */

typedef struct launched {
    const host_kernel *kernel;
    unsigned blocks, threads;
    char bytes[1024];
} launched;

static void run_launched(void *argument) {
    launched *l = argument;
    void *parameters[3] = {NULL};
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        parameters[i] = l->bytes + at;
        at += l->kernel->parameter_bytes[i];
    }
    host_kernel_launch(l->kernel, l->blocks, l->threads, parameters);
    free(l);
}

/* WEFT_TEST_LAUNCH_FAIL=K: the K-th launch from now on fails, once. */
static bool injected(void) {
    const char *which = getenv("WEFT_TEST_LAUNCH_FAIL");
    if (!which) return false;
    char next[16];
    int left = atoi(which) - 1;
    snprintf(next, sizeof next, "%d", left);
    if (left == 0)
        unsetenv("WEFT_TEST_LAUNCH_FAIL");
    else
        setenv("WEFT_TEST_LAUNCH_FAIL", next, 1);
    return left == 0;
}

EXPORTED int cuLaunchKernel(const host_kernel *kernel, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    if (grid_x == 0 || grid_x > INT32_MAX || block_x == 0 || block_x > 1024 || extra ||
        shared_bytes > 0 || grid_y * grid_z * block_y * block_z != 1)
        return INVALID_VALUE;
    if (injected()) return INVALID_VALUE;
    launched *l = malloc(sizeof *l);
    if (!l) return OUT_OF_MEMORY;
    *l = (launched){.kernel = kernel, .blocks = grid_x, .threads = block_x};
    size_t at = 0;
    for (int i = 0; i < 3 && kernel->parameter_bytes[i] > 0; i++) {
        if (at + kernel->parameter_bytes[i] > sizeof l->bytes) abort();
        memcpy(l->bytes + at, parameters[i], kernel->parameter_bytes[i]);
        at += kernel->parameter_bytes[i];
    }
    return host_stream_put(stream, run_launched, l);
}

EXPORTED int cuModuleLoadData(void **module, const void *image) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    *module = (void *)(uintptr_t)host_image;
    return strncmp(image, host_image, strlen(host_image)) == 0 ? SUCCESS : INVALID_IMAGE;
}

EXPORTED int cuModuleUnload(void *module) {
    return module ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuModuleGetFunction(const host_kernel **kernel, void *module, const char *name) {
    *kernel = module ? host_kernel_find(name) : NULL;
    return *kernel ? SUCCESS : NOT_FOUND;
}
