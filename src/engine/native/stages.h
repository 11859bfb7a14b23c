/*
 * The transform of the rows of a tile whose number is a product of the codelets' radices: which
 * radices, in which order, and their twiddles. Decimated in time and in place, so points go into
 * the tile in a permuted order and come out in the natural one.
 */
#ifndef WEFT_ENGINE_NATIVE_STAGES_H
#define WEFT_ENGINE_NATIVE_STAGES_H

#include "engine/native/kernels.h"

#include <stddef.h>

enum { WEFT_MAX_STAGES = 40 };

typedef struct weft_stage {
    const weft_codelet *codelet;
    int64_t m;      /* product of the radices before */
    int64_t step;   /* rows between the points of a transform: m, and the padding between blocks */
    void *twiddles; /* NULL for the first */
} weft_stage;

typedef struct weft_stages {
    const weft_kernels *kernels;
    int64_t n;
    int count; /* 0 where n is 1 */
    int inner; /* leading stages that are run one after the other on blocks that stay in the cache;
                  at least one, and not the last of several */
    weft_stage stage[WEFT_MAX_STAGES];
    int64_t rows;        /* of a tile, with padding */
    int32_t *row_of;     /* the row that takes point j */
    int32_t *place_of;   /* the same without padding: when the codelets want it */
    int32_t *result_row; /* the row that result k is left in */
} weft_stages;

/* Cost of a transform of n rows, in vector operations; n must be smooth. */
double weft_stages_cost(const weft_kernels *kernels, int64_t n);

/* False when out of memory; then also fit for release. *bytes is increased by what it holds. */
bool weft_stages_create(const weft_kernels *kernels, int64_t n, weft_stages *stages, size_t *bytes);
void weft_stages_release(weft_stages *stages);

/* Runs stages first..end-1 on a tile; stage 0 takes points in permuted order. */
void weft_stages_run(const weft_stages *stages, void *tile, int first, int end);

/* The inner stages, the first from rows of an array, offsets in the order of place_of; and the last
 * one into such rows, offsets in the order of results. There is more than one stage. */
void weft_stages_load(const weft_stages *stages, const void *base, const int64_t *offset,
                      void *tile);
void weft_stages_store(const weft_stages *stages, const void *tile, void *base,
                       const int64_t *offset, bool stream);

#endif
