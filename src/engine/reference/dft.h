/*
 * The forward complex DFT of several lines at once, in double: mixed radix for lengths whose prime
 * factors are small, Bluestein's algorithm for the others.
 *
 * Lines lie side by side: element j of line l is at j * lanes + l, real and imaginary parts in
 * arrays of their own. Every inner loop so runs over at least `lanes` consecutive numbers, whatever
 * the radix. Exchanging re and im on the way in and out gives the inverse.
 */
#ifndef WEFT_ENGINE_REFERENCE_DFT_H
#define WEFT_ENGINE_REFERENCE_DFT_H

#include "engine/roots.h"

#include <stddef.h>

typedef struct weft_dft weft_dft;

typedef struct weft_lines {
    double *re, *im;
} weft_lines;

/* Makes a plan for n points; NULL when out of memory. *bytes grows by its size. */
weft_dft *weft_dft_create(int64_t n, size_t *bytes);
void weft_dft_destroy(weft_dft *dft);

/* The number of elements of each line for which the arrays of weft_dft_run must have room; at least
 * n. */
int64_t weft_dft_capacity(const weft_dft *dft);

/* Transforms `lanes` lines in x. y is workspace; the two may be exchanged, so that the result is in
 * *x again. */
void weft_dft_run(const weft_dft *dft, int64_t lanes, weft_lines *x, weft_lines *y);

#endif
