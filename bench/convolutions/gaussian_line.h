/* The Gaussian that the programs which time convolutions of lines convolve with, and its spectrum.
 */
#ifndef WEFT_BENCH_CONVOLUTIONS_GAUSSIAN_LINE_H
#define WEFT_BENCH_CONVOLUTIONS_GAUSSIAN_LINE_H

#include <math.h>
#include <stdint.h>

static const double deviation = 2;       /* in spacings */
static const double covariance[1] = {4}; /* its square */

/* The spectrum at an index of n, over n, which forward and inverse transforms multiply by. */
static inline double gaussian_factor(int64_t index, int64_t n) {
    const int64_t frequency = 2 * index > n ? index - n : index;
    const double k = 2 * 3.14159265358979323846 * (double)frequency / (double)n * deviation;
    return exp(-k * k / 2) / (double)n;
}

#endif
