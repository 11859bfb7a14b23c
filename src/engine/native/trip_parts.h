/*
 * For making trips (trip.c, trip_plane.c, trip_long.c): the loops over the parts of the data, the
 * rows that are copied into the buffer and out of it, and pieces while loops are put together.
 */
#ifndef WEFT_ENGINE_NATIVE_TRIP_PARTS_H
#define WEFT_ENGINE_NATIVE_TRIP_PARTS_H

#include "engine/native/trip.h"

enum { WEFT_CACHE_LINE = 64 };

/* Complex numbers from one row of a buffer to the next: whole tiles, and an odd number of cache
 * lines, so that rows do not compete for the same sets of the cache. */
int64_t weft_trip_padded(const weft_kernels *kernels, int64_t n);

/* The request's loops as those over the parts; with its pieces, if there are any. */
weft_status weft_trip_loop_over_parts(weft_trip *trip, const weft_pass_request *request,
                                      size_t *bytes);

/* Where the rows of `fill` or `flush` lie: `stride` complex numbers apart in one array, or in
 * pieces. */
void weft_trip_lay_rows(const weft_trip *trip, int64_t rows, int64_t stride,
                        const weft_native_pieces *pieces, weft_trip_side *side);

/* The pieces of one side while loops are put together: their strides follow the loops. */
typedef struct weft_trip_pieces {
    weft_native_piece piece[WEFT_MAX_PIECES];
    weft_native_pieces pieces;
} weft_trip_pieces;

void weft_trip_gather(const weft_native_pieces *given, weft_trip_pieces *g);
/* Stride number `to` becomes what number `from` is in `given`. */
void weft_trip_set_strides(const weft_native_pieces *given, int from, weft_trip_pieces *g, int to);

#endif
