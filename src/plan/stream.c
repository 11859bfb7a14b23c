/*
 * Streamed schedules: the array stays in host memory, and passes over it bring it to the device
 * tile by tile. A pass transforms as many axes as a tile can hold all of; its tiles share out
 * another axis. The pass in the middle of a convolution goes there and back. Only tiles are on the
 * device, in slots that rotate, so that one tile is copied there while the one before it is
 * transformed and the one before that is copied back.
 *
 * Between passes the array lies where the result is wanted, so nothing but the callers' arrays is
 * held on the host. Of one rank only.
 */
#include "plan/stream.h"

#include "support/axis.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- what can be streamed ---- */

static weft_status refuse(const char *what) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "options.stream: %s; use more device memory, or another plan", what);
}

static weft_status check_axes(const weft_chain *chain) {
    const weft_axis_groups g = weft_axis_groups_of(chain, &chain->segment[0]);
    bool padded = g.none.padded;
    for (int i = 0; i < g.fouriers; i++) padded = padded || g.fourier[i].padded;
    for (int i = 0; i < g.real_to_reals; i++) padded = padded || g.real_to_real[i].padded;
    if (padded) return refuse("padded and cropped arrays are not streamed");
    if (g.fouriers > 0 && g.real_to_reals > 0)
        return refuse("Fourier transforms beside real-to-real ones are not streamed");
    if (g.fouriers + g.real_to_reals == 0)
        return refuse("an array without a transform is not streamed");
    return WEFT_SUCCESS;
}

static weft_status check(const weft_schedule_request *request) {
    double factor;
    if (request->chain->ranks > 1) return refuse("arrays over several ranks are not streamed");
    if (request->direction == WEFT_CONVOLVE && weft_call_only(request->call, WEFT_CONVOLVE) &&
        request->chain->real)
        return refuse(
            "real convolutions are streamed by plans of transforms, whose output has room "
            "for the spectrum");
    WEFT_TRY(check_axes(request->chain));
    if (request->call->strided[WEFT_INPUT] || request->call->strided[WEFT_OUTPUT])
        return refuse("arrays with strides of their own are not streamed");
    for (int i = 0; i < WEFT_PLACES; i++) {
        const weft_operator_list *list = &request->operators[i];
        const bool converted =
            weft_call_storage(request->call, (weft_operator_place)i) != WEFT_STORAGE_SAME;
        if (converted && list->count > 0 && !weft_operators_only_scale(list, &factor))
            return refuse("operators on an array that is converted are not streamed");
        if (i != WEFT_PLACE_LOAD && converted)
            return refuse("results and spectra that are converted are not streamed");
        if (weft_operators_have_matrix(list) || weft_operators_reductions(list) != 0)
            return refuse("matrices of fields and reductions are not streamed");
    }
    if (request->keeps_spectrum)
        return refuse("convolutions that keep the spectrum are not streamed");
    return WEFT_SUCCESS;
}

/* ---- passes ---- */

static weft_axis_list axes_in_order(const weft_schedule_request *request) {
    const weft_chain *chain = request->chain;
    const weft_axis_groups g = weft_axis_groups_of(chain, &chain->segment[0]);
    const weft_axis_group *all = g.fouriers > 0 ? g.fourier : g.real_to_real;
    weft_axis_list list = {.count = all->axes};
    for (int i = 0; i < all->axes; i++)
        list.axis[request->direction == WEFT_FORWARD ? i : all->axes - 1 - i] = all->axis[i];
    return list;
}

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
    return s->loads == WEFT_NOWHERE
               ? WEFT_STORAGE_SAME
               : weft_call_storage(s->request->call, (weft_operator_place)s->loads);
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

/* The transforms of a pass work on a tile; what they cost, they cost for all tiles. */
static void complete_transforms(weft_stream_state *s, const weft_streamed_pass *pass,
                                const weft_distribution *tile, bool in_batch) {
    const double tiles = (double)s->schedule->step[pass->first].bytes_moved /
                         (double)(2 * s->schedule->step[pass->first].src_bytes);
    for (int i = pass->first + 1; i < s->schedule->steps; i++) {
        weft_step *step = &s->schedule->step[i];
        step->bytes_moved = (int64_t)(tiles * (double)step->bytes_moved);
        step->flops *= tiles;
        if (step->kind != WEFT_STEP_FFT) continue;
        step->as.fft.transform.in_batch = in_batch;
        step->as.fft.tile_loop =
            pass->thickness > 1 ? weft_step_loop(&step->as.fft, tile->n, pass->axis) : 0;
    }
}

/* Whether the array has several indices along axes that the pass does not transform. */
static bool has_others(const weft_stream_state *s, int count) {
    for (int a = 0; a < s->now.axes; a++)
        if (s->now.n[a] != 1 && !weft_stream_is_left(s, a, count)) return true;
    return false;
}

/* The operators of a place, on tiles that lie as `tile` of an array that lies as `whole`, and the
 * conversion of what is loaded. What only scales need not know of the whole. */
static void add_operators(weft_stream_state *s, int place, const weft_end *whole,
                          const weft_end *tile) {
    const weft_storage storage = place == s->loads ? storage_of(s) : WEFT_STORAGE_SAME;
    double factor;
    if (place == WEFT_NOWHERE) return;
    const weft_operator_list *list = &s->request->operators[place];
    if (list->count == 0 && storage == WEFT_STORAGE_SAME) return;
    const bool anywhere = list->count == 0 || weft_operators_only_scale(list, &factor);
    weft_step *step = weft_schedule_add_pointwise(
        s->request, s->schedule, list, (weft_operator_place)place, anywhere ? tile : whole);
    weft_stored *stored = &step->as.pointwise.layout.stored;
    stored->storage = storage;
    memcpy(stored->decibels, s->request->call->problem.decibels, sizeof stored->decibels);
    weft_schedule_count_bytes(step);
}

/* The transforms of the first `count` axes that are left, on a tile, with the operators on either
 * side. */
static void add_transforms(weft_stream_state *s, int count, const weft_end *next,
                           const weft_end *from, const weft_end *to) {
    const bool forward = s->request->direction == WEFT_FORWARD;
    weft_segment part = s->request->chain->segment[0];
    part.transforms = count;
    for (int i = 0; i < count; i++) /* a segment lists them as forward transforms do */
        part.axis[i] = s->left.axis[forward ? i : count - 1 - i];
    add_operators(s, s->loads, &s->at, from);
    weft_schedule_add_transforms(s->request, s->schedule, &part, from, to);
    add_operators(s, s->stores, next, to);
}

/* There and back at once, if the engine has that. */
static bool add_round_trip(weft_stream_state *s, int count, const weft_end *spectrum,
                           const weft_end *tile) {
    weft_schedule *schedule = s->schedule;
    const int steps = schedule->steps;
    if (!s->request->computing.engine->takes_operators) return false;
    add_operators(s, s->loads, &s->at, tile);
    weft_schedule_add_transform(s->request, schedule, tile, tile, s->left.axis, count);
    const int number = schedule->steps - 1;
    weft_fft_step *fft = &schedule->step[number].as.fft;
    fft->transform.round_trip = true;
    schedule->step[number].flops *= 2;
    add_operators(s, s->turns, spectrum, spectrum);
    if (schedule->steps > number + 1)
        fft->transform.spectral =
            weft_schedule_fused(&schedule->step[--schedule->steps].as.pointwise, fft);
    if (!weft_schedule_engine_has(s->request, schedule)) {
        schedule->steps = steps;
        return false;
    }
    add_operators(s, s->stores, &s->at, tile);
    return true;
}

/* The same in two transforms; the operators in the middle are what the first one stores through. */
static void add_there_and_back(weft_stream_state *s, int count, const weft_end *spectrum,
                               const weft_end *tile, const weft_end *tile_of_spectrum) {
    const weft_schedule_request *there = s->request;
    weft_schedule_request back = *there;
    const int loads = s->loads, stores = s->stores;
    const weft_axis_list forward = s->left;
    back.direction = WEFT_INVERSE;
    s->stores = s->turns;
    add_transforms(s, count, spectrum, tile, tile_of_spectrum);
    s->request = &back;
    s->loads = WEFT_NOWHERE;
    s->stores = stores;
    for (int i = 0; i < count; i++) s->left.axis[i] = forward.axis[count - 1 - i];
    add_transforms(s, count, &s->at, tile_of_spectrum, tile);
    s->request = there;
    s->loads = loads;
    s->left = forward;
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
            return refuse("operators that the engine does not apply as it loads and stores are not "
                          "streamed");
    }
    return WEFT_SUCCESS;
}

/* The steps of a pass over the first `count` axes that are left. */
static weft_status add_pass(weft_stream_state *s, int count, weft_streamed_pass *pass) {
    const weft_schedule_request *request = s->request;
    const bool turns = s->turns != WEFT_NOWHERE;
    const weft_distribution tile_before = tile_of(&s->now, pass),
                            tile_after = tile_of(&s->after, pass);
    const weft_end next = {&s->after, s->end.order, s->real_after, NULL};
    const weft_end from = {&tile_before, s->at.order, s->at.real, NULL};
    const weft_end to = {&tile_after, s->end.order, s->real_after, NULL};
    const weft_end *whole_after = turns ? &s->at : &next, *after = turns ? &from : &to;
    pass->first = s->schedule->steps;
    const weft_pointwise_layout stored = {
        .real = s->at.real, .precision = request->precision, .stored.storage = storage_of(s)};
    add_copy(s, WEFT_HOST_TO_DEVICE, &s->at, &from, (int64_t)weft_stored_element_bytes(&stored));
    if (!turns)
        add_transforms(s, count, &next, &from, &to);
    else if (!add_round_trip(s, count, &next, &from))
        add_there_and_back(s, count, &next, &from, &to);
    WEFT_TRY(fuse(s, pass));
    complete_transforms(s, pass, &tile_before, has_others(s, count));
    pass->last = s->schedule->steps;
    add_copy(s, WEFT_DEVICE_TO_HOST, whole_after, after,
             weft_end_element_bytes(request->precision, after->real));
    pass->before = weft_end_view(request, &s->at);
    pass->after = weft_end_view(request, whole_after);
    pass->tile_before = weft_end_view(request, &from);
    pass->tile_after = weft_end_view(request, after);
    pass->backwards = s->within && s->at.real && !whole_after->real;
    if (!turns) {
        s->now = s->after;
        s->at = (weft_end){&s->now, s->end.order, s->real_after, NULL};
    }
    s->left.count -= count;
    memmove(s->left.axis, s->left.axis + count, (size_t)s->left.count * sizeof *s->left.axis);
    return WEFT_SUCCESS;
}

/* How many of the axes that are left the next pass transforms: going forward as many as fit. Back,
 * it leaves as many as fit to the last pass, and of the others to the one before that: those that
 * are contiguous in memory belong together, so that what a tile has of the array are long rows. 0:
 * there is no pass that fits. */
static int axes_of_pass(weft_stream_state *s, weft_streamed_pass *pass) {
    int count = s->left.count;
    if (s->request->direction == WEFT_FORWARD) {
        while (count > 0 && !weft_stream_find_tiles(s, count, pass)) count--;
        return count;
    }
    const weft_axis_list all = s->left;
    while (s->left.count > 0) { /* the axes that no later pass takes */
        int first = 0;
        count = s->left.count;
        while (first < count && !weft_stream_fits_apart(s, first, pass)) first++;
        if (first == count) break;
        s->left.count = first;
    }
    const bool possible = s->left.count == 0;
    s->left = all;
    return possible && weft_stream_find_tiles(s, count, pass) ? count : 0;
}

static weft_status no_way(const weft_stream_state *s) {
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "options.stream: within options.device_memory_limit, %zu bytes, there is no "
                     "way to transform axis %d in %d tiles at a time; raise the limit",
                     s->request->call->options.device_memory_limit, s->left.axis[0],
                     s->schedule->stream.slots);
}

/* The passes of a forward or an inverse transform. */
static weft_status add_passes(weft_stream_state *s, int loads, int stores) {
    weft_streaming *stream = &s->schedule->stream;
    while (s->left.count > 0) {
        weft_streamed_pass *pass = &stream->pass[stream->passes];
        s->within = s->schedule->in_place || stream->passes > 0;
        s->loads = stream->passes == 0 ? loads : WEFT_NOWHERE;
        s->stores = stores; /* of the pass that is the last one */
        int count = axes_of_pass(s, pass);
        if (count < s->left.count) {
            s->stores = WEFT_NOWHERE;
            count = axes_of_pass(s, pass);
            if (count == s->left.count) count = 0; /* it has no room for operators */
        }
        if (count == 0) return no_way(s);
        WEFT_TRY(add_pass(s, count, pass));
        stream->passes++;
    }
    return WEFT_SUCCESS;
}

/* A convolution: passes forward, of which the last one goes there and back, and back through the
 * others. */
static weft_status add_convolution(weft_stream_state *s, const weft_schedule_request *there,
                                   const weft_schedule_request *back) {
    weft_streaming *stream = &s->schedule->stream;
    weft_axis_list group[WEFT_MAX_RANK];
    int groups = 0;
    s->request = there;
    while (s->left.count > 0) {
        weft_streamed_pass *pass = &stream->pass[stream->passes];
        s->within = s->schedule->in_place || stream->passes > 0;
        s->loads = stream->passes == 0 ? WEFT_PLACE_LOAD : WEFT_NOWHERE;
        s->turns = WEFT_PLACE_SPECTRAL; /* if all that is left can be done */
        s->stores = stream->passes == 0 ? WEFT_PLACE_STORE : WEFT_NOWHERE;
        int count = s->left.count;
        if (!weft_stream_find_tiles(s, count, pass)) {
            s->turns = s->stores = WEFT_NOWHERE;
            count--;
            while (count > 0 && !weft_stream_find_tiles(s, count, pass)) count--;
        }
        if (count == 0) return no_way(s);
        group[groups] = s->left;
        group[groups++].count = count;
        WEFT_TRY(add_pass(s, count, pass));
        stream->passes++;
    }
    s->turns = WEFT_NOWHERE;
    s->request = back;
    s->end = weft_chain_departure(back->chain, 0, WEFT_INVERSE);
    for (int g = groups - 2; g >= 0; g--) {
        weft_streamed_pass *pass = &stream->pass[stream->passes];
        s->left.count = group[g].count;
        for (int i = 0; i < group[g].count; i++)
            s->left.axis[i] = group[g].axis[group[g].count - 1 - i];
        s->within = true;
        s->loads = WEFT_NOWHERE;
        s->stores = g == 0 ? WEFT_PLACE_STORE : WEFT_NOWHERE;
        if (!weft_stream_find_tiles(s, group[g].count, pass)) return no_way(s);
        WEFT_TRY(add_pass(s, group[g].count, pass));
        stream->passes++;
    }
    return WEFT_SUCCESS;
}

/* ---- buffers ---- */

/* Whether a step of a tile stores where it loads. The first one does not, so that the slot which
 * the next tile is copied to is free early. */
static bool stays(const weft_step *step, bool first) {
    if (step->kind == WEFT_STEP_POINTWISE)
        return weft_stored_is_plain(&step->as.pointwise.layout.stored);
    return step->as.fft.can_alias && !first;
}

/* Within a pass tiles go from a slot of the first workspace to one of the second and, where a
 * transform cannot be done in place, back again. */
static void set_slots(weft_schedule *schedule, const weft_streamed_pass *pass) {
    weft_step *first = &schedule->step[pass->first], *last = &schedule->step[pass->last];
    int at = WEFT_BUFFER_WORKSPACE;
    first->dst = at;
    for (int i = pass->first + 1; i < pass->last; i++) {
        weft_step *step = &schedule->step[i];
        const bool in_place = stays(step, i == pass->first + 1);
        step->src = at;
        if (!in_place) at = 2 * WEFT_BUFFER_WORKSPACE + 1 - at;
        step->dst = at;
        if (step->kind == WEFT_STEP_FFT) step->as.fft.transform.in_place = in_place;
        weft_schedule_need(schedule, step->src, step->src_bytes);
        weft_schedule_need(schedule, step->dst, step->dst_bytes);
    }
    last->src = at;
}

/* The callers' arrays are read and written as a whole; of the workspaces, whose slots have the size
 * of the largest tile, there are several slots. */
static void set_buffers(weft_schedule *schedule) {
    enum { ALIGNMENT = 256 }; /* of a slot: any device's */
    weft_streaming *stream = &schedule->stream;
    for (int p = 0; p < stream->passes; p++) {
        const weft_streamed_pass *pass = &stream->pass[p];
        weft_step *first = &schedule->step[pass->first], *last = &schedule->step[pass->last];
        first->src = p == 0 && !schedule->in_place ? WEFT_BUFFER_IN : WEFT_BUFFER_OUT;
        last->dst = WEFT_BUFFER_OUT;
        set_slots(schedule, pass);
        weft_schedule_need(schedule, first->src, first->bytes_moved / 2);
        weft_schedule_need(schedule, last->dst, last->bytes_moved / 2);
    }
    schedule->workspaces = 2;
    for (int w = 0; w < 2; w++) {
        size_t *bytes = &schedule->buffer_bytes[WEFT_BUFFER_WORKSPACE + w];
        stream->slot_bytes[w] = (int64_t)((*bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        *bytes = (size_t)(stream->slots * stream->slot_bytes[w]);
    }
}

/* Slots have three quarters of what the device may hold; the rest is for what engines need. */
static int64_t slot_budget(const weft_schedule_request *request, int slots) {
    const size_t limit = request->call->options.device_memory_limit;
    return limit > 0 ? (int64_t)(limit / 4 * 3) / slots : INT64_MAX;
}

weft_status weft_schedule_stream(const weft_schedule_request *request, weft_schedule *schedule) {
    WEFT_TRY(check(request));
    const bool convolves = request->direction == WEFT_CONVOLVE,
               back = request->direction == WEFT_INVERSE;
    weft_schedule_request first = *request, second = *request;
    first.direction = back ? WEFT_INVERSE : WEFT_FORWARD;
    second.direction = WEFT_INVERSE;
    weft_streaming *stream = &schedule->stream;
    stream->one_after_another = request->call->options.stream == WEFT_STREAM_SYNC;
    stream->slots = stream->one_after_another ? 1 : weft_request_machine(request)->streaming.slots;
    weft_stream_state s = {.request = &first,
                           .schedule = schedule,
                           .turns = WEFT_NOWHERE,
                           .at = weft_chain_arrival(request->chain, 0, first.direction),
                           .end = weft_chain_departure(request->chain, 0, first.direction),
                           .budget = slot_budget(request, stream->slots)};
    s.now = *s.at.distribution;
    s.at.distribution = &s.now;
    s.left = axes_in_order(&first);
    if ((schedule->in_place || convolves) &&
        memcmp(s.at.order, s.end.order, (size_t)s.now.axes * sizeof(int)) != 0)
        return refuse("boxes with another memory order are not streamed in place, nor convolved");
    stream->pass = calloc(2 * WEFT_MAX_RANK, sizeof *stream->pass);
    if (!stream->pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");
    WEFT_TRY(convolves ? add_convolution(&s, &first, &second)
             : back    ? add_passes(&s, WEFT_PLACE_SPECTRUM, WEFT_PLACE_STORE)
                       : add_passes(&s, WEFT_PLACE_LOAD, WEFT_PLACE_SPECTRAL));
    set_buffers(schedule);
    return WEFT_SUCCESS;
}
