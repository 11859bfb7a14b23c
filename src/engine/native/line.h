/*
 * The transform of the lines of a tile, of any length: stages where the length is smooth, Rader's
 * convolution for primes p with p - 1 smooth, Bluestein's convolution for all other lengths. Point
 * j is expected in row load_row[j], and result k is left in row store_row[k].
 */
#ifndef WEFT_ENGINE_NATIVE_LINE_H
#define WEFT_ENGINE_NATIVE_LINE_H

#include "engine/native/stages.h"

#include <weft/weft.h>

typedef enum weft_line_method {
    WEFT_LINE_STAGES,
    WEFT_LINE_RADER,
    WEFT_LINE_BLUESTEIN
} weft_line_method;

typedef struct weft_line {
    weft_line_method method;
    int64_t n;
    int64_t rows;        /* rows of a tile, with the area that convolutions work in */
    weft_stages stages;  /* of length n, of p - 1 (Rader), or of the convolution (Bluestein) */
    int32_t *load_row;   /* [n] */
    int32_t *store_row;  /* [n] */
    void *chirp;         /* Bluestein: exp(-+ pi i j^2 / n), [n] */
    void *filter;        /* the transform of the convolution's kernel, divided by its length */
    int32_t *result_row; /* Bluestein: rows of the results, which the chirp multiplies */
    int32_t *spread;     /* rows of the second transform's points, in the second area */
} weft_line;

/* Makes the tables of a line of n points. Returns false when out of memory; the line may then be
 * released as well. */
bool weft_line_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                      weft_line *line, size_t *bytes);
void weft_line_release(weft_line *line);

/* The transform of a convolution's kernel over its length m, which is smooth, divided by m, for the
 * caller to free; NULL when out of memory. */
void *weft_line_make_filter(const weft_kernels *kernels, const double *re, const double *im,
                            int64_t m, size_t *bytes);

/* Transforms the lines of a tile that has been loaded. */
void weft_line_run(const weft_line *line, void *tile);

/* Cost of a transform, in the unit of weft_stages_cost. */
double weft_line_cost(const weft_kernels *kernels, int64_t n);

#endif
