/*
 * The kernels of the native engine for one instruction set and precision.
 *
 * All work is done on a tile: `n` rows, one for each point of a transform, each holding the values
 * of WEFT_TILE_LANES lines (transforms of a batch) as a run of real parts and a run of imaginary
 * parts. Each set of kernels has an order of its own for the lines in a run, which `position`
 * gives. Rows of a caller's array are given by their offsets from a base, in bytes, so that kernels
 * need not distinguish strides, permutations and pieces of several arrays. "Across" means that the
 * lines of a tile are neighbours in memory, "along" that the points of each line are. Kernels that
 * are given a `scale` store their results times that (scaling.h); 1 costs nothing.
 */
#ifndef WEFT_ENGINE_NATIVE_KERNELS_H
#define WEFT_ENGINE_NATIVE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { WEFT_ROW_BYTES = 128 /* of a tile */, WEFT_CACHE_LINE = 64 /* bytes */ };

/* The functions of one radix. A transform is decimated in time: `load` or `first`, then `stage`s in
 * place, then `store` or a last `stage`. Distances in the tile count rows, including the padding
 * between blocks of rows. A stage has (radix - 1) twiddles for each of `count` transforms. */
typedef struct weft_codelet {
    int radix;
    /* Across: loads `blocks` times radix rows of a complex array and transforms them into the tile,
     * where blocks lie at a distance of `block_stride` rows. */
    void (*load)(const void *base, const int64_t *offset, void *tile, int64_t blocks,
                 int64_t block_stride);
    /* Transforms like `load`, but rows that are in the tile already. */
    void (*first)(void *tile, int64_t blocks, int64_t block_stride);
    /* Multiplies by the twiddles and transforms in place: `count` transforms that begin at
     * successive rows, each over rows at a distance of `step`. */
    void (*stage)(void *tile, int64_t count, int64_t step, const void *twiddles);
    /* Does the last stage and stores into a complex array (across): result k of transform i, times
     * `scale`, goes to the row at offset[i + k m]. */
    void (*store)(const void *tile, int64_t count, int64_t step, const void *twiddles, void *base,
                  const int64_t *offset, int64_t m, double scale);
    /* Stores like `store`, but past the caches; rows must be aligned to 64 bytes. */
    void (*stream)(const void *tile, int64_t count, int64_t step, const void *twiddles, void *base,
                   const int64_t *offset, int64_t m, double scale);
    /* A whole transform of radix points from the tile to an array (across), or from array to array;
     * with `past`, it is stored past the caches. */
    void (*tile_to_array)(const void *tile, void *base, const int64_t *offset, bool past);
    void (*array_to_array)(const void *in, const int64_t *in_offset, void *out,
                           const int64_t *out_offset, bool past, double scale);
    /* Transforms from array to array `count` <= lanes lines, with a `scale` that is a number of the
     * kernels' precision. */
    void (*some_to_array)(const void *in, const int64_t *in_offset, void *out,
                          const int64_t *out_offset, int count, double scale);
    /* Along: transforms `count` lines of radix points, which begin in_stride and out_stride bytes
     * apart. The inverse has the results of the forward transform in reverse order, but for number
     * 0. `scale` is a number of the kernels' precision. */
    void (*lines)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t count,
                  bool inverse, double scale);
} weft_codelet;

typedef struct weft_kernels {
    const char *simd, *description;
    int lanes;                        /* lines of a tile */
    int real_bytes;                   /* size of a real number */
    const weft_codelet *codelets;     /* largest radix first; ended by radix 0 */
    const struct weft_lone_set *lone; /* for lines alone */

    /* Along: loads and stores `count` <= lanes complex lines; point j goes to row rows[j] of the
     * tile. What lies `ahead` bytes further is prefetched, unless `ahead` is 0. With `past`, which
     * takes as many lines as there are lanes, aligned to 64 bytes, they are stored past the caches.
     */
    void (*load_lines)(const void *const *lines, int64_t n, void *tile, const int32_t *rows,
                       int count, int64_t ahead);
    void (*store_lines)(const void *tile, const int32_t *rows, int64_t n, void *const *lines,
                        int count, bool past, double scale);
    /* Along: real lines, which are the real parts of the tile; loaded imaginary parts are zero. */
    void (*load_real_lines)(const void *const *lines, int64_t n, void *tile, const int32_t *rows,
                            int count);
    void (*store_real_lines)(const void *tile, const int32_t *rows, int64_t n, void *const *lines,
                             int count, double scale);
    /* Across: loads and stores `count` <= lanes complex lines. With `past`, which takes as many
     * lines as there are lanes, and rows aligned to 64 bytes, they are stored past the caches. */
    void (*load_rows)(const void *base, const int64_t *offset, int64_t n, void *tile,
                      const int32_t *rows, int count);
    void (*store_rows)(const void *tile, const int32_t *rows, int64_t n, void *base,
                       const int64_t *offset, int count, bool past, double scale);
    /* Across: loads rows of a real array. With `pairs`, array row 2 j becomes the real part of row
     * j of the tile and array row 2 j + 1 the imaginary part; otherwise array row j becomes the
     * real part, and the imaginary part is zero. */
    void (*load_real_rows)(const void *base, const int64_t *offset, int64_t n, bool pairs,
                           void *tile, const int32_t *rows, int count);
    void (*store_real_rows)(const void *tile, const int32_t *rows, int64_t n, bool pairs,
                            void *base, const int64_t *offset, int count, double scale);
    /* Load and store with any strides, in bytes: real part j of line l is at lines[l] + j * stride,
     * and the imaginary part is `imaginary` bytes further. `imaginary` 0: lines are real. */
    void (*gather)(const void *const *lines, int64_t stride, int64_t imaginary, int64_t n,
                   void *tile, const int32_t *rows, int count);
    void (*scatter)(const void *tile, const int32_t *rows, int64_t n, void *const *lines,
                    int64_t stride, int64_t imaginary, int count, double scale);

    /* The number of the codelet for contiguous real lines of n points; -1: there is none. */
    int (*find_real_codelet)(int64_t n);
    /* Transforms `count` real lines to their half spectra, or back, from array to array; they begin
     * in_stride and out_stride bytes apart. roots are those of split_spectrum, for even n; `scale`
     * is a number of the kernels' precision. */
    void (*real_lines)(int codelet, bool to_spectrum, const void *in, int64_t in_stride, void *out,
                       int64_t out_stride, int64_t count, const void *roots, double scale);

    int (*position)(int line); /* where line `line` of a tile stands in a run */
    /* Stores row src_rows[j] of src times complex factor j in row dst_rows[j] of dst. Rows NULL:
     * row j. */
    void (*multiply)(const void *src, const int32_t *src_rows, void *dst, const int32_t *dst_rows,
                     int64_t n, const void *factors);
    /* Stores row from_row[k] of a tile in row to_row[k] of another one, each line times before[l] *
     * along[k] * after[l] ..., of which there are `afters` rows, laid out as rows of the tile;
     * along NULL: without it. */
    void (*multiply_lines_of_tile)(const void *from, const int32_t *from_row, void *to,
                                   const int32_t *to_row, int64_t n, const void *before,
                                   const void *along, const void *after, int afters);
    /* The same of complex factors: the real parts of a row of `before` or `after`, then the
     * imaginary ones; along[k] are pairs. */
    void (*multiply_lines_by_pairs)(const void *from, const int32_t *from_row, void *to,
                                    const int32_t *to_row, int64_t n, const void *before,
                                    const void *along, const void *after, int afters);
    /* Stores row from_row[k] of a tile in row to_row[k] of another or the same one, each line l
     * times factor number step * k from line[l] on: pairs or numbers. Lines of a tile whose factors
     * are neighbours in memory, or the same, are multiplied at once. */
    void (*multiply_lines_by_array)(const void *from, const int32_t *from_row, void *to,
                                    const int32_t *to_row, int64_t n, const void *const *line,
                                    int lines, int64_t step, bool pairs);
    /* The step between columns and rows of one line as a matrix. Multiplies the n rows of a tile
     * that rows[] names (n is a multiple of the lanes) by the twiddles: the rows of `table`, laid
     * out as a tile, and, with `factors`, factor k for row k. Stores the product transposed: the
     * number of line l in row k becomes complex number k % lanes of row l of group k / lanes at
     * `to`. Rows of a group follow each other, and groups are `group_stride` bytes apart. */
    void (*twiddle_transpose)(const void *tile, const int32_t *rows, int64_t n, const void *table,
                              const void *factors, void *to, int64_t group_stride);
    void (*add_rows)(const void *a, const void *b, void *sum); /* one row each */
    /* Fills in the rows of a real line's spectrum that the first n/2 + 1 imply: row rows[n-k] is
     * the conjugate of row rows[k]. The imaginary part of row 0 becomes zero. */
    void (*mirror)(void *tile, int64_t n, const int32_t *rows);
    /* Multiplies by the twiddles of a four-step transform: row rows[j] by factor j, and each line
     * in it by its own number in row j of `table`, which is laid out as a tile. */
    void (*multiply_twiddles)(void *tile, const int32_t *rows, int64_t n, const void *factors,
                              const void *table);
    /* A transform of n real points by one of h = n/2 complex points: split_spectrum turns its
     * results into the half spectrum of h + 1 points, and merge_spectrum does the reverse. Point k
     * is in row rows[k] before and after. roots: exp(-2 pi i k / n) for k = 0..h/2. */
    void (*split_spectrum)(void *tile, int64_t h, const void *roots, const int32_t *rows);
    void (*merge_spectrum)(void *tile, int64_t h, const void *roots, const int32_t *rows);
    /* Copies contiguous numbers from array to array; with `past`, past the caches. copy_scaled
     * copies them times `scale`; src and dst are aligned to a number, and bytes are a multiple. */
    void (*copy)(const void *src, void *dst, int64_t bytes, bool past);
    void (*copy_scaled)(const void *src, void *dst, int64_t bytes, bool past, double scale);
    /* Copies n contiguous real numbers, or complex ones, times before * table[i]; table NULL: times
     * before. Both are numbers of the kernels' precision. */
    void (*copy_multiplied)(const void *src, void *dst, int64_t n, bool complex, double before,
                            const void *table, bool past);
    /* Makes what this thread has stored past the caches visible to threads that it then
     * synchronizes with (a store fence). */
    void (*fence)(void);

    /* split_spectrum and merge_spectrum for one line in memory, whose points are `stride` bytes
     * apart: points first, ..., end-1 with 2 (end-1) <= h, each together with point h-k. roots[0]
     * is that of point `first`. A line is split where it lies; `in` may be `out`. */
    void (*split_line)(void *line, int64_t stride, int64_t h, const void *roots, int64_t first,
                       int64_t end, double scale);
    void (*merge_line)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t h,
                       const void *roots, int64_t first, int64_t end);
    /* Products of two contiguous complex lines, point by point, and their conjugates. `to` may be
     * either line. */
    void (*multiply_lines)(const void *a, const void *b, void *to, int64_t n);
    void (*multiply_lines_conjugated)(const void *a, const void *b, void *to, int64_t n,
                                      double scale);
    /* Contiguous lines of n points: from real to complex ones without imaginary parts, the real
     * parts of complex ones, and, for odd n, the spectrum of a real line from its first half, whose
     * first imaginary part is ignored. */
    void (*widen_line)(const void *real, void *complex, int64_t n);
    void (*narrow_line)(const void *complex, void *real, int64_t n, double scale);
    void (*mirror_line)(const void *half, void *spectrum, int64_t n);

    /* The ends of cosine and sine transforms: of the lines of a tile, and of one complex line whose
     * numbers are interleaved. */
    const struct weft_r2r_kernels *r2r_of_tile, *r2r_of_line;
} weft_kernels;

#endif
