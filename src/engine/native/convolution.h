/*
 * Transforms long lines whose length has a large prime factor by Bluestein's convolution over a
 * smooth length. Strides are any; real lines are transformed as complex ones.
 */
#ifndef WEFT_ENGINE_NATIVE_CONVOLUTION_H
#define WEFT_ENGINE_NATIVE_CONVOLUTION_H

#include "engine/engine.h"
#include "engine/native/kernels.h"

typedef struct weft_convolution weft_convolution;

/* After an error *convolution is NULL or may be released. */
weft_status weft_convolution_create(const weft_kernels *kernels, weft_transform_kind kind,
                                    weft_direction direction, const weft_dimension *dim,
                                    weft_convolution **convolution, size_t *bytes);
void weft_convolution_release(weft_convolution *convolution);

/* Bytes of memory that each thread needs. */
size_t weft_convolution_memory(const weft_convolution *convolution);

/* Transforms one line. */
void weft_convolution_run(const weft_convolution *convolution, const void *in, void *out,
                          char *memory);

#endif
