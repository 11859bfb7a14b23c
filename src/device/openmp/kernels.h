/* The kernels of the OpenMP device: target regions that copy and scale. */
#ifndef WEFT_DEVICE_OPENMP_KERNELS_H
#define WEFT_DEVICE_OPENMP_KERNELS_H

#include "device/openmp/openmp.h"
#include "device/strided_copy.h"

/* A loop of independent iterations on the device. The function around it has the variables `device`
 * and `threads`, and what the clauses name. Without `simd`: GCC 12 breaks off with an internal
 * error when it translates such loops for NVIDIA's GPUs, and Clang warns of those that it does not
 * vectorize. GCC's threads there are warps, of which without it one lane works. */
#define WEFT_OPENMP_PRAGMA(text) _Pragma(#text)
#define WEFT_OPENMP_ON_DEVICE(clauses)                                                             \
    WEFT_OPENMP_PRAGMA(omp target teams distribute parallel for device(device)                     \
                       num_threads(threads) clauses)

/* Copies within the memory of the device. */
void weft_openmp_copy_kernel(const weft_openmp_processor *p, const weft_byte_copy *copy);

/* Multiplies `count` numbers by `factor`. */
void weft_openmp_scale_kernel(const weft_openmp_processor *p, weft_precision precision, void *data,
                              int64_t count, double factor);

/* Multiplies a box by factors, from array to array, or in place. */
void weft_openmp_multiply_kernel(const weft_openmp_processor *p, const weft_device_factors *factors,
                                 const void *in, void *out);

#endif
