/*
 * Strided copies by tiles: the axes along which a tile extends, and its shape. A group of threads
 * loads the rows of a tile, whose cells are neighbours in the source, and stores its columns, whose
 * cells are neighbours in the destination (src/kernels/copy.cl).
 */
#ifndef WEFT_DEVICE_COPY_TILE_H
#define WEFT_DEVICE_COPY_TILE_H

#include "device/strided_copy.h"
#include "kernels/copy_shape.h"

enum { WEFT_COPY_ACCESS = 64 }; /* bytes that memory reads or writes at once */

/* The number of parts of at most `part` that n is cut into. */
static inline int64_t weft_copy_parts(int64_t n, int64_t part) {
    return (n + part - 1) / part;
}

/* The number of rows of `units` units that a group of threads copies at once. */
static inline int64_t weft_copy_rows_at_once(int64_t units) {
    return WEFT_COPY_THREADS / units;
}

/* The widest unit that divides all addresses and strides, as the logarithm of its bytes. */
int weft_copy_unit(const weft_byte_copy *copy);

/* How a tile extends along an axis: by its columns, by its rows, or not at all. */
typedef enum weft_tile_side { WEFT_TILE_OUTSIDE, WEFT_TILE_COLUMNS, WEFT_TILE_ROWS } weft_tile_side;

/* A copy by tiles. by_src_stride and by_dst_stride list all axes, that of the smallest stride
 * first. The first `dense` cells of a side are evenly spaced: those of columns in the source, those
 * of rows in the destination. */
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

/* Whether the copy transposes: the axis of the smallest stride differs between source and
 * destination. */
bool weft_tiled_copy_transposes(const weft_byte_copy *copy);

/* Chooses the axes along which tiles extend: columns along the axis whose cells are neighbours in
 * the source, rows along that of the destination. If a tile is then too small for a group of
 * threads, its shorter side extends along more axes. The copy must outlive the result. */
weft_tiled_copy weft_tiled_copy_of(const weft_byte_copy *copy);

/* Whether the largest tile occupies all threads of a group. */
bool weft_tiled_copy_fills(const weft_tiled_copy *tiled);

/* The cheapest shape, except that a shape much smaller than the others must be clearly cheaper. */
weft_tile_shape weft_tile_choose(const weft_tiled_copy *tiled);

/* The number of steps in which a group loads, and stores, a tile of this shape. */
int64_t weft_tile_load_steps(const weft_tiled_copy *tiled, const weft_tile_shape *shape);
int64_t weft_tile_store_steps(const weft_tiled_copy *tiled, const weft_tile_shape *shape);

#endif
