/* The kernels of the OpenMP device: target regions that copy, scale and apply operators. */
#ifndef WEFT_DEVICE_OPENMP_KERNELS_H
#define WEFT_DEVICE_OPENMP_KERNELS_H

#include "device/openmp/openmp.h"
#include "device/strided_copy.h"

/* A loop of independent iterations on the device. The function around it has the variables `device`
 * and `threads`, and what the clauses name. GCC makes a warp of each thread on NVIDIA's GPUs, whose
 * lanes share the iterations only of a loop that is `simd`, too; other compilers need no such word.
 * WEFT_OPENMP_ON_WARPS is for loops that have arrays of their own or call functions, of which GCC
 * 12 makes wrong code with it, or none. */
#define WEFT_OPENMP_PRAGMA(text) _Pragma(#text)
#define WEFT_OPENMP_ON_WARPS(clauses)                                                              \
    WEFT_OPENMP_PRAGMA(omp target teams distribute parallel for device(device)                     \
                       num_threads(threads) clauses)
#ifdef WEFT_OPENMP_LANES
#define WEFT_OPENMP_ON_DEVICE(clauses)                                                             \
    WEFT_OPENMP_PRAGMA(omp target teams distribute parallel for simd device(device)                \
                       num_threads(threads) clauses)
#else
#define WEFT_OPENMP_ON_DEVICE(clauses) WEFT_OPENMP_ON_WARPS(clauses)
#endif

/* Copies within the memory of the device. */
void weft_openmp_copy_kernel(const weft_openmp_processor *p, const weft_byte_copy *copy);

/* Multiplies `count` numbers by `factor`. */
void weft_openmp_scale_kernel(const weft_openmp_processor *p, weft_precision precision, void *data,
                              int64_t count, double factor);

/* Applies operators to a box, from array to array, or in place. */
void weft_openmp_operate_kernel(const weft_openmp_processor *p,
                                const weft_device_operators *operators, const void *in, void *out);

#endif
