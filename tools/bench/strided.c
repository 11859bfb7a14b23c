/*
 * weft's interface stores the arrays of a batch one after the other; a batch whose elements lie
 * side by side has no problem there. Its engines do take any strides, so such a problem is one
 * transform of an engine, as weft itself would issue it.
 */
#include "bench/strided.h"

#include "engine/engine.h"
#include "support/error.h"

#include <stdlib.h>

struct strided_plan {
    weft_device_handle device;
    const weft_engine_ops *engine;
    weft_engine_plan *plan;
};

static bench_share whole(const bench_problem *p, weft_space space) {
    weft_box box = {.n = {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int a = 0; a < p->rank; a++) box.n[a] = bench_extent(p, space, a);
    return bench_share_of(p, &box);
}

static int64_t elements_of(const bench_problem *p, const bench_share *share) {
    int64_t elements = p->batch;
    for (int a = 0; a < p->rank; a++) elements *= share->n[a];
    return elements;
}

/* An axis that is left as it is becomes a loop. */
static void add_dimension(weft_transform *t, const bench_problem *p, int axis, int64_t in_stride,
                          int64_t out_stride) {
    const weft_dimension one = {p->n[axis], in_stride, out_stride};
    if (p->axis[axis] == WEFT_AXIS_NONE) {
        t->loop[t->loops++] = one;
        return;
    }
    t->type[t->dims] = bench_axis_type(p, axis);
    t->dim[t->dims++] = one;
}

static weft_transform transform_of(const bench_problem *p, const weft_options *o) {
    bench_share in = whole(p, bench_from(p)), out = whole(p, bench_to(p));
    weft_transform t = {
        .kind = p->kind == WEFT_R2R            ? WEFT_TRANSFORM_R2R
                : p->kind == WEFT_C2C          ? WEFT_TRANSFORM_C2C
                : p->direction == WEFT_FORWARD ? WEFT_TRANSFORM_R2C
                                               : WEFT_TRANSFORM_C2R,
        .direction = p->direction,
        .precision = p->precision,
        .loops = 1,
        .loop = {{.n = p->batch, .in_stride = in.batch_stride, .out_stride = out.batch_stride}},
        .threads = o->threads > 0 ? o->threads : 1,
        .effort = o->effort,
        .in_elements = elements_of(p, &in),
        .out_elements = elements_of(p, &out),
    };
    for (int a = 0; a < p->rank; a++) add_dimension(&t, p, a, in.stride[a], out.stride[a]);
    return t;
}

/* Engines that cannot keep the input of a complex-to-real transform may overwrite it. */
static weft_status create(strided_plan *plan, const bench_problem *p, const weft_options *o,
                          strided_facts *facts) {
    const weft_device_ops *device = weft_device_find(o->device);
    if (!device || !device->host_addressable)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "strided transforms run on device host only");
    weft_transform t = transform_of(p, o);
    plan->engine = o->engine != WEFT_ENGINE_AUTO ? weft_engine_find(o->engine)
                   : p->kind == WEFT_R2R         ? weft_engine_default_real(device)
                                                 : weft_engine_default(device);
    if (!plan->engine)
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "engine %s is not in this version of weft",
                         weft_engine_name(o->engine));
    if (plan->engine->supports(&t, device) != WEFT_SUCCESS) {
        t.destroy_input = true;
        WEFT_TRY(plan->engine->supports(&t, device));
    }
    const weft_device_settings settings = {.threads = t.threads};
    WEFT_TRY(device->open(&settings, &plan->device.state));
    plan->device.ops = device;
    WEFT_TRY(plan->engine->plan(&t, &plan->device, &plan->plan, &facts->bytes));
    facts->engine = plan->engine->name;
    facts->destroys_input = t.destroy_input;
    return WEFT_SUCCESS;
}

weft_status strided_plan_create(const bench_problem *p, const weft_options *options,
                                strided_plan **plan, strided_facts *facts) {
    strided_plan *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a strided plan");
    weft_status status = create(made, p, options, facts);
    if (status == WEFT_SUCCESS)
        *plan = made;
    else
        strided_plan_destroy(made);
    return status;
}

weft_status strided_plan_execute(strided_plan *plan, const void *in, void *out) {
    const weft_device_handle *device = &plan->device;
    WEFT_TRY(plan->engine->execute(plan->plan, device, NULL, in, out));
    return device->ops->queue_wait(device->state, NULL);
}

void strided_plan_destroy(strided_plan *plan) {
    if (!plan) return;
    if (plan->plan) plan->engine->destroy(plan->plan);
    if (plan->device.ops) plan->device.ops->close(plan->device.state);
    free(plan);
}
