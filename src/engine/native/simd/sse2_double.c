/* Kernels: SSE2, double precision. Compiled for that instruction set alone; chosen at run time. */
#define REAL double
#define VECTOR 2
#define SIMD_DOUBLE 1
#define SIMD_NAME "sse2"
#define KERNELS weft_kernels_sse2_double
#define LONE weft_lone_sse2_double
#include "engine/native/kernels.inc"
