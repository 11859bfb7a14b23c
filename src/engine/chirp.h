/*
 * The numbers of Bluestein's convolution (1970): jk = (j^2 + k^2 - (k-j)^2) / 2 makes a transform
 * of any length n the product of the chirp c_j = exp(-pi i j^2 / n) and of a convolution with its
 * conjugate: X_k = c_k sum_j (x_j c_j) conj(c_(k-j)), which is done over a length m >= 2 n - 1.
 */
#ifndef WEFT_ENGINE_CHIRP_H
#define WEFT_ENGINE_CHIRP_H

#include <stdbool.h>
#include <stdint.h>

/* Sets re[j step] + i im[j step] to c_j, for j = 0..n-1. Returns false when out of memory. */
bool weft_chirp_fill(int64_t n, int64_t step, double *re, double *im);

/* Sets the kernel of the convolution, over `divisor`: conj(c_j) at j and m - j, for j = 0..n-1, and
 * zeros between. Both are laid out as above; the chirp must not be where the kernel is. */
void weft_chirp_wrap(int64_t n, int64_t step, const double *re, const double *im, int64_t m,
                     double divisor, double *kernel_re, double *kernel_im);

#endif
