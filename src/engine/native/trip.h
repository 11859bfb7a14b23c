/*
 * A trip of the data through memory: one pass, or passes that follow each other on a part of the
 * data small enough to stay in the cache between them (a plane of the last two axes, or one long
 * line that is transformed as a matrix).
 */
#ifndef WEFT_ENGINE_NATIVE_TRIP_H
#define WEFT_ENGINE_NATIVE_TRIP_H

#include "engine/native/pass.h"

enum { WEFT_TRIP_PASSES = 2, WEFT_MAX_PIECES = 64 };

typedef enum weft_trip_array {
    WEFT_TRIP_IN,
    WEFT_TRIP_OUT,
    WEFT_TRIP_BUFFER,
    WEFT_TRIP_SECOND, /* another buffer */
    WEFT_TRIP_ARRAYS
} weft_trip_array;

/* The step between a long real line's half spectrum and the complex line of half its length. */
typedef struct weft_trip_seam {
    bool before, after; /* the passes */
    int64_t h;          /* n / 2 */
    int64_t in, out;    /* strides of points, in bytes, of what is read and what is written */
    void *roots;
} weft_trip_seam;

/* One of the pieces that IN or OUT may consist of: rows of `fill` or `flush` that lie there, and
 * its strides in bytes. */
typedef struct weft_trip_piece {
    int64_t first, rows, row_stride;
    int64_t offset; /* of row `first`, where there are rows; the passes know theirs */
    int64_t stride[WEFT_PASS_LOOPS]; /* over the parts */
} weft_trip_piece;

/* IN or OUT: one piece, or those of the request. */
typedef struct weft_trip_side {
    int pieces;
    weft_trip_piece whole, *piece; /* piece: `whole`, or owned */
} weft_trip_side;

/* Rows that are copied between an array and the buffer before or after the passes. */
typedef struct weft_trip_rows {
    int64_t rows; /* 0: nothing is copied */
    int64_t bytes, buffer_stride;
} weft_trip_rows;

typedef struct weft_trip {
    const weft_kernels *kernels;
    int passes;
    weft_native_pass pass[WEFT_TRIP_PASSES];
    weft_trip_array from[WEFT_TRIP_PASSES], to[WEFT_TRIP_PASSES];
    weft_trip_seam seam;
    struct weft_convolution *convolution; /* instead of passes; or NULL */
    weft_matrix *matrix;                  /* whose two steps are the passes; or NULL */
    weft_trip_rows fill, flush;           /* IN to BUFFER, BUFFER to OUT */
    bool direct;                          /* one pass from IN to OUT, and nothing else */
    bool past;                            /* flush past the caches */
    int64_t last_bytes;                   /* of the rows of the last part along loop 0, ... */
    int64_t last_groups;                  /* ... and tiles of the pass there; 0: all are alike */
    int loops;                            /* over the parts */
    int64_t loop[WEFT_PASS_LOOPS];
    weft_trip_side in, out;
    int64_t parts;
    size_t buffer_bytes[2]; /* BUFFER and SECOND */
} weft_trip;

/* One pass over everything. */
weft_status weft_trip_create_pass(const weft_pass_request *request, weft_trip *trip, size_t *bytes);

/* One pass over blocks of neighbouring lines that are copied into the cache and back, so that
 * memory is met in long runs: for lines whose points are far apart. Neighbours are contiguous on
 * both sides and the axis is not; both are so where weft_trip_wants_blocks. */
bool weft_trip_wants_blocks(const weft_pass_request *request);
weft_status weft_trip_create_blocks(const weft_pass_request *request, weft_trip *trip,
                                    size_t *bytes);

/* Two passes over each plane of `second` and `first`, the axis transformed first. Loops are those
 * over the planes; pieces of the input are of `first`, with the stride of `second` after those of
 * the loops, and those of the output are of `second`, with the stride of `first`. */
weft_status weft_trip_create_plane(const weft_pass_request *planes, const weft_dimension *first,
                                   const weft_dimension *second, weft_trip *trip, size_t *bytes);
size_t weft_trip_plane_bytes(const weft_kernels *kernels, weft_transform_kind kind, int64_t first,
                             int64_t second);

/* Each line as a matrix of its own; lines of a length with a large prime factor by convolution. */
weft_status weft_trip_create_long(const weft_pass_request *lines, weft_trip *trip, size_t *bytes);

void weft_trip_release(weft_trip *trip);

/* Whether what leaves the trip is stored past the caches, where alignment allows. */
void weft_trip_store_past(weft_trip *trip, bool past);

/* Bytes of a thread's memory: the buffer, then the passes' scratch. */
size_t weft_trip_memory(const weft_trip *trip);

/* in[p] and out[p] are the arrays of piece p of either side. memory holds `threads` times
 * `memory_stride` bytes. */
void weft_trip_run(const weft_trip *trip, const void *const *in, void *const *out, char *memory,
                   size_t memory_stride, int threads);

#endif
