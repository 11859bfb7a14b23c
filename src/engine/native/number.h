/* Numbers in the precision of the kernels. Tables are computed in double precision and stored in
 * that of the kernels. */
#ifndef WEFT_ENGINE_NATIVE_NUMBER_H
#define WEFT_ENGINE_NATIVE_NUMBER_H

#include "engine/native/kernels.h"

#include <stddef.h>

static inline int64_t weft_complex_bytes(const weft_kernels *kernels) {
    return 2 * (int64_t)kernels->real_bytes;
}

static inline double weft_number_get(const weft_kernels *kernels, const void *array, int64_t i) {
    return kernels->real_bytes == (int)sizeof(float) ? (double)((const float *)array)[i]
                                                     : ((const double *)array)[i];
}

static inline void weft_number_set(const weft_kernels *kernels, void *array, int64_t i,
                                   double value) {
    if (kernels->real_bytes == (int)sizeof(float))
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Stores n complex numbers, interleaved, in memory for the caller to free; NULL when out of memory.
 * *bytes grows by its size. */
void *weft_numbers_create(const weft_kernels *kernels, const double *re, const double *im,
                          int64_t n, size_t *bytes);

/* Stores exp(-2 pi i k / n) for k = 0..count-1, likewise. */
void *weft_numbers_roots(const weft_kernels *kernels, int64_t n, int64_t count, size_t *bytes);

#endif
