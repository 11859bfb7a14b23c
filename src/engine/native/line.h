/*
 * The transform of the lines of a tile, of any length: stages where the length is smooth, Rader's
 * convolution for primes p with p - 1 smooth, Bluestein's for the rest. Every kind takes its points
 * in rows that `load_row` names and leaves its results in rows that `store_row` names.
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
    int64_t rows;        /* of a tile, with the area that convolutions work in */
    weft_stages stages;  /* of length n, p - 1, or that of Bluestein's convolution */
    int32_t *load_row;   /* [n] */
    int32_t *store_row;  /* [n] */
    void *chirp;         /* Bluestein: exp(-+ pi i j^2 / n), [n] */
    void *filter;        /* the transformed kernel of the convolution, over its length */
    int32_t *result_row; /* Bluestein: of the forward results, which the chirp multiplies */
    int32_t *spread;     /* rows of the second transform's points, in the second area */
} weft_line;

/* The same line serves both directions of everything but the twiddled passes of four-step
 * transforms. False when out of memory; then also fit for release. */
bool weft_line_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                      weft_line *line, size_t *bytes);
void weft_line_release(weft_line *line);

/* From loaded to ready. */
void weft_line_run(const weft_line *line, void *tile);

/* Vector operations of a transform, by the model of stages. */
double weft_line_cost(const weft_kernels *kernels, int64_t n);

#endif
