/* Kernels: NEON, single precision. Compiled for that instruction set alone; chosen at run time. */
#define REAL float
#define VECTOR 4
#define SIMD_DOUBLE 0
#define SIMD_NAME "neon"
#define KERNELS weft_kernels_neon_single
#define LONE weft_lone_neon_single
#include "engine/native/kernels.inc"
