/* Kernels of a line alone: SSE2, double precision, each width of vectors, the widest first. */
#include "engine/native/lone_kernels.h"

#include <stddef.h>

#define REAL double
#define VECTOR 2
#include "engine/native/lone.inc"
#undef VECTOR
#define VECTOR 1
#define WIDER 2
#include "engine/native/lone.inc"
#undef VECTOR

const weft_lone_kernels *const weft_lone_sse2_double[] = {&lone_kernels_2, &lone_kernels_1, NULL};
