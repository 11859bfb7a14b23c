/*
 * What solvers share that transform contiguous lines one by one: lines that lie in pieces, are
 * padded, cropped or operated on are put together and taken apart, real ones go as complex ones,
 * and round trips go there and back. How one complex line is transformed is `transform` of the
 * pass.
 */
#ifndef WEFT_ENGINE_NATIVE_ONE_BY_ONE_H
#define WEFT_ENGINE_NATIVE_ONE_BY_ONE_H

#include "engine/native/pass.h"

/* Bytes of scratch memory, aligned to a cache line. */
size_t weft_one_by_one_room(const weft_native_pass *pass);

/* In such memory, the complex line that weft_one_by_one_run_line needs beside those of the
 * caller. */
char *weft_one_by_one_line(const weft_native_pass *pass, void *room);

/* Whether lines are copied before or after they are transformed. */
bool weft_one_by_one_copies(const weft_native_pass *pass);

/* Transforms the line at `x` to `y`. `line` is a complex line in scratch memory, for real ones.
 * Results are stored past the caches with `past`; the line at `next`, if any, will be transformed
 * next. */
void weft_one_by_one_run_line(const weft_native_pass *pass, const void *x, void *y, void *room,
                              char *line, bool past, const void *next);

/* Transforms the lines of tiles first..end-1, and stores results past the caches with `past`.
 * `number` is that of weft_native_pass_run. */
void weft_one_by_one_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                         void *room, int64_t number, int64_t first, int64_t end, bool past);

/* Lines of the first `tiles` tiles. */
static inline int64_t weft_one_by_one_lines(const weft_native_pass *pass, int64_t tiles) {
    const int64_t lines = tiles * pass->kernels->lanes;
    return lines < pass->lines ? lines : pass->lines;
}

/* The loop indices of a line, and the bytes from an array's address to that line of a piece. */
void weft_one_by_one_index(const weft_native_pass *pass, int64_t line, int64_t *index);
int64_t weft_one_by_one_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                               const int64_t *index);

#endif
