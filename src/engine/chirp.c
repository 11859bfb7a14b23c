/* The chirp of Bluestein's convolution, and the kernel that it makes. */
#include "engine/chirp.h"

#include "engine/roots.h"

/* A root of order 2 n at index j^2 modulo 2 n, which grows by 2 j + 1: j^2 itself could overflow.
 */
bool weft_chirp_fill(int64_t n, int64_t step, double *re, double *im) {
    weft_roots *roots = weft_roots_create(2 * n);
    if (!roots) return false;
    for (int64_t j = 0, square = 0; j < n; j++) {
        weft_roots_at(roots, square, &re[j * step], &im[j * step]);
        square = (square + 2 * j + 1) % (2 * n);
    }
    weft_roots_destroy(roots);
    return true;
}

void weft_chirp_wrap(int64_t n, int64_t step, const double *re, const double *im, int64_t m,
                     double divisor, double *kernel_re, double *kernel_im) {
    for (int64_t j = n; j <= m - n; j++) kernel_re[j * step] = kernel_im[j * step] = 0;
    for (int64_t j = 0; j < n; j++) {
        const int64_t ahead = j * step, behind = (m - j) % m * step;
        kernel_re[ahead] = kernel_re[behind] = re[ahead] / divisor;
        kernel_im[ahead] = kernel_im[behind] = -im[ahead] / divisor;
    }
}
