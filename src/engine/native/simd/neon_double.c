/* Kernels: NEON, double precision. Compiled for that instruction set alone; chosen at run time. */
#define REAL double
#define VECTOR 2
#define SIMD_DOUBLE 1
#define SIMD_NAME "neon"
#define KERNELS weft_kernels_neon_double
#define LONE weft_lone_neon_double
#include "engine/native/kernels.inc"
