/*
 * How a transform becomes plans of cuFFT. One of its plans does up to three dimensions that lie
 * nested in each other on both sides (its "advanced data layout"), for every index of one loop.
 * What is more than that becomes several passes, one after the other, and executions of one plan at
 * several offsets.
 */
#ifndef WEFT_ENGINE_CUFFT_LAYOUT_H
#define WEFT_ENGINE_CUFFT_LAYOUT_H

#include "engine/engine.h"

enum { WEFT_CUFFT_RANK = 3, WEFT_CUFFT_PASSES = WEFT_MAX_RANK + 1 };

/* Where a pass loads or stores. */
typedef enum weft_cufft_array {
    WEFT_CUFFT_IN,
    WEFT_CUFFT_OUT,
    WEFT_CUFFT_KEPT,    /* a copy of the input, laid out as it is: C2R destroys what it reads */
    WEFT_CUFFT_GATHERED /* data as cuFFT likes it better, see weft_cufft_layout */
} weft_cufft_array;

typedef struct weft_cufft_pass {
    weft_transform_kind kind;
    weft_cufft_array from, to;
    int rank;
    long long n[WEFT_CUFFT_RANK], in_embed[WEFT_CUFFT_RANK], out_embed[WEFT_CUFFT_RANK];
    long long in_stride, out_stride, in_distance, out_distance, batch;
    int loops; /* executions: one for each index of these */
    weft_dimension loop[WEFT_AXES + WEFT_MAX_RANK];
} weft_cufft_pass;

/*
 * The passes, and the copies around them. cuFFT wants real arrays aligned as if they were complex,
 * so executions may not begin at odd offsets of real data: where they would, the real side goes
 * through an array with rows of even length. Complex lines that would take many small executions go
 * through an array where they are one batch.
 */
typedef struct weft_cufft_layout {
    int passes;
    weft_cufft_pass pass[WEFT_CUFFT_PASSES];
    bool whole;           /* nothing to transform: in is copied to out */
    bool keep;            /* in is copied to KEPT first */
    bool gather, scatter; /* in is copied to GATHERED first; GATHERED to out at the end */
    weft_copy whole_copy, keep_copy, gather_copy, scatter_copy;
    int64_t kept_elements;    /* complex */
    int64_t gathered_numbers; /* real: two for each complex element */
} weft_cufft_layout;

/* WEFT_ERROR_UNSUPPORTED, with the reason, where cuFFT cannot be told of the transform. */
weft_status weft_cufft_lay_out(const weft_transform *transform, weft_cufft_layout *layout);

#endif
