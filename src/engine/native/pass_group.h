/*
 * A pass group: passes that together read and write the data in memory once. It is either one pass,
 * or several that follow each other on a part of the data that stays in the cache between them: a
 * plane of the last two axes, a block of neighbouring lines, or one long line that is transformed
 * as a matrix. Or it gathers a few long lines, for each of which it has a group of its own.
 */
#ifndef WEFT_ENGINE_NATIVE_PASS_GROUP_H
#define WEFT_ENGINE_NATIVE_PASS_GROUP_H

#include "engine/native/pass.h"
#include "engine/native/root_table.h"
#include "engine/scratch.h"

enum {
    WEFT_PASS_GROUP_PASSES = 3,
    WEFT_MAX_PIECES = 64,
    WEFT_PASS_GROUP_RUN = 128 /* most bytes that are stored at a time where rows are transposed */
};

typedef enum weft_pass_group_array {
    WEFT_PASS_GROUP_IN,
    WEFT_PASS_GROUP_OUT,
    WEFT_PASS_GROUP_BUFFER,
    WEFT_PASS_GROUP_ARRAYS
} weft_pass_group_array;

/* A long real line of n points is transformed as a complex line of h = n / 2 points. The half
 * spectrum is merged into that line, in OUT, before the passes (complex to real), or split from it,
 * in OUT, after them (real to complex). */
typedef struct weft_pass_group_real_line {
    bool before, after;    /* the passes */
    int64_t h;             /* points of the complex line */
    int64_t in, out;       /* strides of points that the step reads and writes, in bytes */
    weft_root_table roots; /* of order 2 h */
} weft_pass_group_real_line;

/* One of the pieces that IN or OUT may consist of: its strides in bytes, and which rows of `fill`
 * or `flush` it holds. */
typedef struct weft_pass_group_piece {
    int64_t first, rows, row_stride;
    int64_t offset; /* bytes to row `first`, where there are rows; the passes have their own */
    int64_t stride[WEFT_PASS_LOOPS]; /* of the loops over the parts */
} weft_pass_group_piece;

/* IN or OUT: one array, which counts as one piece, or the pieces of the request. */
typedef struct weft_pass_group_side {
    int pieces;
    weft_pass_group_piece whole, *piece; /* piece: `whole`, or owned */
} weft_pass_group_side;

/* Rows that are copied between an array and the buffer before or after the passes. */
typedef struct weft_pass_group_rows {
    int64_t rows; /* 0: nothing is copied */
    int64_t bytes, buffer_stride;
} weft_pass_group_rows;

/* Blocks of which other lines are neighbours in IN than in OUT: a row is a matrix of `down` runs of
 * `across` numbers, contiguous in IN, which is transposed on its way to OUT. */
typedef struct weft_pass_group_transposed {
    int64_t across, down;             /* lines of a block; 0: rows are the same on both sides */
    int64_t lines_across, lines_down; /* of all blocks: loops 0 and 1 */
    int64_t in_stride, out_stride;    /* bytes from run to run, of `across` and of `down` numbers */
} weft_pass_group_transposed;

/* The last numbers of the rows of `fill`, where they do not lie at the ends of the rows but one
 * after the other in an array of their own. */
typedef struct weft_pass_group_column {
    const char *array;               /* or NULL */
    int64_t stride[WEFT_PASS_LOOPS]; /* of the loops over the parts, in bytes */
} weft_pass_group_column;

typedef struct weft_pass_group {
    const weft_kernels *kernels;
    int passes;
    weft_native_pass pass[WEFT_PASS_GROUP_PASSES];
    weft_pass_group_array from[WEFT_PASS_GROUP_PASSES], to[WEFT_PASS_GROUP_PASSES];
    weft_pass_group_real_line real_line;
    struct weft_line_convolution *convolution; /* replaces the passes; or NULL */
    struct weft_pass_group_gathered *gathered; /* likewise */
    weft_matrix *matrix;                       /* whose two steps are the passes; or NULL */
    weft_pass_group_rows fill, flush;          /* IN to BUFFER, BUFFER to OUT */
    weft_pass_group_column column;
    weft_pass_group_transposed transposed; /* what `fill` and `flush` do with rows */
    bool direct;                           /* one pass from IN to OUT, and nothing else */
    bool past;                             /* `flush` stores past the caches */
    double scale; /* of the results as they are stored: see weft_pass_group_scale */
    const weft_native_operated *operated; /* applied to what `flush` stores; or NULL */
    int64_t spectrum[WEFT_PASS_LOOPS]; /* of a round trip: strides of the loops over the parts, in
                                          elements of the operators' box */
    int64_t last_bytes;                /* bytes of a row in the last part along loop 0 ... */
    int64_t last_tiles;                /* ... and tiles of its pass; 0: as in the others */
    int loops;                         /* over the parts */
    int64_t loop[WEFT_PASS_LOOPS];
    weft_pass_group_side in, out;
    int64_t parts;
    size_t buffer_bytes;
} weft_pass_group;

/* Makes a group of one pass over all lines. */
weft_status weft_pass_group_create_pass(const weft_pass_request *request, weft_pass_group *group,
                                        size_t *bytes);

/* Makes a group of one pass over blocks of lines that are neighbours in memory, in the input, in
 * the output, or in both, where they may be the same lines or others. Each side that has neighbours
 * is copied into a buffer in the cache, or from it, so that memory is read and written in long
 * runs. weft_pass_group_has_blocks says whether there are such blocks, and
 * weft_pass_group_wants_blocks whether they pay, with `same` also where the same lines are
 * neighbours on both sides. weft_pass_group_takes_blocks says whether lines of n points can be done
 * so that are. */
bool weft_pass_group_has_blocks(const weft_pass_request *request);
bool weft_pass_group_wants_blocks(const weft_pass_request *request, bool same);
bool weft_pass_group_takes_blocks(int64_t n, size_t cache);
weft_status weft_pass_group_create_blocks(const weft_pass_request *request, weft_pass_group *group,
                                          size_t *bytes);

/* Makes a group of two passes over each plane of two axes; `first` is transformed before `second`.
 * The request's loops are those over the planes. Pieces of the input are along `first`, and their
 * loop strides end with that of `second`; pieces of the output are along `second`, and their loop
 * strides end with that of `first`. The request's in_stored and first_out are those along `first`,
 * its second_in and out_stored those along `second`. With `flushes`, rows that are contiguous in
 * the output are flushed to it. */
weft_status weft_pass_group_create_plane(const weft_pass_request *planes,
                                         const weft_dimension *first, const weft_dimension *second,
                                         bool flushes, weft_pass_group *group, size_t *bytes);
/* Makes a group of three passes over each plane, for a round trip: along `first`, along `second`
 * and back, and back along `first`. Planes are contiguous along `first` and in no pieces. The
 * strides of the request's spectrum end with that along `first`, along which in_stored and
 * out_stored count. */
weft_status weft_pass_group_create_plane_and_back(const weft_pass_request *planes,
                                                  const weft_dimension *first,
                                                  const weft_dimension *second,
                                                  weft_pass_group *group, size_t *bytes);
size_t weft_pass_group_plane_bytes(const weft_kernels *kernels, weft_transform_kind kind,
                                   int64_t first, int64_t second);

/* Makes a group that transforms each line as a matrix of its own, or by a convolution where its
 * length has a large prime factor. */
weft_status weft_pass_group_create_long(const weft_pass_request *lines, weft_pass_group *group,
                                        size_t *bytes);

/* How many long lines that lie across their neighbours are best gathered in a buffer by each of so
 * many threads, to be transformed there; 0: none. And a group that does so with `width` of them. */
int64_t weft_pass_group_gathers(const weft_pass_request *lines, int threads);
weft_status weft_pass_group_create_gathered(const weft_pass_request *lines, int64_t width,
                                            weft_pass_group *group, size_t *bytes);

/* Sets where the last numbers of the rows of a group of planes lie, which copies such rows. The
 * strides are those of the request's loops, in complex numbers. */
void weft_pass_group_take_column(weft_pass_group *group, const void *column, const int64_t *stride);

void weft_pass_group_release(weft_pass_group *group);

/* Sets whether the output is stored past the caches, where alignment allows. */
void weft_pass_group_store_past(weft_pass_group *group, bool past);

/* Sets the number by which all results are multiplied as they are stored, which must be set once
 * and may be 1. */
void weft_pass_group_scale(weft_pass_group *group, double scale);

/* Sets the operators that are applied to lines as they are loaded from IN, whose points must be
 * contiguous there, in no pieces, and no longer than a tile. */
void weft_pass_group_load_operated(weft_pass_group *group, const weft_native_operated *operated);

/* Sets those that are applied to results before they are stored in OUT: to lines, under the same
 * conditions, or to the rows of `flush`. */
void weft_pass_group_store_operated(weft_pass_group *group, const weft_native_operated *operated);

/* Sets the operators between the transforms of a round trip. */
void weft_pass_group_operate_between(weft_pass_group *group, const weft_native_operated *operated);

/* The memory that `threads` threads need for a group: its buffer and their scratch memory. */
weft_room_size weft_pass_group_room(const weft_pass_group *group, int threads);

/* Runs the group. in[p] and out[p] are the arrays of piece p of either side. The room is at least
 * as large as weft_pass_group_room says for as many threads. */
void weft_pass_group_run(const weft_pass_group *group, const void *const *in, void *const *out,
                         const weft_room *room);

#endif
