/*
 * One contiguous line as a matrix of n1 by n2 points, both multiples of a tile's lanes (Bailey's
 * four-step method). The lanes hold columns in the first step and rows in the second, so that a
 * single line keeps all lanes busy. Between the steps the matrix is stored transposed, in the order
 * in which the tiles of the second step load it.
 */
#ifndef WEFT_ENGINE_NATIVE_MATRIX_H
#define WEFT_ENGINE_NATIVE_MATRIX_H

#include "engine/native/stages.h"
#include "engine/native/twiddles.h"

typedef struct weft_matrix {
    const weft_kernels *kernels;
    int64_t n1, n2;
    bool beyond_cache;             /* the line is larger than the second-level cache */
    int64_t share;                 /* bytes of the next line that each tile prefetches */
    int64_t tile_stride;           /* bytes from what one tile of rows loads to the next */
    weft_stages columns, rows;     /* of n1 and n2 points */
    const weft_twiddles *twiddles; /* between the steps, of the columns */
    int32_t *column_row;           /* rows of the tile with the first step's results */
    int64_t *load_offset;          /* bytes, of the rows that the first step loads */
    int64_t *transposed_offset;    /* bytes, of the rows that the second step loads */
    int64_t *store_offset;         /* bytes, of the second step's results, in their order */
} weft_matrix;

/* Whether n points can be such a matrix. */
bool weft_matrix_suits(const weft_kernels *kernels, int64_t n);

/* Returns false when out of memory; the matrix may then be released as well. */
bool weft_matrix_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                        weft_matrix *matrix, size_t *bytes);
void weft_matrix_release(weft_matrix *matrix);

/* Bytes of a tile with what is kept beside it, and of the transposed matrix, each aligned to a
 * cache line. */
size_t weft_matrix_tile_bytes(const weft_matrix *matrix);
size_t weft_matrix_transposed_bytes(const weft_matrix *matrix);

/* Numbers of tiles of the two steps. */
int64_t weft_matrix_column_tiles(const weft_matrix *matrix);
int64_t weft_matrix_row_tiles(const weft_matrix *matrix);

/* Runs tiles first..end-1 of a step. Results are stored times `scale`. With `past`, `out` is stored
 * past the caches and must be aligned to a cache line. */
void weft_matrix_run_columns(const weft_matrix *matrix, const void *in, void *tile,
                             void *transposed, int64_t first, int64_t end);
void weft_matrix_run_rows(const weft_matrix *matrix, const void *transposed, void *tile, void *out,
                          bool past, double scale, int64_t first, int64_t end);

/* Runs both steps, for a line that fits in the caches. `in` may be `out`. Meanwhile the line at
 * `next`, which will be transformed next, is prefetched; NULL: there is none. */
void weft_matrix_run(const weft_matrix *matrix, const void *in, void *out, void *room, bool past,
                     double scale, const void *next);

#endif
