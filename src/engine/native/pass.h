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

/* Points of a line that lie in memory: the first `low` and the last `high`; 0 and 0: all. The
 * others are loaded as zeros, and not stored. */
typedef struct weft_native_extent {
    int64_t low, high;
} weft_native_extent;

/* One side of a pass. */
typedef struct weft_native_side {
    weft_access access;
    bool real;
    bool padded; /* across: a whole tile of each row may be read, beyond the last line */
    int pieces;
    weft_native_piece *piece; /* &whole, or owned */
    weft_native_piece whole;
    int64_t points;            /* of a line */
    weft_native_extent stored; /* never 0 and 0 */
    int64_t *offset;       /* across, one piece with all points: bytes from the first to point j */
    int64_t *fused_offset; /* these offsets in the order of the first or last stage */
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
    /* Of either side. Pieces hold no others; where there are none, points lie as if all did. */
    weft_native_extent in_stored, out_stored;
    /* Of planes: points along the axis that is transformed first, of its results, and along the
     * other one before it is transformed. */
    weft_native_extent first_out, second_in;
    /* Of a round trip, one piece: the strides of the loops in the box of its operators. */
    weft_native_pieces spectrum;
    bool in_batch; /* this and `whole` as in weft_transform: of equal lines, all are transformed
                      alone, or none */
    int64_t whole;
    bool cached;  /* both sides stay in the caches: lines are transformed on interleaved numbers,
                     with the bits of tiles, where that is faster */
    bool ahead;   /* the input lies beyond the second-level cache: it is fetched beforehand */
    size_t cache; /* bytes of the last-level cache for each thread; sizes blocks by it */
} weft_pass_request;

typedef struct weft_native_pass weft_native_pass;

typedef struct weft_solver weft_solver; /* solver.h */

enum { WEFT_PASS_SOLVERS = 4 /* most that one pass plans */ };

/* Transforms one contiguous complex line, and stores results times `scale`, past the caches with
 * `past`. The line at `next`, if any, will be transformed next. */
typedef void weft_line_transform(const weft_native_pass *pass, const void *x, void *y, void *room,
                                 bool past, double scale, const void *next);

struct weft_native_pass {
    const weft_kernels *kernels;
    weft_transform_kind kind;
    int64_t n;
    bool halved; /* pairs of real points are taken as n/2 complex points */
    int solvers; /* that are planned, in order of preference */
    const weft_solver *planned[WEFT_PASS_SOLVERS];
    const weft_solver *solver;         /* the first of them that is ready */
    weft_line line;                    /* of n points, or of n / 2 where halved */
    void *roots;                       /* roots of unity of order n, where halved; or NULL */
    int32_t *load_row;                 /* tile rows of the points that are loaded ... */
    int32_t *store_row;                /* ... and stored */
    int32_t *result_of;                /* the number of the result that is stored as point k */
    int64_t load_points, store_points; /* rows of the tile that are loaded and stored */
    int loops;                         /* loop 0 gives the lines of a tile */
    int64_t loop[WEFT_PASS_LOOPS];
    bool by_loop; /* tiles do not go beyond loop 0, since a side is across */
    int64_t lines, tiles;
    weft_native_tile *tile;       /* all tiles, where they are few and lie within loop 0; or NULL */
    bool inverse;                 /* lines of one codelet of tiles */
    int real_codelet;             /* number of a codelet of real lines */
    weft_interleaved interleaved; /* of width 0 where there are no such vectors */
    weft_matrix matrix;           /* of a line, one by one */
    weft_lone lone;               /* one by one as well */
    const weft_lone_line *real_line; /* real lines that are one codelet; else NULL */
    weft_line_transform *transform;  /* of one complex line, one by one ... */
    size_t line_room;                /* ... and the bytes of scratch memory that it takes */
    weft_native_side in, out;
    int64_t adjoining; /* bytes of a short line as it is stored, if the next one begins at its
                          end; else 0 */
    bool fetches;      /* lines one by one come from memory, and are prefetched */
    bool ahead;        /* the rows of the next tile are fetched while one is computed */
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
 * half. It must not be one that weft_native_takes_matrices. */
weft_status weft_native_pass_create(const weft_pass_request *request, weft_native_pass *pass,
                                    size_t *bytes);
void weft_native_pass_release(weft_native_pass *pass);

/* Chooses the solver, again after `stream`, `scale`, `twiddles` or operators have been set. */
void weft_native_pass_choose(weft_native_pass *pass);

/* Makes the roots of unity of real lines, if they are not there. Returns false when out of
 * memory. */
bool weft_native_pass_make_roots(weft_native_pass *pass, size_t *bytes);

/* Whether all points of a line lie in memory. */
static inline bool weft_native_side_is_whole(const weft_native_side *side) {
    return side->stored.low + side->stored.high == side->points;
}

/* Whether results are scaled by a number of the kernels' precision. */
static inline bool weft_native_pass_scales_exactly(const weft_native_pass *pass) {
    return pass->kernels->real_bytes == sizeof(double) || (double)(float)pass->scale == pass->scale;
}

/* Whether nothing is done to lines but to transform and to scale them. */
static inline bool weft_native_pass_is_plain(const weft_native_pass *pass) {
    return !pass->twiddles && !pass->in.operated && !pass->out.operated &&
           weft_native_pass_scales_exactly(pass);
}

/* Bytes of a thread's scratch memory. */
size_t weft_native_pass_scratch(const weft_native_pass *pass);

/* Runs tiles first..end-1 of pass->tiles. in[p] and out[p] are the arrays of piece p of either
 * side; p is 0 where there are no pieces. Both may be one array if both views are equal. Of a round
 * trip, `number` is the place of the first element in the box of the operators. */
void weft_native_pass_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                          void *scratch, int64_t number, int64_t first, int64_t end);

/* Whether all rows, or lines, that are stored begin at a cache line. */
bool weft_native_pass_aligned(const weft_native_pass *pass, void *const *out);

#endif
