/* Tiles of the passes of a streamed schedule: as large as is good, of what the device may hold. */
#include "plan/stream.h"

#include "support/least.h"

/* Whether operators of the pass must know which elements a tile has. */
static bool sees_places(const weft_stream_state *s) {
    const int place[] = {s->place.loads, s->place.turns, s->place.stores};
    double factor;
    for (int i = 0; i < 3; i++)
        if (place[i] != WEFT_NOWHERE && s->request->operators[place[i]].count > 0 &&
            !weft_operators_only_scale(&s->request->operators[place[i]], &factor))
            return true;
    return false;
}

/* The first `count` of the axes that are left become those of a pass. */
static void set_after(weft_stream_state *s, int count) {
    s->after = s->turning.after = s->now;
    s->real_after = s->at.real;
    for (int i = 0; i < count; i++) {
        const int a = s->left.axis[i];
        s->after.n[a] = s->end.distribution->n[a];
        s->turning.after.n[a] = s->turning.end.n[a];
        if (a == s->request->chain->halved) s->real_after = s->end.real;
    }
}

weft_end weft_stream_result(const weft_stream_state *s) {
    const bool turns = s->place.turns != WEFT_NOWHERE;
    return (weft_end){turns ? &s->turning.after : &s->after, s->end.order,
                      turns ? s->at.real : s->real_after, NULL};
}

bool weft_stream_is_left(const weft_stream_state *s, int axis, int count) {
    for (int i = 0; i < count; i++)
        if (s->left.axis[i] == axis) return true;
    return false;
}

/* The extent of a tile along an axis, of an array of real numbers or not that has n indices there:
 * as many as are transformed, where those are more. */
static int64_t tile_extent(const weft_stream_state *s, const weft_streamed_pass *pass, int count,
                           int a, int64_t n, bool real) {
    const weft_chain *chain = s->request->chain;
    if (pass->single >> a & 1) return 1;
    if (a == pass->axis) return pass->thickness;
    if (!weft_stream_is_left(s, a, count)) return n;
    const int64_t whole = a == chain->halved && !real ? chain->n[a] / 2 + 1 : chain->n[a];
    return n > whole ? n : whole;
}

/* Bytes of a tile on the device, before and after the transform of the first `count` axes. */
static int64_t tile_bytes(const weft_stream_state *s, const weft_streamed_pass *pass, int count) {
    const bool real[2] = {s->at.real, s->real_after};
    const weft_distribution *side[2] = {&s->now, &s->after};
    int64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] = weft_end_element_bytes(s->request->precision, real[i]);
        for (int a = 0; a < side[i]->axes; a++)
            bytes[i] *= tile_extent(s, pass, count, a, side[i]->n[a], real[i]);
    }
    return bytes[0] + bytes[1];
}

/* Whether neighbours in memory are those along this axis. */
static bool is_contiguous(const weft_stream_state *s, const int *order, int axis) {
    for (int i = s->now.axes - 1; i >= 0; i--)
        if (s->now.n[order[i]] > 1) return order[i] == axis;
    return false;
}

/* Bytes that lie side by side in an array for each index of the pass' axis: the faster axes. */
static int64_t row_bytes(const weft_stream_state *s, const weft_streamed_pass *pass) {
    int64_t bytes = weft_end_element_bytes(s->request->precision, s->at.real);
    if (pass->axis < 0) return bytes;
    for (int i = s->now.axes - 1; s->at.order[i] != pass->axis; i--)
        bytes *= s->now.n[s->at.order[i]];
    return bytes;
}

/* As many indices of the pass' axis as are good for a tile, if the least number fits. It is two
 * where neighbours in memory are those along this axis, lest the points of a line become neighbours
 * in a tile, since engines do such lines in another way, whose results have other bits; and where
 * operators are told by a loop over that axis which elements a tile has. */
static bool fits(const weft_stream_state *s, weft_streamed_pass *pass, int count) {
    const weft_machine_streaming *m = &weft_request_machine(s->request)->streaming;
    const int64_t n = pass->axis >= 0 ? s->now.n[pass->axis] : 1;
    const bool paired = n > 1 && (is_contiguous(s, s->at.order, pass->axis) ||
                                  is_contiguous(s, s->end.order, pass->axis));
    const int64_t fewest = paired || (n > 1 && sees_places(s)) ? 2 : 1;
    pass->thickness = 1;
    const int64_t one = tile_bytes(s, pass, count), most = s->budget / one;
    const int64_t good = (int64_t)(2 * m->tile) / one,
                  long_row = (int64_t)m->row / row_bytes(s, pass);
    const int64_t wanted =
        weft_least(good > long_row ? good : long_row, (n - 1) / m->least_tiles + 1);
    pass->thickness = weft_least(most, wanted > fewest ? wanted : fewest);
    return most >= fewest;
}

bool weft_stream_keeps_places(const weft_stream_state *s) {
    const weft_end after = weft_stream_result(s);
    const weft_view was = weft_end_view(s->request, &s->at), is = weft_end_view(s->request, &after);
    for (int a = 0; a < was.axes; a++)
        if ((was.n[a] > 1 || is.n[a] > 1) && was.stride[a] != is.stride[a]) return false;
    return s->at.real == after.real;
}

/* Whether tiles of this pass may be read from an array and become others in the same array. Where
 * elements get other places, tiles must lie one behind the other, so that none is written over that
 * is still to be read. */
static bool may_change_size(const weft_stream_state *s, const weft_streamed_pass *pass) {
    if (!s->array.within || pass->axis < 0 || weft_stream_keeps_places(s)) return true;
    for (int i = 0; s->at.order[i] != pass->axis; i++)
        if (s->now.n[s->at.order[i]] > 1 && !(pass->single >> s->at.order[i] & 1)) return false;
    return true;
}

bool weft_stream_find_tiles(weft_stream_state *s, int count, weft_streamed_pass *pass) {
    set_after(s, count);
    pass->single = 0;
    pass->axis = -1;
    for (int i = 0; i < s->now.axes; i++) {
        const int a = s->at.order[i];
        if (s->now.n[a] == 1 || weft_stream_is_left(s, a, count)) continue;
        if (pass->axis >= 0) pass->single |= 1u << pass->axis;
        pass->axis = a;
        if (pass->single != 0 && sees_places(s)) return false; /* no loop tells of such axes */
        if (fits(s, pass, count)) return may_change_size(s, pass);
    }
    return pass->axis < 0 && fits(s, pass, count);
}

bool weft_stream_fits_apart(weft_stream_state *s, int before, weft_streamed_pass *pass) {
    const weft_axis_list left = s->left;
    const bool within = s->array.within;
    for (int i = 0; i < left.count - before; i++) s->left.axis[i] = left.axis[before + i];
    s->array.within = within || before > 0;
    const bool fit = weft_stream_find_tiles(s, left.count - before, pass);
    s->left = left;
    s->array.within = within;
    return fit;
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
