/* Kernels of a line alone: plain C, double precision, each width of vectors, the widest first. */
#include "engine/native/lone_kernels.h"

#include <stddef.h>

#define REAL double
#define VECTOR 1
#include "engine/native/lone.inc"
#undef VECTOR

const weft_lone_kernels *const weft_lone_scalar_double[] = {&lone_kernels_1, NULL};
