/* Kernels: plain C, double precision. Compiled for that instruction set alone; chosen at run time.
 */
#define REAL double
#define VECTOR 1
#define SIMD_DOUBLE 1
#define SIMD_NAME "scalar"
#define KERNELS weft_kernels_scalar_double
#define LONE weft_lone_scalar_double
#include "engine/native/kernels.inc"
