/* Kernels: plain C, single precision. Compiled for that instruction set alone; chosen at run time.
 */
#define REAL float
#define VECTOR 1
#define SIMD_DOUBLE 0
#define SIMD_NAME "scalar"
#define KERNELS weft_kernels_scalar_single
#define LONE weft_lone_scalar_single
#include "engine/native/kernels.inc"
