/* The kernels of the OpenMP engine in double precision. */
#define REAL double
#define NAME(name) name##_double
#include "engine/openmp/kernels.inc"
