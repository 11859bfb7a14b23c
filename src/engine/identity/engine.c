/*
 * The identity engine: stores what it loads, in place of a transform. A plan with it is the
 * redistributions alone, for checking that every element arrives at its place and for measuring
 * what moving data costs.
 */
#include "engine/engine.h"
#include "support/error.h"

#include <stdlib.h>

struct weft_engine_plan {
    bool in_place;
    weft_copy copy;
};

static weft_status identity_probe(const char **description) {
    if (description) *description = "identity (moves data, transforms nothing)";
    return WEFT_SUCCESS;
}

static weft_status identity_supports(const weft_transform *transform,
                                     const weft_device_ops *device) {
    (void)device;
    if (transform->loops + transform->dims > WEFT_AXES)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "identity engine: copies have %d axes at most, real and imaginary parts "
                         "of cosine and sine transforms included",
                         WEFT_AXES);
    if (transform->kind == WEFT_TRANSFORM_C2C || transform->kind == WEFT_TRANSFORM_R2R)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "identity engine: real data has no spectrum without a transform; choose c2c "
                     "or r2r");
}

static void add_axis(const weft_dimension *dimension, weft_view *in, weft_view *out) {
    in->n[in->axes] = out->n[out->axes] = dimension->n;
    in->stride[in->axes++] = dimension->in_stride;
    out->stride[out->axes++] = dimension->out_stride;
}

static weft_status identity_plan(const weft_transform *transform, const weft_device_handle *device,
                                 weft_engine_plan **out, size_t *bytes) {
    WEFT_TRY(identity_supports(transform, device->ops));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "identity engine: no memory for a plan");
    weft_view from = {.axes = 0}, to = {.axes = 0};
    for (int i = 0; i < transform->loops; i++) add_axis(&transform->loop[i], &from, &to);
    for (int i = 0; i < transform->dims; i++) add_axis(&transform->dim[i], &from, &to);
    plan->in_place = transform->in_place;
    plan->copy = weft_copy_between(&from, &to, weft_transform_element_bytes(transform, false));
    *out = plan;
    *bytes = sizeof *plan;
    return WEFT_SUCCESS;
}

static void identity_destroy(weft_engine_plan *plan) {
    free(plan);
}

static weft_status identity_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                    weft_queue *queue, const void *in, void *out) {
    if (plan->in_place) return WEFT_SUCCESS;
    return device->ops->copy(device->state, queue, &plan->copy, in, out, WEFT_DEVICE_TO_DEVICE);
}

const weft_engine_ops weft_engine_identity = {
    .name = "identity",
    .id = WEFT_ENGINE_IDENTITY,
    .probe = identity_probe,
    .supports = identity_supports,
    .plan = identity_plan,
    .destroy = identity_destroy,
    .execute = identity_execute,
};
