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
#include "engine/native/kernels.inc"
