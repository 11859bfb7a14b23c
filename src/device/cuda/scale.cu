/* Multiplies an array by a factor, rounding once: single precision is multiplied in double. */
#include "copy_shape.h"

template <typename Number>
static __device__ void scale(Number *data, long long count, double factor) {
    long long first = (long long)blockIdx.x * WEFT_CUDA_THREADS * WEFT_CUDA_PER_THREAD + threadIdx.x;
    Number number[WEFT_CUDA_PER_THREAD];
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        long long i = first + k * WEFT_CUDA_THREADS;
        if (i < count) number[k] = data[i];
    }
#pragma unroll
    for (int k = 0; k < WEFT_CUDA_PER_THREAD; ++k) {
        long long i = first + k * WEFT_CUDA_THREADS;
        if (i < count) data[i] = static_cast<Number>(number[k] * factor);
    }
}

extern "C" __global__ void __launch_bounds__(WEFT_CUDA_THREADS)
    weft_scale_single(float *data, long long count, double factor) {
    scale(data, count, factor);
}

extern "C" __global__ void __launch_bounds__(WEFT_CUDA_THREADS)
    weft_scale_double(double *data, long long count, double factor) {
    scale(data, count, factor);
}
