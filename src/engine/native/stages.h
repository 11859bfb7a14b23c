/*
 * The transform of the rows of a tile, if their number is a product of the codelets' radices: which
 * radices, in which order, and their twiddles. It is decimated in time and in place, so points go
 * into the tile in a permuted order and results are in the natural one.
 */
#ifndef WEFT_ENGINE_NATIVE_STAGES_H
#define WEFT_ENGINE_NATIVE_STAGES_H

#include "engine/native/kernels.h"

#include <stddef.h>

enum { WEFT_MAX_LINE_STAGES = 40 };

typedef struct weft_line_stage {
    const weft_codelet *codelet;
    int64_t m;      /* product of the radices before */
    int64_t step;   /* rows between the points of a transform: m, and the padding between blocks */
    void *twiddles; /* NULL for the first */
} weft_line_stage;

typedef struct weft_stages {
    const weft_kernels *kernels;
    int64_t n;
    int count; /* 0 where n is 1 */
    int inner; /* leading stages that run one after the other on blocks that stay in the cache; at
                  least one, but not the last of several */
    weft_line_stage stage[WEFT_MAX_LINE_STAGES];
    int64_t rows;        /* of a tile, with padding */
    int32_t *row_of;     /* the row that takes point j */
    int32_t *place_of;   /* when the codelets load point j: its row, if there were no padding */
    int32_t *result_row; /* the row that result k is left in */
} weft_stages;

/* Nanoseconds for each row of a later stage and of a first one, which has no twiddles, measured on
 * a Zen 4 core with AVX-512 for a tile in the first-level cache. */
double weft_stages_codelet_cost(int radix, bool first);

/* Cost of a transform of n rows, in vector operations; n must be smooth. */
double weft_stages_cost(const weft_kernels *kernels, int64_t n);

/* Returns false when out of memory; `stages` may then be released as well. *bytes grows by the size
 * of the tables. */
bool weft_stages_create(const weft_kernels *kernels, int64_t n, weft_stages *stages, size_t *bytes);
void weft_stages_release(weft_stages *stages);

/* Runs stages first..end-1 on a tile; stage 0 takes points in permuted order. */
void weft_stages_run(const weft_stages *stages, void *tile, int first, int end);

/* weft_stages_load runs the inner stages, of which the first loads rows of an array, with offsets
 * in the order of place_of, and fetches into the second-level cache the rows at `next` that will be
 * loaded next, with the same offsets; NULL: there are none. weft_stages_store runs the last stage,
 * which stores into such rows, with offsets in the order of results, times `scale`. There must be
 * more than one stage. */
void weft_stages_load(const weft_stages *stages, const void *base, const int64_t *offset,
                      void *tile, const void *next);
void weft_stages_store(const weft_stages *stages, const void *tile, void *base,
                       const int64_t *offset, bool stream, double scale);

#endif
