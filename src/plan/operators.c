/*
 * Operators without a trip through memory: where the engine takes them, the transform after them
 * applies them as it loads, the one before them as it stores.
 */
#include "plan/schedule.h"

static bool transforms_axis(const weft_step *fft, int axis) {
    for (int d = 0; d < fft->transform.dims; d++)
        if (fft->axis[d] == axis) return true;
    return false;
}

/* The axes of dimensions and loops, as schedule.c numbers those. */
weft_fused_operators weft_schedule_fused(const weft_step *step, const weft_step *fft) {
    weft_fused_operators f = {.list = step->operators, .layout = step->layout};
    const weft_transform *t = &fft->transform;
    for (int d = 0; d < t->dims; d++) f.dim_axis[d] = fft->axis[t->dims - 1 - d];
    for (int a = 0, loop = 0; a < step->layout.box.axes; a++)
        if (!transforms_axis(fft, a) && step->layout.box.n[a] != 1) f.loop_axis[loop++] = a;
    return f;
}

/* The strides of the caller's array where it is not the box. */
static void set_strides(const weft_pointwise_layout *layout, weft_transform *t) {
    const bool loads = weft_pointwise_loads(layout);
    const weft_fused_operators *f = loads ? &t->load : &t->store;
    int64_t stride[WEFT_AXES];
    weft_stored_strides(layout, stride);
    for (int d = 0; d < t->dims; d++)
        *(loads ? &t->dim[d].in_stride : &t->dim[d].out_stride) = stride[f->dim_axis[d]];
    for (int l = 0; l < t->loops; l++)
        *(loads ? &t->loop[l].in_stride : &t->loop[l].out_stride) = stride[f->loop_axis[l]];
}

static bool take(const weft_schedule_request *request, const weft_step *step, bool reads_input,
                 weft_step *fft) {
    weft_transform t = fft->transform;
    if (fft->kind != WEFT_STEP_FFT || weft_step_is_empty(fft)) return false;
    *(weft_pointwise_loads(&step->layout) ? &t.load : &t.store) = weft_schedule_fused(step, fft);
    if (reads_input) t.destroy_input = false;
    const bool box = weft_stored_is_box(&step->layout.stored);
    if (!box) set_strides(&step->layout, &t);
    if (request->engine->supports(&t, request->device) != WEFT_SUCCESS) return false;
    fft->transform = t;
    if (box) return true;
    *(weft_pointwise_loads(&step->layout) ? &fft->src_bytes : &fft->dst_bytes) =
        weft_stored_bytes(&step->layout);
    fft->can_alias = false;
    return true;
}

static void remove_step(weft_schedule *schedule, int i) {
    schedule->steps--;
    for (; i < schedule->steps; i++) schedule->step[i] = schedule->step[i + 1];
}

void weft_schedule_fuse_operators(const weft_schedule_request *request, weft_schedule *schedule) {
    if (!request->engine || !request->engine->takes_operators) return;
    for (int i = 0; i < schedule->steps;) {
        const weft_step *step = &schedule->step[i];
        const bool loads = weft_pointwise_loads(&step->layout);
        const int other = loads ? i + 1 : i - 1;
        if (step->kind == WEFT_STEP_POINTWISE && other >= 0 && other < schedule->steps &&
            take(request, step, i == 0, &schedule->step[other]))
            remove_step(schedule, i);
        else
            i++;
    }
}
