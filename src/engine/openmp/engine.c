/*
 * The OpenMP engine: transforms of every length by target regions of our own, on the device openmp
 * only. Products of 2, 3, 5, 7, 11 and 13 by Stockham's stages, other lengths as a convolution
 * (Bluestein), real data of even length in pairs, cosine and sine transforms as those of real data.
 *
 * A transform of several dimensions is a chain of passes along one dimension each, the later ones
 * in place. For a complex-to-real one the passes in place come first, so they need an array of
 * their own unless the input may be overwritten.
 */
#include "engine/openmp/pass.h"

#include "support/axis.h"
#include "support/error.h"

#include <stdlib.h>

typedef enum array_name { INPUT, OUTPUT, KEPT, ARRAYS } array_name;

typedef struct chained_pass {
    weft_openmp_pass pass;
    array_name from, to;
} chained_pass;

struct weft_engine_plan {
    weft_device_state *device;
    int passes;
    chained_pass chain[WEFT_MAX_RANK];
    size_t kept_at; /* in the scratch memory, behind that of the passes */
};

static weft_status openmp_probe(const char **description) {
    if (description) *description = "weft's own kernels in OpenMP's target regions";
    return WEFT_SUCCESS;
}

static weft_status openmp_supports(const weft_transform *t, const weft_device_ops *device) {
    if (device->id != WEFT_OPENMP)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "OpenMP engine: device %s does not run its target regions; choose device "
                         "openmp",
                         device->name);
    if (t->precision != WEFT_DOUBLE && t->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "OpenMP engine: precision %d; use double or single", (int)t->precision);
    if (t->in_place && t->kind != WEFT_TRANSFORM_C2C && t->kind != WEFT_TRANSFORM_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "OpenMP engine: a batch of real transforms in place; use two buffers");
    for (int d = 0; d < t->dims; d++)
        if (t->dim[d].n > WEFT_OPENMP_LONGEST)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "OpenMP engine: lines of %lld points; it takes %d at most",
                             (long long)t->dim[d].n, WEFT_OPENMP_LONGEST);
    return WEFT_SUCCESS;
}

/* ---- planning ---- */

/* Strides of every dimension and loop in each of the arrays. */
typedef struct array_strides {
    int64_t dim[ARRAYS][WEFT_MAX_RANK], loop[ARRAYS][WEFT_AXES];
    int64_t kept_elements;
} array_strides;

/* Extent of dimension d between the passes: on the complex side, if there is one. */
static int64_t complex_extent(const weft_transform *t, int d) {
    const bool real = t->kind == WEFT_TRANSFORM_R2C || t->kind == WEFT_TRANSFORM_C2R;
    const bool halved = real && d == t->dims - 1;
    return halved ? t->dim[d].n / 2 + 1 : t->dim[d].n;
}

static array_strides find_strides(const weft_transform *t) {
    array_strides strides;
    int64_t packed = 1;
    for (int d = t->dims - 1; d >= 0; d--) {
        strides.dim[INPUT][d] = t->dim[d].in_stride;
        strides.dim[OUTPUT][d] = t->dim[d].out_stride;
        strides.dim[KEPT][d] = packed;
        packed *= complex_extent(t, d);
    }
    for (int i = t->loops - 1; i >= 0; i--) {
        strides.loop[INPUT][i] = t->loop[i].in_stride;
        strides.loop[OUTPUT][i] = t->loop[i].out_stride;
        strides.loop[KEPT][i] = packed;
        packed *= t->loop[i].n;
    }
    strides.kept_elements = packed;
    return strides;
}

/* Appends the pass along dimension d. */
static weft_status add_pass(weft_engine_plan *plan, const weft_transform *t,
                            const array_strides *strides, int d, array_name from, array_name to) {
    const bool last = d == t->dims - 1, r2r = t->kind == WEFT_TRANSFORM_R2R;
    if (from == to && t->dim[d].n == 1 && !r2r) return WEFT_SUCCESS;
    chained_pass *link = &plan->chain[plan->passes++];
    link->from = from;
    link->to = to;
    weft_openmp_pass *pass = &link->pass;
    pass->kind = last || r2r ? t->kind : WEFT_TRANSFORM_C2C;
    pass->type = t->type[d];
    pass->precision = t->precision;
    pass->inverse = t->kind == WEFT_TRANSFORM_C2C ? t->direction == WEFT_INVERSE
                    : r2r                         ? weft_axis_number(t->type[d]) == 3
                                                  : t->kind == WEFT_TRANSFORM_C2R;
    pass->dim = (weft_dimension){t->dim[d].n, strides->dim[from][d], strides->dim[to][d]};
    for (int i = 0; i < t->loops; i++)
        pass->loop[pass->loops++] =
            (weft_dimension){t->loop[i].n, strides->loop[from][i], strides->loop[to][i]};
    for (int e = 0; e < t->dims; e++) {
        if (e == d) continue;
        pass->loop[pass->loops++] =
            (weft_dimension){complex_extent(t, e), strides->dim[from][e], strides->dim[to][e]};
    }
    return weft_openmp_pass_prepare(pass, plan->device);
}

/* *kept gets the elements of a copy of the input, if there must be one. */
static weft_status add_passes(weft_engine_plan *plan, const weft_transform *t, int64_t *kept) {
    const array_strides strides = find_strides(t);
    array_name from = INPUT;
    *kept = 0;
    if (t->kind != WEFT_TRANSFORM_C2R) {
        for (int d = t->dims - 1; d >= 0; d--) {
            WEFT_TRY(add_pass(plan, t, &strides, d, from, OUTPUT));
            from = OUTPUT;
        }
        return WEFT_SUCCESS;
    }
    for (int d = 0; d < t->dims - 1; d++) {
        const array_name to = t->destroy_input ? INPUT : KEPT;
        WEFT_TRY(add_pass(plan, t, &strides, d, from, to));
        from = to;
    }
    if (from == KEPT) *kept = strides.kept_elements;
    return add_pass(plan, t, &strides, t->dims - 1, from, OUTPUT);
}

static void openmp_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->passes; i++)
        weft_openmp_pass_release(&plan->chain[i].pass, plan->device);
    free(plan);
}

/* Makes sure that the device has scratch memory for the passes. */
static weft_status reserve(weft_engine_plan *plan, int64_t kept, weft_precision precision,
                           size_t *bytes) {
    size_t grown = 0;
    for (int i = 0; i < plan->passes; i++) {
        const size_t needed = weft_openmp_pass_scratch(&plan->chain[i].pass);
        if (needed > plan->kept_at) plan->kept_at = needed;
        *bytes += plan->chain[i].pass.table_bytes;
    }
    WEFT_TRY(weft_openmp_reserve(
        plan->device, plan->kept_at + 2 * weft_number_bytes(precision) * (size_t)kept, &grown));
    *bytes += grown;
    return WEFT_SUCCESS;
}

static weft_status openmp_plan(const weft_transform *t, const weft_device_handle *device,
                               weft_engine_plan **out, size_t *bytes) {
    int64_t kept;
    WEFT_TRY(openmp_supports(t, device->ops));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "OpenMP engine: no memory for a plan");
    size_t held = sizeof *plan;
    plan->device = device->state;
    weft_status status = add_passes(plan, t, &kept);
    if (status == WEFT_SUCCESS) status = reserve(plan, kept, t->precision, &held);
    if (status != WEFT_SUCCESS) {
        openmp_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = held;
    return WEFT_SUCCESS;
}

/* ---- execution ---- */

/* In a queue's task. Transforms of several queues take turns with the scratch memory. */
static weft_status run_plan(void *argument, const void *in, void *out) {
    const weft_engine_plan *plan = argument;
    weft_openmp_area *area = &plan->device->scratch;
    pthread_mutex_lock(&area->lock);
    /* The input is written to only where the transform allows it. */
    void *const arrays[ARRAYS] = {
        [INPUT] = (void *)(uintptr_t)in, [OUTPUT] = out, [KEPT] = area->memory + plan->kept_at};
    for (int i = 0; i < plan->passes; i++) {
        const chained_pass *link = &plan->chain[i];
        weft_openmp_pass_run(&link->pass, &plan->device->processor, arrays[link->from],
                             arrays[link->to], area->memory);
    }
    pthread_mutex_unlock(&area->lock);
    return WEFT_SUCCESS;
}

static weft_status openmp_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                  weft_queue *queue, const void *in, void *out) {
    return weft_openmp_enqueue(device->state, queue, run_plan, plan, in, out);
}

const weft_engine_ops weft_engine_openmp = {.name = "openmp",
                                            .id = WEFT_ENGINE_OPENMP,
                                            .probe = openmp_probe,
                                            .supports = openmp_supports,
                                            .plan = openmp_plan,
                                            .destroy = openmp_destroy,
                                            .execute = openmp_execute};
