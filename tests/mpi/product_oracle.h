/*
 * The oracle of the product test: a separable DFT in long double with exact twiddle indices, and
 * the error rule of the design (section 5), with what rounding before and after the transform adds.
 */
#ifndef WEFT_TESTS_PRODUCT_ORACLE_H
#define WEFT_TESTS_PRODUCT_ORACLE_H

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex oracle_number;

/* A part of the lines: numbers first, first + step, ... */
typedef struct oracle_lines {
    int64_t first, step;
} oracle_lines;

/* One line: to `out` the sums of `n` points with the roots. Real and imaginary parts are written
 * out, since complex multiplication looks after infinities and takes many times as long. */
static inline void oracle_line(int64_t n, const oracle_number *in, const oracle_number *root,
                               oracle_number *out, int64_t stride) {
    const long double *x = (const long double *)in, *w = (const long double *)root;
    for (int64_t k = 0; k < n; k++) {
        long double re = 0, im = 0;
        for (int64_t j = 0, at = 0; j < n; j++) {
            re += x[2 * j] * w[2 * at] - x[2 * j + 1] * w[2 * at + 1];
            im += x[2 * j] * w[2 * at + 1] + x[2 * j + 1] * w[2 * at];
            at += k;
            if (at >= n) at -= n;
        }
        long double *result = (long double *)&out[k * stride];
        result[0] = re;
        result[1] = im;
    }
}

/* In place over one axis of an array of `total` numbers: lines of n points, `stride` apart. What is
 * of no line of the part becomes 0. */
static inline void oracle_axis(oracle_number *data, int64_t total, int64_t n, int64_t stride,
                               int sign, oracle_lines part) {
    const long double two_pi = 6.283185307179586476925286766559005768L;
    oracle_number *root = malloc((size_t)n * sizeof *root),
                  *line = malloc((size_t)n * sizeof *line);
    for (int64_t k = 0; k < n; k++) {
        long double angle = two_pi * (long double)k / (long double)n;
        root[k] = cosl(angle) + (oracle_number)sign * I * sinl(angle);
    }
    for (int64_t i = 0; i < total / n; i++) {
        oracle_number *start = data + i / stride * n * stride + i % stride;
        const int mine = i % part.step == part.first;
        for (int64_t j = 0; j < n; j++) line[j] = start[j * stride];
        for (int64_t j = 0; j < n && !mine; j++) start[j * stride] = 0;
        if (mine) oracle_line(n, line, root, start, stride);
    }
    free(root);
    free(line);
}

/* Sums what ranks have done of the lines of an axis; NULL where one does all of them. */
typedef void (*oracle_join)(oracle_number *data, int64_t total);

/* The DFT of `batch` row-major arrays of shape n[rank], one after the other, in place. */
static inline void oracle_dft(oracle_number *data, int rank, const int64_t *n, int64_t batch,
                              int sign, oracle_lines part, oracle_join join) {
    int64_t total = batch, stride = 1;
    for (int a = 0; a < rank; a++) total *= n[a];
    for (int a = rank - 1; a >= 0; a--) {
        oracle_axis(data, total, n[a], stride, sign, part);
        if (join) join(data, total);
        stride *= n[a];
    }
}

/* The unit roundoff: half the distance of 1 and the next number. */
static inline double oracle_unit(bool single) {
    return single ? 0x1p-24 : 0x1p-53;
}

/* Relative L2 error allowed for a transform of this shape: u sqrt(log2 N), 2.5 times that with
 * primes over 13. */
static inline double oracle_tolerance(int rank, const int64_t *n, bool single) {
    double points = 1;
    bool smooth = true;
    for (int a = 0; a < rank; a++) {
        int64_t rest = n[a];
        for (int64_t p = 2; p <= 13; p++)
            while (rest % p == 0) rest /= p;
        smooth = smooth && rest == 1;
        points *= (double)n[a];
    }
    return oracle_unit(single) * sqrt(log2(points)) * (smooth ? 1.0 : 2.5);
}

/* What may be off, each as a share of the norm that it is relative to. */
typedef struct oracle_rounding {
    double spread; /* by the transform, or before it: the transform has spread it over all elements
                      alike, and operators that follow have multiplied it there */
    double own;    /* by the last operators and in the caller's storage: of each element itself */
    double underflow; /* absolute: what is left of numbers that are too small for their format */
} oracle_rounding;

/* Each of `points` numbers may have lost the smallest normal one, and each of two transforms adds
 * up `points` of them. Nothing beside results of any other size. */
static inline double oracle_underflow(bool single, double points) {
    return (single ? FLT_MIN : DBL_MIN) * points * points;
}

/* The largest L2 error, of elements whose norm is `wanted` (squared), where a result that is spread
 * evenly would have the norm `spread` (squared). The two differ where operators leave more of some
 * elements than of others, and where the elements are but a part of the array. */
static inline double oracle_allowed(oracle_rounding rounding, double spread, double wanted) {
    return rounding.spread * sqrt(spread) + rounding.own * sqrt(wanted) + rounding.underflow;
}

#endif
