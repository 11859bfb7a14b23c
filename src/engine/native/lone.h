/*
 * One contiguous complex line transformed alone, its own points in the lanes of the vectors, where
 * a tile would hold a single line among empty ones: Stockham's method, in two or more stages or,
 * where the line is no longer than a codelet, in one, for products of the codelets' radices; by
 * Bluestein's convolution (lone_chirp.h) for all other lengths.
 */
#ifndef WEFT_ENGINE_NATIVE_LONE_H
#define WEFT_ENGINE_NATIVE_LONE_H

#include "engine/native/kernels.h"
#include "engine/native/lone_kernels.h"

#include <weft/weft.h>

#include <stddef.h>

enum { WEFT_LONE_STAGES = 16, WEFT_LONGEST_LONE = 1 << 16 };

typedef struct weft_lone_stage {
    const weft_lone_codelet *codelet;
    int64_t s, m;   /* products of the radices before this one, and of those after it */
    void *twiddles; /* of the line's tables; NULL for the last */
} weft_lone_stage;

typedef struct weft_lone {
    /* How it is done: weft_lone_run. */
    void (*run)(const struct weft_lone *lone, const void *in, void *out, void *room, double scale);
    const weft_kernels *kernels;
    int64_t n;
    const weft_lone_line *line;    /* replaces the stages; or NULL */
    struct weft_lone_chirp *chirp; /* likewise */
    const void *tables;            /* the stages' twiddles, shared with other lines; or NULL */
    bool inverse, interleaved;     /* interleaved: the kind of the stages, of lone_kernels.h */
    int count;
    weft_lone_stage stage[WEFT_LONE_STAGES];
    int64_t imaginary; /* numbers from the real parts to the imaginary ones in scratch memory */
} weft_lone;

/* Whether the widest vectors are half a row, with which go 32 registers. */
bool weft_lone_is_wide(const weft_kernels *kernels);

/* Whether a line of n points can be transformed so, and what that costs, in nanoseconds measured on
 * one machine, as weft_stages_cost. */
bool weft_lone_suits(const weft_kernels *kernels, int64_t n);
double weft_lone_cost(const weft_kernels *kernels, int64_t n);

/* Returns false when out of memory; `lone` may then be released as well. */
bool weft_lone_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                      weft_lone *lone, size_t *bytes);
void weft_lone_release(weft_lone *lone);

/* A line that the codelet `line` transforms, also where stages would be faster. */
void weft_lone_create_line(const weft_kernels *kernels, const weft_lone_line *line,
                           weft_direction direction, weft_lone *lone);

/* The codelet of lines of n points, or NULL. */
const weft_lone_line *weft_lone_find_line(const weft_kernels *kernels, int64_t n);

/* Bytes of scratch memory, aligned to a cache line. */
size_t weft_lone_room(const weft_lone *lone);

/* Transforms the line at `in` to `out`, which may be `in`, and stores results times `scale`. */
static inline void weft_lone_run(const weft_lone *lone, const void *in, void *out, void *room,
                                 double scale) {
    lone->run(lone, in, out, room, scale);
}

#endif
