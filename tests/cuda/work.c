/* The work of host_cuda.h: copies and kernels on streams. Copies must stay inside allocations, and
 * each side must be where it is said to be. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    return host_stream_put(stream, copy_planes, given, sizeof *given);
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
    unsigned blocks[3], threads;
    size_t local_bytes, at[HOST_ARGUMENTS];
    _Alignas(16) char bytes[4096]; /* of the arguments */
} launched;

static void run_launched(void *argument) {
    launched *l = argument;
    void *parameters[HOST_ARGUMENTS];
    for (int i = 0; i < l->kernel->arguments; i++) parameters[i] = l->bytes + l->at[i];
    l->kernel->launch(&host_block_fibers, l->blocks, l->threads, l->local_bytes, parameters);
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
    const unsigned most_shared = 48 << 10;
    if (!host_context_is_current()) return INVALID_CONTEXT;
    if (grid_x == 0 || grid_x > INT32_MAX || grid_y == 0 || grid_y > 65535 || grid_z == 0 ||
        grid_z > 65535 || block_x == 0 || block_x > 1024 || extra || block_y * block_z != 1)
        return INVALID_VALUE;
    if (shared_bytes > most_shared && shared_bytes > kernel->local_bytes) return INVALID_VALUE;
    if (injected()) return INVALID_VALUE;
    launched l = {.kernel = kernel,
                  .blocks = {grid_x, grid_y, grid_z},
                  .threads = block_x,
                  .local_bytes = shared_bytes};
    size_t at = 0;
    for (int i = 0; i < kernel->arguments; i++) {
        if (at + kernel->bytes[i] > sizeof l.bytes) abort();
        memcpy(l.bytes + at, parameters[i], kernel->bytes[i]);
        l.at[i] = at;
        at += (kernel->bytes[i] + 15) / 16 * 16;
    }
    return host_stream_put(stream, run_launched, &l, sizeof l);
}

EXPORTED int cuFuncSetAttribute(host_kernel *kernel, int attribute, int value) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    if (attribute != WEFT_CUDA_DYNAMIC_SHARED_MEMORY || value < 0 || value > HOST_SHARED_MEMORY)
        return INVALID_VALUE;
    kernel->local_bytes = (size_t)value;
    return SUCCESS;
}

/* Opens a shared object that is in memory; it stays open. */
static host_kernel *open_object(const char *object, size_t bytes) {
    char path[] = "/tmp/weft_host_module_XXXXXX";
    int file = mkstemp(path);
    if (file < 0) return NULL;
    bool written = write(file, object, bytes) == (ssize_t)bytes;
    close(file);
    void *handle = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    return handle ? dlsym(handle, "host_kernels") : NULL;
}

/* A module is its table of kernels. */
EXPORTED int cuModuleLoadData(host_kernel **module, const void *image) {
    if (!host_context_is_current()) return INVALID_CONTEXT;
    const char *at = image;
    if (strncmp(at, host_image, strlen(host_image)) != 0) return INVALID_IMAGE;
    char *end;
    size_t bytes = strtoull(at + strlen(host_image), &end, 10);
    *module = bytes > 0 ? open_object(end + 1, bytes) : host_kernels;
    return *module ? SUCCESS : INVALID_IMAGE;
}

EXPORTED int cuModuleUnload(void *module) {
    return module ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuModuleGetFunction(host_kernel **kernel, host_kernel *module, const char *name) {
    host_kernel *at = module;
    while (at->name && strcmp(at->name, name) != 0) at++;
    if (!at->name) return NOT_FOUND;
    *kernel = at;
    return SUCCESS;
}
