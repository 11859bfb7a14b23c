/* The steps of one pass of a streamed schedule: a tile is copied to the device, transformed with
 * the operators of the pass, and copied back. */
#include "plan/stream.h"

#include "support/error.h"

#include <string.h>

/* A tile as an array of its own. */
static weft_distribution tile_of(const weft_distribution *all, const weft_streamed_pass *pass) {
    weft_distribution tile = *all;
    tile.boxes = NULL;
    for (int a = 0; a < tile.axes; a++)
        if (pass->single >> a & 1) tile.n[a] = 1;
    if (pass->axis >= 0) tile.n[pass->axis] = pass->thickness;
    return tile;
}

/* What the caller's array holds where the pass loads it. */
static weft_storage storage_of(const weft_stream_state *s) {
    return s->place.loads == WEFT_NOWHERE
               ? WEFT_STORAGE_SAME
               : weft_call_storage(s->request->call, (weft_operator_place)s->place.loads);
}

/* The precision of an array that a pass loads or stores through operators at `place`: what no
 * caller sees travels. */
static weft_precision precision_at(const weft_stream_state *s, int place) {
    return place == WEFT_NOWHERE ? weft_wire_precision(s->request) : s->request->precision;
}

/* Whether numbers of the array are narrower than those that are computed with. */
static bool is_narrow(const weft_stream_state *s, int place) {
    return precision_at(s, place) != s->request->precision;
}

/* A copy of tiles of so many bytes for each element. */
static void add_copy(weft_stream_state *s, weft_transfer transfer, const weft_end *whole,
                     const weft_end *tile, int64_t element) {
    const weft_region all = weft_distribution_box(whole->distribution, s->request->rank),
                      one = weft_distribution_box(tile->distribution, s->request->rank);
    weft_step *step = weft_schedule_add_step(s->schedule, WEFT_STEP_COPY);
    step->as.copy.transfer = transfer;
    step->src_bytes = step->dst_bytes = weft_region_elements(&one) * element;
    step->bytes_moved = 2 * weft_region_elements(&all) * element;
}

/* The transforms of a pass work on a tile; what they cost, they cost for all tiles. Axes have those
 * of `before`, the extents of a tile, until they are transformed. */
static void complete_transforms(weft_stream_state *s, const weft_streamed_pass *pass,
                                const weft_distribution *before, bool in_batch, int64_t whole) {
    const double tiles = (double)s->schedule->step[pass->first].bytes_moved /
                         (double)(2 * s->schedule->step[pass->first].src_bytes);
    const bool turns = s->place.turns != WEFT_NOWHERE;
    weft_distribution now = *before;
    for (int i = pass->first + 1; i < s->schedule->steps; i++) {
        weft_step *step = &s->schedule->step[i];
        const weft_transform *t = &step->as.fft.transform;
        step->bytes_moved = (int64_t)(tiles * (double)step->bytes_moved);
        step->flops *= tiles;
        if (step->kind != WEFT_STEP_FFT) continue;
        step->as.fft.transform.in_batch = in_batch;
        step->as.fft.transform.whole = whole;
        step->as.fft.tile_loop =
            pass->thickness > 1 ? weft_step_loop(&step->as.fft, now.n, pass->axis) : 0;
        const bool back = turns && (t->round_trip || t->direction == WEFT_INVERSE);
        for (int d = 0; d < t->dims; d++) {
            const int a = step->as.fft.axis[d];
            now.n[a] = back ? s->turning.after.n[a] : s->after.n[a];
        }
    }
}

/* Whether the array has several indices along axes that the pass does not transform. */
static bool has_others(const weft_stream_state *s, int count) {
    for (int a = 0; a < s->now.axes; a++)
        if (s->now.n[a] != 1 && !weft_stream_is_left(s, a, count)) return true;
    return false;
}

/* This rank's box of the array: what it has along the axes that the segment transforms it has all
 * of, before and after. */
static weft_region box_of_rank(const weft_stream_state *s) {
    const weft_segment *segment = &s->request->chain->segment[s->segment];
    return weft_distribution_box(&segment->side[s->request->direction][WEFT_INPUT],
                                 s->request->rank);
}

/* The operators of a place, on tiles that lie as `tile` of an array that lies as `whole`, and the
 * conversion of what is loaded. What only scales need not know of the whole. */
static void add_operators(weft_stream_state *s, int place, const weft_end *whole,
                          const weft_end *tile) {
    const weft_storage storage = place == s->place.loads ? storage_of(s) : WEFT_STORAGE_SAME;
    double factor;
    if (place == WEFT_NOWHERE) return;
    const weft_operator_list *list = &s->request->operators[place];
    if (list->count == 0 && storage == WEFT_STORAGE_SAME) return;
    const bool scales = weft_operators_only_scale(list, &factor);
    weft_step *step = &s->schedule->step[s->schedule->steps - 1];
    if (weft_schedule_crop_takes(s->schedule, (weft_operator_place)place, list))
        step->as.pointwise = (weft_pointwise_step){
            .operators = list, .layout = step->as.pointwise.layout, .number = place};
    else
        step = weft_schedule_add_pointwise(s->request, s->schedule, list,
                                           (weft_operator_place)place, scales ? tile : whole);
    const weft_region box = box_of_rank(s);
    memcpy(step->as.pointwise.layout.box.lo, box.lo, sizeof box.lo);
    weft_stored *stored = &step->as.pointwise.layout.stored;
    stored->storage = storage;
    memcpy(stored->decibels, s->request->call->problem.decibels, sizeof stored->decibels);
    weft_schedule_count_bytes(step);
}

/* Operators that work on an array which is padded or cropped, if they must know their places, are
 * told those in the whole array, of which a tile has the strides of an array of its own. */
static void tell_places(weft_stream_state *s, const weft_streamed_pass *pass) {
    const weft_region box = box_of_rank(s);
    double factor;
    for (int i = pass->first + 1; i < s->schedule->steps; i++) {
        weft_step *step = &s->schedule->step[i];
        weft_pointwise_layout *layout = &step->as.pointwise.layout;
        if (step->kind != WEFT_STEP_POINTWISE || !layout->stored.cropped ||
            weft_operators_only_scale(step->as.pointwise.operators, &factor))
            continue;
        weft_stored_strides(layout, layout->stored.stride);
        layout->stored.strided = true;
        memcpy(layout->box.lo, box.lo, sizeof box.lo);
        if (pass->axis < 0) continue;
        layout->box.n[pass->axis] = layout->stored.n[pass->axis] = s->now.n[pass->axis];
    }
}

/* The transforms of the first `count` axes that are left, on a tile, with the operators on either
 * side. */
static void add_transforms(weft_stream_state *s, int count, const weft_end *next,
                           const weft_end *from, const weft_end *to) {
    const bool forward = s->request->direction == WEFT_FORWARD;
    weft_segment part = s->request->chain->segment[s->segment];
    part.transforms = count;
    for (int i = 0; i < count; i++) /* a segment lists them as forward transforms do */
        part.axis[i] = s->left.axis[forward ? i : count - 1 - i];
    add_operators(s, s->place.loads, &s->at, from);
    weft_schedule_add_transforms(s->request, s->schedule, &part, from, to);
    add_operators(s, s->place.stores, next, to);
}

/* From numbers that travelled, or to those that are to. */
static void add_conversion(weft_stream_state *s, bool loads, const weft_end *tile) {
    const int number = 2 * s->schedule->stream.passes + !loads;
    if (is_narrow(s, loads ? s->place.loads : s->place.stores))
        weft_schedule_add_conversion(s->request, s->schedule, loads, number, tile);
}

/* There and back at once, from a tile that lies as `from` to one that lies as `to`, if the engine
 * has that. An array is padded and cropped along one axis at most. */
static bool add_round_trip(weft_stream_state *s, int count, const weft_end *spectrum,
                           const weft_end *from, const weft_end *to) {
    weft_schedule *schedule = s->schedule;
    const int steps = schedule->steps;
    const weft_chain *chain = s->request->chain;
    const weft_end turned = weft_stream_result(s);
    weft_distribution wide[2] = {*from->distribution, *to->distribution};
    bool padded = false;
    if (!s->request->computing.engine->takes_operators) return false;
    for (int i = 0; i < count; i++) {
        const int a = s->left.axis[i];
        if (chain->spectrum[a] != chain->n[a]) return false;
        for (int k = 0; k < 2; k++) {
            padded = padded || wide[k].n[a] != chain->n[a];
            wide[k].n[a] = chain->n[a];
        }
    }
    if (padded && count > 1) return false;
    const weft_end wide_from = {&wide[0], from->order, from->real, NULL},
                   wide_to = {&wide[1], to->order, to->real, NULL};
    add_operators(s, s->place.loads, &s->at, from);
    if (padded) weft_schedule_add_padding(s->request, schedule, WEFT_PLACE_LOAD, &wide_from, from);
    weft_schedule_add_transform(s->request, schedule, &wide_from, &wide_to, s->left.axis, count);
    const int number = schedule->steps - 1;
    weft_fft_step *fft = &schedule->step[number].as.fft;
    fft->transform.round_trip = true;
    schedule->step[number].flops *= 2;
    add_operators(s, s->place.turns, spectrum, spectrum);
    if (schedule->steps > number + 1)
        fft->transform.spectral =
            weft_schedule_fused(&schedule->step[--schedule->steps].as.pointwise, fft);
    if (!weft_schedule_engine_has(s->request, schedule)) {
        schedule->steps = steps;
        return false;
    }
    if (padded) weft_schedule_add_padding(s->request, schedule, WEFT_PLACE_STORE, &wide_to, to);
    add_operators(s, s->place.stores, &turned, to);
    return true;
}

/* The same in two transforms; the operators in the middle are what the first one stores through. */
static void add_there_and_back(weft_stream_state *s, int count, const weft_end *spectrum,
                               const weft_end *from, const weft_end *tile_of_spectrum,
                               const weft_end *to) {
    const weft_schedule_request *there = s->request;
    weft_schedule_request back = *there;
    const int loads = s->place.loads, stores = s->place.stores;
    const weft_axis_list forward = s->left;
    const weft_end turned = weft_stream_result(s);
    back.direction = WEFT_INVERSE;
    s->place.stores = s->place.turns;
    add_transforms(s, count, spectrum, from, tile_of_spectrum);
    s->request = &back;
    s->place.loads = WEFT_NOWHERE;
    s->place.stores = stores;
    for (int i = 0; i < count; i++) s->left.axis[i] = forward.axis[count - 1 - i];
    add_transforms(s, count, &turned, tile_of_spectrum, to);
    s->request = there;
    s->place.loads = loads;
    s->left = forward;
}

/* The memory order of the spectrum, in which operators have their arrays. */
static const int *spectral_order(const weft_stream_state *s) {
    const weft_chain *chain = s->request->chain;
    return weft_chain_departure(chain, chain->segments - 1, WEFT_FORWARD).order;
}

/* Gives the pass' operators to its transforms. Those that are left must do the same wherever a tile
 * lies. */
static weft_status fuse(weft_stream_state *s, const weft_streamed_pass *pass) {
    double factor;
    weft_schedule_fuse_operators(s->request, s->schedule);
    for (int i = pass->first; i < s->schedule->steps; i++) {
        const weft_step *step = &s->schedule->step[i];
        if (step->kind == WEFT_STEP_POINTWISE && step->as.pointwise.operators->count > 0 &&
            !weft_operators_only_scale(step->as.pointwise.operators, &factor))
            return weft_stream_refuse(
                "operators that the engine does not apply as it loads and stores are not "
                "streamed");
    }
    return WEFT_SUCCESS;
}

/* How the array lies on the host. Narrow numbers have the first half of each row in the caller's
 * array, so that rows are where those of others are, and what may be done in place with these may
 * be done with those. */
static weft_view whole_view(const weft_stream_state *s, const weft_end *whole, int place,
                            int buffer) {
    weft_view view = weft_end_view(s->request, whole);
    if (buffer != WEFT_BUFFER_OUT || !is_narrow(s, place)) return view;
    for (int a = 0; a < view.axes; a++)
        if (view.stride[a] > 1) view.stride[a] *= 2;
    return view;
}

/* Whether the last tile must come first, within one array: where it becomes larger than it is. Of
 * rows of narrow numbers that tiles share out, parts of one row do. */
static bool goes_backwards(const weft_stream_state *s, const weft_end *before,
                           const weft_end *after) {
    const bool widens = is_narrow(s, s->place.loads) && !is_narrow(s, s->place.stores);
    const bool grows = weft_end_bytes(s->request, after) > weft_end_bytes(s->request, before);
    return s->array.within && (weft_stream_keeps_places(s) ? widens : grows);
}

weft_status weft_stream_add_pass(weft_stream_state *s, int count, weft_streamed_pass *pass) {
    const weft_schedule_request *request = s->request;
    const bool turns = s->place.turns != WEFT_NOWHERE;
    const weft_distribution tile_before = tile_of(&s->now, pass),
                            tile_after = tile_of(&s->after, pass),
                            tile_result = tile_of(&s->turning.after, pass);
    const weft_end next = {&s->after, s->end.order, s->real_after, NULL};
    const weft_end from = {&tile_before, s->at.order, s->at.real, NULL};
    const weft_end to = {&tile_after, s->end.order, s->real_after, NULL};
    const weft_end turned = weft_stream_result(s),
                   tile_turned = {&tile_result, s->end.order, s->at.real, NULL};
    const weft_end spectrum = {&s->after, spectral_order(s), s->real_after, NULL};
    const weft_end *whole_after = turns ? &turned : &next, *after = turns ? &tile_turned : &to;
    pass->first = s->schedule->steps;
    pass->loads_blocks = s->loads_blocks;
    s->loads_blocks = -1;
    const weft_pointwise_layout stored = {.real = s->at.real,
                                          .precision = precision_at(s, s->place.loads),
                                          .stored.storage = storage_of(s)};
    add_copy(s, WEFT_HOST_TO_DEVICE, &s->at, &from, (int64_t)weft_stored_element_bytes(&stored));
    add_conversion(s, true, &from);
    if (!turns)
        add_transforms(s, count, &next, &from, &to);
    else if (!add_round_trip(s, count, &spectrum, &from, &tile_turned))
        add_there_and_back(s, count, &spectrum, &from, &to, &tile_turned);
    add_conversion(s, false, after);
    tell_places(s, pass);
    WEFT_TRY(fuse(s, pass));
    complete_transforms(s, pass, &tile_before, has_others(s, count), weft_schedule_whole(request));
    pass->last = s->schedule->steps;
    add_copy(s, WEFT_DEVICE_TO_HOST, whole_after, after,
             weft_end_element_bytes(precision_at(s, s->place.stores), after->real));
    pass->before = whole_view(s, &s->at, s->place.loads, s->array.source);
    pass->after = whole_view(s, whole_after, s->place.stores, s->array.target);
    pass->tile_before = weft_end_view(request, &from);
    pass->tile_after = weft_end_view(request, after);
    pass->backwards = goes_backwards(s, &s->at, whole_after);
    s->schedule->step[pass->first].src = s->array.source;
    s->schedule->step[pass->last].dst = s->array.target;
    s->array.source = s->array.target;
    s->left.count -= count;
    memmove(s->left.axis, s->left.axis + count, (size_t)s->left.count * sizeof *s->left.axis);
    pass->stores_blocks = -1; /* if it is not the last one before an exchange */
    s->now = *whole_after->distribution;
    s->at = (weft_end){&s->now, s->end.order, whole_after->real, NULL};
    return WEFT_SUCCESS;
}
