/*
 * Solvers: the ways in which the lines of a pass are transformed, in files solver_NAME.c.
 * A pass plans the solvers that take its request, in the order of a list in pass.c, up to the first
 * that runs whatever is set after planning: operators, stores past the caches, a scale, twiddles.
 * It runs the first of them that is ready. Solvers that may stand in for each other give the same
 * bits.
 */
#ifndef WEFT_ENGINE_NATIVE_SOLVER_H
#define WEFT_ENGINE_NATIVE_SOLVER_H

#include "engine/native/pass.h"

#include <stdio.h>

struct weft_solver {
    /* Whether the lines of a request can be transformed so, and costs say that this is the fastest
     * way, or that it may be where it is ready. The pass has its loops and sides. */
    bool (*takes)(const weft_native_pass *pass, const weft_pass_request *request);
    /* Makes what the solver needs. Returns false when out of memory; *bytes grows by the size of
     * the tables. Solvers that come later in the order are planned before. */
    bool (*plan)(weft_native_pass *pass, const weft_pass_request *request, weft_direction direction,
                 size_t *bytes);
    void (*release)(weft_native_pass *pass); /* NULL: nothing */
    /* Whether nothing is in the way; NULL: nothing ever is. */
    bool (*ready)(const weft_native_pass *pass);
    /* Bytes of a thread's scratch memory, aligned to a cache line. */
    size_t (*room)(const weft_native_pass *pass);
    /* Transforms the lines of tiles first..end-1 of pass->tiles: see weft_native_pass_run. */
    void (*run)(const weft_native_pass *pass, const void *const *in, void *const *out, void *room,
                int64_t number, int64_t first, int64_t end);
    /* Writes, behind the number and length of the lines, how they are transformed. */
    void (*print)(const weft_native_pass *pass, FILE *stream);
};

extern const weft_solver weft_solver_alone;       /* contiguous lines one by one, each with its own
                                                     points in the lanes of vectors */
extern const weft_solver weft_solver_matrices;    /* contiguous complex lines one by one */
extern const weft_solver weft_solver_half_empty;  /* real lines in tiles, but as matrices where a
                                                     tile would be half empty or more */
extern const weft_solver weft_solver_interleaved; /* columns or rows of interleaved numbers */
extern const weft_solver weft_solver_codelet;     /* contiguous lines, from array to array by a
                                                     codelet of tiles */
extern const weft_solver weft_solver_tiles;       /* any lines, loaded into tiles */

/* Whether contiguous lines are transformed by weft_solver_alone. The only line of a transform,
 * which would fill one lane of a tile, always is; lines of a batch are where the request allows it
 * and it is faster, however many they are, lest bits depend on how a batch is parted. */
bool weft_native_takes_alone(const weft_pass_request *request);

/* Whether contiguous lines are transformed as matrices, one by one, where a tile is not full. */
bool weft_native_takes_matrices(const weft_kernels *kernels, weft_transform_kind kind,
                                const weft_dimension *dim);

/* Of passes that weft_solver_alone runs: all lines along one loop, which are one codelet each and
 * are loaded and stored where they lie; and one line, from `in` to `out`, neither in pieces. */
void weft_native_row_run(const weft_native_pass *pass, const void *in, void *out);
void weft_native_line_run(const weft_native_pass *pass, const void *in, void *out, void *room);

#endif
