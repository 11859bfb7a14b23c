/*
 * Streamed schedules: the array stays in host memory, and passes over it bring it to the device
 * tile by tile. A pass transforms as many axes as a tile can hold all of; its tiles share out
 * another axis. Only tiles are on the device, in slots that rotate, so that one tile is copied
 * there while the one before it is transformed and the one before that is copied back.
 *
 * Between passes the array lies where the result is wanted, so nothing but the callers' arrays is
 * held on the host. Of one rank only.
 */
#include "plan/steps.h"

#include "support/axis.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The axes in the order in which they are transformed. */
typedef struct axis_list {
    int axis[WEFT_MAX_RANK];
    int count;
} axis_list;

typedef struct streaming {
    const weft_schedule_request *request;
    weft_schedule *schedule;
    axis_list left;          /* axes that are not transformed yet */
    weft_distribution after; /* extents of the array behind the pass at hand */
    weft_end at, end;        /* how the array lies before that pass, and where it ends */
    bool real_after;         /* behind the pass */
    weft_distribution now;   /* what at.distribution is */
    bool within;             /* that pass reads the array that it writes */
    int64_t budget;          /* bytes of one slot of both workspaces */
} streaming;

/* ---- what can be streamed ---- */

static weft_status refuse(const char *what) {
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "options.stream: %s; use more device memory, or another plan", what);
}

static weft_status check(const weft_schedule_request *request) {
    const weft_problem *p = &request->call->problem;
    double factor;
    if (request->chain->ranks > 1) return refuse("arrays over several ranks are not streamed");
    if (request->direction == WEFT_CONVOLVE) return refuse("convolutions are not streamed");
    const weft_axis_groups g = weft_axis_groups_of(request->chain, &request->chain->segment[0]);
    if (g.fouriers > 0 && g.real_to_reals > 0)
        return refuse("Fourier transforms beside real-to-real ones are not streamed");
    if (g.fouriers + g.real_to_reals == 0)
        return refuse("an array without a transform is not streamed");
    if (request->call->strided[WEFT_INPUT] || request->call->strided[WEFT_OUTPUT])
        return refuse("arrays with strides of their own are not streamed");
    for (int a = 0; a < p->rank; a++)
        if ((p->pad_from[a] > 0 && p->pad_from[a] < p->n[a]) ||
            (p->crop_to[a] > 0 && p->crop_to[a] < p->n[a]))
            return refuse("padded and cropped arrays are not streamed");
    for (int i = 0; i < WEFT_PLACES; i++) {
        const weft_operator_list *list = &request->operators[i];
        if (weft_call_storage(request->call, (weft_operator_place)i) != WEFT_STORAGE_SAME)
            return refuse("arrays that are converted are not streamed");
        if (list->count > 0 && !weft_operators_only_scale(list, &factor))
            return refuse("operators other than a normalization are not streamed");
    }
    return WEFT_SUCCESS;
}

/* ---- passes ---- */

static axis_list axes_in_order(const weft_schedule_request *request) {
    const weft_chain *chain = request->chain;
    const weft_axis_groups g = weft_axis_groups_of(chain, &chain->segment[0]);
    const weft_axis_group *all = g.fouriers > 0 ? g.fourier : g.real_to_real;
    axis_list list = {.count = all->axes};
    for (int i = 0; i < all->axes; i++)
        list.axis[request->direction == WEFT_FORWARD ? i : all->axes - 1 - i] = all->axis[i];
    return list;
}

/* The first `count` of the axes that are left become those of a pass. */
static void set_after(streaming *s, int count) {
    s->after = s->now;
    s->real_after = s->at.real;
    for (int i = 0; i < count; i++) {
        const int a = s->left.axis[i];
        s->after.n[a] = s->end.distribution->n[a];
        if (a == s->request->chain->halved) s->real_after = s->end.real;
    }
}

static bool is_left(const streaming *s, int axis, int count) {
    for (int i = 0; i < count; i++)
        if (s->left.axis[i] == axis) return true;
    return false;
}

/* Bytes of a tile on the device, before and after its transform. */
static int64_t tile_bytes(const streaming *s, const weft_streamed_pass *pass) {
    int64_t bytes[2] = {weft_end_element_bytes(s->request->precision, s->at.real),
                        weft_end_element_bytes(s->request->precision, s->real_after)};
    const weft_distribution *side[2] = {&s->now, &s->after};
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < side[i]->axes; a++)
            bytes[i] *= pass->single >> a & 1 ? 1
                        : a == pass->axis     ? pass->thickness
                                              : side[i]->n[a];
    return bytes[0] + bytes[1];
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Whether neighbours in memory are those along this axis. */
static bool is_contiguous(const streaming *s, const int *order, int axis) {
    for (int i = s->now.axes - 1; i >= 0; i--)
        if (s->now.n[order[i]] > 1) return order[i] == axis;
    return false;
}

/* As many indices of the pass' axis as are good for a tile, if the least number fits: two where
 * neighbours in memory are those along this axis, lest the points of a line become neighbours in a
 * tile, since engines do such lines in another way, whose results have other bits. */
static bool fits(const streaming *s, weft_streamed_pass *pass) {
    const weft_machine_streaming *m = &weft_request_machine(s->request)->streaming;
    const int64_t n = pass->axis >= 0 ? s->now.n[pass->axis] : 1;
    const bool paired = n > 1 && (is_contiguous(s, s->at.order, pass->axis) ||
                                  is_contiguous(s, s->end.order, pass->axis));
    const int64_t fewest = paired ? 2 : 1;
    pass->thickness = 1;
    const int64_t one = tile_bytes(s, pass), most = s->budget / one;
    const int64_t wanted = least((int64_t)(2 * m->tile) / one, (n - 1) / m->least_tiles + 1);
    pass->thickness = least(most, wanted > fewest ? wanted : fewest);
    return most >= fewest;
}

/* Whether tiles of this pass may be read from an array and become others, of another size, in the
 * same array: where they lie one behind the other, none is written over that is still to be read.
 */
static bool may_change_size(const streaming *s, const weft_streamed_pass *pass) {
    if (!s->within || s->at.real == s->real_after || pass->axis < 0) return true;
    for (int i = 0; s->at.order[i] != pass->axis; i++)
        if (s->now.n[s->at.order[i]] > 1 && !(pass->single >> s->at.order[i] & 1)) return false;
    return true;
}

/* The tiles of a pass over the first `count` axes that are left, if they fit: shares of the slowest
 * other axis or, where one index of it is too much, of the next one. */
static bool find_tiles(streaming *s, int count, weft_streamed_pass *pass) {
    set_after(s, count);
    pass->single = 0;
    pass->axis = -1;
    for (int i = 0; i < s->now.axes; i++) {
        const int a = s->at.order[i];
        if (s->now.n[a] == 1 || is_left(s, a, count)) continue;
        if (pass->axis >= 0) pass->single |= 1u << pass->axis;
        pass->axis = a;
        if (fits(s, pass)) return may_change_size(s, pass);
    }
    return pass->axis < 0 && fits(s, pass);
}

/* The same for the axes that are left but the first `before`, once those are transformed. */
static bool fits_apart(streaming *s, int before, weft_streamed_pass *pass) {
    const axis_list left = s->left;
    const bool within = s->within;
    for (int i = 0; i < left.count - before; i++) s->left.axis[i] = left.axis[before + i];
    s->within = within || before > 0;
    const bool fit = find_tiles(s, left.count - before, pass);
    s->left = left;
    s->within = within;
    return fit;
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

static void add_copy(streaming *s, weft_transfer transfer, const weft_end *whole,
                     const weft_end *tile) {
    weft_step *step = weft_schedule_add_step(s->schedule, WEFT_STEP_COPY);
    step->as.copy.transfer = transfer;
    step->src_bytes = step->dst_bytes = weft_end_bytes(s->request, tile);
    step->bytes_moved = 2 * weft_end_bytes(s->request, whole);
}

/* The loop of a transform that is this axis. */
static int loop_of(const weft_fft_step *fft, const weft_distribution *tile, int axis) {
    int loop = 0;
    for (int a = 0; a < axis; a++)
        if (!weft_step_transforms(fft, a) && tile->n[a] != 1) loop++;
    return loop;
}

/* The transforms of a pass work on a tile; what they cost, they cost for all tiles. */
static void complete_transforms(streaming *s, const weft_streamed_pass *pass,
                                const weft_distribution *tile, bool in_batch) {
    const double tiles = (double)s->schedule->step[pass->first].bytes_moved /
                         (double)(2 * s->schedule->step[pass->first].src_bytes);
    for (int i = pass->first + 1; i < s->schedule->steps; i++) {
        weft_step *step = &s->schedule->step[i];
        step->bytes_moved = (int64_t)(tiles * (double)step->bytes_moved);
        step->flops *= tiles;
        if (step->kind != WEFT_STEP_FFT) continue;
        step->as.fft.transform.in_batch = in_batch;
        step->as.fft.tile_loop = pass->thickness > 1 ? loop_of(&step->as.fft, tile, pass->axis) : 0;
    }
}

/* Whether the array has several indices along axes that the pass does not transform. */
static bool has_others(const streaming *s, int count) {
    for (int a = 0; a < s->now.axes; a++)
        if (s->now.n[a] != 1 && !is_left(s, a, count)) return true;
    return false;
}

/* The steps of a pass over the first `count` axes that are left. */
static void add_pass(streaming *s, int count, weft_streamed_pass *pass) {
    const weft_schedule_request *request = s->request;
    const bool ends = count == s->left.count;
    const weft_distribution tile_before = tile_of(&s->now, pass),
                            tile_after = tile_of(&s->after, pass);
    const weft_end next = {&s->after, s->end.order, s->real_after, NULL};
    const weft_end from = {&tile_before, s->at.order, s->at.real, NULL};
    const weft_end to = {&tile_after, s->end.order, s->real_after, NULL};
    const weft_operator_place place =
        request->direction == WEFT_FORWARD ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    weft_segment part = request->chain->segment[0];
    part.transforms = count;
    for (int i = 0; i < count; i++) /* a segment lists them as forward transforms do */
        part.axis[i] = s->left.axis[request->direction == WEFT_FORWARD ? i : count - 1 - i];
    pass->first = s->schedule->steps;
    add_copy(s, WEFT_HOST_TO_DEVICE, &s->at, &from);
    weft_schedule_add_transforms(request, s->schedule, &part, &from, &to);
    if (ends && request->operators[place].count > 0)
        weft_schedule_count_bytes(weft_schedule_add_pointwise(
            request, s->schedule, &request->operators[place], place, &to));
    complete_transforms(s, pass, &tile_before, has_others(s, count));
    pass->last = s->schedule->steps;
    add_copy(s, WEFT_DEVICE_TO_HOST, &next, &to);
    pass->before = weft_end_view(request, &s->at);
    pass->after = weft_end_view(request, &next);
    pass->tile_before = weft_end_view(request, &from);
    pass->tile_after = weft_end_view(request, &to);
    pass->backwards =
        (s->schedule->in_place || s->schedule->stream.passes > 0) && s->at.real && !s->real_after;
    s->now = s->after;
    s->at = (weft_end){&s->now, s->end.order, s->real_after, NULL};
    s->left.count -= count;
    memmove(s->left.axis, s->left.axis + count, (size_t)s->left.count * sizeof *s->left.axis);
}

/* How many of the axes that are left the next pass transforms: going forward as many as fit. Back,
 * it leaves as many as fit to the last pass, and of the others to the one before that: those that
 * are contiguous in memory belong together, so that what a tile has of the array are long rows. 0:
 * there is no pass that fits. */
static int axes_of_pass(streaming *s, weft_streamed_pass *pass) {
    int count = s->left.count;
    if (s->request->direction == WEFT_FORWARD) {
        while (count > 0 && !find_tiles(s, count, pass)) count--;
        return count;
    }
    const axis_list all = s->left;
    while (s->left.count > 0) { /* the axes that no later pass takes */
        int first = 0;
        count = s->left.count;
        while (first < count && !fits_apart(s, first, pass)) first++;
        if (first == count) break;
        s->left.count = first;
    }
    const bool possible = s->left.count == 0;
    s->left = all;
    return possible && find_tiles(s, count, pass) ? count : 0;
}

static weft_status add_passes(streaming *s) {
    weft_streaming *stream = &s->schedule->stream;
    while (s->left.count > 0) {
        weft_streamed_pass *pass = &stream->pass[stream->passes];
        s->within = s->schedule->in_place || stream->passes > 0;
        const int count = axes_of_pass(s, pass);
        if (count == 0)
            return weft_fail(
                WEFT_ERROR_OUT_OF_MEMORY,
                "options.stream: within options.device_memory_limit, %zu bytes, there "
                "is no way to transform axis %d in %d tiles at a time; raise the limit",
                s->request->call->options.device_memory_limit, s->left.axis[0], stream->slots);
        add_pass(s, count, pass);
        stream->passes++;
    }
    return WEFT_SUCCESS;
}

int64_t weft_streamed_tiles_along(const weft_streamed_pass *pass, int axis) {
    const int64_t n = pass->before.n[axis];
    if (pass->single >> axis & 1) return n;
    return axis == pass->axis ? (n + pass->thickness - 1) / pass->thickness : 1;
}

int64_t weft_streamed_tiles(const weft_streamed_pass *pass) {
    int64_t tiles = 1;
    for (int a = 0; a < pass->before.axes; a++) tiles *= weft_streamed_tiles_along(pass, a);
    return tiles;
}

/* ---- buffers ---- */

static void raise_to(int64_t *most, int64_t bytes) {
    if (bytes > *most) *most = bytes;
}

/* Within a pass tiles go from a slot of the first workspace to one of the second and, where a
 * transform cannot be done in place, back again. */
static void set_buffers(streaming *s) {
    weft_schedule *schedule = s->schedule;
    weft_streaming *stream = &schedule->stream;
    int64_t arrays[2] = {0, 0};
    for (int p = 0; p < stream->passes; p++) {
        const weft_streamed_pass *pass = &stream->pass[p];
        int at = WEFT_BUFFER_WORKSPACE;
        weft_step *first = &schedule->step[pass->first], *last = &schedule->step[pass->last];
        first->src = p == 0 && !schedule->in_place ? WEFT_BUFFER_IN : WEFT_BUFFER_OUT;
        first->dst = at;
        raise_to(&arrays[first->src == WEFT_BUFFER_OUT], first->bytes_moved / 2);
        raise_to(&arrays[1], last->bytes_moved / 2);
        for (int i = pass->first + 1; i < pass->last; i++) {
            weft_step *step = &schedule->step[i];
            weft_fft_step *fft = &step->as.fft;
            const bool in_place = i > pass->first + 1 && fft->can_alias;
            step->src = at;
            if (!in_place) at = 2 * WEFT_BUFFER_WORKSPACE + 1 - at;
            step->dst = at;
            fft->transform.in_place = in_place;
            raise_to(&stream->slot_bytes[step->src - WEFT_BUFFER_WORKSPACE], step->src_bytes);
            raise_to(&stream->slot_bytes[step->dst - WEFT_BUFFER_WORKSPACE], step->dst_bytes);
        }
        last->src = at;
        last->dst = WEFT_BUFFER_OUT;
    }
    schedule->buffer_bytes[WEFT_BUFFER_IN] = (size_t)arrays[0];
    schedule->buffer_bytes[WEFT_BUFFER_OUT] = (size_t)arrays[1];
    schedule->workspaces = 2;
    for (int w = 0; w < 2; w++) {
        const int64_t aligned = (stream->slot_bytes[w] + 255) / 256 * 256;
        stream->slot_bytes[w] = aligned;
        schedule->buffer_bytes[WEFT_BUFFER_WORKSPACE + w] = (size_t)(stream->slots * aligned);
    }
}

/* Slots have three quarters of what the device may hold; the rest is for what engines need. */
static int64_t slot_budget(const weft_schedule_request *request, int slots) {
    const size_t limit = request->call->options.device_memory_limit;
    return limit > 0 ? (int64_t)(limit / 4 * 3) / slots : INT64_MAX;
}

weft_status weft_schedule_stream(const weft_schedule_request *request, weft_schedule *schedule) {
    WEFT_TRY(check(request));
    const weft_direction direction = request->direction;
    weft_streaming *stream = &schedule->stream;
    stream->one_after_another = request->call->options.stream == WEFT_STREAM_SYNC;
    stream->slots = stream->one_after_another ? 1 : weft_request_machine(request)->streaming.slots;
    streaming s = {.request = request,
                   .schedule = schedule,
                   .at = weft_chain_arrival(request->chain, 0, direction),
                   .end = weft_chain_departure(request->chain, 0, direction),
                   .budget = slot_budget(request, stream->slots)};
    s.now = *s.at.distribution;
    s.at.distribution = &s.now;
    s.left = axes_in_order(request);
    if (schedule->in_place &&
        memcmp(s.at.order, s.end.order, (size_t)s.now.axes * sizeof(int)) != 0)
        return refuse("boxes with another memory order are not streamed in place");
    stream->pass = calloc(WEFT_MAX_RANK, sizeof *stream->pass);
    if (!stream->pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's steps");
    WEFT_TRY(add_passes(&s));
    const int steps = schedule->steps;
    weft_schedule_fuse_operators(request, schedule);
    if (schedule->steps < steps) /* it was in the last pass */
        stream->pass[stream->passes - 1].last = schedule->steps - 1;
    for (int i = 0; i < schedule->steps; i++)
        if (schedule->step[i].kind == WEFT_STEP_POINTWISE)
            return refuse("normalizations that the engine does not take are not streamed");
    set_buffers(&s);
    return WEFT_SUCCESS;
}
