/*
 * The oracle of the product test: a separable DFT in long double with exact twiddle indices, and
 * the error rule of the design (section 5).
 */
#ifndef WEFT_TESTS_PRODUCT_ORACLE_H
#define WEFT_TESTS_PRODUCT_ORACLE_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex oracle_number;

/* In place over one axis of an array of `count` lines: n points, `stride` apart. */
static inline void oracle_axis(oracle_number *data, int64_t total, int64_t n, int64_t stride,
                               int sign) {
    const long double two_pi = 6.283185307179586476925286766559005768L;
    oracle_number *root = malloc((size_t)n * sizeof *root),
                  *line = malloc((size_t)n * sizeof *line);
    for (int64_t k = 0; k < n; k++) {
        long double angle = two_pi * (long double)k / (long double)n;
        root[k] = cosl(angle) + (oracle_number)sign * I * sinl(angle);
    }
    for (int64_t start = 0; start < total; start++) {
        if (start / stride % n != 0) continue;
        for (int64_t j = 0; j < n; j++) line[j] = data[start + j * stride];
        for (int64_t k = 0; k < n; k++) {
            oracle_number sum = 0;
            for (int64_t j = 0; j < n; j++) sum += line[j] * root[j * k % n];
            data[start + k * stride] = sum;
        }
    }
    free(root);
    free(line);
}

/* The DFT of `batch` row-major arrays of shape n[rank], one after the other, in place. */
static inline void oracle_dft(oracle_number *data, int rank, const int64_t *n, int64_t batch,
                              int sign) {
    int64_t total = batch, stride = 1;
    for (int a = 0; a < rank; a++) total *= n[a];
    for (int a = rank - 1; a >= 0; a--) {
        oracle_axis(data, total, n[a], stride, sign);
        stride *= n[a];
    }
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
    return (single ? 6.0e-8 : 1.1e-16) * sqrt(log2(points)) * (smooth ? 1.0 : 2.5);
}

#endif
