/*
 * How a transform becomes plans of cuFFT. One plan does up to three dimensions that are nested in
 * each other on both sides (cuFFT's "advanced data layout"), for every index of one loop. Other
 * transforms become several passes, one after the other, and several executions of a plan at
 * different offsets.
 */
#ifndef WEFT_ENGINE_CUFFT_LAYOUT_H
#define WEFT_ENGINE_CUFFT_LAYOUT_H

#include "engine/engine.h"

enum { WEFT_CUFFT_RANK = 3, WEFT_CUFFT_PASSES = WEFT_MAX_RANK + 1 };

/* The arrays that passes load and store. */
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
 * The passes, and the copies before and after them. cuFFT needs real arrays aligned as if they were
 * complex, so executions must not begin at odd offsets of real data: otherwise the real side goes
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

/* Lays out a transform. WEFT_ERROR_UNSUPPORTED, with the reason, if cuFFT's interface cannot
 * express it. */
weft_status weft_cufft_lay_out(const weft_transform *transform, weft_cufft_layout *layout);

#endif
