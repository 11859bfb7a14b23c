/*
 * The factors between the two steps of a line of n1 n2 points that is transformed as an array of
 * n1 x n2: exp(-2 pi i k1 j2 / (n1 n2)) of index (k1, j2), or their conjugates. They are made from a
 * table of about 2 sqrt(n1 n2) roots of unity, so none is far from exact and there is no table of
 * all.
 */
#ifndef WEFT_OPERATOR_TWIDDLE_H
#define WEFT_OPERATOR_TWIDDLE_H

#include "operator/operator.h"

typedef struct weft_twiddles weft_twiddles;

weft_status weft_twiddles_create(int64_t n1, int64_t n2, bool conjugate, weft_twiddles **twiddles,
                                 size_t *bytes);
void weft_twiddles_release(weft_twiddles *twiddles);

/* Multiplies `count` complex numbers of the precision by the roots number first, first + step, ...
 * Products are computed in double precision. */
void weft_twiddles_apply(const weft_twiddles *twiddles, weft_precision precision, int64_t first,
                         int64_t step, int64_t count, void *data);

#endif
