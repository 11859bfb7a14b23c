/* The passes of the mixed-radix DFT, one for each factor of n. */
#ifndef WEFT_ENGINE_REFERENCE_BUTTERFLY_H
#define WEFT_ENGINE_REFERENCE_BUTTERFLY_H

#include "engine/reference/dft.h"

enum { WEFT_LARGEST_RADIX = 127 }; /* bounds the stack of the pass for odd radices */

/*
 * One pass of Stockham's algorithm, decimation in frequency (Van Loan, Computational Frameworks for
 * the FFT, 1992, section 1.7): with the transforms still to do of length radix * rest, y[q +
 * inner*(radix*p + k)] = W^(p k) sum_j x[q + inner*(p + rest*j)] exp(-2 pi i j k / radix), W =
 * exp(-2 pi i / (radix * rest)), for p < rest, k < radix and q < inner. roots holds exp(-2 pi i j /
 * n) for j < n, and n = radix * rest * spread.
 */
typedef struct weft_butterfly {
    int64_t n, rest, inner, spread;
    int radix;
    weft_lines roots;
} weft_butterfly;

void weft_butterfly_run(const weft_butterfly *pass, weft_lines x, weft_lines y);

#endif
