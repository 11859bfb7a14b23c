/* Compiles, loads and launches kernels; loaded modules belong to the process. */
#include "device/cuda/kernel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/compile.h"
#include "device/cuda/cuda.h"
#include "device/kernel_source.h"
#include "support/error.h"
#include "support/hash.h"

enum {
    MOST_ARGUMENTS = 32,
    FREE_LOCAL_MEMORY = 48 << 10 /* bytes: more must be asked for, function by function */
};

struct weft_kernel {
    weft_cuda_launchable launchable;
};

/* ---- modules ---- */

typedef struct loaded_module {
    int gpu;
    uint64_t hash; /* of the text */
    weft_cuda_module module;
    struct loaded_module *next;
} loaded_module;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded_module *loaded;

/* Loads a module. If the driver refuses one from the cache, whose file may be damaged, it is
 * compiled anew. */
static weft_status load_module(const weft_cuda_gpu *gpu, const char *name, const char *text,
                               weft_cuda_module *module) {
    weft_cuda_image image = {.data = NULL};
    WEFT_TRY(weft_cuda_compile(name, text, gpu->architecture, true, &image));
    int result = gpu->driver->module_load(module, image.data);
    free(image.data);
    if (result != 0 && image.cached) {
        WEFT_TRY(weft_cuda_compile(name, text, gpu->architecture, false, &image));
        result = gpu->driver->module_load(module, image.data);
        free(image.data);
    }
    return weft_cuda_check(result, "the kernels could not be loaded");
}

/* Finds or loads a module. The lock must be held. */
static weft_status find_module(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                               weft_cuda_module *module) {
    char *text = weft_kernel_text(source, true, false);
    if (!text) return WEFT_ERROR_OUT_OF_MEMORY;
    uint64_t hash = weft_hash_bytes(WEFT_HASH_OF_NOTHING, text, strlen(text));
    loaded_module *at = loaded;
    while (at && (at->gpu != gpu->number || at->hash != hash)) at = at->next;
    weft_status status = WEFT_SUCCESS;
    if (!at) {
        at = malloc(sizeof *at);
        status = at ? load_module(gpu, source->name, text, &at->module)
                    : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
        if (status == WEFT_SUCCESS) {
            at->gpu = gpu->number;
            at->hash = hash;
            at->next = loaded;
            loaded = at;
        } else {
            free(at);
        }
    }
    free(text);
    if (status == WEFT_SUCCESS) *module = at->module;
    return status;
}

weft_status weft_cuda_function_find(const weft_cuda_gpu *gpu, const weft_kernel_source *source,
                                    weft_cuda_function *function) {
    weft_cuda_module module;
    char failure[128];
    WEFT_TRY(weft_kernel_check(source, &gpu->limits, "CUDA device"));
    pthread_mutex_lock(&lock);
    weft_status status = find_module(gpu, source, &module);
    pthread_mutex_unlock(&lock);
    WEFT_TRY(status);
    snprintf(failure, sizeof failure, "there is no kernel %.80s", source->name);
    WEFT_TRY(
        weft_cuda_check(gpu->driver->module_function(function, module, source->name), failure));
    if (source->local_bytes <= FREE_LOCAL_MEMORY) return WEFT_SUCCESS;
    snprintf(failure, sizeof failure, "no %zu bytes of shared memory for kernel %.60s",
             source->local_bytes, source->name);
    return weft_cuda_check(gpu->driver->function_attribute(*function,
                                                           WEFT_CUDA_DYNAMIC_SHARED_MEMORY,
                                                           (int)source->local_bytes),
                           failure);
}

/* ---- operations ---- */

weft_status weft_cuda_kernel_limits(weft_device_state *device, weft_kernel_limits *limits) {
    *limits = device->gpu->limits;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_kernel_create(weft_device_state *device, const weft_kernel_source *source,
                                    weft_kernel **kernel) {
    weft_kernel *made = malloc(sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a kernel");
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         weft_cuda_function_find(device->gpu, source, &made->launchable.function));
    if (status != WEFT_SUCCESS) {
        free(made);
        return status;
    }
    made->launchable.threads = source->threads;
    made->launchable.local_bytes = (unsigned)source->local_bytes;
    *kernel = made;
    return WEFT_SUCCESS;
}

void weft_cuda_kernel_destroy(weft_device_state *device, weft_kernel *kernel) {
    (void)device;
    free(kernel);
}

weft_status weft_cuda_launch(weft_device_state *device, weft_queue *queue,
                             const weft_cuda_launchable *kernel, const unsigned groups[3],
                             const weft_kernel_argument *argument, int arguments) {
    void *parameter[MOST_ARGUMENTS];
    if (arguments > MOST_ARGUMENTS)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "CUDA device: a kernel takes at most %d arguments",
                         MOST_ARGUMENTS);
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return WEFT_SUCCESS;
    /* The driver only reads the arguments, though its prototype lacks const. */
    for (int i = 0; i < arguments; i++)
        parameter[i] = (void *)(uintptr_t)(argument[i].value ? argument[i].value
                                                             : (const void *)&argument[i].memory);
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(
        device->gpu, status,
        weft_cuda_check(
            device->gpu->driver->launch(kernel->function, groups[0], groups[1], groups[2],
                                        kernel->threads, 1, 1, kernel->local_bytes,
                                        weft_cuda_queue_stream(device, queue), parameter, NULL),
            "a kernel could not be launched"));
    return status;
}

weft_status weft_cuda_kernel_launch(weft_device_state *device, weft_queue *queue,
                                    weft_kernel *kernel, const unsigned groups[3],
                                    const weft_kernel_argument *argument, int arguments) {
    return weft_cuda_launch(device, queue, &kernel->launchable, groups, argument, arguments);
}
