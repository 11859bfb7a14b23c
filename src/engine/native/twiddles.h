/*
 * Twiddles of the four-step method: number j of the lines between the two steps is multiplied at
 * its point k by exp(-+ 2 pi i j k / n) (D. H. Bailey, FFTs in external or hierarchical memory,
 * 1990). A tile holds as many lines as there are lanes. Its twiddles are the products of those of
 * the first tile and a factor for each point; where there are many tiles, the factors are products
 * again, so that the tables take little more than the square root of n numbers.
 */
#ifndef WEFT_ENGINE_NATIVE_TWIDDLES_H
#define WEFT_ENGINE_NATIVE_TWIDDLES_H

#include "engine/native/tables.h"

#include <weft/weft.h>

typedef struct weft_twiddles {
    weft_shared_table shared;
    int64_t points, tiles;
    void *table;  /* laid out as a tile: the twiddles of the first tile, or of all where `fine` is
                     NULL */
    void *fine;   /* the factors of tiles 0, 1, ..., fines-1, ... */
    void *coarse; /* ... and of tiles 0, fines, 2 fines, ...; NULL: there are no others */
    int64_t fines;
} weft_twiddles;

/* The twiddles of lines of `points` points, in tiles; with `whole`, the table of every tile may be
 * stored. To be given back with weft_table_return; NULL when out of memory. */
const weft_twiddles *weft_twiddles_borrow(const weft_kernels *kernels, int64_t n, int64_t points,
                                          bool whole, weft_direction direction, size_t *bytes);

/* Bytes of scratch memory that weft_twiddles_factors needs; 0 where there are no twiddles. */
size_t weft_twiddles_room(const weft_twiddles *twiddles);

/* The table for a tile. */
const void *weft_twiddles_table(const weft_twiddles *twiddles, int64_t tile);

/* The factors of a tile's points, which may lie in `room`; NULL: its table has the products. */
const void *weft_twiddles_factors(const weft_twiddles *twiddles, int64_t tile, void *room);

#endif
