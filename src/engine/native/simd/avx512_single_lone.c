/* Kernels of a line alone: AVX-512, single precision, each width of vectors, the widest first. */
#include "engine/native/lone_kernels.h"

#include <stddef.h>

#define REAL float
#define VECTOR 16
#include "engine/native/lone.inc"
#undef VECTOR
#define VECTOR 8
#define WIDER 16
#include "engine/native/lone.inc"
#undef VECTOR
#define VECTOR 4
#define WIDER 8
#include "engine/native/lone.inc"
#undef VECTOR
#define VECTOR 1
#define WIDER 4
#include "engine/native/lone.inc"
#undef VECTOR

const weft_lone_kernels *const weft_lone_avx512_single[] = {&lone_kernels_16, &lone_kernels_8,
                                                            &lone_kernels_4, &lone_kernels_1, NULL};
