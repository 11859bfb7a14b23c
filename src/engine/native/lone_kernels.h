/*
 * The kernels of a contiguous complex line that is transformed alone (lone.h), and of columns and
 * rows (interleaved.h), for one width of vectors. There are two kinds of stages. In one a vector
 * holds `width` complex numbers as they lie in the array, interleaved. In the other it holds the
 * real or the imaginary parts of `width` numbers, and between the stages the line lies in scratch
 * memory as an array of real parts and, `imaginary` numbers further, one of imaginary parts:
 * multiplying by i needs no shuffle, but twice as many registers are needed and more has to be
 * transposed.
 *
 * The stages of lines alone are those of Stockham's method, decimated in frequency. A stage of
 * radix r, with s the product of the radices before it and m = n / (r s), reads point q + s p + s m
 * k for k = 0..r-1, transforms these r points, multiplies result k by the twiddle exp(-2 pi i p k /
 * (r m)) and stores it as point q + s (r p + k). The inverse reads the r points in reverse order (k
 * = 0 stays) and takes the conjugate twiddles. Vectors hold successive q; those of the first stage,
 * where s is 1, hold successive p and are transposed before they are stored. What is left after
 * whole vectors is done by one more vector that overlaps the one before, so s must be at least a
 * vector.
 */
#ifndef WEFT_ENGINE_NATIVE_LONE_KERNELS_H
#define WEFT_ENGINE_NATIVE_LONE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* A line that is one straight-line codelet. `in` may be `out`. Results are stored times `scale`
 * (scaling.h), here and in `both`, `last` and `split`. */
typedef struct weft_lone_line {
    int points;
    void (*complex)(const void *in, void *out, bool inverse, double scale); /* or NULL */
    int operations; /* of `complex`, on one complex number each; 0: on real numbers */
    /* Transforms `count` complex lines, which begin in_stride and out_stride bytes apart, each to
     * the bits of `complex`; NULL where none are faster than by themselves. `in` may be `out` if
     * the strides are equal. */
    void (*lines)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t count,
                  bool inverse, double scale);
    /* Transforms `count` real lines, with strides as above, to their half spectra, and back. */
    void (*real)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t count,
                 double scale);
    void (*half)(const void *in, int64_t in_stride, void *out, int64_t out_stride, int64_t count,
                 double scale);
} weft_lone_line;

/* A stage of the transforms of neighbouring columns, or of rows (interleaved.h): butterflies of
 * `groups` times `blocks` runs of successive numbers. All distances count complex numbers. */
typedef struct weft_columns_stage {
    const void *twiddles; /* radix - 1 for each group, four parts each as below */
    int64_t run;          /* not less than the width of the vectors */
    int64_t blocks, groups;
    int64_t from_leg, from_block, from_group;
    /* Result k of group g begins at to_origin + g * to_group + k * to_leg, and at 0 if both are 0.
     */
    int64_t to_leg, to_block, to_group, to_origin;
} weft_columns_stage;

typedef struct weft_lone_codelet {
    int radix;
    int operations; /* of a vector of transforms, where numbers are interleaved */
    /* The first stage, from an interleaved line. `twiddles` has (radix - 1) vectors of real parts,
     * each followed by one of imaginary parts, for each vector of p; for interleaved numbers each
     * real part stands twice, and each imaginary one with either sign, the negative one first. NULL
     * where the radix is less than a vector. */
    void (*first)(const void *in, void *to, int64_t imaginary, int64_t m, const void *twiddles,
                  bool inverse);
    /* All of a line of `radix` times the width points: the first stage and one whose radix is the
     * width, between which points stay in registers. Twiddles are those of `first`. `in` may be
     * `out`. NULL where `first` is, where a vector is one number, and of interleaved numbers where
     * vectors have less than four or the radix is large. */
    void (*both)(const void *in, void *out, const void *twiddles, bool inverse, double scale);
    /* A stage between: `twiddles` has (radix - 1) complex numbers for each p, of four parts as
     * above where numbers are interleaved. */
    void (*middle)(const void *from, void *to, int64_t imaginary, int64_t s, int64_t m,
                   const void *twiddles, bool inverse);
    /* The last stage, whose m is 1, to an interleaved line. */
    void (*last)(const void *from, int64_t imaginary, void *out, int64_t s, bool inverse,
                 double scale);
    /* The first stage of columns, without twiddles and of one group, and a later one. The results
     * are multiplied by `scale`, as a number of the kernels' precision. NULL where these
     * do not have the bits of tiles, or tiles are as fast, and of radices that tiles do not have.
     */
    void (*columns_first)(const void *from, void *to, const weft_columns_stage *stage,
                          double scale);
    void (*columns_later)(const void *from, void *to, const weft_columns_stage *stage,
                          double scale);
    /* The last stage of lines, with vectors of twiddles as in `first`: each block is a line, and
     * results are stored in reverse order if to_origin is not 0. `run` and the distances between
     * legs and groups, which follow from the radix and the number of groups, are not looked at.
     * NULL also where the radix is less than a vector. */
    void (*rows_last)(const void *from, void *to, const weft_columns_stage *stage, double scale);
} weft_lone_codelet;

typedef struct weft_lone_kernels {
    int width;        /* numbers in a vector: complex ones where they are interleaved, else real */
    bool interleaved; /* how stages hold complex numbers */
    const weft_lone_codelet *const *codelets; /* largest radix first; ended by NULL */
} weft_lone_kernels;

/* All kernels of an instruction set and a precision. */
typedef struct weft_lone_set {
    const weft_lone_kernels *const *widths; /* the widest first; ended by NULL */
    const weft_lone_line *const *lines;     /* ended by NULL */
    /* split_line and merge_line of kernels.h for points first, ..., end-1 and h-first, ... of a
     * contiguous line, as many as whole vectors of any width hold before the two meet; what they
     * make of points 0 and h is that of a pair. Return the first point that is left. NULL where
     * there are no vectors. */
    int64_t (*split)(void *line, int64_t h, const void *roots, int64_t first, int64_t end,
                     double scale);
    int64_t (*merge)(const void *in, void *out, int64_t h, const void *roots, int64_t first,
                     int64_t end);
} weft_lone_set;

#endif
