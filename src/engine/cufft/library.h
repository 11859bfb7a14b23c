/*
 * cuFFT as it is found at run time. weft is built without it: the few prototypes are written here
 * from NVIDIA's "cuFFT API Reference" (docs.nvidia.com/cuda/cufft), versions 10 to 12 of the
 * library. Plans, types and results are ints, streams pointers.
 */
#ifndef WEFT_ENGINE_CUFFT_LIBRARY_H
#define WEFT_ENGINE_CUFFT_LIBRARY_H

#include <stddef.h>
#include <weft/weft.h>

enum { WEFT_CUFFT_FORWARD = -1, WEFT_CUFFT_INVERSE = 1 };

enum { /* cufftType */
       WEFT_CUFFT_C2C = 0x29,
       WEFT_CUFFT_R2C = 0x2a,
       WEFT_CUFFT_C2R = 0x2c,
       WEFT_CUFFT_Z2Z = 0x69,
       WEFT_CUFFT_D2Z = 0x6a,
       WEFT_CUFFT_Z2D = 0x6c
};

typedef struct weft_cufft_library {
    char description[64];
    int (*get_property)(int which, int *value); /* 0, 1, 2: major, minor, patch */
    int (*create)(int *plan);
    int (*destroy)(int plan);
    int (*set_auto_allocation)(int plan, int automatic);
    int (*set_work_area)(int plan, void *area);
    int (*set_stream)(int plan, void *stream);
    int (*make_plan_many)(int plan, int rank, long long *n, long long *in_embed,
                          long long in_stride, long long in_distance, long long *out_embed,
                          long long out_stride, long long out_distance, int type, long long batch,
                          size_t *work_bytes);
    int (*execute)(int plan, void *in, void *out, int direction);
} weft_cufft_library;

/* The library, opened by the first call and kept for the life of the process; NULL, with the reason
 * as the thread's last error, where it cannot be had. Thread-safe. WEFT_CUDA_LIBRARY_PATH names
 * folders to look in first. */
const weft_cufft_library *weft_cufft_open(void);

/* The one place that turns cuFFT's results into a status: WEFT_SUCCESS for 0,
 * WEFT_ERROR_UNSUPPORTED for what cuFFT refuses; and a sentence that says what failed. */
weft_status weft_cufft_check(int result, const char *failure);

#endif
