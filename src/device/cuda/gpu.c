/* Opens GPUs: chooses one for this rank, retains its primary context, loads the kernels. */
#include "device/cuda/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/cuda/compile.h"
#include "support/error.h"

enum { MOST_GPUS = 64 };

extern const char weft_cuda_copy_cu[], weft_cuda_scale_cu[]; /* made by cmake/embed.cmake */

/* Contexts and kernels belong to the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_cuda_gpu opened[MOST_GPUS];

/* This rank's number on its node, as launchers tell it; 0 without one. */
static int node_local_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "PMIX_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i]);
        if (text && text[0]) return atoi(text);
    }
    return 0;
}

weft_status weft_cuda_gpu_choose(int *number) {
    const char *wanted = getenv("WEFT_CUDA_DEVICE");
    int gpus = weft_cuda_gpus();
    if (gpus > MOST_GPUS) gpus = MOST_GPUS;
    if (!wanted || !wanted[0]) {
        int rank = node_local_rank();
        *number = rank > 0 ? rank % gpus : 0;
        return WEFT_SUCCESS;
    }
    char *end;
    long given = strtol(wanted, &end, 10);
    if (*end != '\0' || given < 0 || given >= gpus)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "WEFT_CUDA_DEVICE=\"%.40s\": give the number of a GPU, 0 to %d", wanted,
                         gpus - 1);
    *number = (int)given;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_gpu_address(int number, char *address, int size) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    int device;
    if (!driver) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_cuda_check(driver->device_get(&device, number), "there is no such GPU"));
    return weft_cuda_check(driver->device_pci_address(address, size, device),
                           "a GPU does not tell its address");
}

weft_status weft_cuda_enter(const weft_cuda_gpu *gpu) {
    return weft_cuda_check(gpu->driver->context_push(gpu->context), "its context is not usable");
}

void weft_cuda_leave(const weft_cuda_gpu *gpu) {
    weft_cuda_context left;
    gpu->driver->context_pop(&left);
}

/* A file of the cache may have been damaged in a way that only the driver sees: then once more. */
static weft_status load_module(const weft_cuda_gpu *gpu, int architecture, const char *name,
                               const char *source, weft_cuda_module *module) {
    weft_cuda_image image = {.data = NULL};
    WEFT_TRY(weft_cuda_compile(name, source, architecture, true, &image));
    int result = gpu->driver->module_load(module, image.data);
    free(image.data);
    if (result != 0 && image.cached) {
        WEFT_TRY(weft_cuda_compile(name, source, architecture, false, &image));
        result = gpu->driver->module_load(module, image.data);
        free(image.data);
    }
    return weft_cuda_check(result, "the kernels could not be loaded");
}

static weft_status find_kernel(const weft_cuda_gpu *gpu, weft_cuda_module module, const char *name,
                               weft_cuda_function *function) {
    char failure[64];
    snprintf(failure, sizeof failure, "there is no kernel %s", name);
    return weft_cuda_check(gpu->driver->module_function(function, module, name), failure);
}

static weft_status load_kernels(weft_cuda_gpu *gpu, int device) {
    const weft_cuda_driver *driver = gpu->driver;
    int major = 0, minor = 0;
    WEFT_TRY(weft_cuda_check(driver->device_attribute(&major, WEFT_CUDA_CAPABILITY_MAJOR, device),
                             "no compute capability"));
    WEFT_TRY(weft_cuda_check(driver->device_attribute(&minor, WEFT_CUDA_CAPABILITY_MINOR, device),
                             "no compute capability"));
    weft_cuda_module copy = NULL, scale = NULL;
    int architecture = 10 * major + minor;
    WEFT_TRY(load_module(gpu, architecture, "copy.cu", weft_cuda_copy_cu, &copy));
    WEFT_TRY(load_module(gpu, architecture, "scale.cu", weft_cuda_scale_cu, &scale));
    for (int unit = 0; unit < WEFT_CUDA_UNITS; unit++) {
        char name[32];
        snprintf(name, sizeof name, "weft_copy_rows_%d", 1 << unit);
        WEFT_TRY(find_kernel(gpu, copy, name, &gpu->rows[unit]));
        snprintf(name, sizeof name, "weft_copy_tiles_%d", 1 << unit);
        WEFT_TRY(find_kernel(gpu, copy, name, &gpu->tiles[unit]));
    }
    WEFT_TRY(find_kernel(gpu, scale, "weft_scale_double", &gpu->scale[WEFT_DOUBLE]));
    return find_kernel(gpu, scale, "weft_scale_single", &gpu->scale[WEFT_SINGLE]);
}

static weft_status open_gpu(const weft_cuda_driver *driver, int number, weft_cuda_gpu *out) {
    weft_cuda_gpu gpu = {.driver = driver, .number = number};
    int device;
    WEFT_TRY(weft_cuda_check(driver->device_get(&device, number), "there is no such GPU"));
    WEFT_TRY(
        weft_cuda_check(driver->context_retain(&gpu.context, device), "no context on the GPU"));
    WEFT_TRY(weft_cuda_enter(&gpu));
    weft_status status = load_kernels(&gpu, device);
    weft_cuda_leave(&gpu);
    WEFT_TRY(status);
    *out = gpu;
    return WEFT_SUCCESS;
}

weft_status weft_cuda_gpu_open(const weft_cuda_gpu **gpu) {
    const weft_cuda_driver *driver = weft_cuda_driver_open();
    int number;
    if (!driver) return WEFT_ERROR_UNSUPPORTED;
    WEFT_TRY(weft_cuda_gpu_choose(&number));
    pthread_mutex_lock(&lock);
    weft_status status =
        opened[number].context ? WEFT_SUCCESS : open_gpu(driver, number, &opened[number]);
    pthread_mutex_unlock(&lock);
    if (status == WEFT_SUCCESS) *gpu = &opened[number];
    return status;
}
