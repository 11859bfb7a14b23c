/* Opens libcudart and libcufft at run time and looks up the functions that the benchmark uses. */
#include "bench/cuda_libraries.h"

#include "engine/cufft/library.h"
#include "support/error.h"
#include "support/shared_library.h"

#include <stdio.h>
#include <stdlib.h>

/* Libraries belong to the process. */
static weft_library cuda_opened = {.once = PTHREAD_ONCE_INIT};
static weft_library cufft_opened = {.once = PTHREAD_ONCE_INIT};
static cuda_runtime runtime;
static cufft_library library;

#define ADVICE "install CUDA 11 or later, or name its folder in WEFT_CUDA_LIBRARY_PATH"
#define SYMBOL WEFT_LIBRARY_SYMBOL
#define COUNT(symbols) (sizeof(symbols) / sizeof(symbols)[0])

static const weft_library_symbol cuda_symbols[] = {
    SYMBOL(cuda_runtime, "cudaGetErrorString", error_string),
    SYMBOL(cuda_runtime, "cudaGetDeviceCount", device_count),
    SYMBOL(cuda_runtime, "cudaRuntimeGetVersion", get_runtime_version),
    SYMBOL(cuda_runtime, "cudaSetDevice", set_device),
    SYMBOL(cuda_runtime, "cudaDeviceSynchronize", device_synchronize),
    SYMBOL(cuda_runtime, "cudaMemGetInfo", memory_info),
    SYMBOL(cuda_runtime, "cudaMalloc", allocate),
    SYMBOL(cuda_runtime, "cudaFree", release),
    SYMBOL(cuda_runtime, "cudaMallocHost", allocate_page_locked),
    SYMBOL(cuda_runtime, "cudaFreeHost", release_page_locked),
    SYMBOL(cuda_runtime, "cudaMemset", set_bytes),
    SYMBOL(cuda_runtime, "cudaMemcpy", copy),
    SYMBOL(cuda_runtime, "cudaMemcpyAsync", copy_later),
    SYMBOL(cuda_runtime, "cudaStreamCreate", stream_create),
    SYMBOL(cuda_runtime, "cudaStreamDestroy", stream_destroy),
    SYMBOL(cuda_runtime, "cudaStreamSynchronize", stream_synchronize),
};
static const weft_library_symbol cufft_symbols[] = {
    SYMBOL(cufft_library, "cufftGetProperty", get_property),
    SYMBOL(cufft_library, "cufftCreate", create),
    SYMBOL(cufft_library, "cufftDestroy", destroy),
    SYMBOL(cufft_library, "cufftSetStream", set_stream),
    SYMBOL(cufft_library, "cufftMakePlanMany64", make_plan_many),
    SYMBOL(cufft_library, "cufftXtExec", execute),
    SYMBOL(cufft_library, "cufftMakePlan2d", make_plan_2d),
    SYMBOL(cufft_library, "cufftMakePlan3d", make_plan_3d),
    SYMBOL(cufft_library, "cufftXtSetGPUs", xt_set_gpus),
    SYMBOL(cufft_library, "cufftXtMalloc", xt_allocate),
    SYMBOL(cufft_library, "cufftXtFree", xt_release),
    SYMBOL(cufft_library, "cufftXtMemcpy", xt_copy),
    SYMBOL(cufft_library, "cufftXtExecDescriptor", xt_execute),
};

/* From the driver, since the runtime's structure of device properties grows with its versions. */
static void find_device_name(char *name, size_t size) {
    const weft_library_files driver = {.what = "CUDA", .file = {"libcuda.so.1"}, .advice = ADVICE};
    struct {
        int (*get_name)(char *, int, int);
    } table = {NULL};
    const weft_library_symbol get_name[] = {{"cuDeviceGetName", 0}};
    char unused[WEFT_LIBRARY_REASON_BYTES];
    if (!weft_library_load(&driver, get_name, 1, &table, unused) ||
        table.get_name(name, (int)size, 0) != 0)
        snprintf(name, size, "CUDA device 0");
}

static void open_cuda(void) {
    /* Newest first; the last name is there where the toolkit is installed. */
    const weft_library_files files = {
        .what = "CUDA runtime",
        .file = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .advice = ADVICE};
    cuda_runtime *cuda = &runtime;
    if (!weft_library_load(&files, cuda_symbols, COUNT(cuda_symbols), cuda, cuda_opened.reason))
        return;
    int error = cuda->device_count(&cuda->devices);
    if (error != 0 || cuda->devices < 1) {
        snprintf(cuda_opened.reason, sizeof cuda_opened.reason,
                 "CUDA: no device can be used here (%s)",
                 error ? cuda->error_string(error) : "none is visible");
        return;
    }
    cuda->get_runtime_version(&cuda->runtime_version);
    find_device_name(cuda->device_name, sizeof cuda->device_name);
    cuda_opened.usable = true;
}

static void open_cufft(void) {
    const weft_library_files files = {
        .what = "cuFFT",
        .file = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .advice = ADVICE};
    cufft_library *cufft = &library;
    if (!weft_library_load(&files, cufft_symbols, COUNT(cufft_symbols), cufft, cufft_opened.reason))
        return;
    int number[3] = {0};
    for (int i = 0; i < 3; i++) cufft->get_property(i, &number[i]);
    snprintf(cufft->version, sizeof cufft->version, "%d.%d.%d", number[0], number[1], number[2]);
    cufft_opened.usable = true;
}

const cuda_runtime *cuda_runtime_open(void) {
    return weft_library_once(&cuda_opened, open_cuda) ? &runtime : NULL;
}

const cufft_library *cufft_library_open(void) {
    return weft_library_once(&cufft_opened, open_cufft) ? &library : NULL;
}

weft_status cuda_check(const cuda_runtime *cuda, int error, const char *failure) {
    enum { CUDA_ERROR_MEMORY_ALLOCATION = 2 };
    if (error == 0) return WEFT_SUCCESS;
    return weft_fail(error == CUDA_ERROR_MEMORY_ALLOCATION ? WEFT_ERROR_OUT_OF_MEMORY
                                                           : WEFT_ERROR_DEVICE,
                     "CUDA: %s: %s", failure, cuda->error_string(error));
}

weft_status cufft_check(int result, const char *failure) {
    return weft_cufft_check(result, failure);
}
