/*
 * One contiguous line as a matrix of n1 by n2 points, both multiples of a tile's lanes: columns are
 * the lines of a tile in the first step, rows in the second, so that a single line keeps all lanes
 * busy, and lines need no transposing on either side (Bailey's four steps, in the first-level
 * cache).
 */
#ifndef WEFT_ENGINE_NATIVE_MATRIX_H
#define WEFT_ENGINE_NATIVE_MATRIX_H

#include "engine/native/stages.h"

#include <weft/weft.h>

typedef struct weft_matrix {
    const weft_kernels *kernels;
    int64_t n1, n2;
    weft_stages columns, rows; /* of n1 and n2 points */
    void *table;               /* the twiddles between, tiles of n1 rows for each tile of columns */
    int32_t *column_row;       /* of the first step's results */
    int64_t *load_offset;      /* bytes, of the first step's rows */
    int64_t *store_offset;     /* of the second's, in the order of its results */
} weft_matrix;

/* Whether n points can be such a matrix. */
bool weft_matrix_suits(const weft_kernels *kernels, int64_t n);

/* False when out of memory; then also fit for release. */
bool weft_matrix_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                        weft_matrix *matrix, size_t *bytes);
void weft_matrix_release(weft_matrix *matrix);

/* Bytes of room that a run needs, aligned to a cache line. */
size_t weft_matrix_room(const weft_matrix *matrix);

/* in may be out. With `past`, out is aligned to a cache line and stored past the caches. The line
 * that will be next, anywhere in memory, is asked for meanwhile. */
void weft_matrix_run(const weft_matrix *matrix, const void *in, void *out, void *room, bool past,
                     const void *next);

#endif
