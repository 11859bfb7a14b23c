/* Roots of unity, each within half a unit in the last place or very nearly so. */
#ifndef WEFT_ENGINE_ROOTS_H
#define WEFT_ENGINE_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

/* re[k] + i im[k] = exp(-2 pi i k / n) for k = 0..count-1. False when out of memory. */
bool weft_roots_fill(int64_t n, int64_t count, double *re, double *im);

/* Roots of order n, for evaluating one at a time; n is at most 2^60. */
typedef struct weft_roots weft_roots;
weft_roots *weft_roots_create(int64_t n); /* NULL when out of memory */
void weft_roots_destroy(weft_roots *roots);
/* exp(-2 pi i k / n), 0 <= k < n. */
void weft_roots_at(const weft_roots *roots, int64_t k, double *re, double *im);

#endif
