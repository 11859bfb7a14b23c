/*
 * The reference engine: portable C, every length, accurate. The other engines are tested against
 * it, and it runs where no other engine does.
 *
 * A transform of several dimensions is a chain of passes along one dimension each, the later ones
 * in place. For a complex-to-real one the passes in place come first, so they need an array of
 * their own unless the input may be overwritten.
 */
#include "engine/engine.h"

#include "engine/reference/pass.h"
#include "support/error.h"

#include <stdlib.h>

typedef enum array_name { INPUT, OUTPUT, SCRATCH, ARRAYS } array_name;

typedef struct chained_pass {
    weft_pass pass;
    array_name from, to;
} chained_pass;

struct weft_engine_plan {
    int passes;
    chained_pass chain[WEFT_MAX_RANK];
    int threads;
    double *workspace;        /* of every thread, one after the other */
    int64_t workspace_stride; /* numbers from one to the next */
    void *scratch;            /* complex, packed: loops, then dimensions; or NULL */
};

static weft_status reference_probe(const char **description) {
    if (description) *description = "reference (portable C, double precision inside)";
    return WEFT_SUCCESS;
}

static weft_status reference_supports(const weft_transform *transform,
                                      const weft_device_ops *device) {
    if (!device->run)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "reference engine: device %s cannot run host code; choose another engine",
                         device->name);
    if (transform->precision != WEFT_DOUBLE && transform->precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "reference engine: precision %d; use double or single",
                         (int)transform->precision);
    if (transform->in_place && transform->kind != WEFT_TRANSFORM_C2C &&
        transform->kind != WEFT_TRANSFORM_R2R)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "reference engine: a batch of real transforms in place; use two buffers");
    return WEFT_SUCCESS;
}

/* ---- planning ---- */

/* Strides of every dimension and loop in each of the three arrays. */
typedef struct array_strides {
    int64_t dim[ARRAYS][WEFT_MAX_RANK], loop[ARRAYS][WEFT_AXES];
    int64_t scratch_elements;
} array_strides;

/* Extent of dimension d between the passes: on the complex side, if there is one. */
static int64_t complex_extent(const weft_transform *transform, int d) {
    bool halved = transform->kind != WEFT_TRANSFORM_C2C && transform->kind != WEFT_TRANSFORM_R2R &&
                  d == transform->dims - 1;
    return halved ? transform->dim[d].n / 2 + 1 : transform->dim[d].n;
}

static array_strides find_strides(const weft_transform *transform) {
    array_strides strides;
    int64_t packed = 1;
    for (int d = transform->dims - 1; d >= 0; d--) {
        strides.dim[INPUT][d] = transform->dim[d].in_stride;
        strides.dim[OUTPUT][d] = transform->dim[d].out_stride;
        strides.dim[SCRATCH][d] = packed;
        packed *= complex_extent(transform, d);
    }
    for (int i = transform->loops - 1; i >= 0; i--) {
        strides.loop[INPUT][i] = transform->loop[i].in_stride;
        strides.loop[OUTPUT][i] = transform->loop[i].out_stride;
        strides.loop[SCRATCH][i] = packed;
        packed *= transform->loop[i].n;
    }
    strides.scratch_elements = packed;
    return strides;
}

/* Appends the pass along dimension d. */
static weft_status add_pass(weft_engine_plan *plan, const weft_transform *transform,
                            const array_strides *strides, int d, array_name from, array_name to,
                            size_t *bytes) {
    const bool last = d == transform->dims - 1;
    const bool r2r = transform->kind == WEFT_TRANSFORM_R2R;
    if (from == to && transform->dim[d].n == 1 && !r2r) return WEFT_SUCCESS;
    chained_pass *link = &plan->chain[plan->passes++];
    link->from = from;
    link->to = to;
    weft_pass *pass = &link->pass;
    pass->kind = last || r2r ? transform->kind : WEFT_TRANSFORM_C2C;
    pass->type = transform->type[d];
    pass->precision = transform->precision;
    pass->direction = transform->kind == WEFT_TRANSFORM_C2C   ? transform->direction
                      : transform->kind == WEFT_TRANSFORM_R2C ? WEFT_FORWARD
                                                              : WEFT_INVERSE;
    pass->dim = (weft_dimension){transform->dim[d].n, strides->dim[from][d], strides->dim[to][d]};
    for (int i = 0; i < transform->loops; i++)
        pass->loop[pass->loops++] =
            (weft_dimension){transform->loop[i].n, strides->loop[from][i], strides->loop[to][i]};
    for (int e = 0; e < transform->dims; e++) {
        if (e == d) continue;
        pass->loop[pass->loops++] = (weft_dimension){complex_extent(transform, e),
                                                     strides->dim[from][e], strides->dim[to][e]};
    }
    return weft_pass_prepare(pass, bytes);
}

static weft_status add_passes(weft_engine_plan *plan, const weft_transform *transform,
                              size_t *bytes) {
    const array_strides strides = find_strides(transform);
    array_name from = INPUT, to = OUTPUT;
    if (transform->kind != WEFT_TRANSFORM_C2R) {
        for (int d = transform->dims - 1; d >= 0; d--) {
            WEFT_TRY(add_pass(plan, transform, &strides, d, from, to, bytes));
            from = OUTPUT;
        }
        return WEFT_SUCCESS;
    }
    for (int d = 0; d < transform->dims - 1; d++) {
        to = transform->destroy_input ? INPUT : SCRATCH;
        WEFT_TRY(add_pass(plan, transform, &strides, d, from, to, bytes));
        from = to;
    }
    WEFT_TRY(add_pass(plan, transform, &strides, transform->dims - 1, from, OUTPUT, bytes));
    if (from != SCRATCH) return WEFT_SUCCESS;
    size_t number = weft_number_bytes(transform->precision);
    size_t size = 2 * number * (size_t)strides.scratch_elements;
    plan->scratch = malloc(size);
    if (!plan->scratch)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "reference engine: no memory for a copy of the input, %zu bytes", size);
    *bytes += size;
    return WEFT_SUCCESS;
}

static weft_status allocate_workspace(weft_engine_plan *plan, size_t *bytes) {
    enum { CACHE_LINE = 64 };
    const int64_t line = CACHE_LINE / (int64_t)sizeof(double);
    for (int i = 0; i < plan->passes; i++) {
        int64_t needed = weft_pass_workspace(&plan->chain[i].pass);
        if (needed > plan->workspace_stride) plan->workspace_stride = needed;
    }
    plan->workspace_stride = (plan->workspace_stride + line - 1) / line * line;
    size_t size = (size_t)plan->threads * (size_t)plan->workspace_stride * sizeof(double);
    plan->workspace = aligned_alloc(CACHE_LINE, size);
    if (!plan->workspace)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "reference engine: no memory for a workspace of %zu bytes", size);
    *bytes += size;
    return WEFT_SUCCESS;
}

static void reference_destroy(weft_engine_plan *plan) {
    if (!plan) return;
    for (int i = 0; i < plan->passes; i++) weft_pass_release(&plan->chain[i].pass);
    free(plan->workspace);
    free(plan->scratch);
    free(plan);
}

static weft_status reference_plan(const weft_transform *transform, const weft_device_handle *device,
                                  weft_engine_plan **out, size_t *bytes) {
    WEFT_TRY(reference_supports(transform, device->ops));
    weft_engine_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "reference engine: no memory for a plan");
    size_t held = sizeof *plan;
    plan->threads = transform->threads > 1 ? transform->threads : 1;
    weft_status status = add_passes(plan, transform, &held);
    if (status == WEFT_SUCCESS) status = allocate_workspace(plan, &held);
    if (status != WEFT_SUCCESS) {
        reference_destroy(plan);
        return status;
    }
    *out = plan;
    *bytes = held;
    return WEFT_SUCCESS;
}

/* ---- execution ---- */

static weft_status run_plan(void *argument, const void *in, void *out) {
    const weft_engine_plan *plan = argument;
    /* The input is written to only where the transform allows it. */
    void *const arrays[ARRAYS] = {
        [INPUT] = (void *)(uintptr_t)in, [OUTPUT] = out, [SCRATCH] = plan->scratch};
    for (int i = 0; i < plan->passes; i++) {
        const chained_pass *link = &plan->chain[i];
        weft_pass_run(&link->pass, arrays[link->from], arrays[link->to], plan->workspace,
                      plan->workspace_stride, plan->threads);
    }
    return WEFT_SUCCESS;
}

static weft_status reference_execute(weft_engine_plan *plan, const weft_device_handle *device,
                                     weft_queue *queue, const void *in, void *out) {
    return device->ops->run(device->state, queue, run_plan, plan, in, out);
}

const weft_engine_ops weft_engine_reference = {.name = "reference",
                                               .id = WEFT_ENGINE_REFERENCE,
                                               .probe = reference_probe,
                                               .supports = reference_supports,
                                               .plan = reference_plan,
                                               .destroy = reference_destroy,
                                               .execute = reference_execute};
