/*
 * Operators without a pass over memory: where the engine takes them, the transform after them
 * applies them as it loads, the one before them as it stores.
 */
#include "plan/steps.h"

/* The axes of dimensions and loops, as schedule.c numbers those. */
weft_fused_operators weft_schedule_fused(const weft_pointwise_step *pointwise,
                                         const weft_fft_step *fft) {
    weft_fused_operators f = {.list = pointwise->operators, .layout = pointwise->layout};
    const weft_transform *t = &fft->transform;
    for (int d = 0; d < t->dims; d++) f.dim_axis[d] = fft->axis[t->dims - 1 - d];
    for (int a = 0, loop = 0; a < f.layout.box.axes; a++)
        if (!weft_step_transforms(fft, a) && f.layout.box.n[a] != 1) f.loop_axis[loop++] = a;
    return f;
}

/* The strides of the caller's array where it is not the box. The loop over real and imaginary
 * parts, which comes last, has no axis. */
static void set_strides(const weft_pointwise_layout *layout, int parts, weft_transform *t) {
    const bool loads = weft_pointwise_loads(layout);
    const weft_fused_operators *f = loads ? &t->load : &t->store;
    int64_t stride[WEFT_AXES];
    weft_stored_strides(layout, stride);
    for (int d = 0; d < t->dims; d++)
        *(loads ? &t->dim[d].in_stride : &t->dim[d].out_stride) = parts * stride[f->dim_axis[d]];
    for (int l = 0; l < t->loops - (parts - 1); l++)
        *(loads ? &t->loop[l].in_stride : &t->loop[l].out_stride) = parts * stride[f->loop_axis[l]];
}

/* Whether both sides of a transform are the same view of the same numbers. */
static bool is_one_view(const weft_transform *t) {
    const weft_fused_operators *side[] = {&t->load, &t->store};
    bool same = t->kind == WEFT_TRANSFORM_C2C || t->kind == WEFT_TRANSFORM_R2R || t->round_trip;
    for (int i = 0; i < 2; i++)
        same = same && (!side[i]->list || weft_stored_is_plain(&side[i]->layout.stored));
    for (int d = 0; d < t->dims; d++) same = same && t->dim[d].in_stride == t->dim[d].out_stride;
    for (int l = 0; l < t->loops; l++) same = same && t->loop[l].in_stride == t->loop[l].out_stride;
    return same;
}

/* How many bytes more the caller's array has than the box in the numbers of the transform. */
static int64_t bytes_more(const weft_pointwise_layout *layout) {
    const weft_view view = weft_stored_view(layout);
    const int64_t element = (int64_t)weft_number_bytes(layout->precision) * (layout->real ? 1 : 2);
    return weft_view_elements(&view) * (int64_t)weft_stored_element_bytes(layout) -
           weft_region_elements(&layout->box) * element;
}

/* The transform `step` applies the operators, if its engine takes them and it has none there yet.
 */
static bool take(const weft_schedule_request *request, const weft_pointwise_step *pointwise,
                 bool reads_input, weft_step *step) {
    weft_fft_step *fft = &step->as.fft;
    const bool loads = weft_pointwise_loads(&pointwise->layout);
    const bool box = weft_stored_is_box(&pointwise->layout.stored);
    weft_transform t = fft->transform;
    if (loads ? t.load.list : t.store.list) return false;
    *(loads ? &t.load : &t.store) = weft_schedule_fused(pointwise, fft);
    if (reads_input) t.destroy_input = false;
    if (!box) set_strides(&pointwise->layout, fft->parts, &t);
    if (request->computing.engine->supports(&t, request->computing.device) != WEFT_SUCCESS)
        return false;
    fft->transform = t;
    if (box) return true;
    *(loads ? &step->src_bytes : &step->dst_bytes) = weft_stored_bytes(&pointwise->layout);
    step->bytes_moved += bytes_more(&pointwise->layout);
    fft->can_alias = is_one_view(&t);
    return true;
}

bool weft_schedule_takes_operators(const weft_schedule_request *request,
                                   const weft_schedule *schedule, int first, int axes) {
    const weft_engine_ops *engine = request->computing.engine;
    weft_step fft = {.kind = WEFT_STEP_COPY};
    if (!engine || !engine->takes_operators || !engine->together) return false;
    for (int i = first; i < schedule->steps; i++)
        if (schedule->step[i].kind == WEFT_STEP_FFT) fft = schedule->step[i];
    const weft_transform *t = &fft.as.fft.transform;
    bool takes = fft.kind == WEFT_STEP_FFT && t->dims == axes && engine->together(t) == axes;
    for (int i = first; i < schedule->steps && takes; i++)
        if (schedule->step[i].kind == WEFT_STEP_POINTWISE)
            takes = take(request, &schedule->step[i].as.pointwise, i == 0, &fft);
    return takes;
}

static void remove_step(weft_schedule *schedule, int i) {
    schedule->steps--;
    for (; i < schedule->steps; i++) schedule->step[i] = schedule->step[i + 1];
}

/* Conversions of what travels stay steps: they cost little beside what they spare. */
void weft_schedule_fuse_operators(const weft_schedule_request *request, weft_schedule *schedule) {
    if (!request->computing.engine || !request->computing.engine->takes_operators) return;
    for (int i = 0; i < schedule->steps;) {
        const weft_step *step = &schedule->step[i];
        const weft_pointwise_step *pointwise = &step->as.pointwise;
        weft_step *next = NULL;
        if (step->kind == WEFT_STEP_POINTWISE && pointwise->number < WEFT_FIRST_CONVERSION)
            next = weft_schedule_transform(
                schedule, weft_pointwise_loads(&pointwise->layout) ? i + 1 : i - 1);
        if (next && take(request, pointwise, i == 0, next))
            remove_step(schedule, i);
        else
            i++;
    }
}
