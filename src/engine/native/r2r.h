/*
 * Cosine and sine transforms of lines by a complex transform of about half their length, or, of odd
 * length, of their own length: points are loaded into the rows of that transform, and its results
 * are stored as points.
 *
 * Types 2 and 3: Makhoul, "A fast cosine transform in one and two dimensions", IEEE Trans. Acoust.
 * Speech Signal Process. 28, 1980: the points of even number, then those of odd number backwards,
 * are a real line whose spectrum V gives y[k] = 2 Re(w^k V[k]), w = exp(-pi i / 2n). Type 3 goes
 * the other way. Type 4 of even length: n/2 complex points x[2j] + i x[n-1-2j] between two
 * multiplications by twiddles; of odd length: Chan and Ho, "Fast algorithms for computing the
 * discrete cosine transform", IEEE Trans. Circuits Syst. II 39, 1992: a real line of n points in
 * another order, whose spectrum is multiplied by eighth roots of unity. Type 1: the real line of
 * twice the length that the symmetry gives. Sine transforms of types 2 to 4 are cosine transforms
 * of the points with alternating signs, or in reverse order, with results in reverse order or with
 * alternating signs. Aligned ones (support/axis.h) of any length are done as those of odd length,
 * whose points in frequency may have any numbers. None of them divides, so errors grow as those of
 * the complex transform.
 */
#ifndef WEFT_ENGINE_NATIVE_R2R_H
#define WEFT_ENGINE_NATIVE_R2R_H

#include "engine/engine.h"
#include "engine/native/kernels.h"

typedef enum weft_r2r_load {
    WEFT_R2R_PACK,          /* row j: f[2j] x[index[2j]] + i f[2j+1] x[index[2j+1]] */
    WEFT_R2R_PACK_TWIDDLED, /* row j: (x[index[2j]] + i x[index[2j+1]]) times complex factor j */
    WEFT_R2R_TWIDDLE,       /* row j: x[index[j]] times complex factor j */
    WEFT_R2R_MERGE,         /* type 3 of even length: factors w^k, roots exp(-2 pi i k / n) */
    WEFT_R2R_LOADS
} weft_r2r_load;

typedef enum weft_r2r_store {
    WEFT_R2R_UNPACK,          /* y[index[2j]], y[index[2j+1]]: f[2j] re, f[2j+1] im of row j */
    WEFT_R2R_PROJECT_PAIRS,   /* the same: f[4j] re + f[4j+1] im, f[4j+2] re + f[4j+3] im */
    WEFT_R2R_PROJECT,         /* y[index[j]]: f[2j] re + f[2j+1] im of row j */
    WEFT_R2R_SPLIT_TWIDDLED,  /* type 2 of even length: factors w^k, roots exp(-2 pi i k / n) */
    WEFT_R2R_SPLIT_REAL,      /* DCT1: roots exp(-2 pi i k / 2m) of m rows */
    WEFT_R2R_SPLIT_IMAGINARY, /* DST1 */
    WEFT_R2R_STORES
} weft_r2r_store;

/* One end of a transform. Factors and roots are numbers of the kernels' precision. */
typedef struct weft_r2r_step {
    int kind;     /* weft_r2r_load or weft_r2r_store */
    int64_t rows; /* of the complex transform */
    int32_t *index;
    void *factors, *roots;
} weft_r2r_step;

/* Point j of the lines is at x + j * stride bytes, a number for each line; row j of the complex
 * transform is row rows[j] of the tile, or row j where rows is NULL. Lines and tile have as many
 * numbers side by side as the kernels are made for. */
typedef struct weft_r2r_kernels {
    void (*load[WEFT_R2R_LOADS])(const weft_r2r_step *s, const void *x, int64_t stride, void *tile,
                                 const int32_t *rows);
    void (*store[WEFT_R2R_STORES])(const weft_r2r_step *s, const void *tile, const int32_t *rows,
                                   void *x, int64_t stride);
} weft_r2r_kernels;

/* The transform of one line: what comes before and after the complex transform of m points. */
typedef struct weft_r2r_line {
    weft_axis type;
    int64_t n, m;
    weft_direction direction;         /* of the complex transform */
    bool in_backwards, out_backwards; /* points are numbered from the last one on */
    weft_r2r_step load, store;
} weft_r2r_line;

/* Returns false when out of memory; the line may then be released as well. */
bool weft_r2r_line_create(const weft_kernels *kernels, weft_axis type, int64_t n,
                          weft_r2r_line *line, size_t *bytes);
void weft_r2r_line_release(weft_r2r_line *line);

#endif
