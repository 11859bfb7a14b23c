/* Transforms and copies as steps of a schedule. */
#include "plan/steps.h"

#include "support/axis.h"

#include <math.h>
#include <string.h>

int64_t weft_end_bytes(const weft_schedule_request *request, const weft_end *e) {
    weft_region box = weft_distribution_box(e->distribution, request->rank);
    return weft_region_elements(&box) * weft_end_element_bytes(request->precision, e->real);
}

weft_view weft_end_view(const weft_schedule_request *request, const weft_end *e) {
    const weft_region box = weft_distribution_box(e->distribution, request->rank);
    weft_view view = weft_view_of(&box, e->order, &box);
    if (e->stride) memcpy(view.stride, e->stride, (size_t)box.axes * sizeof *view.stride);
    return view;
}

int64_t weft_view_reach(const weft_view *view) {
    int64_t first, after;
    weft_view_range(view, &first, &after);
    return after - first;
}

weft_step *weft_schedule_add_step(weft_schedule *schedule, weft_step_kind kind) {
    weft_step *step = &schedule->step[schedule->steps++];
    *step = (weft_step){.kind = kind, .src = -1, .dst = -1};
    return step;
}

/* 5 n log2 n operations for each complex line, half of it for real ones (the benchFFT convention).
 */
static double transform_flops(const weft_transform *transform) {
    double lines = 1, points = 1, flops = 0;
    for (int i = 0; i < transform->loops; i++) lines *= (double)transform->loop[i].n;
    for (int i = 0; i < transform->dims; i++) points *= (double)transform->dim[i].n;
    flops = 5.0 * lines * points * log2(points);
    return transform->kind == WEFT_TRANSFORM_C2C ? flops : flops / 2;
}

void weft_step_set_types(const weft_chain *chain, const weft_fft_step *fft, int64_t member,
                         weft_transform *t) {
    for (int d = 0; d < t->dims; d++)
        t->type[d] = weft_chain_type(chain, t->direction, fft->axis[t->dims - 1 - d], member);
}

/* Where the fields of a member have different types, each member is a tile. */
static void tell_members_apart(const weft_schedule_request *request, const weft_region *box,
                               weft_fft_step *fft) {
    const int members = request->chain->axes - 1;
    bool differ = false;
    for (int d = 0; d < fft->transform.dims; d++)
        differ =
            differ || weft_chain_types_differ(request->chain, request->direction, fft->axis[d]);
    fft->member = box->lo[members];
    if (!differ || box->n[members] < 2) return;
    fft->by_member = true;
    fft->tiles = (int)box->n[members];
    fft->tile_loop = weft_step_loop(fft, box->n, members);
}

/* Real to real, complex data is twice as many real lines: the real and imaginary parts are a loop
 * of two, the innermost one. */
static void halve_strides(weft_transform *t) {
    for (int d = 0; d < t->dims; d++) {
        t->dim[d].in_stride *= 2;
        t->dim[d].out_stride *= 2;
    }
    for (int i = 0; i < t->loops; i++) {
        t->loop[i].in_stride *= 2;
        t->loop[i].out_stride *= 2;
    }
    t->loop[t->loops++] = (weft_dimension){2, 1, 1};
    t->in_elements *= 2;
    t->out_elements *= 2;
}

/* Whether lines along the last axis are contiguous in all arrays of the chain. Where they are not,
 * exchange methods differ in how transforms find them. */
static bool keeps_lines(const weft_chain *chain) {
    const int last = chain->axes - 1;
    for (int s = 0; s < chain->segments; s++)
        for (int i = 0; i < 4; i++)
            if (chain->segment[s].order[i / 2][i % 2][last] != last - 1) return false;
    return true;
}

/* Real lines of several axes are left out: there and back, tiles are as fast for them. */
int64_t weft_schedule_whole(const weft_schedule_request *request) {
    const weft_chain *chain = request->chain;
    int transforms = 0;
    for (int s = 0; s < chain->segments; s++) transforms += chain->segment[s].transforms;
    int64_t elements = 1;
    for (int a = 0; a < chain->axes; a++) elements *= chain->n[a];
    return transforms == 1 || (!chain->real && keeps_lines(chain)) ? elements : 0;
}

void weft_schedule_add_transform(const weft_schedule_request *request, weft_schedule *schedule,
                                 const weft_end *from, const weft_end *to, const int *axes,
                                 int count) {
    weft_region in = weft_distribution_box(from->distribution, request->rank);
    weft_region out = weft_distribution_box(to->distribution, request->rank);
    const weft_view in_view = weft_end_view(request, from), out_view = weft_end_view(request, to);
    weft_step *step = weft_schedule_add_step(schedule, WEFT_STEP_FFT);
    weft_fft_step *fft = &step->as.fft;
    weft_transform *t = &fft->transform;
    const bool real_to_real = weft_axis_is_real_to_real(request->chain->types.forward[axes[0]]);
    *t = (weft_transform){.kind = real_to_real ? WEFT_TRANSFORM_R2R
                                  : from->real ? WEFT_TRANSFORM_R2C
                                  : to->real   ? WEFT_TRANSFORM_C2R
                                               : WEFT_TRANSFORM_C2C,
                          .direction = request->direction,
                          .precision = request->precision,
                          .dims = count,
                          .threads = request->computing.threads,
                          .effort = request->computing.effort,
                          .in_elements = weft_view_reach(&in_view),
                          .out_elements = weft_view_reach(&out_view)};
    bool transformed[WEFT_AXES] = {false}, same = true;
    t->whole = weft_schedule_whole(request);
    for (int i = 0; i < count; i++) {
        int a = axes[count - 1 - i];
        int64_t n = in.n[a] > out.n[a] ? in.n[a] : out.n[a]; /* the real side is the longer one */
        t->dim[i] = (weft_dimension){n, in_view.stride[a], out_view.stride[a]};
        transformed[a] = true;
        fft->axis[i] = axes[i];
    }
    for (int a = 0; a < in.axes; a++) {
        same = same && in_view.stride[a] == out_view.stride[a];
        if (transformed[a]) continue;
        t->in_batch = t->in_batch || from->distribution->n[a] != 1;
        if (in.n[a] != 1)
            t->loop[t->loops++] = (weft_dimension){in.n[a], in_view.stride[a], out_view.stride[a]};
    }
    fft->parts = real_to_real && !from->real ? 2 : 1;
    if (fft->parts == 2) halve_strides(t);
    fft->can_alias = same && from->real == to->real;
    fft->tiles = 1;
    tell_members_apart(request, &in, fft);
    weft_step_set_types(request->chain, fft, fft->member, t);
    t->destroy_input = schedule->steps > 1;
    step->src_bytes =
        weft_view_reach(&in_view) * weft_end_element_bytes(request->precision, from->real);
    step->dst_bytes =
        weft_view_reach(&out_view) * weft_end_element_bytes(request->precision, to->real);
    step->flops = t->in_elements > 0 ? transform_flops(t) : 0;
    step->bytes_moved = weft_end_bytes(request, from) + weft_end_bytes(request, to);
}

void weft_schedule_add_reordering(const weft_schedule_request *request, weft_schedule *schedule,
                                  const weft_end *from, const weft_end *to) {
    const weft_view before = weft_end_view(request, from), after = weft_end_view(request, to);
    const int64_t element = weft_end_element_bytes(request->precision, from->real);
    weft_step *step = weft_schedule_add_step(schedule, WEFT_STEP_COPY);
    step->as.copy = (weft_copy_step){
        .copy = weft_copy_between(&before, &after, (size_t)element),
        .transfer = WEFT_DEVICE_TO_DEVICE,
        .optional = memcmp(before.stride, after.stride, sizeof before.stride) == 0};
    step->src_bytes = weft_view_reach(&before) * element;
    step->dst_bytes = weft_view_reach(&after) * element;
    step->bytes_moved = 2 * weft_end_bytes(request, from);
}

bool weft_schedule_engine_has(const weft_schedule_request *request, weft_schedule *schedule) {
    const weft_computing *by = &request->computing;
    const weft_fft_step *fft = &schedule->step[schedule->steps - 1].as.fft;
    if (!by->engine || weft_step_is_empty(fft) ||
        by->engine->supports(&fft->transform, by->device) == WEFT_SUCCESS)
        return true;
    schedule->steps--;
    return false;
}

bool weft_schedule_last_is_apart(const weft_schedule_request *request, weft_schedule *schedule,
                                 const weft_end *from, const weft_end *to, const int *axes,
                                 int count) {
    const weft_engine_ops *engine = request->computing.engine;
    if (count < 2) return false;
    weft_schedule_add_transform(request, schedule, from, to, axes, count);
    const weft_transform *all = &schedule->step[--schedule->steps].as.fft.transform;
    return all->dims > (engine->together ? engine->together(all) : 1);
}

void weft_schedule_add_fft(const weft_schedule_request *request, weft_schedule *schedule,
                           const weft_end *from, const weft_end *to, const int *axes, int count) {
    const weft_end near_from = {from->distribution, from->order, from->real, NULL};
    const weft_end near_to = {to->distribution, to->order, to->real, NULL};
    const int steps = schedule->steps;
    for (int way = 0; way < 4; way++) { /* both as they lie, one of them copied, both copied */
        const bool gathers = way & 1, scatters = way & 2;
        if ((gathers && !from->stride) || (scatters && !to->stride)) continue;
        if (gathers) weft_schedule_add_reordering(request, schedule, from, &near_from);
        weft_schedule_add_transform(request, schedule, gathers ? &near_from : from,
                                    scatters ? &near_to : to, axes, count);
        const bool last = gathers == (from->stride != NULL) && scatters == (to->stride != NULL);
        if (last || weft_schedule_engine_has(request, schedule)) {
            if (scatters) weft_schedule_add_reordering(request, schedule, &near_to, to);
            return;
        }
        schedule->steps = steps;
    }
}
