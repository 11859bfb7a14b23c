/* Kernels: AVX2 with FMA, single precision. Compiled for that instruction set alone; chosen at run
 * time. */
#define REAL float
#define VECTOR 8
#define SIMD_DOUBLE 0
#define SIMD_NAME "avx2"
#define KERNELS weft_kernels_avx2_single
#define LONE weft_lone_avx2_single
#include <immintrin.h>
#define SIMD_STREAM(p, v) _mm256_stream_ps(p, (__m256)(v))
#define SIMD_MASKED int32_t /* the numbers of a mask */
#define SIMD_LOAD_PART(p, count) _mm256_maskload_ps(p, simd_mask(count))
#define SIMD_STORE_PART(p, v, count) _mm256_maskstore_ps(p, simd_mask(count), (__m256)(v))
#include "engine/native/kernels.inc"
