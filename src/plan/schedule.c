/* From a chain to the steps of one rank and direction. */
#include "plan/steps.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

bool weft_step_transforms(const weft_fft_step *fft, int axis) {
    for (int d = 0; d < fft->transform.dims; d++)
        if (fft->axis[d] == axis) return true;
    return false;
}

int weft_step_loop(const weft_fft_step *fft, const int64_t *n, int axis) {
    int loop = 0;
    for (int a = 0; a < axis; a++)
        if (!weft_step_transforms(fft, a) && n[a] != 1) loop++;
    return loop;
}

weft_end weft_chain_arrival(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    const int space = direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
    return (weft_end){&segment->side[direction][space], segment->order[direction][space],
                      weft_chain_is_real(chain, s + space), NULL};
}

weft_end weft_chain_departure(const weft_chain *chain, int s, weft_direction direction) {
    const weft_segment *segment = &chain->segment[s];
    const int space = direction == WEFT_FORWARD ? WEFT_OUTPUT : WEFT_INPUT;
    return (weft_end){&segment->side[direction][space], segment->order[direction][space],
                      weft_chain_is_real(chain, s + space), NULL};
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

const weft_exchange_ops *weft_schedule_method(const weft_schedule_request *request,
                                              int redistribution) {
    return weft_exchange_find(request->exchanging.method[request->chain->method[redistribution]]);
}

/* What partners read must lie in a workspace, in a memory order that they know: the caller's array
 * is copied there. Where the array lies right already, the copy is dropped again. */
static weft_end add_shared_copy(const weft_schedule_request *request, weft_schedule *schedule,
                                int redistribution, const weft_end *from) {
    const int *order = from->order;
    if (from->distribution->boxes) /* each rank has an order of its own */
        order = wire_order(request->chain, redistribution, request->direction);
    const weft_end shared = {from->distribution, order, from->real, NULL};
    weft_schedule_add_reordering(request, schedule, from, &shared);
    return shared;
}

weft_status weft_schedule_add_exchange(const weft_schedule_request *request,
                                       weft_schedule *schedule, int redistribution,
                                       const weft_exchange_ops *method, const weft_end *from,
                                       const weft_end *to) {
    const weft_chain *chain = request->chain;
    weft_step *step = weft_schedule_add_step(schedule, WEFT_STEP_EXCHANGE);
    int color, key, size;
    weft_chain_group(chain, redistribution, request->rank, &color, &key, &size);
    member_context context = {chain, redistribution, request->rank};
    weft_side src = {from->distribution, from->order}, dst = {to->distribution, to->order};
    weft_exchange_step *x = &step->as.exchange;
    *x = (weft_exchange_step){.redistribution = redistribution,
                              .direction = request->direction,
                              .method = method,
                              .produced = {.tiles = 1, .axis = -1},
                              .consumed = {.tiles = 1, .axis = -1}};
    x->staged = request->exchanging.staged && x->method->carrier == WEFT_CARRIED_BY_TRANSPORT;
    WEFT_TRY(weft_redistribution_create(
        &src, &dst, wire_order(chain, redistribution, request->direction),
        (size_t)weft_end_element_bytes(request->precision, from->real), size, key, member_rank,
        &context, &x->geometry));
    if (!weft_exchange_packs(x->method)) x->geometry.pack = x->geometry.unpack = false;
    if (x->staged) x->geometry.pack = x->geometry.unpack = true;
    step->src_bytes = weft_end_bytes(request, from);
    step->dst_bytes = weft_end_bytes(request, to);
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
    weft_schedule_add_step(schedule, WEFT_STEP_COPY)->as.copy.transfer = transfer;
}

/* The strides of the caller's array at a place, where it has strides of its own on the device. */
static const int64_t *strides_at(const weft_schedule_request *request, weft_operator_place place) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_space space = spectral ? WEFT_OUTPUT : WEFT_INPUT;
    if (!request->call || request->host_buffers || !request->call->strides.given[space])
        return NULL;
    return request->call->strides.of[space];
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
                                  weft_operator_place place, const weft_end *at) {
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_space space = spectral ? WEFT_OUTPUT : WEFT_INPUT;
    const bool up = step->as.copy.transfer == WEFT_HOST_TO_DEVICE;
    if (!request->call || !request->call->strides.given[space]) return;
    weft_pointwise_layout layout = {.box = weft_distribution_box(at->distribution, request->rank)};
    memcpy(layout.order, at->order, sizeof layout.order);
    layout.stored = stored_at(request, place, &layout.box);
    const weft_view near = weft_stored_view(&layout);
    const int64_t element = step->src_bytes / weft_view_elements(&near);
    weft_view far = near;
    memcpy(far.stride, request->call->strides.of[space], sizeof far.stride);
    step->as.copy.copy = weft_copy_between(up ? &far : &near, up ? &near : &far, (size_t)element);
    *(up ? &step->src_bytes : &step->dst_bytes) = weft_view_reach(&far) * element;
}

/* Whether the array at a place is between two transforms, so not the caller's; but the spectrum of
 * a convolution may be kept. */
static bool is_inside(const weft_schedule *schedule, weft_operator_place place) {
    if (schedule->direction == WEFT_PSEUDOSPECTRAL)
        return place == WEFT_PLACE_STORE || place == WEFT_PLACE_LOAD;
    return schedule->direction == WEFT_CONVOLVE && place == WEFT_PLACE_SPECTRAL;
}

/* The members of the batch behind the operators that may make fields from one another. */
static int64_t members_made(const weft_schedule_request *request, const weft_schedule *schedule) {
    const weft_segment *segment = &request->chain->segment[0];
    const bool pseudospectral = schedule->direction == WEFT_PSEUDOSPECTRAL;
    return segment->side[pseudospectral ? WEFT_FORWARD : WEFT_INVERSE][WEFT_INPUT]
        .n[request->chain->axes - 1];
}

/* Whether something is done to the elements at a place. */
static bool has_pointwise(const weft_schedule_request *request, const weft_schedule *schedule,
                          weft_operator_place place, const weft_end *at) {
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
                                           const weft_end *at) {
    if (is_inside(schedule, place) || has_pointwise(request, schedule, place, at)) return NULL;
    return strides_at(request, place);
}

/* The operators of a place, if there are any, on data that lies as `at`. Where the result lies is
 * left to the assignment of buffers: in place, or in another one on the way. */
static void add_pointwise(const weft_schedule_request *request, weft_schedule *schedule,
                          weft_operator_place place, const weft_end *at) {
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
    if (!keeps && weft_schedule_crop_takes(schedule, place, operators)) {
        step = &schedule->step[schedule->steps - 1];
        step->as.pointwise.operators = operators;
        step->as.pointwise.number = (int)place;
        stored.cropped = true;
        memcpy(stored.high, step->as.pointwise.layout.stored.high, sizeof stored.high);
    } else {
        step = weft_schedule_add_pointwise(request, schedule, operators, place, at);
    }
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    layout->stored = stored;
    layout->keeps = keeps;
    if (weft_operators_have_matrix(operators)) layout->made = members_made(request, schedule);
    if (keeps) layout->kept = given;
    weft_schedule_count_bytes(step);
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
                                      int s, weft_end *at) {
    const bool forward = request->direction == WEFT_FORWARD;
    const int redistribution = forward ? s : s - 1;
    const weft_end to =
        weft_chain_arrival(request->chain, forward ? s + 1 : s - 1, request->direction);
    if (weft_schedule_method(request, redistribution)->carrier == WEFT_CARRIED_BY_READERS)
        *at = add_shared_copy(request, schedule, redistribution, at);
    const bool rounds = weft_wire_precision(request) != request->precision;
    const int number = 2 * (2 * redistribution + forward);
    weft_schedule_request travelling = *request;
    travelling.precision = weft_wire_precision(request);
    if (rounds) weft_schedule_add_conversion(request, schedule, false, number, at);
    WEFT_TRY(weft_schedule_add_exchange(&travelling, schedule, redistribution,
                                        weft_schedule_method(request, redistribution), at, &to));
    if (rounds) weft_schedule_add_conversion(request, schedule, true, number + 1, &to);
    *at = to;
    return WEFT_SUCCESS;
}

/* The caller's array comes in: through the step of its place, or to the transform as it lies. */
static void add_arrival(const weft_schedule_request *request, weft_schedule *schedule,
                        weft_operator_place place, weft_end *at) {
    at->stride = strides_of_transform(request, schedule, place, at);
    add_pointwise(request, schedule, place, at);
}

/* The transforms of a segment. Operators are next to them, whatever bricks the caller has. */
static void add_segment(const weft_schedule_request *request, weft_schedule *schedule, int s,
                        weft_end *at) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_operator_place stores = forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    const bool ends = s == last_transforming(chain, request->direction);
    weft_end to = weft_chain_departure(chain, s, request->direction);
    if (chain->line.points > 0) {
        weft_schedule_add_line(request, schedule, s, at);
        return;
    }
    if (forward && s == last_transforming(chain, WEFT_INVERSE))
        add_arrival(request, schedule, WEFT_PLACE_LOAD, at);
    if (!forward && s == last_transforming(chain, WEFT_FORWARD) &&
        weft_begins_with_spectrum(schedule->direction))
        add_arrival(request, schedule, WEFT_PLACE_SPECTRUM, at);
    if (ends) to.stride = strides_of_transform(request, schedule, stores, &to);
    weft_schedule_add_transforms(request, schedule, &chain->segment[s], at, &to);
    *at = to;
    if (!ends) return;
    add_pointwise(request, schedule, stores, at);
    if (forward) at->distribution = &chain->segment[s].side[WEFT_INVERSE][WEFT_OUTPUT];
}

/* Segments first to last, in the direction of the request, from data that lies as *at. */
static weft_status add_segments(const weft_schedule_request *request, weft_schedule *schedule,
                                int first, int last, weft_end *at) {
    for (int s = first;; s += request->direction == WEFT_FORWARD ? 1 : -1) {
        add_segment(request, schedule, s, at);
        if (s == last) return WEFT_SUCCESS;
        WEFT_TRY(add_redistribution(request, schedule, s, at));
    }
}

/* Transforms along `axes` there and back at once, with the operators in between on data that lies
 * as `spectrum`, if the engine has that. */
static bool add_there_and_back(const weft_schedule_request *request, weft_schedule *schedule,
                               const weft_end *from, const weft_end *to, const weft_end *spectrum,
                               const int *axes, int count) {
    weft_schedule_add_transform(request, schedule, from, to, axes, count);
    weft_step *step = &schedule->step[schedule->steps - 1];
    weft_fft_step *fft = &step->as.fft;
    fft->transform.round_trip = true;
    step->flops *= 2;
    add_pointwise(request, schedule, WEFT_PLACE_SPECTRAL, spectrum);
    if (&schedule->step[schedule->steps - 1] != step)
        fft->transform.spectral =
            weft_schedule_fused(&schedule->step[--schedule->steps].as.pointwise, fft);
    return weft_schedule_engine_has(request, schedule);
}

/* The last group of a convolution's last segment there and back, from data that lies as `from` to
 * data that lies as `to`, padded before and cropped after. */
static bool add_group_there_and_back(const weft_schedule_request *there,
                                     const weft_schedule_request *back, weft_schedule *schedule,
                                     const weft_axis_group *group, const weft_end *from,
                                     const weft_end *to, const weft_end *spectrum) {
    const int others = group->axes - 1, steps = schedule->steps;
    const weft_distribution padded = weft_with_extents(from->distribution, group, there->chain->n);
    const weft_distribution uncropped = weft_with_extents(to->distribution, group, there->chain->n);
    const weft_end padded_end = {&padded, from->order, from->real, NULL};
    const weft_end uncropped_end = {&uncropped, to->order, to->real, NULL};
    const weft_end *first = group->padded ? &padded_end : from,
                   *last = group->padded ? &uncropped_end : to;
    bool added;
    if (group->truncated) return false;
    if (group->padded) weft_schedule_add_padding(there, schedule, WEFT_PLACE_LOAD, first, from);
    added = add_there_and_back(there, schedule, first, last, spectrum, group->axis, group->axes);
    if (!added && !group->padded &&
        weft_schedule_last_is_apart(there, schedule, from, spectrum, group->axis, group->axes)) {
        weft_schedule_add_fft(there, schedule, from, spectrum, group->axis, others);
        added = add_there_and_back(there, schedule, spectrum, spectrum, spectrum,
                                   group->axis + others, 1);
        weft_schedule_add_fft(back, schedule, spectrum, to, group->axis, others);
    }
    if (added && group->padded)
        weft_schedule_add_padding(back, schedule, WEFT_PLACE_STORE, last, to);
    if (!added) schedule->steps = steps;
    return added;
}

/* The last segment of a convolution. Where the engine has it, the transforms of its last group are
 * done there and back at once: all of them or, if they are not done together anyway, the last one.
 */
static bool add_round_trip(const weft_schedule_request *there, const weft_schedule_request *back,
                           weft_schedule *schedule, int last, weft_end *at) {
    const weft_chain *chain = there->chain;
    const weft_end spectrum = weft_chain_departure(chain, last, WEFT_FORWARD), begin = *at;
    weft_end to = weft_chain_departure(chain, last, WEFT_INVERSE);
    const bool ends = last == last_transforming(chain, WEFT_INVERSE);
    const int steps = schedule->steps;
    const weft_engine_ops *engine = there->computing.engine;
    const weft_axis_groups g = weft_axis_groups_of(chain, &chain->segment[last]);
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
    weft_schedule_add_groups(there, schedule, g.fourier, before, &spectrum, false, at, &storage);
    const weft_axis_group *turn = &g.fourier[before];
    returned = weft_with_extents(at->distribution, turn, to.distribution->n);
    weft_end turned = {&returned, to.order, before > 0 ? false : to.real,
                       before > 0 ? NULL : to.stride};
    if (!add_group_there_and_back(there, back, schedule, turn, at, &turned, &spectrum)) {
        schedule->steps = steps;
        *at = begin;
        return false;
    }
    weft_schedule_add_groups(back, schedule, g.fourier, before, &to, true, &turned, &returned);
    if (ends) add_pointwise(there, schedule, WEFT_PLACE_STORE, &to);
    *at = to;
    return true;
}

/* There and back; in between the data lies as the forward transform leaves it, which of lines over
 * several ranks is the last segment. */
static weft_status add_convolution(const weft_schedule_request *request, weft_schedule *schedule,
                                   weft_end *at) {
    const weft_chain *chain = request->chain;
    const int last =
        chain->line.points > 0 ? chain->segments - 1 : last_transforming(chain, WEFT_FORWARD);
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

/* From a spectrum to real space and forward again; in between the data lies as in the first
 * segment. Operators may have made other fields there. */
static weft_status add_pseudospectral(const weft_schedule_request *request, weft_schedule *schedule,
                                      weft_end *at) {
    const weft_chain *chain = request->chain;
    const int last = chain->segments - 1;
    weft_schedule_request there = *request, back = *request;
    there.direction = WEFT_INVERSE;
    back.direction = WEFT_FORWARD;
    WEFT_TRY(add_segments(&there, schedule, last, 0, at));
    at->distribution = &chain->segment[0].side[WEFT_FORWARD][WEFT_INPUT];
    return add_segments(&back, schedule, 0, last, at);
}

static weft_status add_steps(const weft_schedule_request *request, weft_schedule *schedule,
                             weft_end *at) {
    const int last = request->chain->segments - 1;
    if (request->direction == WEFT_CONVOLVE) return add_convolution(request, schedule, at);
    if (request->direction == WEFT_PSEUDOSPECTRAL) return add_pseudospectral(request, schedule, at);
    return request->direction == WEFT_FORWARD ? add_segments(request, schedule, 0, last, at)
                                              : add_segments(request, schedule, last, 0, at);
}

weft_status weft_schedule_build(const weft_schedule_request *request, weft_schedule *schedule) {
    const weft_chain *chain = request->chain;
    const bool from_spectrum = weft_begins_with_spectrum(request->direction);
    memset(schedule, 0, sizeof *schedule);
    schedule->direction = request->direction;
    schedule->in_place = request->in_place;
    schedule->precision = request->precision;
    schedule->exact = weft_goes_both_ways(request->direction) && request->call &&
                      weft_call_only(request->call, request->direction);
    const weft_operator_place loads = from_spectrum ? WEFT_PLACE_SPECTRUM : WEFT_PLACE_LOAD;
    const weft_operator_place stores =
        weft_ends_with_spectrum(request->direction) ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    schedule->converts_output =
        request->call && (weft_call_storage(request->call, stores) != WEFT_STORAGE_SAME ||
                          strides_at(request, stores));
    schedule->step = malloc(WEFT_STEPS_OF(chain->segments) * sizeof *schedule->step);
    if (!schedule->step) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");

    if (request->streamed) return weft_schedule_stream(request, schedule);
    const weft_end begin = from_spectrum
                               ? weft_chain_arrival(chain, chain->segments - 1, WEFT_INVERSE)
                               : weft_chain_arrival(chain, 0, WEFT_FORWARD);
    weft_end at = begin;
    if (request->host_buffers) add_transfer(schedule, WEFT_HOST_TO_DEVICE);
    WEFT_TRY(add_steps(request, schedule, &at));
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
    free(schedule->stream.pass);
    schedule->step = NULL;
    schedule->stream = (weft_streaming){0};
    schedule->steps = 0;
}
