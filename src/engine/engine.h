/*
 * Engines: batches of 1-D to N-D FFTs on strided views. An engine knows nothing of distribution.
 * Each back end is one folder with one `const weft_engine_ops`, named in engines.def in order of
 * preference.
 */
#ifndef WEFT_ENGINE_H
#define WEFT_ENGINE_H

#include "device/device.h"

typedef enum weft_transform_kind {
    WEFT_TRANSFORM_C2C,
    WEFT_TRANSFORM_R2C, /* forward: real in, complex out; last dimension halved on the complex side
                         */
    WEFT_TRANSFORM_C2R  /* inverse of the same */
} weft_transform_kind;

/* One loop over an axis: strides count elements of the side's type (real or complex). */
typedef struct weft_dimension {
    int64_t n;
    int64_t in_stride, out_stride;
} weft_dimension;

/* A batch of FFTs: `dims` transform dimensions (n logical; the last is the halved one for R2C and
 * C2R), done for every index of `loops` batch loops. Unscaled. Empty loops (n = 0) are never
 * passed. */
typedef struct weft_transform {
    weft_transform_kind kind;
    weft_direction direction; /* C2C; implied otherwise */
    weft_precision precision;
    int dims;
    weft_dimension dim[WEFT_MAX_RANK];
    int loops;
    weft_dimension loop[WEFT_AXES];
    bool in_place;      /* out is in: only with equal strides, C2C */
    bool destroy_input; /* the engine may overwrite the input */
    int threads;
    weft_effort effort;
    int64_t in_elements,
        out_elements; /* extent of the arrays the views lie in: what a measuring engine allocates */
} weft_transform;

typedef struct weft_engine_plan weft_engine_plan; /* each engine defines its own */

typedef struct weft_engine_ops {
    const char *name;
    weft_engine id;

    weft_status (*probe)(const char **description);

    /* Whether the engine can do this transform on this device; WEFT_ERROR_UNSUPPORTED with the
     * reason if not. */
    weft_status (*supports)(const weft_transform *transform, const weft_device_ops *device);

    /* *bytes gets what the plan holds, as far as the engine knows. */
    weft_status (*plan)(const weft_transform *transform, const weft_device_handle *device,
                        weft_engine_plan **plan, size_t *bytes);
    void (*destroy)(weft_engine_plan *plan);

    /* Enqueues the transform. in and out are device addresses (any alignment of the element type).
     */
    weft_status (*execute)(weft_engine_plan *plan, const weft_device_handle *device,
                           weft_queue *queue, const void *in, void *out);
} weft_engine_ops;

const weft_engine_ops *weft_engine_find(weft_engine id);

/* The first engine of the list that works here and supports the device. */
const weft_engine_ops *weft_engine_default(const weft_device_ops *device);

#endif
