/* Kernels: AVX-512, single precision. Compiled for that instruction set alone; chosen at run time.
 */
#define REAL float
#define VECTOR 16
#define SIMD_DOUBLE 0
#define SIMD_NAME "avx512"
#define KERNELS weft_kernels_avx512_single
#define LONE weft_lone_avx512_single
#include <immintrin.h>
#define SIMD_STREAM(p, v) _mm512_stream_ps(p, (__m512)(v))
#define SIMD_LOAD_PART(p, count) _mm512_maskz_loadu_ps((__mmask16)((1u << (count)) - 1), p)
#define SIMD_STORE_PART(p, v, count)                                                               \
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << (count)) - 1), (__m512)(v))
#include "engine/native/kernels.inc"
