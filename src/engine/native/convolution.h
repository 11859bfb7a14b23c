/*
 * Transforms long lines whose length has a large prime factor by Bluestein's convolution over a
 * smooth length. Strides are any; real lines are transformed as complex ones.
 */
#ifndef WEFT_ENGINE_NATIVE_CONVOLUTION_H
#define WEFT_ENGINE_NATIVE_CONVOLUTION_H

#include "engine/engine.h"
#include "engine/native/kernels.h"
#include "engine/scratch.h"

#include <stdio.h>

typedef struct weft_line_convolution weft_line_convolution;

/* After an error *convolution is NULL or may be released. */
weft_status weft_line_convolution_create(const weft_kernels *kernels, weft_transform_kind kind,
                                         weft_direction direction, const weft_dimension *dim,
                                         weft_line_convolution **convolution, size_t *bytes);
void weft_line_convolution_release(weft_line_convolution *convolution);

/* Sets the number by which results are multiplied as they are stored, which is 1 until then. */
void weft_line_convolution_scale(weft_line_convolution *convolution, double scale);

/* Writes, behind the number of lines, how they are transformed: a line of text. */
void weft_line_convolution_describe(const weft_line_convolution *convolution, FILE *stream);

/* The memory that a team of threads needs to transform one line together. */
weft_room_size weft_line_convolution_room(const weft_line_convolution *convolution, int threads);

/* Transforms one line by all threads of the room. */
void weft_line_convolution_run(const weft_line_convolution *convolution, const void *in, void *out,
                               const weft_room *room);

#endif
