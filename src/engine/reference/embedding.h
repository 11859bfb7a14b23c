/*
 * Cosine and sine transforms as a part of a longer complex DFT: element j of a line is put at
 * in_first + j in_step of a line of n points, zero elsewhere and twice over unless `first_once` or
 * `last_once` says so of an end, and result k is the real part, or for sines minus the imaginary
 * part, of point out_first + k out_step. Element 0 of `in_last`, and result 0 of `out_last`, lie
 * behind the others instead. The formulas of weft_axis in weft.h, read as such DFTs.
 */
#ifndef WEFT_ENGINE_REFERENCE_EMBEDDING_H
#define WEFT_ENGINE_REFERENCE_EMBEDDING_H

#include <stdbool.h>
#include <weft/weft.h>

typedef struct weft_embedding {
    int64_t n;
    int in_first, in_step, out_first, out_step;
    bool first_once, last_once, sine;
    bool in_last, out_last;
} weft_embedding;

/* For a line of n points and a type from WEFT_DCT1 on. */
weft_embedding weft_embedding_of(weft_axis type, int64_t n);

#endif
