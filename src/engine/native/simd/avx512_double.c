/* Kernels: AVX-512, double precision. Compiled for that instruction set alone; chosen at run time.
 */
#define REAL double
#define VECTOR 8
#define SIMD_DOUBLE 1
#define SIMD_NAME "avx512"
#define KERNELS weft_kernels_avx512_double
#define LONE weft_lone_avx512_double
#include <immintrin.h>
#define SIMD_STREAM(p, v) _mm512_stream_pd(p, (__m512d)(v))
#define SIMD_LOAD_PART(p, count) _mm512_maskz_loadu_pd((__mmask8)((1u << (count)) - 1), p)
#define SIMD_STORE_PART(p, v, count)                                                               \
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << (count)) - 1), (__m512d)(v))
#include "engine/native/kernels.inc"
