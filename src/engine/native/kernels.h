/*
 * The kernels of the native engine for one instruction set and precision.
 *
 * All work is done on a tile: `n` rows, one for each point of a transform, each holding the values
 * of WEFT_TILE_LANES lines (transforms of a batch) as a run of real parts and a run of imaginary
 * parts. Which position of a run belongs to which line is the kernels' affair; `position` tells.
 * Rows of a caller's array are given by their offsets from a base, in bytes, so strides,
 * permutations and pieces of several arrays are all the same here. "Across" means that the lines of
 * a tile are neighbours in memory, "along" that the points of each line are.
 */
#ifndef WEFT_ENGINE_NATIVE_KERNELS_H
#define WEFT_ENGINE_NATIVE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WEFT_ROW_BYTES = 128, /* of a tile */
    WEFT_LARGEST_RADIX = 32,
};

/* One radix. Transforms are decimated in time: `load` or `first`, then `stage`s in place, then
 * `store` or a last `stage`. Distances in the tile are counted in rows, since blocks of rows are
 * padded apart. Twiddles of a stage: (radix - 1) complex numbers for each of `count` transforms. */
typedef struct weft_codelet {
    int radix;
    /* Across: `blocks` times radix rows of a complex array, transformed into the tile; the blocks
     * are `apart` rows apart there. */
    void (*load)(const void *base, const int64_t *offset, void *tile, int64_t blocks,
                 int64_t apart);
    /* The same with the rows in the tile already. */
    void (*first)(void *tile, int64_t blocks, int64_t apart);
    /* `count` transforms beginning at successive rows, of rows `step` apart, twiddled, in place. */
    void (*stage)(void *tile, int64_t count, int64_t step, const void *twiddles);
    /* The last stage, straight into a complex array (across): result k of transform i to the row
     * of offset[i + k m]. */
    void (*store)(const void *tile, int64_t count, int64_t step, const void *twiddles, void *base,
                  const int64_t *offset, int64_t m);
    /* The same past the caches; rows are aligned to 64 bytes. */
    void (*stream)(const void *tile, int64_t count, int64_t step, const void *twiddles, void *base,
                   const int64_t *offset, int64_t m);
    /* A whole transform from the tile into an array (across), or from array to array; with `past`,
     * past the caches. */
    void (*drop)(const void *tile, void *base, const int64_t *offset, bool past);
    void (*both)(const void *in, const int64_t *in_offset, void *out, const int64_t *out_offset,
                 bool past);
} weft_codelet;

typedef struct weft_kernels {
    const char *simd, *description;
    int lanes;                    /* lines of a tile */
    int real_bytes;               /* size of a real number */
    const weft_codelet *codelets; /* largest radix first; ended by radix 0 */

    /* Along: `lines` complex lines; point j goes to row rows[j] of the tile. What lies `ahead`
     * bytes further will be loaded soon. */
    void (*load_lines)(const void *const *lines, int64_t n, void *tile, const int32_t *rows,
                       int64_t ahead);
    void (*store_lines)(const void *tile, const int32_t *rows, int64_t n, void *const *lines,
                        bool past); /* past the caches: lines are aligned to 64 bytes */
    /* Across, `count` <= lanes of them. */
    void (*load_rows)(const void *base, const int64_t *offset, int64_t n, void *tile,
                      const int32_t *rows, int count);
    void (*store_rows)(const void *tile, const int32_t *rows, int64_t n, void *base,
                       const int64_t *offset, int count);
    /* Rows of a real array, across: 2 j to the real part, 2 j + 1 to the imaginary part of row j;
     * with pairs false, j to the real part and the imaginary part zero. */
    void (*load_real_rows)(const void *base, const int64_t *offset, int64_t n, bool pairs,
                           void *tile, const int32_t *rows, int count);
    void (*store_real_rows)(const void *tile, const int32_t *rows, int64_t n, bool pairs,
                            void *base, const int64_t *offset, int count);
    /* Any strides, in bytes: real part j of line l at lines[l] + j * stride, imaginary part
     * `imaginary` further; with imaginary 0 there is none (zero; not stored). */
    void (*gather)(const void *const *lines, int64_t stride, int64_t imaginary, int64_t n,
                   void *tile, const int32_t *rows, int count);
    void (*scatter)(const void *tile, const int32_t *rows, int64_t n, void *const *lines,
                    int64_t stride, int64_t imaginary, int count);

    int (*position)(int line); /* where line `line` of a tile stands in a run */
    /* dst row dst_rows[j] = src row src_rows[j] times factor j (complex); NULL rows: j itself. */
    void (*multiply)(const void *src, const int32_t *src_rows, void *dst, const int32_t *dst_rows,
                     int64_t n, const void *factors);
    /* For one line as a matrix: n rows of a tile (those that rows[] names, a multiple of the lanes)
     * times the rows of `table`, laid out as a tile, and, with `factors`, row k times factor k;
     * transposed: what line l of row k held becomes complex number k % lanes of row l of the k /
     * lanes-th group of rows at `to`, which are `apart` bytes apart. Rows of a group, of one number
     * for each lane, follow each other. */
    void (*turn)(const void *tile, const int32_t *rows, int64_t n, const void *table,
                 const void *factors, void *to, int64_t apart);
    void (*add_rows)(const void *a, const void *b, void *sum); /* one row each */
    /* Rows of a real line's spectrum that the first n/2 + 1 imply: rows[n-k] = conj of rows[k];
     * the imaginary part of row 0 becomes zero. */
    void (*mirror)(void *tile, int64_t n, const int32_t *rows);
    /* Row rows[j] times factor j times the factors of its own for each line that row j of `table`
     * (laid out as a tile) holds: the twiddles of a four-step transform. */
    void (*twist)(void *tile, const int32_t *rows, int64_t n, const void *factors,
                  const void *table);
    /* A transform of n real points from one of h = n/2 complex ones: its results to the half
     * spectrum, of h + 1 points, and back. Point k is found at, and left at, rows[k].
     * roots: exp(-2 pi i k / n) for k = 0..h/2. */
    void (*split_spectrum)(void *tile, int64_t h, const void *roots, const int32_t *rows);
    void (*merge_spectrum)(void *tile, int64_t h, const void *roots, const int32_t *rows);
    /* A run of complex numbers from array to array; with `past`, past the caches. */
    void (*copy)(const void *src, void *dst, int64_t bytes, bool past);
    /* What was stored past the caches is seen by other threads afterwards. */
    void (*settle)(void);

    /* split_spectrum and merge_spectrum for one long line in memory: points `stride` bytes apart;
     * in and out may be one. */
    void (*split_line)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t h,
                       const void *roots);
    void (*merge_line)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t h,
                       const void *roots);
} weft_kernels;

#endif
