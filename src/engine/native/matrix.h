/*
 * One contiguous line as a matrix of n1 by n2 points, both multiples of a tile's lanes: columns are
 * the lines of a tile in the first step, rows in the second, so that a single line keeps all lanes
 * busy (Bailey's four steps). Between them the matrix lies transposed, and in the order in which
 * tiles of the second step take it.
 */
#ifndef WEFT_ENGINE_NATIVE_MATRIX_H
#define WEFT_ENGINE_NATIVE_MATRIX_H

#include "engine/native/stages.h"

#include <weft/weft.h>

typedef struct weft_matrix {
    const weft_kernels *kernels;
    int64_t n1, n2;
    bool far;                  /* the line goes beyond the second-level cache */
    int64_t share;             /* bytes of a line for each tile of either step */
    int64_t apart;             /* bytes between what successive tiles of rows take */
    weft_stages columns, rows; /* of n1 and n2 points */
    void *table;            /* the twiddles between, for the columns of a tile: of each one, ... */
    void *factors;          /* ... or of the first, times these for the others; or NULL */
    int32_t *column_row;    /* of the first step's results */
    int64_t *load_offset;   /* bytes, of the first step's rows */
    int64_t *turned_offset; /* of the second's */
    int64_t *store_offset;  /* of the second's results, in their order */
} weft_matrix;

/* Whether n points can be such a matrix. */
bool weft_matrix_suits(const weft_kernels *kernels, int64_t n);

/* False when out of memory; then also fit for release. */
bool weft_matrix_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                        weft_matrix *matrix, size_t *bytes);
void weft_matrix_release(weft_matrix *matrix);

/* Bytes of a tile and of the transposed matrix, each aligned to a cache line. */
size_t weft_matrix_tile_bytes(const weft_matrix *matrix);
size_t weft_matrix_turned_bytes(const weft_matrix *matrix);

/* Tiles of each step. */
int64_t weft_matrix_column_tiles(const weft_matrix *matrix);
int64_t weft_matrix_row_tiles(const weft_matrix *matrix);

/* Tiles first..end-1 of a step. With `past`, out is aligned to a cache line and stored past the
 * caches. */
void weft_matrix_run_columns(const weft_matrix *matrix, const void *in, void *tile, void *turned,
                             int64_t first, int64_t end);
void weft_matrix_run_rows(const weft_matrix *matrix, const void *turned, void *tile, void *out,
                          bool past, int64_t first, int64_t end);

/* Both, for a line that fits in the caches. in may be out. The line that will be next, anywhere in
 * memory, is asked for meanwhile; NULL: there is none. */
void weft_matrix_run(const weft_matrix *matrix, const void *in, void *out, void *room, bool past,
                     const void *next);

#endif
