/* The driver and NVRTC of host_cuda.h. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/cuda/driver.h"
#include "device/thread_queue.h"
#include "host_cuda.h"

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500
};

struct CUstream_st {
    weft_queue *queue;
};

/* ---- device memory: open only while work on a stream runs ---- */

typedef struct block {
    char *address;
    size_t bytes, mapped;
    struct block *next;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block *blocks;
static int working;

static void protect_all(int protection) {
    for (block *b = blocks; b; b = b->next)
        if (mprotect(b->address, b->mapped - (size_t)sysconf(_SC_PAGESIZE), protection) != 0)
            abort();
}

static void open_memory(void) {
    pthread_mutex_lock(&lock);
    if (working++ == 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}

static void close_memory(void) {
    pthread_mutex_lock(&lock);
    if (--working == 0) protect_all(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* Bytes of device memory from this address on; 0 for host memory. */
static size_t device_bytes(const void *address) {
    size_t left = 0;
    uintptr_t at = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    for (const block *b = blocks; b; b = b->next)
        if (at >= (uintptr_t)b->address && at < (uintptr_t)b->address + b->bytes)
            left = (uintptr_t)b->address + b->bytes - at;
    pthread_mutex_unlock(&lock);
    return left;
}

bool host_is_device(const void *address, size_t bytes) {
    return device_bytes(address) >= bytes;
}

/* ---- contexts ---- */

static _Thread_local int pushed;

bool host_context_is_current(void) {
    return pushed > 0;
}

#define NEEDS_CONTEXT                                                                              \
    if (pushed == 0) return INVALID_CONTEXT

EXPORTED int cuInit(unsigned flags) {
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuDriverGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
}

EXPORTED int cuDeviceGetCount(int *count) {
    const char *wanted = getenv("WEFT_TEST_GPUS");
    *count = wanted ? atoi(wanted) : 2;
    return SUCCESS;
}

EXPORTED int cuDeviceGet(int *device, int number) {
    *device = number;
    return SUCCESS;
}

EXPORTED int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "host memory (GPU %d)", device);
    return SUCCESS;
}

EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == WEFT_CUDA_CAPABILITY_MAJOR ? 9 : 0;
    return attribute == WEFT_CUDA_CAPABILITY_MAJOR || attribute == WEFT_CUDA_CAPABILITY_MINOR
               ? SUCCESS
               : INVALID_VALUE;
}

EXPORTED int cuDevicePrimaryCtxRetain(void **context, int device) {
    static char contexts[64];
    *context = &contexts[device];
    return SUCCESS;
}

EXPORTED int cuCtxPushCurrent_v2(void *context) {
    pushed += context != NULL;
    return context ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuCtxPopCurrent_v2(void **context) {
    NEEDS_CONTEXT;
    *context = NULL;
    pushed--;
    return SUCCESS;
}

EXPORTED int cuGetErrorString(int error, const char **sentence) {
    *sentence = error == OUT_OF_MEMORY     ? "out of memory"
                : error == INVALID_CONTEXT ? "invalid device context"
                                           : "invalid argument";
    return SUCCESS;
}

/* ---- memory ---- */

EXPORTED int cuMemAlloc_v2(unsigned long long *memory, size_t bytes) {
    NEEDS_CONTEXT;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > SIZE_MAX / 4) return OUT_OF_MEMORY;
    block *b = malloc(sizeof *b);
    size_t mapped = (bytes / page + 2) * page; /* the last page is never opened */
    void *address = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!b || address == MAP_FAILED) {
        free(b);
        return OUT_OF_MEMORY;
    }
    memset(address, 0xff, bytes);
    *b = (block){.address = address, .bytes = bytes, .mapped = mapped};
    pthread_mutex_lock(&lock);
    b->next = blocks;
    blocks = b;
    mprotect(b->address, mapped, PROT_NONE);
    if (working > 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
    *memory = (uintptr_t)address;
    return SUCCESS;
}

EXPORTED int cuMemFree_v2(unsigned long long memory) {
    NEEDS_CONTEXT;
    pthread_mutex_lock(&lock);
    block **at = &blocks;
    while (*at && (uintptr_t)(*at)->address != memory) at = &(*at)->next;
    block *b = *at;
    if (b) *at = b->next;
    pthread_mutex_unlock(&lock);
    if (!b) return INVALID_VALUE;
    munmap(b->address, b->mapped);
    free(b);
    return SUCCESS;
}

EXPORTED int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT;
    if (bytes == 0 || flags != (WEFT_CUDA_HOST_PORTABLE | WEFT_CUDA_HOST_MAPPED))
        return INVALID_VALUE;
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuMemFreeHost(void *memory) {
    NEEDS_CONTEXT;
    free(memory);
    return SUCCESS;
}

/* ---- streams ---- */

typedef struct closure {
    void (*function)(void *);
    void *argument;
} closure;

static weft_status run_closure(void *argument, const void *in, void *out) {
    closure c = *(closure *)argument;
    (void)in, (void)out;
    open_memory();
    c.function(c.argument);
    close_memory();
    free(argument);
    return WEFT_SUCCESS;
}

static int put(struct CUstream_st *stream, const weft_work *work) {
    if (!stream) return INVALID_VALUE;
    return weft_thread_queue_put(stream->queue, work) == WEFT_SUCCESS ? SUCCESS : OUT_OF_MEMORY;
}

int host_stream_put(void *stream, void (*function)(void *), void *argument) {
    closure *c = malloc(sizeof *c);
    if (!c) return OUT_OF_MEMORY;
    *c = (closure){function, argument};
    weft_work work = {.kind = WEFT_WORK_RUN, .threads = 1, .as.run = {run_closure, c}};
    return put(stream, &work);
}

EXPORTED int cuStreamCreate(struct CUstream_st **stream, unsigned flags) {
    static uint64_t seed;
    NEEDS_CONTEXT;
    if (flags != WEFT_CUDA_STREAM_NON_BLOCKING) return INVALID_VALUE;
    *stream = calloc(1, sizeof **stream);
    weft_dawdle dawdle = {__atomic_add_fetch(&seed, 1, __ATOMIC_RELAXED), 50};
    if (!*stream || weft_thread_queue_create(dawdle, &(*stream)->queue) != WEFT_SUCCESS)
        return OUT_OF_MEMORY;
    return SUCCESS;
}

EXPORTED int cuStreamDestroy_v2(struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    weft_thread_queue_destroy(stream->queue);
    free(stream);
    return SUCCESS;
}

EXPORTED int cuStreamSynchronize(struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    return weft_thread_queue_wait(stream->queue) == WEFT_SUCCESS ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuStreamWaitEvent(struct CUstream_st *stream, weft_event *event, unsigned flags) {
    NEEDS_CONTEXT;
    weft_work work = weft_thread_event_await(event);
    return flags == 0 ? put(stream, &work) : INVALID_VALUE;
}

EXPORTED int cuEventCreate(weft_event **event, unsigned flags) {
    NEEDS_CONTEXT;
    if (flags != WEFT_CUDA_EVENT_NO_TIMING) return INVALID_VALUE;
    return weft_thread_event_create(event) == WEFT_SUCCESS ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuEventDestroy_v2(weft_event *event) {
    NEEDS_CONTEXT;
    weft_thread_event_destroy(event);
    return SUCCESS;
}

EXPORTED int cuEventRecord(weft_event *event, struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    weft_work work = weft_thread_event_record(event);
    return put(stream, &work);
}

EXPORTED int cuLaunchHostFunc(struct CUstream_st *stream, void (*function)(void *),
                              void *argument) {
    NEEDS_CONTEXT;
    weft_work work = {.kind = WEFT_WORK_CALLBACK, .as.callback = {function, argument}};
    return put(stream, &work);
}

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
    size_t there = device_bytes(address);
    if (type == WEFT_CUDA_MEMORY_DEVICE && there == 0) return false;
    if (type == WEFT_CUDA_MEMORY_HOST && there != 0) return false;
    return (there == 0 || there >= span) &&
           (p->height == 1 || (pitch >= p->width && pitch <= WEFT_CUDA_MAX_PITCH)) &&
           (p->depth == 1 || plane >= pitch * p->height);
}

static int put_copy(const planes *given, int src_type, int dst_type, struct CUstream_st *stream) {
    if (!is_side(given->src, src_type, given->src_pitch, given->src_plane, given) ||
        !is_side(given->dst, dst_type, given->dst_pitch, given->dst_plane, given))
        return INVALID_VALUE;
    planes *p = malloc(sizeof *p);
    if (!p) return OUT_OF_MEMORY;
    *p = *given;
    return host_stream_put(stream, copy_planes, p);
}

EXPORTED int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes,
                           struct CUstream_st *stream) {
    NEEDS_CONTEXT;
    planes p = {.src = (const char *)(uintptr_t)from,
                .dst = (char *)(uintptr_t)to,
                .width = bytes,
                .height = 1,
                .depth = 1};
    return put_copy(&p, 0, 0, stream);
}

EXPORTED int cuMemcpy2DAsync_v2(const weft_cuda_copy_2d *c, struct CUstream_st *stream) {
    NEEDS_CONTEXT;
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

EXPORTED int cuMemcpy3DAsync_v2(const weft_cuda_copy_3d *c, struct CUstream_st *stream) {
    NEEDS_CONTEXT;
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

EXPORTED int cuLaunchKernel(const host_kernel *kernel, unsigned grid_x, unsigned grid_y,
                            unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, struct CUstream_st *stream, void **parameters,
                            void **extra) {
    NEEDS_CONTEXT;
    if (grid_x == 0 || grid_x > INT32_MAX || block_x == 0 || block_x > 1024 || extra ||
        shared_bytes > 0 || grid_y * grid_z * block_y * block_z != 1)
        return INVALID_VALUE;
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

static const char image_begins[] = "kernels of the host: ";

EXPORTED int cuModuleLoadData(void **module, const void *image) {
    NEEDS_CONTEXT;
    *module = (void *)(uintptr_t)image_begins;
    return strncmp(image, image_begins, strlen(image_begins)) == 0 ? SUCCESS : INVALID_IMAGE;
}

EXPORTED int cuModuleUnload(void *module) {
    return module ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuModuleGetFunction(const host_kernel **kernel, void *module, const char *name) {
    *kernel = module ? host_kernel_find(name) : NULL;
    return *kernel ? SUCCESS : NOT_FOUND;
}

/* ---- NVRTC: counts its compilations in the file that WEFT_TEST_COMPILED names ---- */

EXPORTED int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}

EXPORTED int nvrtcCreateProgram(char **program, const char *source, const char *name, int headers,
                                const char *const *header, const char *const *include_name) {
    if (!source[0] || headers != 1 || !header[0][0] || !strstr(source, include_name[0]))
        return INVALID_VALUE;
    return asprintf(program, "%s%s", image_begins, name) > 0 ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int nvrtcDestroyProgram(char **program) {
    free(*program);
    *program = NULL;
    return SUCCESS;
}

EXPORTED int nvrtcCompileProgram(char *program, int options, const char *const *option) {
    const char *path = getenv("WEFT_TEST_COMPILED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "%s\n", program);
        fclose(file);
    }
    return options > 0 && strcmp(option[0], "--gpu-architecture=sm_90") == 0 ? SUCCESS
                                                                             : INVALID_VALUE;
}

EXPORTED int nvrtcGetCUBINSize(char *program, size_t *bytes) {
    *bytes = strlen(program) + 1;
    return SUCCESS;
}

EXPORTED int nvrtcGetCUBIN(char *program, char *cubin) {
    strcpy(cubin, program);
    return SUCCESS;
}

EXPORTED int nvrtcGetPTXSize(char *program, size_t *bytes) {
    (void)program, (void)bytes;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetPTX(char *program, char *ptx) {
    (void)program, (void)ptx;
    return INVALID_VALUE;
}

EXPORTED int nvrtcGetProgramLogSize(char *program, size_t *bytes) {
    (void)program;
    *bytes = 1;
    return SUCCESS;
}

EXPORTED int nvrtcGetProgramLog(char *program, char *log) {
    (void)program;
    log[0] = '\0';
    return SUCCESS;
}

EXPORTED int nvrtcGetNumSupportedArchs(int *count) {
    *count = 2;
    return SUCCESS;
}

EXPORTED int nvrtcGetSupportedArchs(int *list) {
    list[0] = 75;
    list[1] = 90;
    return SUCCESS;
}

EXPORTED const char *nvrtcGetErrorString(int error) {
    return error == SUCCESS ? "no error" : "refused";
}
