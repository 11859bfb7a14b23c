/* Real-to-real transforms by their definition (weft_axis in weft.h), in long double: what the tests
 * and weft validate compare with; no part of the library. */
#ifndef WEFT_SUPPORT_EXACT_R2R_H
#define WEFT_SUPPORT_EXACT_R2R_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <weft/weft.h>

#include "support/axis.h"

/* Element i of an array of single or double precision. */
static inline double r2r_get(const void *array, int64_t i, weft_precision precision) {
    return precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
}

static inline void r2r_set(void *array, int64_t i, weft_precision precision, double value) {
    if (precision == WEFT_SINGLE)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* What x[j] counts in y[k]: weight cos or sin (2 pi product / period). */
typedef struct r2r_term {
    int64_t product, period;
    int weight;
} r2r_term;

static inline r2r_term r2r_term_of(weft_axis type, int64_t n, int64_t j, int64_t k) {
    switch (type) {
    case WEFT_DCT1:
        return (r2r_term){j * k, 2 * (n - 1), j == 0 || j == n - 1 ? 1 : 2};
    case WEFT_DCT2:
        return (r2r_term){(2 * j + 1) * k, 4 * n, 2};
    case WEFT_DCT3:
        return (r2r_term){j * (2 * k + 1), 4 * n, j == 0 ? 1 : 2};
    case WEFT_DST1:
        return (r2r_term){(j + 1) * (k + 1), 2 * (n + 1), 2};
    case WEFT_DST2:
        return (r2r_term){(2 * j + 1) * (k + 1), 4 * n, 2};
    case WEFT_DST3:
        return (r2r_term){(j + 1) * (2 * k + 1), 4 * n, j == n - 1 ? 1 : 2};
    default: /* both of type 4 */
        return (r2r_term){(2 * j + 1) * (2 * k + 1), 8 * n, 2};
    }
}

/* cos or sin of 2 pi i / period for every i. */
static inline long double *r2r_table(bool sine, int64_t period) {
    const long double turn = 6.283185307179586476925286766559005768L;
    long double *table = malloc((size_t)period * sizeof *table);
    for (int64_t i = 0; i < period; i++) {
        const long double angle = turn * (long double)i / (long double)period;
        table[i] = sine ? sinl(angle) : cosl(angle);
    }
    return table;
}

/* Lines of n points at a distance of `stride`, `inner` of them side by side, `outer` times. */
static inline void r2r_define_axis(weft_axis type, int64_t outer, int64_t n, int64_t inner,
                                   long double *x) {
    if (type == WEFT_AXIS_NONE) return;
    /* Where aligned frequencies lie: behind one that is the last one otherwise. */
    const int64_t in_lag = (int)type == WEFT_DST3_ALIGNED, out_lag = (int)type == WEFT_DST2_ALIGNED;
    type = weft_axis_in_order(type);
    const int64_t period = r2r_term_of(type, n, 0, 0).period;
    long double *table = r2r_table(type >= WEFT_DST1, period);
    long double *y = malloc((size_t)n * sizeof *y);
    for (int64_t line = 0; line < outer * inner; line++) {
        long double *at = x + line / inner * n * inner + line % inner;
        for (int64_t k = 0; k < n; k++) y[k] = 0;
        for (int64_t j = 0; j < n; j++) {
            const r2r_term first = r2r_term_of(type, n, j, 0);
            const long double factor = (long double)first.weight * at[(j + in_lag) % n * inner];
            /* The product grows by the same number from each k to the next. */
            const int64_t step = (r2r_term_of(type, n, j, 1).product - first.product) % period;
            if (factor == 0) continue;
            for (int64_t k = 0, i = first.product % period; k < n; k++) {
                y[k] += factor * table[i];
                i += step;
                if (i >= period) i -= period;
            }
        }
        for (int64_t k = 0; k < n; k++) at[(k + out_lag) % n * inner] = y[k];
    }
    free(y);
    free(table);
}

/* The unscaled transform of all axes of an array. */
static inline void r2r_define(const weft_problem *p, weft_direction direction, long double *x) {
    int64_t outer = p->batch > 0 ? p->batch : 1, inner = 1;
    for (int a = 0; a < p->rank; a++) inner *= p->n[a];
    for (int a = 0; a < p->rank; a++) {
        inner /= p->n[a];
        r2r_define_axis(direction == WEFT_INVERSE ? weft_axis_inverse(p->axis[a]) : p->axis[a],
                        outer, p->n[a], inner, x);
        outer *= p->n[a];
    }
}

/* The relative L2 error allowed of a transform of these axes: of a Fourier transform of n points
 * u sqrt(log2 n), and of a real-to-real one that of the 4 n points (4 n -+ 4 of type 1) that its
 * definition stands for (docs/design.md); 2.5 times that where a prime above 13 divides a length.
 */
static inline double r2r_allowed_error(weft_precision precision, int axes, const weft_axis *type,
                                       const int64_t *n) {
    const double u = precision == WEFT_SINGLE ? 6.0e-8 : 1.1e-16;
    double bits = 0, factor = 1;
    for (int a = 0; a < axes; a++) {
        if (type[a] == WEFT_AXIS_NONE) continue;
        const bool real = weft_axis_is_real_to_real(type[a]);
        int64_t length = (int64_t)weft_axis_length(type[a], n[a]) / (real ? 2 : 1);
        bits += log2((real ? 4.0 : 1.0) * (double)length);
        for (int64_t d = 2; d <= 13; d++)
            while (length % d == 0) length /= d;
        if (length > 1) factor = 2.5;
    }
    return u * factor * sqrt(bits);
}

#endif
