/* Roots of unity, each within half a unit in the last place or very nearly so. */
#ifndef WEFT_ENGINE_ROOTS_H
#define WEFT_ENGINE_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

/* re[k] + i im[k] = exp(-2 pi i k / n) for k = 0..count-1. False when out of memory. */
bool weft_roots_fill(int64_t n, int64_t count, double *re, double *im);

#endif
