/*
 * Which transforms the native engine takes, and what its planner finds out of them in the same
 * words.
 */
#ifndef WEFT_ENGINE_NATIVE_SUPPORTS_H
#define WEFT_ENGINE_NATIVE_SUPPORTS_H

#include "engine/engine.h"
#include "engine/native/pass_group.h"

enum { WEFT_NATIVE_LONGEST_TILE = 4096 /* most points of a contiguous line that a tile holds */ };

/* `probe` and `supports` of weft_engine_ops. */
weft_status weft_native_probe(const char **description);
weft_status weft_native_supports(const weft_transform *transform, const weft_device_ops *device);

/* Dimension number i in the order of transformation. Forward, the last dimension comes first.
 * Inverse transforms take the opposite order, since the complex-to-real dimension must come last,
 * and since pieces of the input lie along the dimension that the forward transform takes last. */
int weft_native_in_order(const weft_transform *transform, int i);

/* Points along dimension d on the complex side. */
int64_t weft_native_complex_extent(const weft_transform *transform, int d);

/* The transform with the strides of the largest pieces, by which loops are ordered. */
weft_transform weft_native_by_largest_pieces(const weft_transform *transform);

/* How the box of the spectral operators of a round trip lies, in elements: the strides of its
 * dimensions and loops; all 0 without operators. */
weft_piece weft_native_spectrum(const weft_transform *transform);

/* Whether a complex-to-real transform of three dimensions keeps its input and needs no array of its
 * size: the first dimension goes to the output, whose rows hold the spectrum but for its last
 * column, which goes to an array of its own; the planes of the others are done there. Only arrays
 * that the caches do not hold. */
bool weft_native_goes_through_output(const weft_transform *transform);

/* Of the threads that may be used those that are worth starting. */
int weft_native_useful_threads(const weft_transform *transform);

/* Whether the two last axes are transformed plane by plane: the caches hold a plane, and neighbours
 * in memory are within one. */
bool weft_native_plane_fits(const weft_transform *transform);

/* Whether the whole array stays in a core's second-level cache, so that axes are transformed one by
 * one: planes need a copy to be together, and the whole array is together in any case. A plane of
 * complex numbers that is larger than the first-level cache is an exception, since it is copied to
 * rows that do not compete for the same sets of that cache. So are lines that would be transformed
 * as matrices, of which planes make tiles: the bits must not depend on what is found here. */
bool weft_native_stays_in_cache(const weft_transform *transform);

/* Whether the operators on the output only multiply it by a number, a norm for one; *factor gets
 * that number, or 1. */
bool weft_native_only_scales(const weft_transform *transform, double *factor);

/* Whether the operators on the input are none, so that it is only padded. */
bool weft_native_only_pads(const weft_transform *transform);

/* Points of a line that the array on one side holds where it is padded, cropped or truncated: along
 * dimension d, and along the one that is transformed first, or last. */
weft_native_extent weft_native_stored_along(const weft_transform *transform, bool output, int d);
weft_native_extent weft_native_stored(const weft_transform *transform, bool output);

/* A transform one of whose arrays holds the first and the last points of lines, as that of pieces
 * which hold these, and where those are. */
typedef struct weft_native_opened {
    weft_transform transform;
    weft_piece in[WEFT_MAX_PIECES], out[WEFT_MAX_PIECES];
} weft_native_opened;

/* Such a transform, in `opened`; others are returned as they are. NULL: that wants too many pieces.
 */
const weft_transform *weft_native_open(const weft_transform *transform, weft_native_opened *opened);

/* Whether operators on the output are applied to rows that are flushed, of blocks or planes. */
bool weft_native_flushes_operated(const weft_transform *transform);

#endif
