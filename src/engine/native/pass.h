/*
 * A pass: the transforms of a batch of lines along one axis, from one view to another. Lines are
 * taken a tile at a time: loaded, transformed, stored.
 */
#ifndef WEFT_ENGINE_NATIVE_PASS_H
#define WEFT_ENGINE_NATIVE_PASS_H

#include "engine/engine.h"
#include "engine/native/interleaved.h"
#include "engine/native/line.h"
#include "engine/native/lone.h"
#include "engine/native/matrix.h"
#include "engine/native/operated.h"

enum { WEFT_PASS_LOOPS = WEFT_AXES + WEFT_MAX_RANK };

/* What is contiguous in memory for a tile: its lines, the points of each line, or neither. */
typedef enum weft_access { WEFT_ACROSS, WEFT_ALONG, WEFT_STRIDED } weft_access;

/* A piece holds points first..first+points-1 of every line. Strides are in bytes, of the points and
 * of the loops. */
typedef struct weft_native_piece {
    int64_t offset; /* bytes to point `first` in the array given at execution */
    int64_t first, points;
    int64_t stride;
    int64_t loop_stride[WEFT_PASS_LOOPS];
} weft_native_piece;

/* One side of a pass. */
typedef struct weft_native_side {
    weft_access access;
    bool real;
    bool padded; /* across: a whole tile of each row may be read, beyond the last line */
    int pieces;
    weft_native_piece *piece; /* &whole, or owned */
    weft_native_piece whole;
    int64_t points, stored; /* of a line, and of these those that lie in memory, the first ones: the
                               others are loaded as zeros, and not stored */
    int64_t *offset;        /* across, one piece with all points: bytes from the first to point j */
    int64_t *fused_offset;  /* these offsets in the order of the first or last stage */
    const weft_native_operated *operated; /* along, one piece: operators on the lines; or NULL */
} weft_native_side;

/* The pieces of one side of a request, with strides in elements, in the order of the request's
 * loops. count 0: the side is one array. Where there are pieces, the strides of the request itself
 * are those of the largest piece. */
typedef struct weft_native_pieces {
    int count;
    const weft_native_piece *piece;
} weft_native_pieces;

/* The lines of one tile where both sides are one array: which index of loop 0 the first line has,
 * and where it begins on either side, in bytes. Each further one is a stride of loop 0 away. */
typedef struct weft_native_tile {
    int64_t in, out;
    int32_t first, count;
} weft_native_tile;

/* What a pass is made from. Loops come in any order; strides count elements of their side. */
typedef struct weft_pass_request {
    const weft_kernels *kernels;
    weft_transform_kind kind;
    weft_direction direction; /* C2C */
    weft_dimension dim;
    int loops;
    weft_dimension loop[WEFT_PASS_LOOPS];
    weft_native_pieces in, out;
    int64_t in_stored, out_stored; /* points of a line that lie in memory on either side, at least
                                      one; 0: all. Pieces hold no others */
    /* Of a round trip, one piece: the strides of the loops in the box of its operators. */
    weft_native_pieces spectrum;
    bool in_batch; /* as in weft_transform */
    bool alone;    /* complex lines of a batch are transformed alone where that is faster */
    bool cached;   /* both sides stay in the caches: lines are transformed on interleaved numbers,
                      with the bits of tiles, where that is faster */
    size_t cache;  /* bytes of the last-level cache for each thread; sizes blocks by it */
} weft_pass_request;

typedef struct weft_native_pass weft_native_pass;

/* How lines are transformed: the solver of a pass. */
typedef enum weft_pass_solver {
    WEFT_PASS_TILES,
    WEFT_PASS_CODELET, /* contiguous lines, from array to array by a codelet of tiles, or, where
                          operators or the like are in the way, in tiles */
    WEFT_PASS_MATRIX, /* contiguous lines one by one, as matrices; real ones only where a tile would
                         be half empty */
    WEFT_PASS_ALONE   /* contiguous lines one by one, their own points in the lanes */
} weft_pass_solver;

struct weft_native_pass {
    const weft_kernels *kernels;
    weft_transform_kind kind;
    int64_t n;
    bool halved; /* pairs of real points are taken as n/2 complex points */
    weft_line line;
    void *roots;                       /* roots of unity of order n, where halved */
    int32_t *load_row;                 /* tile rows of the points that are loaded ... */
    int32_t *store_row;                /* ... and stored */
    int32_t *result_of;                /* the number of the result that is stored as point k */
    int64_t load_points, store_points; /* rows of the tile that are loaded and stored */
    int loops;                         /* loop 0 gives the lines of a tile */
    int64_t loop[WEFT_PASS_LOOPS];
    bool by_loop; /* tiles do not go beyond loop 0, since a side is across */
    int64_t lines, tiles;
    weft_native_tile *tile; /* all tiles, where they are few and lie within loop 0; or NULL */
    weft_pass_solver solver;
    bool inverse;
    int real_codelet;             /* CODELET: its number, of real lines */
    weft_matrix matrix;           /* MATRIX */
    weft_lone lone;               /* ALONE */
    weft_interleaved interleaved; /* what takes the place of tiles where nothing is in the way; of
                                     width 0 where there is none */
    const weft_lone_line *real_line; /* of real lines that are one codelet; else NULL */
    weft_native_side in, out;
    int64_t adjoining; /* bytes of a short line as it is stored, if the next one begins at its
                          end; else 0 */
    bool stream;       /* store past the caches where alignment allows */
    double scale;      /* of the results as they are stored; 1 when created */
    const weft_twiddles *twiddles;   /* of the four-step method, for the columns of a matrix: set
                                        after the pass is created, and released with it; or NULL */
    struct weft_native_return *back; /* of a round trip; or NULL */
};

/* The second half of a round trip: a tile is transformed and multiplied by the operators, and goes
 * back before it is stored. The loops of both halves are the same. */
typedef struct weft_native_return {
    weft_native_pass pass;
    const weft_native_operated *operated; /* on the spectrum; or NULL */
    int64_t loop_stride[WEFT_PASS_LOOPS]; /* in elements of the operators' box */
} weft_native_return;

/* A request with a spectrum is for a round trip, whose kind and direction are those of its first
 * half. It must not be one that weft_native_pass_takes_matrices. */
weft_status weft_native_pass_create(const weft_pass_request *request, weft_native_pass *pass,
                                    size_t *bytes);

/* Whether all points of a line lie in memory. */
static inline bool weft_native_side_is_whole(const weft_native_side *side) {
    return side->stored == side->points;
}

/* Whether a request is met without tiles: lines are contiguous on both sides and are transformed
 * one by one, with their own points in the lanes. The only line of a transform, which would fill
 * one lane of a tile, always is; lines of a batch are where the request allows it and it is faster,
 * however many they are, lest bits depend on how a batch is parted. */
bool weft_native_pass_takes_alone(const weft_pass_request *request);

/* Whether contiguous lines are transformed one by one, as matrices, where a tile is not full. */
bool weft_native_pass_takes_matrices(const weft_kernels *kernels, weft_transform_kind kind,
                                     const weft_dimension *dim);

void weft_native_pass_release(weft_native_pass *pass);

/* Bytes of a thread's scratch memory. */
size_t weft_native_pass_scratch(const weft_native_pass *pass);

/* Runs tiles first..end-1 of pass->tiles. in[p] and out[p] are the arrays of piece p of either
 * side; p is 0 where there are no pieces. Both may be one array if both views are equal. Of a round
 * trip, `number` is the place of the first element in the box of the operators. */
void weft_native_pass_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                          void *scratch, int64_t number, int64_t first, int64_t end);

/* Whether all rows, or lines, that are stored begin at a cache line. */
bool weft_native_pass_aligned(const weft_native_pass *pass, void *const *out);

/* Transforms lines first..end-1, each as a matrix or alone (pass_lines.c), with `room` as scratch
 * memory. `number` is that of weft_native_pass_run. */
void weft_native_lines_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                           void *room, int64_t number, int64_t first, int64_t end);
size_t weft_native_lines_room(const weft_native_pass *pass);

/* Transforms all lines of a pass along one loop, whose lines are one codelet each and are loaded
 * and stored where they lie. */
void weft_native_row_run(const weft_native_pass *pass, const void *in, void *out);

/* Transforms the line at `in` to `out`, neither of which is in pieces. */
void weft_native_line_run(const weft_native_pass *pass, const void *in, void *out, void *room);

#endif
