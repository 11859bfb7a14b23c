/*
 * Bluestein's convolution (chirp.h) for a line alone, by two transforms of a smooth length. The
 * second one, an inverse, is a forward transform between conjugates.
 */
#ifndef WEFT_ENGINE_NATIVE_LONE_CHIRP_H
#define WEFT_ENGINE_NATIVE_LONE_CHIRP_H

#include "engine/native/lone.h"

typedef struct weft_lone_chirp {
    int64_t n;
    weft_lone line;   /* the transform of the convolution's length */
    void *chirp;      /* exp(-+ pi i j^2 / n), [n] ... */
    void *conjugated; /* ... and its conjugate */
    void *filter;     /* the transform of the convolution's kernel, divided by its length */
} weft_lone_chirp;

double weft_lone_chirp_cost(const weft_kernels *kernels, int64_t n);

/* Returns false when out of memory; the chirp may then be released as well. */
bool weft_lone_chirp_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                            weft_lone_chirp *chirp, size_t *bytes);
void weft_lone_chirp_release(weft_lone_chirp *chirp);

size_t weft_lone_chirp_room(const weft_lone_chirp *chirp);
void weft_lone_chirp_run(const weft_lone_chirp *chirp, const void *in, void *out, void *room,
                         double scale);

#endif
