/* Kernels: SSE2, single precision. Compiled for that instruction set alone; chosen at run time. */
#define REAL float
#define VECTOR 4
#define SIMD_DOUBLE 0
#define SIMD_NAME "sse2"
#define KERNELS weft_kernels_sse2_single
#define LONE weft_lone_sse2_single
#include "engine/native/kernels.inc"
