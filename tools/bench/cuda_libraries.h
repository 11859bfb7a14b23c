/*
 * The CUDA runtime and cuFFT, opened at run time: weft bench is built without them, and runs where
 * they are missing. WEFT_CUDA_LIBRARY_PATH names the folders to look in, with colons between them;
 * without it the loader looks in the places that it knows.
 *
 * Types and constants are those of NVIDIA's "CUDA Runtime API" reference and of the "cuFFT API
 * Reference" (docs.nvidia.com/cuda/cuda-runtime-api, docs.nvidia.com/cuda/cufft), CUDA 11 to 13:
 * every status and enumeration is an int, streams and descriptors are pointers.
 */
#ifndef WEFT_BENCH_CUDA_LIBRARIES_H
#define WEFT_BENCH_CUDA_LIBRARIES_H

#include <weft/weft.h>

enum { CUDA_COPY_TO_DEVICE = 1, CUDA_COPY_TO_HOST = 2, CUDA_COPY_ON_DEVICE = 3 };

typedef struct cuda_runtime {
    int devices; /* that this process sees; at least one */
    char device_name[256];
    int runtime_version; /* 13000: CUDA 13.0 */
    const char *(*error_string)(int error);
    int (*device_count)(int *count);
    int (*get_runtime_version)(int *version);
    int (*set_device)(int device);
    int (*device_synchronize)(void);
    int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
    int (*allocate)(void **memory, size_t bytes);
    int (*release)(void *memory);
    int (*allocate_page_locked)(void **memory, size_t bytes);
    int (*release_page_locked)(void *memory);
    int (*set_bytes)(void *memory, int value, size_t bytes);
    int (*copy)(void *to, const void *from, size_t bytes, int direction);
    int (*copy_later)(void *to, const void *from, size_t bytes, int direction, void *stream);
    int (*stream_create)(void **stream);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
} cuda_runtime;

enum { CUFFT_FORWARD = -1, CUFFT_INVERSE = 1 };

/* Values of cufftType. */
enum {
    CUFFT_C2C = 0x29,
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_Z2Z = 0x69,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c
};

/* Orders of an array spread over several GPUs, and the directions of cufftXtMemcpy. */
enum { CUFFT_XT_NATURAL = 2, CUFFT_XT_PERMUTED = 3 };
enum { CUFFT_XT_TO_DEVICES = 0, CUFFT_XT_TO_HOST = 1 };
enum { CUFFT_XT_MAX_GPUS = 64 };

/* cudaXtDesc and cudaLibXtDesc of cudalibxt.h. */
typedef struct cufft_xt_memory {
    int version, gpus;
    int gpu[CUFFT_XT_MAX_GPUS];
    void *data[CUFFT_XT_MAX_GPUS];
    size_t size[CUFFT_XT_MAX_GPUS]; /* bytes on each GPU */
    void *state;
} cufft_xt_memory;

typedef struct cufft_xt_array {
    int version;
    cufft_xt_memory *memory;
    int library;
    int format; /* CUFFT_XT_NATURAL or CUFFT_XT_PERMUTED; a transform changes it */
    void *plan;
} cufft_xt_array;

typedef struct cufft_library {
    char version[48];
    int (*get_property)(int which, int *value); /* 0, 1, 2: major, minor, patch */
    int (*create)(int *plan);
    int (*destroy)(int plan);
    int (*set_stream)(int plan, void *stream);
    int (*make_plan_many)(int plan, int rank, long long *n, long long *in_embed,
                          long long in_stride, long long in_distance, long long *out_embed,
                          long long out_stride, long long out_distance, int type, long long batch,
                          size_t *work_bytes);
    int (*execute)(int plan, void *in, void *out, int direction);
    int (*make_plan_2d)(int plan, int nx, int ny, int type, size_t *work_bytes);
    int (*make_plan_3d)(int plan, int nx, int ny, int nz, int type, size_t *work_bytes);
    int (*xt_set_gpus)(int plan, int count, int *gpus);
    int (*xt_allocate)(int plan, cufft_xt_array **array, int format);
    int (*xt_release)(cufft_xt_array *array);
    int (*xt_copy)(int plan, void *to, void *from, int direction);
    int (*xt_execute)(int plan, cufft_xt_array *in, cufft_xt_array *out, int direction);
} cufft_library;

/* Opens the CUDA runtime and counts the devices; again gives the same. NULL, with the reason as the
 * last error, where the library or a device is missing. Not collective. */
const cuda_runtime *cuda_runtime_open(void);

/* The same for cuFFT. */
const cufft_library *cufft_library_open(void);

/* WEFT_SUCCESS for 0; else the status, and a sentence that says what failed: "CUDA: no copy to the
 * device: out of memory". */
weft_status cuda_check(const cuda_runtime *cuda, int error, const char *failure);
weft_status cufft_check(int result, const char *failure);

#endif
