/* From a chain to the steps of one rank and direction. */
#include "plan/schedule.h"

#include "support/axis.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool weft_step_transforms(const weft_fft_step *fft, int axis) {
    for (int d = 0; d < fft->transform.dims; d++)
        if (fft->axis[d] == axis) return true;
    return false;
}

/* One end of a segment as the data passes it: distribution, memory order, real or complex elements.
 */
typedef struct end {
    const weft_distribution *distribution;
    const int *order;
    bool real;
    const int64_t *stride; /* of the caller's array, for each axis; NULL: those of the order */
} end;

static int64_t element_bytes(weft_precision precision, bool real) {
    return (int64_t)weft_number_bytes(precision) * (real ? 1 : 2);
}

static end arrival(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    const int space = direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
    return (end){&segment->side[direction][space], segment->order[direction][space],
                 weft_chain_is_real(chain, s + space), NULL};
}

static end departure(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    const int space = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    return (end){&segment->side[direction][space], segment->order[direction][space],
                 weft_chain_is_real(chain, s + space), NULL};
}

static int64_t end_bytes(const weft_schedule_request *request, const end *e) {
    weft_region box = weft_distribution_box(e->distribution, request->rank);
    return weft_region_elements(&box) * element_bytes(request->precision, e->real);
}

static weft_view view_at(const weft_schedule_request *request, const end *e) {
    const weft_region box = weft_distribution_box(e->distribution, request->rank);
    weft_view view = weft_view_of(&box, e->order, &box);
    if (e->stride) memcpy(view.stride, e->stride, (size_t)box.axes * sizeof *view.stride);
    return view;
}

/* From the lowest element to the highest one. */
static int64_t extent_of(const weft_view *view) {
    int64_t first, after;
    weft_view_range(view, &first, &after);
    return after - first;
}

static weft_step *add_step(weft_schedule *schedule, weft_step_kind kind) {
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

/* What is done along an axis in the direction of the request. */
static weft_axis type_of(const weft_schedule_request *request, int axis) {
    const weft_axis type = request->chain->type[axis];
    return request->direction == WEFT_INVERSE ? weft_axis_inverse(type) : type;
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

/* One transform over `axes` (first transformed first; all Fourier or all real to real) of data that
 * lies as `from` and is stored as `to`, whether the engine has it or not. */
static void add_transform(const weft_schedule_request *request, weft_schedule *schedule,
                          const end *from, const end *to, const int *axes, int count) {
    weft_region in = weft_distribution_box(from->distribution, request->rank);
    weft_region out = weft_distribution_box(to->distribution, request->rank);
    const weft_view in_view = view_at(request, from), out_view = view_at(request, to);
    weft_step *step = add_step(schedule, WEFT_STEP_FFT);
    weft_fft_step *fft = &step->as.fft;
    weft_transform *t = &fft->transform;
    const bool real_to_real = weft_axis_is_real_to_real(request->chain->type[axes[0]]);
    *t = (weft_transform){.kind = real_to_real ? WEFT_TRANSFORM_R2R
                                  : from->real ? WEFT_TRANSFORM_R2C
                                  : to->real   ? WEFT_TRANSFORM_C2R
                                               : WEFT_TRANSFORM_C2C,
                          .direction = request->direction,
                          .precision = request->precision,
                          .dims = count,
                          .threads = request->computing.threads,
                          .effort = request->computing.effort,
                          .in_elements = extent_of(&in_view),
                          .out_elements = extent_of(&out_view)};
    bool transformed[WEFT_AXES] = {false}, same = true;
    for (int i = 0; i < count; i++) {
        int a = axes[count - 1 - i];
        int64_t n = in.n[a] > out.n[a] ? in.n[a] : out.n[a]; /* the real side is the longer one */
        t->dim[i] = (weft_dimension){n, in_view.stride[a], out_view.stride[a]};
        t->type[i] = type_of(request, a);
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
    t->destroy_input = schedule->steps > 1;
    step->src_bytes = extent_of(&in_view) * element_bytes(request->precision, from->real);
    step->dst_bytes = extent_of(&out_view) * element_bytes(request->precision, to->real);
    step->flops = t->in_elements > 0 ? transform_flops(t) : 0;
    step->bytes_moved = end_bytes(request, from) + end_bytes(request, to);
}

/* A copy into another memory order, which is dropped where the order stays. */
static void add_reordering(const weft_schedule_request *request, weft_schedule *schedule,
                           const end *from, const end *to) {
    const weft_view before = view_at(request, from), after = view_at(request, to);
    const int64_t element = element_bytes(request->precision, from->real);
    weft_step *step = add_step(schedule, WEFT_STEP_COPY);
    step->as.copy = (weft_copy_step){
        .copy = weft_copy_between(&before, &after, (size_t)element),
        .transfer = WEFT_DEVICE_TO_DEVICE,
        .optional = memcmp(before.stride, after.stride, sizeof before.stride) == 0};
    step->src_bytes = extent_of(&before) * element;
    step->dst_bytes = extent_of(&after) * element;
    step->bytes_moved = 2 * end_bytes(request, from);
}

/* The last step, a transform, if the engine has it; otherwise it is removed. */
static bool engine_has(const weft_schedule_request *request, weft_schedule *schedule) {
    const weft_computing *by = &request->computing;
    const weft_fft_step *fft = &schedule->step[schedule->steps - 1].as.fft;
    if (!by->engine || weft_step_is_empty(fft) ||
        by->engine->supports(&fft->transform, by->device) == WEFT_SUCCESS)
        return true;
    schedule->steps--;
    return false;
}

/* One transform, as add_transform. Where the engine does not take the strides of a caller's array,
 * a copy gathers or scatters its elements. */
static void add_fft(const weft_schedule_request *request, weft_schedule *schedule, const end *from,
                    const end *to, const int *axes, int count) {
    const end near_from = {from->distribution, from->order, from->real, NULL};
    const end near_to = {to->distribution, to->order, to->real, NULL};
    const int steps = schedule->steps;
    for (int way = 0; way < 4; way++) { /* both as they lie, one of them copied, both copied */
        const bool gathers = way & 1, scatters = way & 2;
        if ((gathers && !from->stride) || (scatters && !to->stride)) continue;
        if (gathers) add_reordering(request, schedule, from, &near_from);
        add_transform(request, schedule, gathers ? &near_from : from, scatters ? &near_to : to,
                      axes, count);
        const bool last = gathers == (from->stride != NULL) && scatters == (to->stride != NULL);
        if (last || engine_has(request, schedule)) {
            if (scatters) add_reordering(request, schedule, &near_to, to);
            return;
        }
        schedule->steps = steps;
    }
}

/* ---- padding and cropping ---- */

static const weft_operator_list no_operators;

/* A step POINTWISE of arrays that lie as `at`, between what is stored and what is worked on. */
static weft_step *add_pointwise_step(const weft_schedule_request *request, weft_schedule *schedule,
                                     const weft_operator_list *operators, weft_operator_place place,
                                     const end *at) {
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    weft_step *step = add_step(schedule, WEFT_STEP_POINTWISE);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    step->as.pointwise = (weft_pointwise_step){.operators = operators, .number = (int)place};
    *layout = (weft_pointwise_layout){
        .box = box, .real = at->real, .precision = request->precision, .place = place};
    memcpy(layout->order, at->order, (size_t)box.axes * sizeof *at->order);
    layout->fields = request->call ? request->call->problem.fields : 1;
    memcpy(layout->n, request->chain->n, sizeof layout->n);
    memcpy(layout->stored.n, box.n, sizeof layout->stored.n);
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const int halved = request->chain->halved;
    if (spectral && halved >= 0) layout->n[halved] = layout->n[halved] / 2 + 1;
    return step;
}

/* The bytes that the step loads and stores, of arrays as its layout says. */
static void count_pointwise_bytes(weft_step *step) {
    const weft_pointwise_layout *layout = &step->as.pointwise.layout;
    const int64_t number = (int64_t)weft_number_bytes(layout->precision);
    const int64_t worked_on = weft_region_elements(&layout->box) * number * (layout->real ? 1 : 2);
    step->src_bytes = step->dst_bytes = worked_on;
    if (!weft_stored_is_box(&layout->stored))
        *(weft_pointwise_loads(layout) ? &step->src_bytes : &step->dst_bytes) =
            weft_stored_bytes(layout);
    if (layout->made > 0)
        step->dst_bytes = step->dst_bytes / layout->box.n[layout->box.axes - 1] * layout->made;
    step->flops = (double)(worked_on / number);
    const weft_view view = weft_stored_view(layout);
    step->bytes_moved =
        worked_on + weft_view_elements(&view) * (int64_t)weft_stored_element_bytes(layout);
}

/* Steps that pad or crop in a schedule are numbered behind the places. */
static int next_number(const weft_schedule *schedule) {
    int number = WEFT_PLACES;
    for (int i = 0; i < schedule->steps; i++)
        if (schedule->step[i].kind == WEFT_STEP_POINTWISE &&
            schedule->step[i].as.pointwise.number >= number)
            number = schedule->step[i].as.pointwise.number + 1;
    return number;
}

/* Whether the last step loads the caller's array, which padding can then be part of. */
static bool ends_in_load(const weft_schedule *schedule) {
    const weft_step *last = schedule->steps > 0 ? &schedule->step[schedule->steps - 1] : NULL;
    return last && last->kind == WEFT_STEP_POINTWISE &&
           last->as.pointwise.layout.place == WEFT_PLACE_LOAD;
}

/* Between an array that lies as `wide` and the part of it that is `narrow`: with WEFT_PLACE_LOAD
 * zeros are added, with WEFT_PLACE_STORE what lies beyond is left out. */
static void add_padding(const weft_schedule_request *request, weft_schedule *schedule,
                        weft_operator_place place, const end *wide, const end *narrow) {
    const weft_region box = weft_distribution_box(narrow->distribution, request->rank);
    weft_step *step;
    if (place == WEFT_PLACE_LOAD && ends_in_load(schedule)) {
        step = &schedule->step[schedule->steps - 1];
        step->as.pointwise.layout.box = weft_distribution_box(wide->distribution, request->rank);
    } else {
        const int number = next_number(schedule);
        step = add_pointwise_step(request, schedule, &no_operators, place, wide);
        step->as.pointwise.number = number;
    }
    weft_stored *stored = &step->as.pointwise.layout.stored;
    schedule->pads = true;
    stored->cropped = true;
    memcpy(stored->n, box.n, sizeof box.n);
    if (narrow->stride) {
        stored->strided = true;
        memcpy(stored->stride, narrow->stride, (size_t)box.axes * sizeof *stored->stride);
    }
    count_pointwise_bytes(step);
}

/* ---- the transforms of a segment ---- */

/* Axes of a segment that are transformed together, first transformed first in a forward transform;
 * an axis that is padded or cropped begins a group, so that it has its zeros no longer than it
 * needs them. */
typedef struct axis_group {
    int axis[WEFT_MAX_RANK];
    int axes;
    bool padded;
} axis_group;

/* The groups of a segment in the order of the forward transform. */
typedef struct axis_groups {
    axis_group real_to_real[WEFT_MAX_RANK], fourier[WEFT_MAX_RANK];
    int real_to_reals, fouriers;
    axis_group none; /* axes that are padded and cropped, but not transformed */
} axis_groups;

static bool is_padded(const weft_chain *chain, const weft_segment *segment, int axis) {
    return segment->side[WEFT_FORWARD][WEFT_INPUT].n[axis] != chain->n[axis] ||
           segment->side[WEFT_INVERSE][WEFT_INPUT].n[axis] != chain->n[axis];
}

static void add_axis(axis_group *group, int *groups, int axis, bool padded) {
    if (*groups == 0 || padded) (*groups)++;
    axis_group *last = &group[*groups - 1];
    last->axis[last->axes++] = axis;
    last->padded = last->padded || padded;
}

/* The axes in their order; but the halved one comes first, for a transform halves its last
 * dimension. */
static axis_groups groups_of(const weft_chain *chain, const weft_segment *segment) {
    axis_groups groups = {.fouriers = 0};
    int axis[WEFT_MAX_RANK];
    memcpy(axis, segment->axis, sizeof axis);
    for (int i = segment->transforms - 1; i > 0; i--) {
        if (axis[i] != chain->halved) continue;
        axis[i] = axis[i - 1];
        axis[i - 1] = chain->halved;
    }
    for (int i = 0; i < segment->transforms; i++) {
        const int a = axis[i];
        const bool padded = is_padded(chain, segment, a);
        if (weft_axis_is_fourier(chain->type[a]))
            add_axis(groups.fourier, &groups.fouriers, a, padded);
        else if (chain->type[a] != WEFT_AXIS_NONE)
            add_axis(groups.real_to_real, &groups.real_to_reals, a, padded);
        else if (padded)
            groups.none.axis[groups.none.axes++] = a;
    }
    groups.none.padded = groups.none.axes > 0;
    return groups;
}

/* The extents of `extents` along the axes of a group, and those of `other` along the others. */
static weft_distribution with_extents(const weft_distribution *other, const axis_group *group,
                                      const int64_t *extents) {
    weft_distribution d = *other;
    for (int i = 0; i < group->axes; i++) d.n[group->axis[i]] = extents[group->axis[i]];
    return d;
}

/* The complex-to-real transform of several axes destroys its input in most engines, and the
 * caller's input is kept. So where it would read the caller's buffer, the slowest axis goes first,
 * into a buffer of the plan's own; the others are left together, for an engine may do two in one
 * pass over memory. */
static void add_fourier(const weft_schedule_request *request, weft_schedule *schedule,
                        const end *from, const end *to, const int *axes, int count) {
    if (!from->real && to->real && count > 1 && schedule->steps == 0) {
        end between = {from->distribution, from->order, false, NULL};
        add_fft(request, schedule, from, &between, axes + count - 1, 1);
        add_fft(request, schedule, &between, to, axes, count - 1);
        return;
    }
    add_fft(request, schedule, from, to, axes, count);
}

/* One group from data that lies as `from` to data that lies as `to`: padded before it is
 * transformed forward, cropped after it is transformed back. Axes without a transform are only
 * padded or cropped. */
static void add_group(const weft_schedule_request *request, weft_schedule *schedule,
                      const axis_group *group, const end *from, const end *to) {
    const bool forward = request->direction == WEFT_FORWARD;
    const bool transforms = request->chain->type[group->axis[0]] != WEFT_AXIS_NONE;
    const end *narrow = forward ? from : to;
    end wide = {NULL, transforms ? narrow->order : from->order, narrow->real, NULL};
    const weft_distribution extended = with_extents(narrow->distribution, group, request->chain->n);
    wide.distribution = &extended;
    const end *first = forward && group->padded ? &wide : from;
    const end *last = !forward && group->padded ? &wide : to;
    if (forward && group->padded) add_padding(request, schedule, WEFT_PLACE_LOAD, &wide, from);
    if (transforms) add_fourier(request, schedule, first, last, group->axis, group->axes);
    if (!forward && group->padded) add_padding(request, schedule, WEFT_PLACE_STORE, &wide, to);
}

/* A list of groups, in the order of the request's direction. *at gets how the data lies after them:
 * in the order of `to` if they are the last ones, and with its extents along their axes. The
 * distribution is stored in *storage. */
static void add_groups(const weft_schedule_request *request, weft_schedule *schedule,
                       const axis_group *group, int groups, const end *to, bool last, end *at,
                       weft_distribution *storage) {
    const bool forward = request->direction == WEFT_FORWARD;
    const int halved = request->chain->halved;
    for (int k = 0; k < groups; k++) {
        const axis_group *g = &group[forward ? k : groups - 1 - k];
        weft_distribution after = with_extents(at->distribution, g, to->distribution->n);
        const bool ends = last && k == groups - 1;
        end next = {&after, ends ? to->order : at->order, at->real, ends ? to->stride : NULL};
        for (int i = 0; i < g->axes; i++)
            if (g->axis[i] == halved) next.real = to->real;
        add_group(request, schedule, g, at, &next);
        *storage = after;
        *at = (end){storage, next.order, next.real, next.stride};
    }
}

/* Transforms along different axes commute, so those that are real to real are done where data is
 * real, if it is at one end. Axes without a transform are padded last and cropped first. */
static void add_transforms(const weft_schedule_request *request, weft_schedule *schedule,
                           const weft_segment *segment, const end *from, const end *to) {
    const axis_groups g = groups_of(request->chain, segment);
    const bool forward = request->direction == WEFT_FORWARD, real_first = from->real || !to->real;
    const int nones = g.none.padded ? 1 : 0;
    weft_distribution storage;
    end at = *from;
    if (!forward && nones > 0) {
        const end plain = {from->distribution, from->order, from->real, NULL};
        if (from->stride) add_reordering(request, schedule, from, &plain);
        at = plain;
        add_groups(request, schedule, &g.none, nones, to, false, &at, &storage);
    }
    const bool ends = !forward || nones == 0; /* the transforms leave data as `to` lies */
    if (real_first)
        add_groups(request, schedule, g.real_to_real, g.real_to_reals, to, ends && g.fouriers == 0,
                   &at, &storage);
    add_groups(request, schedule, g.fourier, g.fouriers, to,
               ends && (real_first || g.real_to_reals == 0), &at, &storage);
    if (!real_first)
        add_groups(request, schedule, g.real_to_real, g.real_to_reals, to, ends, &at, &storage);
    if (forward) add_groups(request, schedule, &g.none, nones, to, false, &at, &storage);
    if (segment->transforms > 0 && (g.fouriers + g.real_to_reals == 0 || !ends))
        add_reordering(request, schedule, &at, to);
}

typedef struct member_context {
    const weft_chain *chain;
    int redistribution, rank;
} member_context;

static int member_rank(const void *context, int member) {
    const member_context *c = context;
    return weft_chain_member(c->chain, c->redistribution, c->rank, member);
}

/* The memory order inside messages: that of the inner segment, since callers' bricks may differ by
 * rank. */
static const int *wire_order(const weft_chain *chain, int redistribution,
                             weft_direction direction) {
    const weft_segment *segment = &chain->segment[redistribution];
    return segment->transforms == 0 ? segment[1].order[direction][WEFT_INPUT]
                                    : segment->order[direction][WEFT_OUTPUT];
}

static const weft_exchange_ops *method_of(const weft_schedule_request *request,
                                          int redistribution) {
    return weft_exchange_find(request->exchanging.method[request->chain->method[redistribution]]);
}

/* What partners read must lie in a workspace, in a memory order that they know: the caller's array
 * is copied there. Where the array lies right already, the copy is dropped again. */
static end add_shared_copy(const weft_schedule_request *request, weft_schedule *schedule,
                           int redistribution, const end *from) {
    const int *order = from->order;
    if (from->distribution->boxes) /* each rank has an order of its own */
        order = wire_order(request->chain, redistribution, request->direction);
    const end shared = {from->distribution, order, from->real, NULL};
    add_reordering(request, schedule, from, &shared);
    return shared;
}

static weft_status add_exchange(const weft_schedule_request *request, weft_schedule *schedule,
                                int redistribution, const end *from, const end *to) {
    const weft_chain *chain = request->chain;
    weft_step *step = add_step(schedule, WEFT_STEP_EXCHANGE);
    int color, key, size;
    weft_chain_group(chain, redistribution, request->rank, &color, &key, &size);
    member_context context = {chain, redistribution, request->rank};
    weft_side src = {from->distribution, from->order}, dst = {to->distribution, to->order};
    weft_exchange_step *x = &step->as.exchange;
    *x = (weft_exchange_step){.redistribution = redistribution,
                              .direction = request->direction,
                              .method = method_of(request, redistribution),
                              .produced = {.tiles = 1, .axis = -1},
                              .consumed = {.tiles = 1, .axis = -1}};
    x->staged = request->exchanging.staged && x->method->carrier == WEFT_CARRIED_BY_TRANSPORT;
    WEFT_TRY(weft_redistribution_create(&src, &dst,
                                        wire_order(chain, redistribution, request->direction),
                                        (size_t)element_bytes(request->precision, from->real), size,
                                        key, member_rank, &context, &x->geometry));
    if (!weft_exchange_packs(x->method)) x->geometry.pack = x->geometry.unpack = false;
    if (x->staged) x->geometry.pack = x->geometry.unpack = true;
    step->src_bytes = end_bytes(request, from);
    step->dst_bytes = end_bytes(request, to);
    int64_t out = 0;
    int messages = 0;
    for (int m = 0; m < size; m++) {
        if (m == key) continue;
        out += x->geometry.send[m].elements;
        messages += x->geometry.send[m].elements > 0;
    }
    step->bytes_sent = out * (int64_t)x->geometry.element_bytes;
    x->messages_sent = x->method->carrier == WEFT_CARRIED_BY_READERS ? 0 : messages;
    return WEFT_SUCCESS;
}

static void add_transfer(weft_schedule *schedule, weft_transfer transfer) {
    add_step(schedule, WEFT_STEP_COPY)->as.copy.transfer = transfer;
}

/* The strides of the caller's array at a place, where it has strides of its own on the device. */
static const int64_t *strides_at(const weft_schedule_request *request, weft_operator_place place) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_space space = spectral ? WEFT_OUTPUT : WEFT_INPUT;
    if (!request->call || request->host_buffers || !request->call->strided[space]) return NULL;
    return request->call->stride[space];
}

/* The caller's array at a place, of which this rank has `box`. */
static weft_stored stored_at(const weft_schedule_request *request, weft_operator_place place,
                             const weft_region *box) {
    weft_stored stored = {.storage = WEFT_STORAGE_SAME};
    memcpy(stored.n, box->n, sizeof stored.n);
    if (!request->call) return stored;
    const int64_t *stride = strides_at(request, place);
    stored.strided = stride != NULL;
    if (stride) memcpy(stored.stride, stride, sizeof stored.stride);
    stored.storage = weft_call_storage(request->call, place);
    memcpy(stored.decibels, request->call->problem.decibels, sizeof stored.decibels);
    if (request->chain->line.real && (place == WEFT_PLACE_LOAD || place == WEFT_PLACE_STORE))
        stored.storage =
            request->precision == WEFT_SINGLE ? WEFT_STORAGE_FLOAT : WEFT_STORAGE_DOUBLE;
    return stored;
}

/* The bytes of a copy between host and device, which are known once the step next to it is. */
static void fill_transfer(weft_step *step, int64_t bytes) {
    step->as.copy.copy = weft_copy_of_run(bytes, 1);
    step->src_bytes = step->dst_bytes = bytes;
    step->bytes_moved = 2 * bytes;
}

/* The same where the caller's array on the host has strides of its own: those are left there. */
static void fill_strided_transfer(const weft_schedule_request *request, weft_step *step,
                                  weft_operator_place place, const end *at) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_space space = spectral ? WEFT_OUTPUT : WEFT_INPUT;
    const bool up = step->as.copy.transfer == WEFT_HOST_TO_DEVICE;
    if (!request->call || !request->call->strided[space]) return;
    weft_pointwise_layout layout = {.box = weft_distribution_box(at->distribution, request->rank)};
    memcpy(layout.order, at->order, sizeof layout.order);
    layout.stored = stored_at(request, place, &layout.box);
    const weft_view near = weft_stored_view(&layout);
    const int64_t element = step->src_bytes / weft_view_elements(&near);
    weft_view far = near;
    memcpy(far.stride, request->call->stride[space], sizeof far.stride);
    step->as.copy.copy = weft_copy_between(up ? &far : &near, up ? &near : &far, (size_t)element);
    *(up ? &step->src_bytes : &step->dst_bytes) = extent_of(&far) * element;
}

/* The spectrum of a convolution is not the caller's, but may be kept. */
static bool is_inside(const weft_schedule *schedule, weft_operator_place place) {
    return schedule->direction == WEFT_CONVOLVE && place == WEFT_PLACE_SPECTRAL;
}

/* Whether something is done to the elements at a place. */
static bool has_pointwise(const weft_schedule_request *request, const weft_schedule *schedule,
                          weft_operator_place place, const end *at) {
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    const weft_stored stored = stored_at(request, place, &box);
    if (!request->operators) return false;
    if (request->operators[place].count > 0) return true;
    return is_inside(schedule, place) ? request->keeps_spectrum : !weft_stored_is_plain(&stored);
}

/* The strides at which a transform finds, or leaves, the caller's array: those of the array, unless
 * a pointwise step is in between. */
static const int64_t *strides_of_transform(const weft_schedule_request *request,
                                           const weft_schedule *schedule, weft_operator_place place,
                                           const end *at) {
    if (is_inside(schedule, place) || has_pointwise(request, schedule, place, at)) return NULL;
    return strides_at(request, place);
}

/* Whether the last step crops what an inverse transform gives, which storing it can then be part
 * of. */
static bool ends_in_crop(const weft_schedule *schedule) {
    const weft_step *last = schedule->steps > 0 ? &schedule->step[schedule->steps - 1] : NULL;
    return last && last->kind == WEFT_STEP_POINTWISE &&
           last->as.pointwise.layout.place == WEFT_PLACE_STORE;
}

/* The operators of a place, if there are any, on data that lies as `at`. Where the result lies is
 * left to the assignment of buffers: in place, or in another one on the way. */
static void add_pointwise(const weft_schedule_request *request, weft_schedule *schedule,
                          weft_operator_place place, const end *at) {
    if (!has_pointwise(request, schedule, place, at)) return;
    const weft_operator_list *operators = &request->operators[place];
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    const weft_stored given = stored_at(request, place, &box);
    const bool inside = is_inside(schedule, place), keeps = inside && request->keeps_spectrum;
    weft_stored stored = given;
    weft_step *step;
    if (inside) {
        stored.storage = WEFT_STORAGE_SAME;
        stored.strided = false;
    }
    if (place == WEFT_PLACE_STORE && ends_in_crop(schedule)) {
        step = &schedule->step[schedule->steps - 1];
        step->as.pointwise.operators = operators;
        step->as.pointwise.number = (int)place;
        stored.cropped = true;
    } else {
        step = add_pointwise_step(request, schedule, operators, place, at);
    }
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    layout->stored = stored;
    layout->keeps = keeps;
    if (weft_operators_have_matrix(operators))
        layout->made = request->chain->segment[0].side[WEFT_INVERSE][WEFT_INPUT].n[box.axes - 1];
    if (keeps) layout->kept = given;
    count_pointwise_bytes(step);
    if (keeps) {
        const weft_pointwise_layout kept = weft_kept_layout(layout);
        step->bytes_moved += weft_stored_bytes(&kept);
    }
}

/* The last segment that transforms, in the direction of the data. */
static int last_transforming(const weft_chain *chain, weft_direction direction) {
    int s = direction == WEFT_FORWARD ? chain->segments - 1 : 0;
    while (chain->segment[s].transforms == 0) s += direction == WEFT_FORWARD ? -1 : 1;
    return s;
}

/* From segment s to the next one in the request's direction; *at gets how the data lies there. */
static weft_status add_redistribution(const weft_schedule_request *request, weft_schedule *schedule,
                                      int s, end *at) {
    const bool forward = request->direction == WEFT_FORWARD;
    const int redistribution = forward ? s : s - 1;
    const end to = arrival(request->chain, forward ? s + 1 : s - 1, request->direction);
    if (method_of(request, redistribution)->carrier == WEFT_CARRIED_BY_READERS)
        *at = add_shared_copy(request, schedule, redistribution, at);
    WEFT_TRY(add_exchange(request, schedule, redistribution, at, &to));
    *at = to;
    return WEFT_SUCCESS;
}

/* The caller's array comes in: through the step of its place, or to the transform as it lies. */
static void add_arrival(const weft_schedule_request *request, weft_schedule *schedule,
                        weft_operator_place place, end *at) {
    at->stride = strides_of_transform(request, schedule, place, at);
    add_pointwise(request, schedule, place, at);
}

/* The twiddle factors of a line, on data that lies as `at` next to the transform of its columns. */
static void add_twiddles(const weft_schedule_request *request, weft_schedule *schedule,
                         const end *at) {
    const bool forward = request->direction == WEFT_FORWARD;
    const int number = next_number(schedule);
    if (request->chain->n[0] == 1) return; /* they are all 1 */
    weft_step *step =
        add_pointwise_step(request, schedule, &request->call->twiddles[request->direction],
                           forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_SPECTRUM, at);
    step->as.pointwise.number = number;
    count_pointwise_bytes(step);
}

/* The transform of the columns of a line. Real data is exchanged as it is, and made complex before
 * the transform. */
static void add_columns(const weft_schedule_request *request, weft_schedule *schedule,
                        const weft_segment *segment, const end *from, const end *to) {
    const bool forward = request->direction == WEFT_FORWARD;
    end first = *from, last = *to;
    first.real = last.real = false;
    if (forward)
        add_pointwise(request, schedule, WEFT_PLACE_LOAD, &first);
    else
        add_twiddles(request, schedule, &first);
    add_transforms(request, schedule, segment, &first, &last);
    if (forward)
        add_twiddles(request, schedule, &last);
    else
        add_pointwise(request, schedule, WEFT_PLACE_STORE, &last);
}

/* The transform of the rows of a line. The half spectrum of real data is part of a whole one, which
 * the transform stores and loads. */
static void add_rows(const weft_schedule_request *request, weft_schedule *schedule,
                     const weft_segment *segment, const end *from, const end *to) {
    const bool forward = request->direction == WEFT_FORWARD, real = request->chain->line.real;
    const end *stored = forward ? to : from;
    weft_distribution all = *stored->distribution;
    all.n[1] = request->chain->n[1];
    const end whole = {&all, stored->order, false, NULL};
    if (!forward && real) {
        add_padding(request, schedule, WEFT_PLACE_LOAD, &whole, stored);
        schedule->step[schedule->steps - 1].as.pointwise.operators = &request->call->half_spectrum;
    }
    add_transforms(request, schedule, segment, forward ? from : &whole, forward ? &whole : to);
    if (!forward) return;
    if (!real) {
        add_pointwise(request, schedule, WEFT_PLACE_SPECTRAL, &whole);
        return;
    }
    add_padding(request, schedule, WEFT_PLACE_STORE, &whole, stored);
    schedule->step[schedule->steps - 1].as.pointwise.operators =
        &request->operators[WEFT_PLACE_SPECTRAL];
}

/* A segment of a line over several ranks. */
static void add_line(const weft_schedule_request *request, weft_schedule *schedule, int s,
                     end *at) {
    const weft_segment *segment = &request->chain->segment[s];
    const end to = departure(request->chain, s, request->direction);
    if (segment->transforms > 0 && segment->axis[0] == 0)
        add_columns(request, schedule, segment, at, &to);
    else if (segment->transforms > 0)
        add_rows(request, schedule, segment, at, &to);
    *at = to;
}

/* The transforms of a segment. Operators are next to them, whatever bricks the caller has. */
static void add_segment(const weft_schedule_request *request, weft_schedule *schedule, int s,
                        end *at) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_operator_place stores = forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    const bool ends = s == last_transforming(chain, request->direction);
    end to = departure(chain, s, request->direction);
    if (chain->line.points > 0) {
        add_line(request, schedule, s, at);
        return;
    }
    if (forward && s == last_transforming(chain, WEFT_INVERSE))
        add_arrival(request, schedule, WEFT_PLACE_LOAD, at);
    if (!forward && s == last_transforming(chain, WEFT_FORWARD) &&
        schedule->direction == WEFT_INVERSE)
        add_arrival(request, schedule, WEFT_PLACE_SPECTRUM, at);
    if (ends) to.stride = strides_of_transform(request, schedule, stores, &to);
    add_transforms(request, schedule, &chain->segment[s], at, &to);
    *at = to;
    if (!ends) return;
    add_pointwise(request, schedule, stores, at);
    if (forward) at->distribution = &chain->segment[s].side[WEFT_INVERSE][WEFT_OUTPUT];
}

/* Segments first to last, from data that lies as *at. */
static weft_status add_segments(const weft_schedule_request *request, weft_schedule *schedule,
                                int first, int last, end *at) {
    for (int s = first;; s += request->direction == WEFT_FORWARD ? 1 : -1) {
        add_segment(request, schedule, s, at);
        if (s == last) return WEFT_SUCCESS;
        WEFT_TRY(add_redistribution(request, schedule, s, at));
    }
}

/* Transforms along `axes` there and back at once, with the operators in between on data that lies
 * as `spectrum`, if the engine has that. */
static bool add_there_and_back(const weft_schedule_request *request, weft_schedule *schedule,
                               const end *from, const end *to, const end *spectrum, const int *axes,
                               int count) {
    add_transform(request, schedule, from, to, axes, count);
    weft_step *step = &schedule->step[schedule->steps - 1];
    weft_fft_step *fft = &step->as.fft;
    fft->transform.round_trip = true;
    step->flops *= 2;
    add_pointwise(request, schedule, WEFT_PLACE_SPECTRAL, spectrum);
    if (&schedule->step[schedule->steps - 1] != step)
        fft->transform.spectral =
            weft_schedule_fused(&schedule->step[--schedule->steps].as.pointwise, fft);
    return engine_has(request, schedule);
}

/* Whether the last of several axes can be transformed apart from the others with the same bits. */
static bool can_do_last_apart(const weft_schedule_request *request, weft_schedule *schedule,
                              const end *from, const end *to, const axis_group *group) {
    const weft_engine_ops *engine = request->computing.engine;
    if (group->axes < 2 || group->padded) return false;
    add_transform(request, schedule, from, to, group->axis, group->axes);
    const weft_transform *all = &schedule->step[--schedule->steps].as.fft.transform;
    return all->dims > (engine->together ? engine->together(all) : 1);
}

/* The last group of a convolution's last segment there and back, from data that lies as `from` to
 * data that lies as `to`, padded before and cropped after. */
static bool add_group_there_and_back(const weft_schedule_request *there,
                                     const weft_schedule_request *back, weft_schedule *schedule,
                                     const axis_group *group, const end *from, const end *to,
                                     const end *spectrum) {
    const int others = group->axes - 1, steps = schedule->steps;
    const weft_distribution padded = with_extents(from->distribution, group, there->chain->n);
    const weft_distribution uncropped = with_extents(to->distribution, group, there->chain->n);
    const end padded_end = {&padded, from->order, from->real, NULL};
    const end uncropped_end = {&uncropped, to->order, to->real, NULL};
    const end *first = group->padded ? &padded_end : from,
              *last = group->padded ? &uncropped_end : to;
    bool added;
    if (group->padded) add_padding(there, schedule, WEFT_PLACE_LOAD, first, from);
    added = add_there_and_back(there, schedule, first, last, spectrum, group->axis, group->axes);
    if (!added && can_do_last_apart(there, schedule, from, spectrum, group)) {
        add_fft(there, schedule, from, spectrum, group->axis, others);
        added = add_there_and_back(there, schedule, spectrum, spectrum, spectrum,
                                   group->axis + others, 1);
        add_fft(back, schedule, spectrum, to, group->axis, others);
    }
    if (added && group->padded) add_padding(back, schedule, WEFT_PLACE_STORE, last, to);
    if (!added) schedule->steps = steps;
    return added;
}

/* The last segment of a convolution. Where the engine has it, the transforms of its last group are
 * done there and back at once: all of them or, if they are not done together anyway, the last one.
 */
static bool add_round_trip(const weft_schedule_request *there, const weft_schedule_request *back,
                           weft_schedule *schedule, int last, end *at) {
    const weft_chain *chain = there->chain;
    const end spectrum = departure(chain, last, WEFT_FORWARD), begin = *at;
    end to = departure(chain, last, WEFT_INVERSE);
    const bool ends = last == last_transforming(chain, WEFT_INVERSE);
    const int steps = schedule->steps;
    const weft_engine_ops *engine = there->computing.engine;
    const axis_groups g = groups_of(chain, &chain->segment[last]);
    const int before = g.fouriers - 1;
    weft_distribution storage, returned;
    if (!engine || !engine->takes_operators || g.real_to_reals > 0 || g.fouriers == 0 ||
        g.none.padded ||
        (there->operators && weft_operators_have_matrix(&there->operators[WEFT_PLACE_SPECTRAL])))
        return false;
    if (ends) {
        add_arrival(there, schedule, WEFT_PLACE_LOAD, at);
        to.stride = strides_of_transform(there, schedule, WEFT_PLACE_STORE, &to);
    }
    add_groups(there, schedule, g.fourier, before, &spectrum, false, at, &storage);
    const axis_group *turn = &g.fourier[before];
    returned = with_extents(at->distribution, turn, to.distribution->n);
    end turned = {&returned, to.order, before > 0 ? false : to.real, before > 0 ? NULL : to.stride};
    if (!add_group_there_and_back(there, back, schedule, turn, at, &turned, &spectrum)) {
        schedule->steps = steps;
        *at = begin;
        return false;
    }
    add_groups(back, schedule, g.fourier, before, &to, true, &turned, &returned);
    if (ends) add_pointwise(there, schedule, WEFT_PLACE_STORE, &to);
    *at = to;
    return true;
}

/* There and back; in between the data lies as the forward transform leaves it. */
static weft_status add_convolution(const weft_schedule_request *request, weft_schedule *schedule,
                                   end *at) {
    const int last = last_transforming(request->chain, WEFT_FORWARD);
    weft_schedule_request there = *request, back = *request;
    there.direction = WEFT_FORWARD;
    back.direction = WEFT_INVERSE;
    if (last > 0) {
        WEFT_TRY(add_segments(&there, schedule, 0, last - 1, at));
        WEFT_TRY(add_redistribution(&there, schedule, last - 1, at));
    }
    if (!add_round_trip(&there, &back, schedule, last, at)) {
        add_segment(&there, schedule, last, at);
        add_segment(&back, schedule, last, at);
    }
    if (last == 0) return WEFT_SUCCESS;
    WEFT_TRY(add_redistribution(&back, schedule, last, at));
    return add_segments(&back, schedule, last - 1, 0, at);
}

weft_status weft_schedule_build(const weft_schedule_request *request, weft_schedule *schedule) {
    const weft_chain *chain = request->chain;
    const bool convolves = request->direction == WEFT_CONVOLVE;
    const bool forward = request->direction != WEFT_INVERSE;
    const int first = forward ? 0 : chain->segments - 1, last = chain->segments - 1 - first;
    memset(schedule, 0, sizeof *schedule);
    schedule->direction = request->direction;
    schedule->in_place = request->in_place;
    schedule->precision = request->precision;
    const weft_operator_place loads = forward ? WEFT_PLACE_LOAD : WEFT_PLACE_SPECTRUM;
    const weft_operator_place stores =
        convolves || !forward ? WEFT_PLACE_STORE : WEFT_PLACE_SPECTRAL;
    schedule->converts_output =
        request->call && (weft_call_storage(request->call, stores) != WEFT_STORAGE_SAME ||
                          strides_at(request, stores));
    schedule->step = malloc(WEFT_STEPS_OF(chain->segments) * sizeof *schedule->step);
    if (!schedule->step) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");

    const end begin = arrival(chain, first, forward ? WEFT_FORWARD : WEFT_INVERSE);
    end at = begin;
    if (request->host_buffers) add_transfer(schedule, WEFT_HOST_TO_DEVICE);
    WEFT_TRY(convolves ? add_convolution(request, schedule, &at)
                       : add_segments(request, schedule, first, last, &at));
    if (request->host_buffers) add_transfer(schedule, WEFT_DEVICE_TO_HOST);
    weft_schedule_fuse_operators(request, schedule);
    if (request->host_buffers) {
        weft_step *last_step = &schedule->step[schedule->steps - 1];
        fill_transfer(&schedule->step[0], schedule->step[1].src_bytes);
        fill_transfer(last_step, last_step[-1].dst_bytes);
        fill_strided_transfer(request, &schedule->step[0], loads, &begin);
        fill_strided_transfer(request, last_step, stores, &at);
    }
    weft_schedule_tile(request, schedule);
    weft_schedule_fuse(request, schedule);
    WEFT_TRY(weft_schedule_assign_buffers(request, schedule));
    weft_schedule_alternate(schedule);
    weft_step *fewer = realloc(schedule->step, (size_t)schedule->steps * sizeof *fewer);
    if (fewer) schedule->step = fewer;
    return WEFT_SUCCESS;
}

void weft_schedule_release(weft_schedule *schedule) {
    for (int i = 0; i < schedule->steps; i++) {
        weft_step *step = &schedule->step[i];
        if (step->kind == WEFT_STEP_EXCHANGE)
            weft_redistribution_release(&step->as.exchange.geometry);
        if (step->kind != WEFT_STEP_FFT) continue;
        free(step->as.fft.in_piece);
        free(step->as.fft.remote_piece);
        free(step->as.fft.out_piece);
    }
    free(schedule->step);
    schedule->step = NULL;
    schedule->steps = 0;
}
