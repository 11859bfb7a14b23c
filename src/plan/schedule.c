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
    if (direction == WEFT_FORWARD)
        return (end){&segment->in, segment->order[direction][WEFT_INPUT],
                     weft_chain_is_real(chain, s), NULL};
    return (end){&segment->out, segment->order[direction][WEFT_OUTPUT],
                 weft_chain_is_real(chain, s + 1), NULL};
}

static end departure(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    if (direction == WEFT_FORWARD)
        return (end){&segment->out, segment->order[direction][WEFT_OUTPUT],
                     weft_chain_is_real(chain, s + 1), NULL};
    return (end){&segment->in, segment->order[direction][WEFT_INPUT], weft_chain_is_real(chain, s),
                 NULL};
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

/* The axes of a segment by what is done along them, each in their order; but the halved one comes
 * first, for a transform halves its last dimension. */
typedef struct segment_axes {
    int fourier[WEFT_MAX_RANK], real[WEFT_MAX_RANK]; /* real to real */
    int fouriers, reals;
} segment_axes;

static segment_axes axes_of(const weft_chain *chain, const weft_segment *segment) {
    segment_axes axes = {.fouriers = 0};
    for (int i = 0; i < segment->transforms; i++) {
        const int a = segment->axis[i];
        if (weft_axis_is_fourier(chain->type[a]))
            axes.fourier[axes.fouriers++] = a;
        else if (chain->type[a] != WEFT_AXIS_NONE)
            axes.real[axes.reals++] = a;
    }
    for (int i = axes.fouriers - 1; i > 0; i--) {
        if (axes.fourier[i] != chain->halved) continue;
        axes.fourier[i] = axes.fourier[i - 1];
        axes.fourier[i - 1] = chain->halved;
    }
    return axes;
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

/* Transforms along different axes commute, so those that are real to real are done where data is
 * real, if it is at one end. */
static void add_transforms(const weft_schedule_request *request, weft_schedule *schedule,
                           const weft_segment *segment, const end *from, const end *to) {
    const segment_axes axes = axes_of(request->chain, segment);
    const bool real_first = from->real || !to->real;
    const end between = {real_first ? from->distribution : to->distribution, from->order,
                         from->real || to->real, NULL};
    if (segment->transforms > 0 && axes.fouriers + axes.reals == 0)
        add_reordering(request, schedule, from, to);
    if (axes.reals > 0 && real_first)
        add_fft(request, schedule, from, axes.fouriers > 0 ? &between : to, axes.real, axes.reals);
    if (axes.fouriers > 0)
        add_fourier(request, schedule, axes.reals > 0 && real_first ? &between : from,
                    axes.reals > 0 && !real_first ? &between : to, axes.fourier, axes.fouriers);
    if (axes.reals > 0 && !real_first)
        add_fft(request, schedule, axes.fouriers > 0 ? &between : from, to, axes.real, axes.reals);
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
    const weft_problem *p = &request->call->problem;
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const int64_t *stride = strides_at(request, place);
    stored.strided = stride != NULL;
    if (stride) memcpy(stored.stride, stride, sizeof stored.stride);
    stored.storage = weft_call_storage(request->call, place);
    memcpy(stored.decibels, p->decibels, sizeof stored.decibels);
    for (int a = 0; a < p->rank && !spectral; a++) {
        if (p->pad_from[a] == 0) continue;
        const int64_t left = p->pad_from[a] - box->lo[a];
        stored.cropped = true;
        stored.n[a] = left < 0 ? 0 : left < box->n[a] ? left : box->n[a];
    }
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

/* The operators of a place, if there are any, on data that lies as `at`. Where the result lies is
 * left to the assignment of buffers: in place, or in another one on the way. */
static void add_pointwise(const weft_schedule_request *request, weft_schedule *schedule,
                          weft_operator_place place, const end *at) {
    if (!has_pointwise(request, schedule, place, at)) return;
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    const weft_stored given = stored_at(request, place, &box);
    const bool inside = is_inside(schedule, place), keeps = inside && request->keeps_spectrum;
    weft_stored stored = given;
    if (inside) {
        stored.storage = WEFT_STORAGE_SAME;
        stored.strided = false;
    }
    weft_step *step = add_step(schedule, WEFT_STEP_POINTWISE);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    step->as.pointwise.operators = &request->operators[place];
    *layout = (weft_pointwise_layout){.box = box,
                                      .real = at->real,
                                      .precision = request->precision,
                                      .stored = stored,
                                      .place = place,
                                      .keeps = keeps};
    if (keeps) layout->kept = given;
    memcpy(layout->order, at->order, (size_t)box.axes * sizeof *at->order);
    memcpy(layout->n, at->distribution->n, sizeof layout->n);
    step->src_bytes = step->dst_bytes = end_bytes(request, at);
    step->flops = (double)(step->dst_bytes / (int64_t)weft_number_bytes(request->precision));
    const weft_view view = weft_stored_view(layout);
    step->bytes_moved =
        step->src_bytes + weft_view_elements(&view) * (int64_t)weft_stored_element_bytes(layout);
    if (!weft_stored_is_box(&stored))
        *(weft_pointwise_loads(layout) ? &step->src_bytes : &step->dst_bytes) =
            weft_stored_bytes(layout);
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

/* The transforms of a segment. Operators are next to them, whatever bricks the caller has. */
static void add_segment(const weft_schedule_request *request, weft_schedule *schedule, int s,
                        end *at) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_operator_place stores = forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    const bool ends = s == last_transforming(chain, request->direction);
    end to = departure(chain, s, request->direction);
    if (forward && s == last_transforming(chain, WEFT_INVERSE))
        add_arrival(request, schedule, WEFT_PLACE_LOAD, at);
    if (!forward && s == last_transforming(chain, WEFT_FORWARD) &&
        schedule->direction == WEFT_INVERSE)
        add_arrival(request, schedule, WEFT_PLACE_SPECTRUM, at);
    if (ends) to.stride = strides_of_transform(request, schedule, stores, &to);
    add_transforms(request, schedule, &chain->segment[s], at, &to);
    *at = to;
    if (ends) add_pointwise(request, schedule, stores, at);
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
                              const end *from, const end *to, const segment_axes *axes) {
    const weft_engine_ops *engine = request->computing.engine;
    add_transform(request, schedule, from, to, axes->fourier, axes->fouriers);
    const weft_transform *all = &schedule->step[--schedule->steps].as.fft.transform;
    return all->dims > (engine->together ? engine->together(all) : 1);
}

/* The last segment of a convolution. Where the engine has it, its transforms are done there and
 * back at once: all of them or, if they are not done together anyway, the last one. */
static bool add_round_trip(const weft_schedule_request *there, const weft_schedule_request *back,
                           weft_schedule *schedule, int last, end *at) {
    const weft_chain *chain = there->chain;
    const end spectrum = departure(chain, last, WEFT_FORWARD);
    end to = departure(chain, last, WEFT_INVERSE);
    const bool ends = last == last_transforming(chain, WEFT_INVERSE);
    const int steps = schedule->steps;
    const weft_engine_ops *engine = there->computing.engine;
    const segment_axes axes = axes_of(chain, &chain->segment[last]);
    const int others = axes.fouriers - 1;
    if (!engine || !engine->takes_operators || axes.reals > 0 || axes.fouriers == 0) return false;
    if (ends) {
        add_arrival(there, schedule, WEFT_PLACE_LOAD, at);
        to.stride = strides_of_transform(there, schedule, WEFT_PLACE_STORE, &to);
    }
    bool added =
        add_there_and_back(there, schedule, at, &to, &spectrum, axes.fourier, axes.fouriers);
    if (!added && can_do_last_apart(there, schedule, at, &spectrum, &axes)) {
        add_fft(there, schedule, at, &spectrum, axes.fourier, others);
        added = add_there_and_back(there, schedule, &spectrum, &spectrum, &spectrum,
                                   axes.fourier + others, 1);
        add_fft(back, schedule, &spectrum, &to, axes.fourier, others);
    }
    if (!added) {
        schedule->steps = steps;
        return false;
    }
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
