/* Batches of contiguous lines, one axis of a cube at a time, and whole boxes, as VkFFT is told of
 * them. */
#include "vkfft_engine.h"

#include "support/error.h"

static weft_status probe(const char **description) {
    *description = vkfft_version();
    return WEFT_SUCCESS;
}

/* The box, contiguous axis first. */
static void set_box(const weft_transform *t, vkfft_case *c) {
    if (t->dims == 1 && t->loops == 1) {
        c->axes = 1;
        c->n[0] = t->dim[0].n;
        c->batch = t->loop[0].n;
        return;
    }
    int64_t stride = 1;
    c->axes = 3;
    c->batch = 1;
    for (int d = 0; d < 3; d++) { /* one axis of a cube, or all of a box */
        c->n[d] = t->dims == 3 ? t->dim[2 - d].n : t->dim[0].n;
        c->left_out[d] = t->dims == 1 && t->dim[0].in_stride != stride;
        stride *= c->n[d];
    }
}

static weft_status plan(const weft_transform *t, const weft_device_handle *device,
                        weft_engine_plan **made, size_t *bytes) {
    const char *error = NULL;
    vkfft_case c = {.real = t->kind != WEFT_TRANSFORM_C2C,
                    .backward = t->kind == WEFT_TRANSFORM_C2R,
                    .double_precision = t->precision == WEFT_DOUBLE,
                    .in_place = t->in_place,
                    .in_bytes = (uint64_t)t->in_elements * weft_transform_element_bytes(t, false),
                    .out_bytes = (uint64_t)t->out_elements * weft_transform_element_bytes(t, true)};
    (void)device, (void)bytes;
    set_box(t, &c);
    *made = (weft_engine_plan *)vkfft_create(&c, &error);
    return *made ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_UNSUPPORTED, "%s", error);
}

static void destroy(weft_engine_plan *p) {
    vkfft_destroy((vkfft_plan *)p);
}

static weft_status execute(weft_engine_plan *p, const weft_device_handle *device, weft_queue *queue,
                           const void *in, void *out) {
    const char *error = vkfft_execute((vkfft_plan *)p, (void *)(uintptr_t)in, out);
    (void)device, (void)queue;
    return error ? weft_fail(WEFT_ERROR_ENGINE, "%s", error) : WEFT_SUCCESS;
}

const weft_engine_ops vkfft_engine = {
    .name = "vkfft", .probe = probe, .plan = plan, .destroy = destroy, .execute = execute};
