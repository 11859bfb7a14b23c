/* Kernels of a line alone: plain C, single precision, each width of vectors, the widest first. */
#include "engine/native/lone_kernels.h"

#include <stddef.h>

#define REAL float
#define VECTOR 1
#include "engine/native/lone.inc"
#undef VECTOR

const weft_lone_kernels *const weft_lone_scalar_single[] = {&lone_kernels_1, NULL};
