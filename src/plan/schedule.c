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
} end;

static size_t element_bytes(weft_precision precision, bool real) {
    return weft_number_bytes(precision) * (real ? 1 : 2);
}

static end arrival(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    if (direction == WEFT_FORWARD)
        return (end){&segment->in, segment->order[direction][WEFT_INPUT],
                     weft_chain_is_real(chain, s)};
    return (end){&segment->out, segment->order[direction][WEFT_OUTPUT],
                 weft_chain_is_real(chain, s + 1)};
}

static end departure(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    if (direction == WEFT_FORWARD)
        return (end){&segment->out, segment->order[direction][WEFT_OUTPUT],
                     weft_chain_is_real(chain, s + 1)};
    return (end){&segment->in, segment->order[direction][WEFT_INPUT], weft_chain_is_real(chain, s)};
}

static int64_t end_bytes(const weft_schedule_request *request, const end *e) {
    weft_region box = weft_distribution_box(e->distribution, request->rank);
    return weft_region_elements(&box) * (int64_t)element_bytes(request->precision, e->real);
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
 * lies as `from` and is stored as `to`. */
static void add_fft(const weft_schedule_request *request, weft_schedule *schedule, const end *from,
                    const end *to, const int *axes, int count) {
    weft_region in = weft_distribution_box(from->distribution, request->rank);
    weft_region out = weft_distribution_box(to->distribution, request->rank);
    weft_view in_view = weft_view_of(&in, from->order, &in);
    weft_view out_view = weft_view_of(&out, to->order, &out);
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
                          .in_elements = weft_region_elements(&in),
                          .out_elements = weft_region_elements(&out)};
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
    step->src_bytes = end_bytes(request, from);
    step->dst_bytes = end_bytes(request, to);
    step->flops = t->in_elements > 0 ? transform_flops(t) : 0;
    step->bytes_moved = step->src_bytes + step->dst_bytes;
}

/* A copy into another memory order, which is dropped where the order stays. */
static void add_reordering(const weft_schedule_request *request, weft_schedule *schedule,
                           const end *from, const end *to) {
    weft_region box = weft_distribution_box(from->distribution, request->rank);
    weft_view before = weft_view_of(&box, from->order, &box);
    weft_view after = weft_view_of(&box, to->order, &box);
    weft_step *step = add_step(schedule, WEFT_STEP_COPY);
    step->as.copy = (weft_copy_step){
        .copy = weft_copy_between(&before, &after, element_bytes(request->precision, from->real)),
        .transfer = WEFT_DEVICE_TO_DEVICE,
        .optional = memcmp(before.stride, after.stride, sizeof before.stride) == 0};
    step->src_bytes = step->dst_bytes = end_bytes(request, from);
    step->bytes_moved = 2 * step->src_bytes;
}

/* The axes of a segment by what is done along them, each in their order. */
typedef struct segment_axes {
    int fourier[WEFT_MAX_RANK], real[WEFT_MAX_RANK]; /* real to real */
    int fouriers, reals;
} segment_axes;

static segment_axes axes_of(const weft_chain *chain, const weft_segment *segment) {
    segment_axes axes = {.fouriers = 0};
    for (int i = 0; i < segment->transforms; i++) {
        const int a = segment->axis[i];
        if (chain->type[a] == WEFT_AXIS_OF_KIND)
            axes.fourier[axes.fouriers++] = a;
        else if (chain->type[a] != WEFT_AXIS_NONE)
            axes.real[axes.reals++] = a;
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
        end between = {from->distribution, from->order, false};
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
                         from->real || to->real};
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
    const end shared = {from->distribution, order, from->real};
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
                                        element_bytes(request->precision, from->real), size, key,
                                        member_rank, &context, &x->geometry));
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

/* The bytes of a copy between host and device, which are known once the step next to it is. */
static void fill_transfer(weft_step *step, int64_t bytes) {
    step->as.copy.copy = weft_copy_of_run(bytes, 1);
    step->src_bytes = step->dst_bytes = bytes;
    step->bytes_moved = 2 * bytes;
}

static void add_transfer(weft_schedule *schedule, weft_transfer transfer) {
    add_step(schedule, WEFT_STEP_COPY)->as.copy.transfer = transfer;
}

/* The caller's array at a place, of which this rank has `box`. */
static weft_stored stored_at(const weft_schedule_request *request, weft_operator_place place,
                             const weft_region *box) {
    weft_stored stored = {.storage = WEFT_STORAGE_SAME};
    memcpy(stored.n, box->n, sizeof stored.n);
    if (!request->call) return stored;
    const weft_problem *p = &request->call->problem;
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
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

/* The operators of a place, if there are any, on data that lies as `at`. Where the result lies is
 * left to the assignment of buffers: in place, or in another one on the way. */
static void add_pointwise(const weft_schedule_request *request, weft_schedule *schedule,
                          weft_operator_place place, const end *at) {
    const weft_operator_list *operators = request->operators ? &request->operators[place] : NULL;
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    const weft_stored given = stored_at(request, place, &box);
    /* The spectrum of a convolution is not the caller's, but may be kept. */
    const bool inside = schedule->direction == WEFT_CONVOLVE && place == WEFT_PLACE_SPECTRAL;
    const bool keeps = inside && request->keeps_spectrum;
    weft_stored stored = given;
    if (inside) stored.storage = WEFT_STORAGE_SAME;
    if (!operators || (operators->count == 0 && weft_stored_is_box(&stored) && !keeps)) return;
    weft_step *step = add_step(schedule, WEFT_STEP_POINTWISE);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    step->as.pointwise.operators = operators;
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
    if (!weft_stored_is_box(&stored))
        *(weft_pointwise_loads(layout) ? &step->src_bytes : &step->dst_bytes) =
            weft_stored_bytes(layout);
    step->bytes_moved = step->src_bytes + step->dst_bytes;
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

/* The transforms of a segment. Operators are next to them, whatever bricks the caller has. */
static void add_segment(const weft_schedule_request *request, weft_schedule *schedule, int s,
                        end *at) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const end to = departure(chain, s, request->direction);
    if (forward && s == last_transforming(chain, WEFT_INVERSE))
        add_pointwise(request, schedule, WEFT_PLACE_LOAD, at);
    if (!forward && s == last_transforming(chain, WEFT_FORWARD) &&
        schedule->direction == WEFT_INVERSE)
        add_pointwise(request, schedule, WEFT_PLACE_SPECTRUM, at);
    add_transforms(request, schedule, &chain->segment[s], at, &to);
    *at = to;
    if (s == last_transforming(chain, request->direction))
        add_pointwise(request, schedule, forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE, at);
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
    const weft_computing *by = &request->computing;
    add_fft(request, schedule, from, to, axes, count);
    weft_step *step = &schedule->step[schedule->steps - 1];
    weft_fft_step *fft = &step->as.fft;
    fft->transform.round_trip = true;
    step->flops *= 2;
    add_pointwise(request, schedule, WEFT_PLACE_SPECTRAL, spectrum);
    if (&schedule->step[schedule->steps - 1] != step)
        fft->transform.spectral =
            weft_schedule_fused(&schedule->step[--schedule->steps].as.pointwise, fft);
    if (weft_step_is_empty(fft) ||
        by->engine->supports(&fft->transform, by->device) == WEFT_SUCCESS)
        return true;
    schedule->steps--;
    return false;
}

/* Whether the last of several axes can be transformed apart from the others with the same bits. */
static bool can_do_last_apart(const weft_schedule_request *request, weft_schedule *schedule,
                              const end *from, const end *to, const segment_axes *axes) {
    const weft_engine_ops *engine = request->computing.engine;
    add_fft(request, schedule, from, to, axes->fourier, axes->fouriers);
    const weft_transform *all = &schedule->step[--schedule->steps].as.fft.transform;
    return all->dims > (engine->together ? engine->together(all) : 1);
}

/* The last segment of a convolution. Where the engine has it, its transforms are done there and
 * back at once: all of them or, if they are not done together anyway, the last one. */
static bool add_round_trip(const weft_schedule_request *there, const weft_schedule_request *back,
                           weft_schedule *schedule, int last, end *at) {
    const weft_chain *chain = there->chain;
    const end spectrum = departure(chain, last, WEFT_FORWARD);
    const end to = departure(chain, last, WEFT_INVERSE);
    const bool ends = last == last_transforming(chain, WEFT_INVERSE);
    const int steps = schedule->steps;
    const weft_engine_ops *engine = there->computing.engine;
    const segment_axes axes = axes_of(chain, &chain->segment[last]);
    const int others = axes.fouriers - 1;
    if (!engine || !engine->takes_operators || axes.reals > 0 || axes.fouriers == 0) return false;
    if (ends) add_pointwise(there, schedule, WEFT_PLACE_LOAD, at);
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
    schedule->converts_output =
        request->call &&
        weft_call_storage(request->call,
                          convolves || !forward ? WEFT_PLACE_STORE : WEFT_PLACE_SPECTRAL) !=
            WEFT_STORAGE_SAME;
    schedule->step = malloc(WEFT_STEPS_OF(chain->segments) * sizeof *schedule->step);
    if (!schedule->step) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");

    end at = arrival(chain, first, forward ? WEFT_FORWARD : WEFT_INVERSE);
    if (request->host_buffers) add_transfer(schedule, WEFT_HOST_TO_DEVICE);
    WEFT_TRY(convolves ? add_convolution(request, schedule, &at)
                       : add_segments(request, schedule, first, last, &at));
    if (request->host_buffers) add_transfer(schedule, WEFT_DEVICE_TO_HOST);
    weft_schedule_fuse_operators(request, schedule);
    if (request->host_buffers) {
        fill_transfer(&schedule->step[0], schedule->step[1].src_bytes);
        fill_transfer(&schedule->step[schedule->steps - 1],
                      schedule->step[schedule->steps - 2].dst_bytes);
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
