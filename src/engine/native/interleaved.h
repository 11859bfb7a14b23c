/*
 * The transforms of neighbouring columns of complex numbers, or of contiguous rows, on vectors of
 * interleaved numbers as they lie in memory: no lanes are empty, and little is transposed. The
 * stages are those of a tile (stages.h), with the same radices, twiddles and roundings, so that
 * bits are the same, too: decimated in time, each from one array to another (Stockham), in the
 * natural order on both sides.
 */
#ifndef WEFT_ENGINE_NATIVE_INTERLEAVED_H
#define WEFT_ENGINE_NATIVE_INTERLEAVED_H

#include "engine/engine.h"
#include "engine/native/lone_kernels.h"
#include "engine/native/stages.h"

#include <weft/weft.h>

enum { WEFT_INTERLEAVED_STAGES = 2 };

typedef weft_columns_stage weft_interleaved_stages[WEFT_INTERLEAVED_STAGES];

typedef struct weft_interleaved {
    const weft_kernels *kernels;
    int64_t n, lines;
    int64_t in_row, out_row; /* complex numbers between columns' points, or between rows */
    int width; /* of the vectors, in complex numbers; 0: there are none of these kernels */
    bool rows, inverse;
    const weft_lone_line *line; /* of rows that are one codelet; else NULL, and there are stages: */
    int count;                  /* one or two; of others the width is 0 */
    const weft_lone_codelet *codelet[WEFT_INTERLEAVED_STAGES];
    const void *twiddles, *table; /* of the second stage, which plans share; or NULL */
    /* The stages of a block of lines, of which two stages transform one after the other, and of the
     * last block of all lines, which may be the only one. */
    weft_interleaved_stages block, last;
    /* One stage in place: that of columns that fill vectors, and that of the vector with the rest,
     * from scratch memory. */
    weft_columns_stage in_place[2];
} weft_interleaved;

/* Looks for the widest vectors that the lines fill: `lines` columns, or each stage of rows.
 * Columns' points, or rows, are `in_row` and `out_row` complex numbers apart. width becomes 0 where
 * there are none, or columns are slow to read and write, since points so far apart compete for few
 * sets of the first-level cache. Returns false when out of memory. *bytes grows by the tables. */
bool weft_interleaved_create(const weft_stages *stages, bool rows, int64_t lines, int64_t in_row,
                             int64_t out_row, weft_direction direction, weft_interleaved *p,
                             size_t *bytes);

void weft_interleaved_release(weft_interleaved *p);

/* Transforms `count` of the columns, at least p->width, of which the first points are at `in` and
 * `out`, or of the rows, of which the first one begins there. `in` may be `out` if in_row is
 * out_row. Results are multiplied by `scale`, which must be a number of the kernels' precision.
 * `room` is scratch memory for a tile of lines of n points. */
void weft_interleaved_run(const weft_interleaved *p, const void *in, void *out, int64_t count,
                          double scale, void *room);

/* Whether all columns can be transformed for each index of a loop at once: by one stage, and, in
 * place, where they fill vectors. weft_interleaved_run_batch does so, with strides of the loop in
 * complex numbers. */
bool weft_interleaved_takes_batch(const weft_interleaved *p, bool in_place);
void weft_interleaved_run_batch(const weft_interleaved *p, const void *in, void *out,
                                const weft_dimension *batch, double scale);

#endif
