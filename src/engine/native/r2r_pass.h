/*
 * Cosine and sine transforms of a batch of lines, from one view to another. A tile of lines is
 * transformed side by side as in pass.h: loaded, which the kernels of r2r.h do from the array
 * itself where lines are neighbours in memory and otherwise from a copy of the lines, transformed,
 * stored. Few lines, and lines too long for a tile, are done one by one through a plan of the
 * engine's for one complex line.
 */
#ifndef WEFT_ENGINE_NATIVE_R2R_PASS_H
#define WEFT_ENGINE_NATIVE_R2R_PASS_H

#include "engine/native/line.h"
#include "engine/native/r2r.h"
#include "engine/scratch.h"

enum {
    WEFT_R2R_LOOPS = WEFT_AXES + WEFT_MAX_RANK,
    WEFT_R2R_RUN_BYTES = WEFT_ROW_BYTES / 2 /* a point of all lines of a tile */
};

/* Points first..first+n-1 of every line; strides in bytes. */
typedef struct weft_r2r_piece {
    int64_t offset; /* to point `first` in the piece's array */
    int64_t first, n;
    int64_t stride, loop_stride[WEFT_R2R_LOOPS];
} weft_r2r_piece;

typedef struct weft_r2r_side {
    bool across; /* the lines of a tile are neighbours in memory */
    bool along;  /* the points of a line are */
    int pieces;  /* 1: one array */
    weft_r2r_piece *piece;
    int64_t *offset; /* across: from the first point of its piece to point j */
} weft_r2r_side;

/* The transforms along one dimension of a transform: from its input or, for all but the first, in
 * place in its output. */
typedef struct weft_r2r_pass {
    const weft_kernels *kernels;
    weft_r2r_line line;
    weft_r2r_side in, out;
    int loops; /* loop 0 gives the lines of a tile */
    int64_t loop[WEFT_R2R_LOOPS];
    int64_t lines, tiles;
    bool by_loop; /* tiles do not go beyond loop 0, since a side is across */
    int threads;
    double scale;             /* of the results as they are stored; 1 when created */
    weft_line transform;      /* of the rows of a tile */
    weft_engine_plan *single; /* of one line, which is then done by itself; or NULL */
    int32_t *rows;            /* 0, 1, 2, ... */
    size_t copy_bytes; /* of the copy of the lines, which is followed by the tile; or of one line,
                          which is followed by its transform */
} weft_r2r_pass;

/* Whether the passes of a transform, dimension `first` first, can have its pieces: those of the
 * input along that dimension, and those of the output where there is no other dimension. */
bool weft_r2r_takes_pieces(const weft_transform *transform, int first);

/* Makes the pass along `dimension`; from_output: in place. */
weft_status weft_r2r_pass_create(const weft_transform *transform, int dimension, bool from_output,
                                 weft_r2r_pass **pass, size_t *bytes);
void weft_r2r_pass_destroy(weft_r2r_pass *pass);

/* The scratch memory that the pass needs for its threads. */
weft_room_size weft_r2r_pass_room(const weft_r2r_pass *pass);

/* in[p] and out[p] are the arrays of piece p of either side; p is 0 where there are no pieces. Both
 * may be one array where the strides are equal. */
void weft_r2r_pass_run(const weft_r2r_pass *pass, const void *const *in, void *const *out,
                       const weft_room *room);

#endif
