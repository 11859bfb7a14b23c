/*
 * Accuracy of engines: the exact result of a transform, the symmetry of real data's spectra, and
 * the allowed error. For the tests and weft validate; no part of the library.
 */
#ifndef WEFT_ENGINE_ACCURACY_H
#define WEFT_ENGINE_ACCURACY_H

#include <string.h>

#include "engine/engine.h"
#include "support/exact_dft.h"
#include "support/exact_r2r.h"

/* The definition along every dimension. */
static inline void weft_exact_r2r(const weft_transform *t, exact_complex *x) {
    int64_t points = 1;
    for (int d = 0; d < t->dims; d++) points *= t->dim[d].n;
    long double *real = malloc((size_t)points * sizeof *real);
    for (int64_t i = 0; i < points; i++) real[i] = creall(x[i]);
    for (int64_t d = 0, outer = 1, inner = points; d < t->dims; d++) {
        inner /= t->dim[d].n;
        r2r_define_axis(t->type[d], outer, t->dim[d].n, inner, real);
        outer *= t->dim[d].n;
    }
    for (int64_t i = 0; i < points; i++) x[i] = real[i];
    free(real);
}

/* Transforms one array of the batch: x holds the input's box, and then the output's. */
static inline void weft_exact_transform(const weft_transform *t, exact_complex *x) {
    if (t->kind == WEFT_TRANSFORM_R2R) {
        weft_exact_r2r(t, x);
        return;
    }
    const int last = t->dims - 1;
    const int64_t n = t->dim[last].n, half = n / 2 + 1;
    const int64_t row = t->kind == WEFT_TRANSFORM_C2C ? n : half;
    const bool forward = t->kind == WEFT_TRANSFORM_C2C ? t->direction == WEFT_FORWARD
                                                       : t->kind == WEFT_TRANSFORM_R2C;
    const int sign = forward ? -1 : 1;
    int64_t rows = 1;
    for (int d = 0; d < last; d++) rows *= t->dim[d].n;
    if (t->kind != WEFT_TRANSFORM_C2R) exact_dft_axis(rows, n, 1, sign, x);
    if (t->kind == WEFT_TRANSFORM_R2C)
        for (int64_t i = 0; i < rows; i++)
            memmove(x + i * half, x + i * n, (size_t)half * sizeof *x);
    for (int64_t d = 0, outer = 1, inner = rows * row; d < last; d++) {
        inner /= t->dim[d].n;
        exact_dft_axis(outer, t->dim[d].n, inner, sign, x);
        outer *= t->dim[d].n;
    }
    if (t->kind != WEFT_TRANSFORM_C2R) return;
    for (int64_t i = rows - 1; i >= 0; i--) { /* rows grow, so from the last one */
        memmove(x + i * n, x + i * half, (size_t)half * sizeof *x);
        exact_complex *line = x + i * n;
        line[0] = creall(line[0]);
        if (n % 2 == 0) line[n / 2] = creall(line[n / 2]);
        for (int64_t k = half; k < n; k++) line[k] = conjl(line[n - k]);
    }
    exact_dft_axis(rows, n, 1, sign, x);
}

/* The element of a real array's half spectrum whose conjugate element i of the box is: i itself
 * where it is real, and -1 where that element is not stored. */
static inline int64_t weft_exact_conjugate(const weft_transform *t, int64_t i) {
    const int last = t->dims - 1;
    const int64_t n = t->dim[last].n, half = n / 2 + 1, k = i % half;
    int64_t conjugate = k, stride = half;
    if (k != 0 && 2 * k != n) return -1;
    i /= half;
    for (int d = last - 1; d >= 0; d--) {
        const int64_t extent = t->dim[d].n;
        conjugate += (extent - i % extent) % extent * stride;
        stride *= extent;
        i /= extent;
    }
    return conjugate;
}

/* The relative L2 error that an engine is allowed: u sqrt(log2 N), and 2.5 times that where a prime
 * above 13 divides N. */
static inline double weft_allowed_error(const weft_transform *t) {
    weft_axis type[WEFT_MAX_RANK] = {WEFT_AXIS_OF_KIND};
    int64_t n[WEFT_MAX_RANK];
    for (int d = 0; d < t->dims; d++) {
        n[d] = t->dim[d].n;
        if (t->kind == WEFT_TRANSFORM_R2R) type[d] = t->type[d];
    }
    return r2r_allowed_error(t->precision, t->dims, type, n);
}

#endif
