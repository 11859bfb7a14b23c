/* Kernels: AVX2 with FMA, double precision. Compiled for that instruction set alone; chosen at run
 * time. */
#define REAL double
#define VECTOR 4
#define SIMD_DOUBLE 1
#define SIMD_NAME "avx2"
#define KERNELS weft_kernels_avx2_double
#define LONE weft_lone_avx2_double
#include <immintrin.h>
#define SIMD_STREAM(p, v) _mm256_stream_pd(p, (__m256d)(v))
#define SIMD_MASKED int64_t /* the numbers of a mask */
#define SIMD_LOAD_PART(p, count) _mm256_maskload_pd(p, simd_mask(count))
#define SIMD_STORE_PART(p, v, count) _mm256_maskstore_pd(p, simd_mask(count), (__m256d)(v))
#include "engine/native/kernels.inc"
