/* The axes of a segment, in groups that are transformed together, padded and cropped. */
#include "plan/steps.h"

#include "support/axis.h"

#include <string.h>

/* ---- padding and cropping ---- */

static const weft_operator_list no_operators;

weft_step *weft_schedule_add_pointwise(const weft_schedule_request *request,
                                       weft_schedule *schedule, const weft_operator_list *operators,
                                       weft_operator_place place, const weft_end *at) {
    const weft_region box = weft_distribution_box(at->distribution, request->rank);
    weft_step *step = weft_schedule_add_step(schedule, WEFT_STEP_POINTWISE);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    step->as.pointwise = (weft_pointwise_step){.operators = operators, .number = (int)place};
    *layout = (weft_pointwise_layout){
        .box = box, .real = at->real, .precision = request->precision, .place = place};
    memcpy(layout->order, at->order, (size_t)box.axes * sizeof *at->order);
    layout->fields = request->call ? weft_call_fields_at(request->call, place) : 1;
    memcpy(layout->n, request->chain->n, sizeof layout->n);
    memcpy(layout->stored.n, box.n, sizeof layout->stored.n);
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    const weft_chain *chain = request->chain;
    if (spectral) memcpy(layout->n, chain->spectrum, (size_t)(box.axes - 1) * sizeof *layout->n);
    if (spectral && chain->halved >= 0) layout->n[chain->halved] = layout->n[chain->halved] / 2 + 1;
    return step;
}

/* A loop over real numbers: complex ones are twice as many along the contiguous axis. */
void weft_schedule_add_conversion(const weft_schedule_request *request, weft_schedule *schedule,
                                  bool loads, int number, const weft_end *at) {
    const weft_operator_place place = loads ? WEFT_PLACE_LOAD : WEFT_PLACE_STORE;
    weft_step *step = weft_schedule_add_pointwise(request, schedule, &no_operators, place, at);
    weft_pointwise_layout *layout = &step->as.pointwise.layout;
    const int contiguous = layout->order[layout->box.axes - 1];
    const int placement = schedule->in_place ? WEFT_MAX_CONVERSIONS : 0;
    step->as.pointwise.number = WEFT_FIRST_CONVERSION + placement + number;
    layout->box.n[contiguous] *= at->real ? 1 : 2;
    memset(layout->box.lo, 0, sizeof layout->box.lo);
    layout->real = true;
    layout->fields = 1;
    memcpy(layout->n, layout->box.n, sizeof layout->n);
    memcpy(layout->stored.n, layout->box.n, sizeof layout->stored.n);
    layout->stored.storage = WEFT_STORAGE_FLOAT;
    weft_schedule_count_bytes(step);
}

void weft_schedule_count_bytes(weft_step *step) {
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

int weft_schedule_next_number(const weft_schedule *schedule) {
    int number = WEFT_PLACES;
    for (int i = 0; i < schedule->steps; i++)
        if (schedule->step[i].kind == WEFT_STEP_POINTWISE &&
            schedule->step[i].as.pointwise.number < WEFT_FIRST_CONVERSION &&
            schedule->step[i].as.pointwise.number >= number)
            number = schedule->step[i].as.pointwise.number + 1;
    return number;
}

bool weft_schedule_ends_in_crop(const weft_schedule *schedule, weft_operator_place place) {
    const weft_step *last = schedule->steps > 0 ? &schedule->step[schedule->steps - 1] : NULL;
    return last && last->kind == WEFT_STEP_POINTWISE && last->as.pointwise.layout.place == place;
}

bool weft_schedule_crop_takes(const weft_schedule *schedule, weft_operator_place place,
                              const weft_operator_list *operators) {
    double factor;
    return weft_schedule_ends_in_crop(schedule, place) &&
           (place == WEFT_PLACE_STORE ||
            (place == WEFT_PLACE_SPECTRAL && weft_operators_only_scale(operators, &factor)));
}

/* Whether the last step loads the caller's array, which padding can then be part of. */
static bool ends_in_load(const weft_schedule *schedule) {
    const weft_step *last = schedule->steps > 0 ? &schedule->step[schedule->steps - 1] : NULL;
    return last && last->kind == WEFT_STEP_POINTWISE &&
           last->as.pointwise.number < WEFT_FIRST_CONVERSION &&
           last->as.pointwise.layout.place == WEFT_PLACE_LOAD;
}

/* How many of a spectrum's frequencies along an axis are negative ones, which are stored behind
 * the others. */
static int64_t negative_frequencies(const weft_chain *chain, int axis) {
    const bool has = axis < chain->axes - 1 && axis != chain->halved &&
                     weft_axis_is_fourier(chain->types.forward[axis]);
    return has ? chain->spectrum[axis] / 2 : 0;
}

void weft_schedule_add_padding(const weft_schedule_request *request, weft_schedule *schedule,
                               weft_operator_place place, const weft_end *wide,
                               const weft_end *narrow) {
    const weft_region box = weft_distribution_box(narrow->distribution, request->rank),
                      all = weft_distribution_box(wide->distribution, request->rank);
    const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
    weft_step *step;
    if (place == WEFT_PLACE_LOAD && ends_in_load(schedule)) {
        step = &schedule->step[schedule->steps - 1];
        step->as.pointwise.layout.box = all;
    } else {
        const int number = weft_schedule_next_number(schedule);
        step = weft_schedule_add_pointwise(request, schedule, &no_operators, place, wide);
        step->as.pointwise.number = number;
    }
    weft_stored *stored = &step->as.pointwise.layout.stored;
    schedule->exact = true;
    stored->cropped = true;
    memcpy(stored->n, box.n, sizeof box.n);
    for (int a = 0; a < box.axes && spectral; a++)
        if (box.n[a] != all.n[a]) stored->high[a] = negative_frequencies(request->chain, a);
    if (narrow->stride) {
        stored->strided = true;
        memcpy(stored->stride, narrow->stride, (size_t)box.axes * sizeof *stored->stride);
    }
    weft_schedule_count_bytes(step);
}

/* ---- the transforms of a segment ---- */

static bool is_padded(const weft_chain *chain, const weft_segment *segment, int axis) {
    return segment->side[WEFT_FORWARD][WEFT_INPUT].n[axis] != chain->n[axis] ||
           segment->side[WEFT_INVERSE][WEFT_INPUT].n[axis] != chain->n[axis];
}

static void add_axis(weft_axis_group *group, int *groups, int axis, bool padded, bool truncated) {
    if (*groups == 0 || padded || group[*groups - 1].truncated) (*groups)++;
    weft_axis_group *last = &group[*groups - 1];
    last->axis[last->axes++] = axis;
    last->padded = last->padded || padded;
    last->truncated = truncated;
}

weft_axis_groups weft_axis_groups_of(const weft_chain *chain, const weft_segment *segment) {
    weft_axis_groups groups = {.fouriers = 0};
    int axis[WEFT_MAX_RANK];
    memcpy(axis, segment->axis, sizeof axis);
    /* A transform halves its last dimension, which is the first axis of the list. */
    for (int i = segment->transforms - 1; i > 0; i--) {
        if (axis[i] != chain->halved) continue;
        axis[i] = axis[i - 1];
        axis[i - 1] = chain->halved;
    }
    for (int i = 0; i < segment->transforms; i++) {
        const int a = axis[i];
        const bool padded = is_padded(chain, segment, a);
        const bool truncated = chain->spectrum[a] != chain->n[a];
        if (weft_axis_is_fourier(chain->types.forward[a]))
            add_axis(groups.fourier, &groups.fouriers, a, padded, truncated);
        else if (chain->types.forward[a] != WEFT_AXIS_NONE)
            add_axis(groups.real_to_real, &groups.real_to_reals, a, padded, truncated);
        else if (padded)
            groups.none.axis[groups.none.axes++] = a;
    }
    groups.none.padded = groups.none.axes > 0;
    return groups;
}

weft_distribution weft_with_extents(const weft_distribution *other, const weft_axis_group *group,
                                    const int64_t *extents) {
    weft_distribution d = *other;
    for (int i = 0; i < group->axes; i++) d.n[group->axis[i]] = extents[group->axis[i]];
    return d;
}

/* Whether a transform of the caller's real array is all that is done, in place: the array is too
 * short for the spectrum, so that the first axes leave it, and the last one brings the data back
 * unless all are one step. */
static bool brings_back(const weft_schedule_request *request, weft_schedule *schedule,
                        const weft_end *from, const weft_end *to, const int *axes, int count) {
    const weft_engine_ops *engine = request->computing.engine;
    return from->real && !to->real && request->in_place && schedule->steps == 0 &&
           request->chain->segments == 1 && engine && engine->takes_pieces &&
           weft_schedule_last_is_apart(request, schedule, from, to, axes, count);
}

/* Whether the engine has all of a complex-to-real transform without a copy of its input. */
static bool keeps_input(const weft_schedule_request *request, weft_schedule *schedule,
                        const weft_end *from, const weft_end *to, const int *axes, int count) {
    const weft_engine_ops *engine = request->computing.engine;
    if (!engine || !engine->keeps_input || request->in_place) return false;
    weft_schedule_add_transform(request, schedule, from, to, axes, count);
    const weft_transform *all = &schedule->step[--schedule->steps].as.fft.transform;
    return engine->supports(all, request->computing.device) == WEFT_SUCCESS &&
           engine->keeps_input(all);
}

/* The complex-to-real transform of several axes destroys its input in most engines, and the
 * caller's input is kept. So where it would read the caller's buffer, the slowest axis goes first,
 * into a buffer of the plan's own, unless the engine does without; the others are left together,
 * for an engine may do two in one pass over memory. */
static void add_fourier(const weft_schedule_request *request, weft_schedule *schedule,
                        const weft_end *from, const weft_end *to, const int *axes, int count) {
    if (!from->real && to->real && count > 1 && schedule->steps == 0 &&
        !keeps_input(request, schedule, from, to, axes, count)) {
        weft_end between = {from->distribution, from->order, false, NULL};
        weft_schedule_add_fft(request, schedule, from, &between, axes + count - 1, 1);
        weft_schedule_add_fft(request, schedule, &between, to, axes, count - 1);
        return;
    }
    if (brings_back(request, schedule, from, to, axes, count)) {
        weft_end between = {to->distribution, from->order, false, NULL};
        weft_schedule_add_fft(request, schedule, from, &between, axes, count - 1);
        weft_schedule_add_fft(request, schedule, &between, to, axes + count - 1, 1);
        return;
    }
    weft_schedule_add_fft(request, schedule, from, to, axes, count);
}

/* The extents of the spectrum, but for the batch, that is not truncated. */
static void set_full_spectrum(const weft_chain *chain, int64_t *n) {
    memcpy(n, chain->n, sizeof chain->n);
    if (chain->halved >= 0) n[chain->halved] = n[chain->halved] / 2 + 1;
}

/* One group from data that lies as `from` to data that lies as `to`: padded before it is
 * transformed and truncated after it going forward, the other way round going back. Axes without a
 * transform are only padded or cropped. */
static void add_group(const weft_schedule_request *request, weft_schedule *schedule,
                      const weft_axis_group *group, const weft_end *from, const weft_end *to) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const bool transforms = chain->types.forward[group->axis[0]] != WEFT_AXIS_NONE;
    const bool widens = forward ? group->padded : group->truncated;
    const bool narrows = forward ? group->truncated : group->padded;
    int64_t full[WEFT_AXES];
    set_full_spectrum(chain, full);
    const weft_distribution before =
        weft_with_extents(from->distribution, group, forward ? chain->n : full);
    const weft_distribution after =
        weft_with_extents(to->distribution, group, forward ? full : chain->n);
    const weft_end wide_from = {&before, from->order, from->real, NULL};
    const weft_end wide_to = {&after, transforms ? to->order : from->order, to->real, NULL};
    if (!transforms) {
        if (forward)
            weft_schedule_add_padding(request, schedule, WEFT_PLACE_LOAD, &wide_from, from);
        else
            weft_schedule_add_padding(request, schedule, WEFT_PLACE_STORE, &wide_to, to);
        return;
    }
    if (widens)
        weft_schedule_add_padding(
            request, schedule, forward ? WEFT_PLACE_LOAD : WEFT_PLACE_SPECTRUM, &wide_from, from);
    add_fourier(request, schedule, widens ? &wide_from : from, narrows ? &wide_to : to, group->axis,
                group->axes);
    if (narrows)
        weft_schedule_add_padding(request, schedule,
                                  forward ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE, &wide_to, to);
}

/* Two neighbouring groups as one, whose spectrum is truncated; `first` is transformed first going
 * forward. */
static bool join(const weft_axis_group *first, const weft_axis_group *second,
                 weft_axis_group *both) {
    if (!first->truncated || second->padded) return false;
    *both = *first;
    memcpy(both->axis + first->axes, second->axis, (size_t)second->axes * sizeof *second->axis);
    both->axes += second->axes;
    return true;
}

/* A group from data that lies as *at, which gets how it lies behind the group; `last`: as `to`.
 * With `together` only if the engine transforms all its axes in one pass over memory. */
static bool add_next_group(const weft_schedule_request *request, weft_schedule *schedule,
                           const weft_axis_group *group, const weft_end *to, bool last,
                           bool together, weft_end *at, weft_distribution *storage) {
    const int steps = schedule->steps;
    weft_distribution after = weft_with_extents(at->distribution, group, to->distribution->n);
    weft_end next = {&after, last ? to->order : at->order, at->real, last ? to->stride : NULL};
    for (int i = 0; i < group->axes; i++)
        if (group->axis[i] == request->chain->halved) next.real = to->real;
    add_group(request, schedule, group, at, &next);
    if (together && !weft_schedule_takes_operators(request, schedule, steps, group->axes)) {
        schedule->steps = steps;
        return false;
    }
    *storage = after;
    *at = (weft_end){storage, next.order, next.real, next.stride};
    return true;
}

/* An engine that takes no operators transforms all axes at once, and one step truncates them. One
 * that does may truncate both axes of a plane, which stays in the caches. */
void weft_schedule_add_groups(const weft_schedule_request *request, weft_schedule *schedule,
                              const weft_axis_group *group, int groups, const weft_end *to,
                              bool last, weft_end *at, weft_distribution *storage) {
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_engine_ops *engine = request->computing.engine;
    const bool fuses = !engine || engine->takes_operators;
    for (int k = 0; k < groups;) {
        weft_axis_group now = group[forward ? k : groups - 1 - k], both;
        bool joins = false;
        for (k++; k < groups; k++, now = both) {
            const weft_axis_group *next = &group[forward ? k : groups - 1 - k];
            joins = join(forward ? &now : next, forward ? next : &now, &both);
            if (!joins || fuses) break;
        }
        if (joins && fuses && both.axes == 2 &&
            add_next_group(request, schedule, &both, to, last && k + 1 == groups, true, at,
                           storage))
            k++;
        else
            add_next_group(request, schedule, &now, to, last && k == groups, false, at, storage);
    }
}

/* Transforms along different axes commute, so those that are real to real are done where data is
 * real, if it is at one end. Axes without a transform are padded last and cropped first. */
void weft_schedule_add_transforms(const weft_schedule_request *request, weft_schedule *schedule,
                                  const weft_segment *segment, const weft_end *from,
                                  const weft_end *to) {
    const weft_axis_groups g = weft_axis_groups_of(request->chain, segment);
    const bool forward = request->direction == WEFT_FORWARD, real_first = from->real || !to->real;
    const int nones = g.none.padded ? 1 : 0;
    weft_distribution storage;
    weft_end at = *from;
    if (!forward && nones > 0) {
        const weft_end plain = {from->distribution, from->order, from->real, NULL};
        if (from->stride) weft_schedule_add_reordering(request, schedule, from, &plain);
        at = plain;
        weft_schedule_add_groups(request, schedule, &g.none, nones, to, false, &at, &storage);
    }
    const bool ends = !forward || nones == 0; /* the transforms leave data as `to` lies */
    if (real_first)
        weft_schedule_add_groups(request, schedule, g.real_to_real, g.real_to_reals, to,
                                 ends && g.fouriers == 0, &at, &storage);
    weft_schedule_add_groups(request, schedule, g.fourier, g.fouriers, to,
                             ends && (real_first || g.real_to_reals == 0), &at, &storage);
    if (!real_first)
        weft_schedule_add_groups(request, schedule, g.real_to_real, g.real_to_reals, to, ends, &at,
                                 &storage);
    if (forward)
        weft_schedule_add_groups(request, schedule, &g.none, nones, to, false, &at, &storage);
    if (segment->transforms > 0 && (g.fouriers + g.real_to_reals == 0 || !ends))
        weft_schedule_add_reordering(request, schedule, &at, to);
}
