/*
 * Transforms long lines whose length has a large prime factor by Bluestein's convolution over a
 * smooth length. Strides are any; real lines are transformed as complex ones.
 */
#ifndef WEFT_ENGINE_NATIVE_CONVOLUTION_H
#define WEFT_ENGINE_NATIVE_CONVOLUTION_H

#include "engine/engine.h"
#include "engine/native/kernels.h"
#include "engine/scratch.h"

typedef struct weft_native_convolution weft_native_convolution;

/* After an error *convolution is NULL or may be released. */
weft_status weft_native_convolution_create(const weft_kernels *kernels, weft_transform_kind kind,
                                           weft_direction direction, const weft_dimension *dim,
                                           weft_native_convolution **convolution, size_t *bytes);
void weft_native_convolution_release(weft_native_convolution *convolution);

/* Sets the number by which results are multiplied as they are stored, which is 1 until then. */
void weft_native_convolution_scale(weft_native_convolution *convolution, double scale);

/* The memory that a team of threads needs to transform one line together. */
weft_room_size weft_native_convolution_room(const weft_native_convolution *convolution,
                                            int threads);

/* Transforms one line by all threads of the room. */
void weft_native_convolution_run(const weft_native_convolution *convolution, const void *in,
                                 void *out, const weft_room *room);

#endif
