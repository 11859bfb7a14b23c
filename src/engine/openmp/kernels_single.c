/* The kernels of the OpenMP engine in single precision. */
#define REAL float
#define NAME(name) name##_single
#include "engine/openmp/kernels.inc"
