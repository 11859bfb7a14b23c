/*
 * Streamed schedules: the array stays in host memory, and passes over it bring it to the device
 * tile by tile. A pass transforms as many axes as a tile can hold all of; its tiles share out
 * another axis. The pass in the middle of a convolution goes there and back. Only tiles are on the
 * device, in slots that rotate, so that one tile is copied there while the one before it is
 * transformed and the one before that is copied back.
 *
 * Between passes the array lies where the result is wanted, but for what stays on the device, so
 * nothing but the callers' arrays is held on the host. Where it may be larger than the result, as
 * it is where that is cropped or truncated, or real and alone, it lies in page-locked memory of the
 * plan's. An axis is padded by the pass that transforms it, and cropped by the last one that does:
 * zeros do not cross the link. Over several ranks each has passes over its share, and
 * stream_exchange.c has what is between segments. With options.wire numbers are rounded before they
 * leave the device between passes, and widened when they are there again.
 */
#include "plan/stream.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- what can be streamed ---- */

weft_status weft_stream_refuse(const char *what) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "options.stream: %s; use more device memory, or another plan", what);
}

static weft_status check_axes(const weft_chain *chain) {
    int fouriers = 0, real_to_reals = 0;
    for (int k = 0; k < chain->segments; k++) {
        const weft_axis_groups g = weft_axis_groups_of(chain, &chain->segment[k]);
        if (g.none.padded)
            return weft_stream_refuse(
                "padding along axes that are not transformed is not streamed");
        fouriers += g.fouriers;
        real_to_reals += g.real_to_reals;
    }
    if (fouriers > 0 && real_to_reals > 0)
        return weft_stream_refuse("Fourier transforms beside real-to-real ones are not streamed");
    if (fouriers + real_to_reals == 0)
        return weft_stream_refuse("an array without a transform is not streamed");
    return WEFT_SUCCESS;
}

static weft_status check(const weft_schedule_request *request) {
    double factor;
    if (request->direction == WEFT_PSEUDOSPECTRAL)
        return weft_stream_refuse("spectra that become spectra are not streamed");
    if (request->chain->line.points > 0)
        return weft_stream_refuse("lines over several ranks are not streamed");
    for (int i = 0; i < request->chain->segments; i++)
        if (request->chain->segment[i].transforms == 0)
            return weft_stream_refuse("boxes of the caller's over several ranks are not streamed");
    WEFT_TRY(check_axes(request->chain));
    if (request->call->strides.given[WEFT_INPUT] || request->call->strides.given[WEFT_OUTPUT])
        return weft_stream_refuse("arrays with strides of their own are not streamed");
    for (int i = 0; i < WEFT_PLACES; i++) {
        const weft_operator_list *list = &request->operators[i];
        const bool converted =
            weft_call_storage(request->call, (weft_operator_place)i) != WEFT_STORAGE_SAME;
        if (converted && list->count > 0 && !weft_operators_only_scale(list, &factor))
            return weft_stream_refuse("operators on an array that is converted are not streamed");
        if (i != WEFT_PLACE_LOAD && converted)
            return weft_stream_refuse("results and spectra that are converted are not streamed");
        if (weft_operators_have_matrix(list) || weft_operators_reductions(list) != 0)
            return weft_stream_refuse("matrices of fields and reductions are not streamed");
    }
    if (request->keeps_spectrum)
        return weft_stream_refuse("convolutions that keep the spectrum are not streamed");
    return WEFT_SUCCESS;
}

/* ---- passes ---- */

static weft_axis_list axes_in_order(const weft_schedule_request *request, int segment) {
    const weft_chain *chain = request->chain;
    const weft_axis_groups all = weft_axis_groups_of(chain, &chain->segment[segment]);
    const weft_axis_group *group = all.fouriers > 0 ? all.fourier : all.real_to_real;
    const int groups = all.fouriers > 0 ? all.fouriers : all.real_to_reals;
    const bool forward = request->direction == WEFT_FORWARD;
    weft_axis_list list = {.count = 0};
    for (int k = 0; k < groups; k++) {
        const weft_axis_group *g = &group[forward ? k : groups - 1 - k];
        for (int i = 0; i < g->axes; i++)
            list.axis[list.count++] = g->axis[forward ? i : g->axes - 1 - i];
    }
    return list;
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
    const bool limited = s->request->call->options.device_memory_limit > 0;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "options.stream: within %s, %lld bytes, there is no way to transform axis %d "
                     "in %d tiles at a time; %s",
                     limited ? "options.device_memory_limit"
                             : "what the device has free for this plan",
                     (long long)s->request->room, s->left.axis[0], s->schedule->stream.slots,
                     limited ? "raise the limit" : "free some of its memory");
}

static void set_target(weft_stream_state *s, bool first, bool last) {
    s->array.target = weft_stream_target(s, first, last);
    s->array.within = s->array.source == s->array.target;
}

/* The passes over the axes that are left, with operators at the places where they begin and end. */
static weft_status add_passes(weft_stream_state *s, int loads, int stores) {
    weft_streaming *stream = &s->schedule->stream;
    for (bool first = true; s->left.count > 0; first = false) {
        weft_streamed_pass *pass = &stream->pass[stream->passes];
        s->place.loads = first ? loads : WEFT_NOWHERE;
        s->place.stores = stores; /* of the pass that is the last one */
        set_target(s, first, true);
        int count = axes_of_pass(s, pass);
        if (count < s->left.count) {
            s->place.stores = WEFT_NOWHERE;
            set_target(s, first, false);
            count = axes_of_pass(s, pass);
            if (count == s->left.count) count = 0; /* it has no room for operators, or there */
        }
        if (count == 0) return no_way(s);
        WEFT_TRY(weft_stream_add_pass(s, count, pass));
        stream->passes++;
    }
    return WEFT_SUCCESS;
}

/* This rank's part of an array as an array of its own. */
static weft_distribution local_part(const weft_schedule_request *request,
                                    const weft_distribution *all) {
    const weft_region box = weft_distribution_box(all, request->rank);
    weft_distribution local = *all;
    local.boxes = NULL;
    memcpy(local.n, box.n, sizeof local.n);
    for (int a = 0; a < local.axes; a++) local.split_by[a] = -1;
    return local;
}

/* Begins with the passes of a segment. */
static void enter_segment(weft_stream_state *s, int segment) {
    const weft_direction direction = s->request->direction;
    const weft_chain *chain = s->request->chain;
    s->segment = segment;
    s->at = weft_chain_arrival(chain, segment, direction);
    s->end = weft_chain_departure(chain, segment, direction);
    s->now = local_part(s->request, s->at.distribution);
    s->last = s->turning.end = local_part(s->request, s->end.distribution);
    s->at.distribution = &s->now;
    s->end.distribution = &s->last;
    s->left = axes_in_order(s->request, segment);
    if (weft_end_bytes(s->request, &s->at) == 0 || weft_end_bytes(s->request, &s->end) == 0)
        s->left.count = 0;
}

/* The passes of a segment, and the redistribution to segment `next`; WEFT_NOWHERE: the array ends
 * there. */
static weft_status add_segment(weft_stream_state *s, int segment, int next, int loads, int stores) {
    enter_segment(s, segment);
    WEFT_TRY(weft_stream_find_departure(s, next));
    s->array.target = weft_stream_target(s, true, true); /* on ranks that have no passes, too */
    WEFT_TRY(add_passes(s, loads, stores));
    return next == WEFT_NOWHERE ? WEFT_SUCCESS : weft_stream_add_redistribution(s, next);
}

/* Segments `first` to `last` in the direction of the request, and on to segment `next`. */
static weft_status add_segments(weft_stream_state *s, int first, int last, int next, int loads,
                                int stores) {
    const int onwards = s->request->direction == WEFT_FORWARD ? 1 : -1;
    for (int k = first;; k += onwards) {
        WEFT_TRY(add_segment(s, k, k == last ? next : k + onwards,
                             k == first ? loads : WEFT_NOWHERE, k == last ? stores : WEFT_NOWHERE));
        if (k == last) return WEFT_SUCCESS;
    }
}

/* One of the passes of a convolution's last segment on the way to its middle: over all axes that
 * are left, there and back, if tiles of them fit, else over as many as fit. */
static weft_status add_pass_there(weft_stream_state *s, bool first, int loads, int stores) {
    weft_streaming *stream = &s->schedule->stream;
    weft_streamed_pass *pass = &stream->pass[stream->passes];
    int count = s->left.count;
    s->place.loads = first ? loads : WEFT_NOWHERE;
    s->place.turns = WEFT_PLACE_SPECTRAL; /* if all that is left can be done */
    s->place.stores = first ? stores : WEFT_NOWHERE;
    set_target(s, first, first);
    if (!weft_stream_find_tiles(s, count, pass)) {
        s->place.turns = s->place.stores = WEFT_NOWHERE;
        set_target(s, first, false);
        count--;
        while (count > 0 && !weft_stream_find_tiles(s, count, pass)) count--;
    }
    if (count == 0) return no_way(s);
    WEFT_TRY(weft_stream_add_pass(s, count, pass));
    stream->passes++;
    return WEFT_SUCCESS;
}

/* A pass back over axes of which there was one there. */
static weft_status add_pass_back(weft_stream_state *s, const weft_axis_list *there, bool last,
                                 int stores) {
    weft_streaming *stream = &s->schedule->stream;
    weft_streamed_pass *pass = &stream->pass[stream->passes];
    s->left.count = there->count;
    for (int i = 0; i < there->count; i++) s->left.axis[i] = there->axis[there->count - 1 - i];
    s->place.loads = WEFT_NOWHERE;
    s->place.stores = last ? stores : WEFT_NOWHERE;
    set_target(s, false, last);
    if (!weft_stream_find_tiles(s, there->count, pass)) return no_way(s);
    WEFT_TRY(weft_stream_add_pass(s, there->count, pass));
    stream->passes++;
    return WEFT_SUCCESS;
}

/* The last segment of a convolution: passes forward, of which the last one goes there and back, and
 * back through the others. In between the array lies in the memory order in which it leaves. */
static weft_status add_turning_segment(weft_stream_state *s, const weft_schedule_request *back,
                                       int segment, int loads, int stores) {
    weft_axis_list group[WEFT_MAX_RANK];
    int groups = 0;
    enter_segment(s, segment);
    const weft_end leaves = weft_chain_departure(back->chain, segment, WEFT_INVERSE);
    s->end.order = leaves.order;
    s->turning.end = local_part(back, leaves.distribution);
    WEFT_TRY(weft_stream_find_departure(s, segment > 0 ? segment - 1 : WEFT_NOWHERE));
    s->array.target = weft_stream_target(s, true, true); /* on ranks that have no passes, too */
    while (s->left.count > 0) {
        group[groups] = s->left;
        WEFT_TRY(add_pass_there(s, groups == 0, loads, stores));
        group[groups].count -= s->left.count;
        groups++;
    }
    s->place.turns = WEFT_NOWHERE;
    s->request = back;
    s->end = leaves;
    s->last = s->turning.end;
    s->end.distribution = &s->last;
    for (int g = groups - 2; g >= 0; g--) WEFT_TRY(add_pass_back(s, &group[g], g == 0, stores));
    return WEFT_SUCCESS;
}

/* A convolution: forward to the last segment, there and back in it, and back through the others. */
static weft_status add_convolution(weft_stream_state *s, const weft_schedule_request *back) {
    const int last = s->request->chain->segments - 1;
    if (last == 0) return add_turning_segment(s, back, last, WEFT_PLACE_LOAD, WEFT_PLACE_STORE);
    WEFT_TRY(add_segments(s, 0, last - 1, last, WEFT_PLACE_LOAD, WEFT_NOWHERE));
    WEFT_TRY(add_turning_segment(s, back, last, WEFT_NOWHERE, WEFT_NOWHERE));
    WEFT_TRY(weft_stream_add_redistribution(s, last - 1));
    return add_segments(s, last - 1, 0, WEFT_NOWHERE, WEFT_NOWHERE, WEFT_PLACE_STORE);
}

/* ---- buffers ---- */

/* Whether a step is the first one of a pass but for a conversion, so that what engines need does
 * not depend on what travels. */
static bool begins(const weft_schedule *schedule, const weft_streamed_pass *pass, int step) {
    const weft_step *first = &schedule->step[pass->first + 1];
    const bool converts =
        first->kind == WEFT_STEP_POINTWISE && first->as.pointwise.number >= WEFT_FIRST_CONVERSION;
    return step == pass->first + 1 || (converts && step == pass->first + 2);
}

/* Whether a step of a tile stores where it loads. The first one does not, so that the slot which
 * the next tile is copied to is free early. */
static bool stays(const weft_step *step, bool first) {
    if (step->kind == WEFT_STEP_POINTWISE)
        return weft_stored_is_plain(&step->as.pointwise.layout.stored);
    return step->as.fft.can_alias && !first;
}

/* Bytes of the whole array that a step copies tiles from or to. */
static int64_t bytes_of_array(const weft_step *copy, const weft_view *whole,
                              const weft_view *tile) {
    return weft_view_reach(whole) * (copy->src_bytes / weft_view_elements(tile));
}

/* Within a pass tiles go from a slot of the first workspace to one of the second and, where a
 * transform cannot be done in place, back again. */
static void set_slots(weft_schedule *schedule, const weft_streamed_pass *pass) {
    weft_step *first = &schedule->step[pass->first], *last = &schedule->step[pass->last];
    int at = WEFT_BUFFER_WORKSPACE;
    first->dst = at;
    if (pass->loads_blocks < 0)
        weft_schedule_need(schedule, first->src,
                           bytes_of_array(first, &pass->before, &pass->tile_before));
    if (pass->stores_blocks < 0)
        weft_schedule_need(schedule, last->dst,
                           bytes_of_array(last, &pass->after, &pass->tile_after));
    for (int i = pass->first + 1; i < pass->last; i++) {
        weft_step *step = &schedule->step[i];
        const bool in_place = stays(step, begins(schedule, pass, i));
        step->src = at;
        if (!in_place) at = 2 * WEFT_BUFFER_WORKSPACE + 1 - at;
        step->dst = at;
        if (step->kind == WEFT_STEP_FFT) step->as.fft.transform.in_place = in_place;
        weft_schedule_need(schedule, step->src, step->src_bytes);
        weft_schedule_need(schedule, step->dst, step->dst_bytes);
    }
    last->src = at;
}

/* Arrays on the host are read and written as a whole; of the workspaces, whose slots have the size
 * of the largest tile, there are several slots. */
static void set_buffers(weft_schedule *schedule) {
    enum { ALIGNMENT = 256 }; /* of a slot: any device's */
    weft_streaming *stream = &schedule->stream;
    for (int p = 0; p < stream->passes; p++) set_slots(schedule, &stream->pass[p]);
    for (int i = 0; i < schedule->steps; i++) {
        const weft_step *step = &schedule->step[i];
        if (step->kind != WEFT_STEP_EXCHANGE) continue;
        const weft_exchange_step *x = &step->as.exchange;
        const int64_t element = (int64_t)x->geometry.element_bytes;
        const bool blocks = x->packing.pack;
        weft_schedule_need(schedule, step->src,
                           blocks ? x->geometry.send_elements * element : step->src_bytes);
        weft_schedule_need(schedule, step->dst,
                           blocks ? x->geometry.receive_elements * element : step->dst_bytes);
    }
    schedule->workspaces = 2;
    for (int w = 0; w < 2; w++) {
        size_t *bytes = &schedule->buffer_bytes[WEFT_BUFFER_WORKSPACE + w];
        stream->slot_bytes[w] = (int64_t)((*bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        *bytes = (size_t)(stream->slots * stream->slot_bytes[w]);
    }
}

/* On the host the array between passes counts as what the plan holds, like the slots. */
static weft_status check_between(const weft_schedule_request *request,
                                 const weft_schedule *schedule) {
    const weft_device_ops *device = request->computing.device;
    int64_t bytes = 0;
    if (request->room == 0 || !device || !device->host_addressable) return WEFT_SUCCESS;
    for (int i = WEFT_BUFFER_STAGE_SEND; i < WEFT_BUFFERS; i++)
        bytes += (int64_t)schedule->buffer_bytes[i];
    for (int w = 0; w < 2; w++) bytes += (int64_t)schedule->buffer_bytes[WEFT_BUFFER_WORKSPACE + w];
    if (bytes <= request->room) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "options.stream: tiles, and the array between passes, which the output has no "
                     "room for, take %lld bytes, but options.device_memory_limit is %lld; raise it",
                     (long long)bytes, (long long)request->room);
}

/* Slots have three quarters of what the device may hold; the rest is for what engines need. */
static int64_t slot_budget(const weft_schedule_request *request, int slots) {
    return request->room > 0 ? request->room / 4 * 3 / slots : INT64_MAX;
}

/* Whether arrays between passes may be larger than what the caller gets, of which the output holds
 * no more: where real numbers come of complex ones, or along an axis that is to be cropped or
 * truncated. */
static bool may_outgrow(const weft_schedule_request *request) {
    const weft_chain *chain = request->chain;
    const bool forward = request->direction == WEFT_FORWARD;
    const weft_end given = weft_chain_arrival(chain, 0, WEFT_FORWARD),
                   spectrum = weft_chain_departure(chain, chain->segments - 1, WEFT_FORWARD),
                   kept = weft_chain_departure(chain, 0, WEFT_INVERSE);
    const int64_t *result = forward ? spectrum.distribution->n : kept.distribution->n;
    if (chain->real && !forward) return true;
    for (int a = 0; a < chain->axes; a++)
        if (a != chain->halved &&
            (spectrum.distribution->n[a] > result[a] || given.distribution->n[a] > result[a]))
            return true;
    return false;
}

/* Whether the array has other extents in memory than its transforms have. */
static bool is_padded(const weft_chain *chain) {
    const weft_distribution *in = chain->segment[0].side[WEFT_FORWARD],
                            *out = chain->segment[0].side[WEFT_INVERSE];
    for (int a = 0; a < chain->axes - 1; a++)
        if (in[WEFT_INPUT].n[a] != chain->n[a] || out[WEFT_INPUT].n[a] != chain->n[a] ||
            chain->spectrum[a] != chain->n[a])
            return true;
    return false;
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
                           .place = {.turns = WEFT_NOWHERE},
                           .loads_blocks = -1,
                           .budget = slot_budget(request, stream->slots)};
    enter_segment(&s, back ? request->chain->segments - 1 : 0);
    if ((schedule->in_place || convolves) && request->chain->ranks == 1 &&
        memcmp(s.at.order, s.end.order, (size_t)s.now.axes * sizeof(int)) != 0)
        return weft_stream_refuse(
            "boxes with another memory order are not streamed in place, nor convolved");
    stream->pass = calloc(2 * WEFT_MAX_RANK, sizeof *stream->pass);
    if (!stream->pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");
    schedule->exact = schedule->exact || is_padded(request->chain);
    s.array.outgrow = schedule->exact && may_outgrow(request);
    s.array.source = schedule->in_place ? WEFT_BUFFER_OUT : WEFT_BUFFER_IN;
    s.array.target = WEFT_BUFFER_OUT;
    WEFT_TRY(convolves ? add_convolution(&s, &second)
             : back    ? add_segments(&s, request->chain->segments - 1, 0, WEFT_NOWHERE,
                                      WEFT_PLACE_SPECTRUM, WEFT_PLACE_STORE)
                       : add_segments(&s, 0, request->chain->segments - 1, WEFT_NOWHERE,
                                      WEFT_PLACE_LOAD, WEFT_PLACE_SPECTRAL));
    set_buffers(schedule);
    if (s.array.outgrow) WEFT_TRY(check_between(request, schedule));
    weft_stream_keep_resident(request, schedule);
    return WEFT_SUCCESS;
}
