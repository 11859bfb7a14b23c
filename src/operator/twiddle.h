/*
 * The factors between the two steps of a line of n1 n2 points that is transformed as an array of
 * n1 x n2: exp(-2 pi i k1 j2 / (n1 n2)) of index (k1, j2), or their conjugates. They are made from
 * a table of about 2 sqrt(n1 n2) roots of unity, so none is far from exact and there is no table of
 * all.
 */
#ifndef WEFT_OPERATOR_TWIDDLE_H
#define WEFT_OPERATOR_TWIDDLE_H

#include "operator/operator.h"

typedef struct weft_twiddles weft_twiddles;

weft_status weft_twiddles_create(int64_t n1, int64_t n2, bool conjugate, weft_twiddles **twiddles,
                                 size_t *bytes);
void weft_twiddles_release(weft_twiddles *twiddles);

/* The tables as devices have them, pairs of numbers: root k is the product of coarse root k >>
 * shift and one plus fine root number k modulo 2^shift, or the conjugate of that. */
typedef struct weft_twiddle_tables {
    int shift;
    int64_t coarse, fine; /* pairs; the fine ones are behind the coarse ones */
    bool conjugate;
} weft_twiddle_tables;

weft_twiddle_tables weft_twiddles_tables(const weft_twiddles *twiddles);
void weft_twiddles_copy(const weft_twiddles *twiddles, weft_precision precision, void *pairs);

/* Multiplies complex numbers of the precision, of which the i-th of `count` has one index of the
 * pair equal to `row` and the other one to index + i, by their factors. Products are computed in
 * double precision. */
void weft_twiddles_apply(const weft_twiddles *twiddles, weft_precision precision, int64_t row,
                         int64_t index, int64_t count, void *data);

#endif
