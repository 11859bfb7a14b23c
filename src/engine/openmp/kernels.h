/*
 * The kernels of the OpenMP engine: target regions that load lines into scratch memory, transform
 * them there stage by stage, and store them. kernels.inc has them once for both precisions.
 *
 * A kernel works on `lines` lines of a batch at once. It is one loop over all points or butterflies
 * of these lines, each of them independent, which OpenMP shares out. All transforms are forward: an
 * inverse one exchanges real and imaginary parts as it loads and as it stores.
 */
#ifndef WEFT_ENGINE_OPENMP_KERNELS_H
#define WEFT_ENGINE_OPENMP_KERNELS_H

#include "device/openmp/openmp.h"

enum { WEFT_OPENMP_LOOPS = WEFT_AXES + WEFT_MAX_RANK, WEFT_OPENMP_LARGEST_RADIX = 13 };

/* Where the lines of a batch lie: point j of line l at j * step and the sum over the loops, of
 * which the first is the fastest, of index * stride. All in real numbers. */
typedef struct weft_openmp_side {
    uint64_t first; /* the kernel's line 0 is this one of the batch */
    int64_t step;
    int loops;
    uint64_t n[WEFT_OPENMP_LOOPS];
    int64_t stride[WEFT_OPENMP_LOOPS];
} weft_openmp_side;

/* How a kernel goes through its lines: neighbouring iterations have neighbouring lines, or
 * neighbouring points. */
typedef struct weft_openmp_lines {
    uint32_t count;
    bool lines_first;
} weft_openmp_lines;

/*
 * A stage of Stockham's algorithm, decimation in frequency (Van Loan 1992, section 1.7), of lines
 * of radix * m points: y[q + inner * (radix p + k)] = W^(p k inner) sum_j x[b + m j] exp(-2 pi i j
 * k / radix), with b = p inner + q < m and q < inner; W = exp(-2 pi i / (radix m)).
 */
typedef struct weft_openmp_stage {
    weft_openmp_lines lines;
    weft_openmp_side in, out;
    uint32_t m, inner;
    int in_swap, out_swap; /* 1: real and imaginary parts are exchanged */
} weft_openmp_stage;

/* What lines in the caller's arrays are. */
typedef enum weft_openmp_form {
    WEFT_OPENMP_COMPLEX,
    WEFT_OPENMP_REAL,       /* with imaginary parts of zero, which are not stored */
    WEFT_OPENMP_HALF,       /* the first n/2 + 1 points of the spectrum of n real numbers */
    WEFT_OPENMP_PAIRS,      /* n real numbers, n even, as n/2 complex ones */
    WEFT_OPENMP_HALF_PAIRS, /* half the spectrum of those, from and to the DFT of n/2 pairs */
    WEFT_OPENMP_MIRRORED /* a cosine or sine transform of type 4 and even length: n/2 points, made
                            of the numbers 2j and n - 1 - 2j */
} weft_openmp_form;

/* A cosine or sine transform as the Fourier transform of a real line, of which the caller's numbers
 * are made of or made from: src/engine/native/r2r.h has the sources. */
typedef struct weft_openmp_waves {
    int type;          /* 1 to 4; 0: the line is Fourier transformed */
    int sine, aligned; /* 1: it is a sine transform; of support/axis.h's */
    uint32_t n;        /* numbers of the caller's line */
} weft_openmp_waves;

/* Loads lines into scratch memory, or stores them from there. */
typedef struct weft_openmp_move {
    weft_openmp_lines lines;
    weft_openmp_form form;
    weft_openmp_side array;
    int64_t point, line; /* steps in scratch memory, in real numbers */
    weft_openmp_waves waves;
    uint32_t n;      /* of the real line, or of a complex one */
    uint32_t points; /* complex ones that are transformed: n, or n/2 of pairs */
    uint32_t room;   /* loading: points in scratch memory; beyond `points` they are zero */
    int swap;
    bool chirped; /* loading: multiply by the chirp; storing: exchange the parts first, too */
} weft_openmp_move;

/* Multiplies lines in scratch memory by the spectrum of a chirp, and exchanges parts. */
typedef struct weft_openmp_product {
    weft_openmp_lines lines;
    int64_t point, line;
    uint32_t room;
} weft_openmp_product;

/* The tables of a move: pairs of numbers on the device. */
typedef struct weft_openmp_factors {
    const void *roots; /* exp(-2 pi i k / n), k <= n/2: of a real line in pairs */
    const void *waves; /* types 2 and 3: exp(-2 pi i k / 4n), k <= n/2; type 4 of even length: n/2
                          of exp(-2 pi i (4k + 1) / 8n), then n/2 of exp(-2 pi i k / 2n) */
    const void *chirp; /* `points` of it */
} weft_openmp_factors;

/* All addresses are the device's. Roots of the stages are pairs exp(-2 pi i k / n), too. */
typedef struct weft_openmp_kernels {
    void (*stage)(const weft_openmp_processor *p, int radix, const weft_openmp_stage *stage,
                  const void *in, void *out, const void *roots);
    void (*load)(const weft_openmp_processor *p, const weft_openmp_move *move, const void *array,
                 void *scratch, const weft_openmp_factors *factors);
    void (*store)(const weft_openmp_processor *p, const weft_openmp_move *move, const void *scratch,
                  void *array, const weft_openmp_factors *factors);
    void (*multiply)(const weft_openmp_processor *p, const weft_openmp_product *product,
                     void *scratch, const void *spectrum);
} weft_openmp_kernels;

extern const weft_openmp_kernels weft_openmp_double, weft_openmp_single;

#endif
