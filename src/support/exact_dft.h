/*
 * The DFT by its definition, in long double: what the tests and weft validate compare engines
 * with; no part of the library. Lengths that factor are split once or more (Cooley and Tukey 1965)
 * with the definition for each prime, for speed only; roots of unity come from indices reduced
 * modulo n in integers. Good to about 1e-19 per addition where long double has 64 bits.
 */
#ifndef WEFT_SUPPORT_EXACT_DFT_H
#define WEFT_SUPPORT_EXACT_DFT_H

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef long double complex exact_complex;

/* Sums of products by components: the operator * of C11 looks for infinities in every product. */
typedef struct exact_sum {
    long double re, im;
} exact_sum;

static inline void exact_add_product(exact_sum *sum, exact_complex a, exact_complex b) {
    sum->re += creall(a) * creall(b) - cimagl(a) * cimagl(b);
    sum->im += creall(a) * cimagl(b) + cimagl(a) * creall(b);
}

/* exp(sign 2 pi i k / n) for k from 0 to n - 1, from an angle of at most pi/4. */
static inline exact_complex exact_root(int64_t k, int64_t n, int sign) {
    const long double quarter = 1.570796326794896619231321691639751442L;
    int64_t quadrant = (4 * k + n / 2) / n; /* the nearest axis */
    long double angle = quarter * (long double)(4 * k - quadrant * n) / (long double)n;
    long double c = cosl(angle), s = sinl(angle);
    const long double re[4] = {c, -s, -c, s}, im[4] = {s, c, -s, -c};
    return re[quadrant % 4] + sign * im[quadrant % 4] * I;
}

/* All of them. */
static inline exact_complex *exact_roots(int64_t n, int sign) {
    exact_complex *roots = malloc((size_t)n * sizeof *roots);
    for (int64_t k = 0; k < n; k++) roots[k] = exact_root(k, n, sign);
    return roots;
}

/* out[k] = sum_j in[j * stride] roots[j k total/n]; roots are those of order `total`, a multiple of
 * n. */
static inline void exact_dft_split(int64_t n, const exact_complex *in, int64_t stride,
                                   exact_complex *out, const exact_complex *roots, int64_t total) {
    int64_t p = 2;
    while (p < n && n % p != 0) p++;
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int64_t m = n / p, step = total / n;
    exact_complex *part = malloc((size_t)n * sizeof *part);
    for (int64_t q = 0; q < p; q++)
        exact_dft_split(m, in + q * stride, stride * p, part + q * m, roots, total);
    for (int64_t k = 0; k < n; k++) {
        exact_sum sum = {0, 0};
        for (int64_t q = 0, at = 0; q < p; q++) {
            exact_add_product(&sum, part[q * m + k % m], roots[at * step]);
            at = at + k < n ? at + k : at + k - n; /* q k mod n */
        }
        out[k] = sum.re + sum.im * I;
    }
    free(part);
}

/* In place along one axis: element j of line (a, b) is at data[(a * n + j) * inner + b]. */
static inline void exact_dft_axis(int64_t outer, int64_t n, int64_t inner, int sign,
                                  exact_complex *data) {
    exact_complex *roots = exact_roots(n, sign);
    exact_complex *line = malloc((size_t)n * sizeof *line);
    for (int64_t a = 0; a < outer; a++) {
        for (int64_t b = 0; b < inner; b++) {
            exact_complex *first = data + a * n * inner + b;
            exact_dft_split(n, first, inner, line, roots, n);
            for (int64_t j = 0; j < n; j++) first[j * inner] = line[j];
        }
    }
    free(line);
    free(roots);
}

/* The definition, and nothing else. */
static inline void naive_dft(int64_t n, int sign, const exact_complex *in, exact_complex *out) {
    exact_complex *roots = exact_roots(n, sign);
    for (int64_t k = 0; k < n; k++) {
        exact_sum sum = {0, 0};
        for (int64_t j = 0; j < n; j++) exact_add_product(&sum, in[j], roots[j * k % n]);
        out[k] = sum.re + sum.im * I;
    }
    free(roots);
}

#endif
