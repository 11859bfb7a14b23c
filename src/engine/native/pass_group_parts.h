/*
 * What the makers of pass groups (pass_group.c, pass_group_plane.c, pass_group_long.c) share: the
 * loops over the parts of the data, the rows that are copied into the buffer and out of it, and the
 * strides of pieces while loops are being set.
 */
#ifndef WEFT_ENGINE_NATIVE_PASS_GROUP_PARTS_H
#define WEFT_ENGINE_NATIVE_PASS_GROUP_PARTS_H

#include "engine/native/pass_group.h"

/* Distance of the rows of a buffer, in complex numbers: whole tiles and one cache line more, so
 * that rows do not compete for the same sets of the cache. */
int64_t weft_pass_group_padded(const weft_kernels *kernels, int64_t n);

/* Makes the request's loops, with its pieces if there are any, the loops over the parts. */
weft_status weft_pass_group_loop_over_parts(weft_pass_group *group,
                                            const weft_pass_request *request, size_t *bytes);

/* Sets where the rows of `fill` or `flush` lie: at a distance of `stride` complex numbers in one
 * array, or in pieces. */
void weft_pass_group_lay_rows(const weft_pass_group *group, int64_t rows, int64_t stride,
                              const weft_native_pieces *pieces, weft_pass_group_side *side);

/* The pieces of one side while loops are being set: their strides change with the loops. */
typedef struct weft_pass_group_pieces {
    weft_native_piece piece[WEFT_MAX_PIECES];
    weft_native_pieces pieces;
} weft_pass_group_pieces;

void weft_pass_group_gather(const weft_native_pieces *given, weft_pass_group_pieces *g);
/* Sets stride number `to` to stride number `from` of `given`. */
void weft_pass_group_set_strides(const weft_native_pieces *given, int from,
                                 weft_pass_group_pieces *g, int to);

/* Lines on one side of a group that gathers them: bytes of a point, and from one to the next. */
typedef struct weft_pass_group_strided {
    int64_t points, element, stride;
} weft_pass_group_strided;

typedef struct weft_pass_group_gathered {
    int64_t lines, last; /* of a block, and of the last one along loop 0 */
    weft_pass_group_strided in, out;
    int64_t in_line, out_line; /* bytes from line to line in the buffer */
    int64_t out_offset;        /* of the results in the buffer; 0: they replace the lines */
    weft_pass_group group;     /* of one contiguous line */
} weft_pass_group_gathered;

/* Runs one block, on one thread. */
void weft_pass_group_run_gathered(const weft_pass_group_gathered *gathered, bool last,
                                  const void *in, void *out, char *buffer, char *scratch);

#endif
