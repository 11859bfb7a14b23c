/*
 * Copies by tiles: which axes a tile of a strided copy extends along, and of what shape it is. A
 * group of threads loads rows of a tile, of cells that are neighbours in the source, and stores its
 * columns, of cells that are neighbours in the destination (src/kernels/copy.cl).
 */
#ifndef WEFT_DEVICE_COPY_TILE_H
#define WEFT_DEVICE_COPY_TILE_H

#include "device/strided_copy.h"
#include "kernels/copy_shape.h"

enum { WEFT_COPY_ACCESS = 64 }; /* bytes that memory reads or writes at once */

/* Parts of at most so many of n. */
static inline int64_t weft_copy_parts(int64_t n, int64_t part) {
    return (n + part - 1) / part;
}

/* Of rows of so many units, how many a group of threads takes at once. */
static inline int64_t weft_copy_rows_at_once(int64_t units) {
    return WEFT_COPY_THREADS / units;
}

/* The widest unit that divides all addresses and strides, as the logarithm of its bytes. */
int weft_copy_unit(const weft_byte_copy *copy);

/* What a tile takes of an axis: its columns, its rows, or one index. */
typedef enum weft_tile_side { WEFT_TILE_OUTSIDE, WEFT_TILE_COLUMNS, WEFT_TILE_ROWS } weft_tile_side;

/* A copy by tiles. The axes of each side are loops; `by_src_stride` and `by_dst_stride` are all
 * axes, by how close together their cells lie. The first `dense` cells of a side are evenly spaced:
 * of columns in the source, of rows in the destination. */
typedef struct weft_tiled_copy {
    const weft_byte_copy *copy;
    weft_tile_side side[WEFT_AXES];
    int by_src_stride[WEFT_AXES], by_dst_stride[WEFT_AXES];
    int64_t n[3], dense[3]; /* cells, by side */
    int64_t cell;           /* units */
    int unit;               /* logarithm of its bytes */
} weft_tiled_copy;

/* A tile of p by q cells. */
typedef struct weft_tile_shape {
    int64_t p, q;
} weft_tile_shape;

/* Whether the axis along which cells lie closest together is another one in the destination than in
 * the source. */
bool weft_tiled_copy_transposes(const weft_byte_copy *copy);

/* Which axes tiles extend along: in columns the cells that are neighbours in the source, in rows
 * those that are neighbours in the destination. If that is too little for a group, the shorter side
 * takes more. The copy must outlive it. */
weft_tiled_copy weft_tiled_copy_of(const weft_byte_copy *copy);

/* Whether the largest tile is one that all threads have something to do with. */
bool weft_tiled_copy_fills(const weft_tiled_copy *tiled);

/* The cheapest shape, but none much smaller than others that are not as cheap. */
weft_tile_shape weft_tile_choose(const weft_tiled_copy *tiled);

/* Steps of a group that loads and that stores such a tile. */
int64_t weft_tile_load_steps(const weft_tiled_copy *tiled, const weft_tile_shape *shape);
int64_t weft_tile_store_steps(const weft_tiled_copy *tiled, const weft_tile_shape *shape);

#endif
