/*
 * Roots of unity of a large order from two tables of about the square root of it: exp(-2 pi i k /
 * n) is a coarse root plus itself times a fine one less 1, which is small, so that the sum has
 * little more than one rounding.
 */
#ifndef WEFT_ENGINE_NATIVE_ROOT_TABLE_H
#define WEFT_ENGINE_NATIVE_ROOT_TABLE_H

#include "engine/native/kernels.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct weft_root_table {
    int64_t block;                 /* fine roots */
    double *coarse_re, *coarse_im; /* of 0, block, 2 block, ... */
    double *fine_re, *fine_im;     /* of 0, 1, ..., block - 1, less 1 */
} weft_root_table;

/* For the numbers k = 0..count-1. Returns false when out of memory; the table may then be released
 * as well. */
bool weft_root_table_create(int64_t n, int64_t count, weft_root_table *table, size_t *bytes);
void weft_root_table_release(weft_root_table *table);

static inline void weft_root_table_at(const weft_root_table *t, int64_t k, double *re, double *im) {
    const int64_t c = k / t->block, f = k % t->block;
    const double cr = t->coarse_re[c], ci = t->coarse_im[c], fr = t->fine_re[f], fi = t->fine_im[f];
    *re = cr + (cr * fr - ci * fi);
    *im = ci + (cr * fi + ci * fr);
}

/* Stores roots first, ..., first+count-1, interleaved, in the precision of the kernels. */
void weft_root_table_copy(const weft_root_table *table, const weft_kernels *kernels, int64_t first,
                          int64_t count, void *roots);

#endif
