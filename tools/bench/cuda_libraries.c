/* Opens libcudart and libcufft at run time and looks up the functions that the benchmark uses. */
#include "bench/cuda_libraries.h"

#include "support/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Libraries belong to the process. */
static pthread_once_t cuda_opened = PTHREAD_ONCE_INIT;
static pthread_once_t cufft_opened = PTHREAD_ONCE_INIT;
static cuda_runtime runtime;
static cufft_library library;
static char cuda_reason[768], cufft_reason[768]; /* why they cannot be used; "" where they can */

/* Newest first; the last name is there where the toolkit is installed. */
static const char *const cuda_files[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                         "libcudart.so"};
static const char *const cufft_files[] = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10",
                                          "libcufft.so"};
enum { FILES = 4 };

typedef struct symbol {
    const char *name;
    size_t offset; /* of the function pointer in the table */
} symbol;

#define SYMBOL(table, name, member)                                                                \
    { name, offsetof(table, member) }

static const symbol cuda_symbols[] = {
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
    SYMBOL(cuda_runtime, "cudaEventCreate", event_create),
    SYMBOL(cuda_runtime, "cudaEventDestroy", event_destroy),
    SYMBOL(cuda_runtime, "cudaEventRecord", event_record),
    SYMBOL(cuda_runtime, "cudaEventSynchronize", event_synchronize),
    SYMBOL(cuda_runtime, "cudaEventElapsedTime", event_elapsed),
};
static const symbol cufft_symbols[] = {
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

/* Fills the function pointers of a table; returns the name of the first symbol that is missing. */
static const char *find_symbols(void *table, void *handle, const symbol *symbols, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        if (!address) return symbols[i].name;
        /* ISO C has no conversion from an object pointer to a function pointer; POSIX promises that
         * they are the same bytes. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

static void *open_in(const char *folder, int length, const char *file) {
    char path[4096];
    if (snprintf(path, sizeof path, "%.*s/%s", length, folder, file) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_any(const char *const files[FILES]) {
    const char *folders = getenv("WEFT_CUDA_LIBRARY_PATH");
    void *handle = NULL;
    if (!folders || !folders[0]) {
        for (int f = 0; f < FILES && !handle; f++) handle = dlopen(files[f], RTLD_NOW | RTLD_LOCAL);
        return handle;
    }
    for (const char *at = folders; *at && !handle;) {
        int length = (int)strcspn(at, ":");
        for (int f = 0; f < FILES && !handle; f++) handle = open_in(at, length, files[f]);
        at += length + (at[length] == ':');
    }
    return handle;
}

/* Opens one of the files and fills the table; false, with the reason, where it cannot be used. */
static bool open_library(const char *const files[FILES], const char *what, void *table,
                         const symbol *symbols, size_t count, char *reason, size_t reason_size) {
    void *handle = open_any(files);
    if (!handle) {
        snprintf(reason, reason_size,
                 "%s: %s is not here (nor its older versions); install it or name its folder in "
                 "WEFT_CUDA_LIBRARY_PATH",
                 what, files[0]);
        return false;
    }
    const char *missing = find_symbols(table, handle, symbols, count);
    if (!missing) return true;
    snprintf(reason, reason_size, "%s: the library has no %s; install CUDA 11 or later", what,
             missing);
    dlclose(handle);
    return false;
}

/* From the driver, since the runtime's structure of device properties grows with its versions. */
static void find_device_name(char *name, size_t size) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*get_name)(char *, int, int) = NULL;
    void *address = driver ? dlsym(driver, "cuDeviceGetName") : NULL;
    memcpy(&get_name, &address, sizeof address);
    if (!get_name || get_name(name, (int)size, 0) != 0) snprintf(name, size, "CUDA device 0");
}

static void open_cuda(void) {
    cuda_runtime *cuda = &runtime;
    if (!open_library(cuda_files, "CUDA runtime", cuda, cuda_symbols,
                      sizeof cuda_symbols / sizeof *cuda_symbols, cuda_reason, sizeof cuda_reason))
        return;
    int error = cuda->device_count(&cuda->devices);
    if (error != 0 || cuda->devices < 1) {
        snprintf(cuda_reason, sizeof cuda_reason, "CUDA: no device can be used here (%s)",
                 error ? cuda->error_string(error) : "none is visible");
        return;
    }
    cuda->get_runtime_version(&cuda->runtime_version);
    find_device_name(cuda->device_name, sizeof cuda->device_name);
}

static void open_cufft(void) {
    cufft_library *cufft = &library;
    if (!open_library(cufft_files, "cuFFT", cufft, cufft_symbols,
                      sizeof cufft_symbols / sizeof *cufft_symbols, cufft_reason,
                      sizeof cufft_reason))
        return;
    int number[3] = {0};
    for (int i = 0; i < 3; i++) cufft->get_property(i, &number[i]);
    snprintf(cufft->version, sizeof cufft->version, "%d.%d.%d", number[0], number[1], number[2]);
}

const cuda_runtime *cuda_runtime_open(void) {
    pthread_once(&cuda_opened, open_cuda);
    if (!cuda_reason[0]) return &runtime;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", cuda_reason);
    return NULL;
}

const cufft_library *cufft_library_open(void) {
    pthread_once(&cufft_opened, open_cufft);
    if (!cufft_reason[0]) return &library;
    weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", cufft_reason);
    return NULL;
}

weft_status cuda_check(const cuda_runtime *cuda, int error, const char *failure) {
    enum { CUDA_ERROR_MEMORY_ALLOCATION = 2 };
    if (error == 0) return WEFT_SUCCESS;
    return weft_fail(error == CUDA_ERROR_MEMORY_ALLOCATION ? WEFT_ERROR_OUT_OF_MEMORY
                                                           : WEFT_ERROR_DEVICE,
                     "CUDA: %s: %s", failure, cuda->error_string(error));
}

/* Values of cufftResult. What cuFFT refuses is a case that it cannot do, not a failure. */
weft_status cufft_check(int result, const char *failure) {
    static const struct {
        int result;
        weft_status status;
        const char *meaning;
    } known[] = {
        {0x2, WEFT_ERROR_OUT_OF_MEMORY, "not enough memory on the device"},
        {0x3, WEFT_ERROR_UNSUPPORTED, "it does not do this type of transform"},
        {0x4, WEFT_ERROR_UNSUPPORTED, "it does not take these parameters"},
        {0x8, WEFT_ERROR_UNSUPPORTED, "it does not do this size"},
        {0xB, WEFT_ERROR_UNSUPPORTED, "it cannot use these devices together"},
        {0xE, WEFT_ERROR_UNSUPPORTED, "it does not implement this"},
        {0x10, WEFT_ERROR_UNSUPPORTED, "it does not support this"},
    };
    if (result == 0) return WEFT_SUCCESS;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result)
            return weft_fail(known[i].status, "cuFFT: %s: %s (cufftResult %d)", failure,
                             known[i].meaning, result);
    return weft_fail(WEFT_ERROR_ENGINE, "cuFFT: %s (cufftResult %d)", failure, result);
}
