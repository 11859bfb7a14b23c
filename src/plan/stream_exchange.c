/*
 * Exchanges of streamed schedules, between the passes of one segment and those of the next. Before
 * one, the array lies in page-locked memory of the plan's own. There are three ways:
 *
 * - Partners read it there (peer): their next pass copies its tiles from this rank's array.
 * - Messages of blocks (methods that pack): the last pass of the segment copies each tile from the
 *   device to the blocks as they leave, one behind the other, and the next pass copies its tiles
 *   from the blocks as they arrived, so that nobody packs or unpacks anything.
 * - Messages that the transport gathers and scatters (methods with datatypes): from array to array.
 *
 * Messages go in tiles of an axis that the passes before the exchange leave alone, each as soon as
 * those have copied it from the device, while later ones are transformed. How many tiles these are,
 * and which axis, all ranks know without asking.
 */
#include "plan/stream.h"

#include "support/error.h"
#include "support/least.h"

#include <string.h>

static bool is_stage(int buffer) {
    return buffer >= WEFT_BUFFER_STAGE_SEND;
}

/* Messages of blocks rotate through three buffers: while a pass goes from one to the next, what has
 * left that arrives in the third. Else there are two. */
static int next_stage(const weft_stream_state *s, int buffer) {
    const bool rotates = s->departs && weft_exchange_packs(s->departs);
    if (!is_stage(buffer)) return WEFT_BUFFER_STAGE_SEND;
    if (rotates && buffer < WEFT_BUFFER_STAGE_THIRD) return buffer + 1;
    return buffer == WEFT_BUFFER_STAGE_SEND ? WEFT_BUFFER_STAGE_RECEIVE : WEFT_BUFFER_STAGE_SEND;
}

/* The redistribution between the segment at hand and one next to it. */
static int redistribution_to(const weft_stream_state *s, int next) {
    return s->segment < next ? s->segment : next;
}

weft_status weft_stream_find_departure(weft_stream_state *s, int next) {
    s->departs =
        next == WEFT_NOWHERE ? NULL : weft_schedule_method(s->request, redistribution_to(s, next));
    if (s->departs && s->departs->carrier == WEFT_CARRIED_BY_DEVICES)
        return weft_stream_refuse("ranks that exchange by nccl are not streamed");
    return WEFT_SUCCESS;
}

int weft_stream_target(const weft_stream_state *s, bool first, bool last) {
    const bool blocks = s->departs && weft_exchange_packs(s->departs) && last;
    if (!s->departs && (last || !s->array.outgrow)) return WEFT_BUFFER_OUT;
    return !first && !blocks ? s->array.source : next_stage(s, s->array.source);
}

/* Whether the array arrives at a segment in the memory order in which it leaves it. */
static bool keeps_order(const weft_stream_state *s, int segment) {
    const weft_segment *g = &s->request->chain->segment[segment];
    const int(*order)[WEFT_AXES] = g->order[s->request->direction];
    return memcmp(order[WEFT_INPUT], order[WEFT_OUTPUT],
                  (size_t)s->request->chain->axes * sizeof(int)) == 0;
}

/* Where messages of array to array go: where the passes of the next segment leave the array, unless
 * that would be in another order or as other numbers, or the caller's output has no room for it. */
static int arrival_buffer(const weft_stream_state *s, int next) {
    const bool same = weft_wire_precision(s->request) == s->request->precision;
    const bool arrives = same && keeps_order(s, next) && !s->schedule->exact;
    return arrives ? WEFT_BUFFER_OUT : next_stage(s, s->array.target);
}

/* Tiles along the slowest axis that the passes before the exchange leave alone and that it does not
 * split, equal on all ranks. */
static weft_tiling tiling_of(const weft_stream_state *s, const weft_end *from, const weft_end *to) {
    const weft_segment *before = &s->request->chain->segment[s->segment];
    const int asked = s->request->call->options.chunks;
    const int64_t most = s->schedule->stream.one_after_another ? 1
                         : asked > 0                           ? asked
                                     : weft_request_machine(s->request)->streaming.least_tiles;
    for (int i = 0; i < s->request->chain->axes; i++) {
        const int a = from->order[i];
        const int64_t n = from->distribution->n[a];
        const bool split =
            from->distribution->split_by[a] < 0 && to->distribution->split_by[a] >= 0;
        if (n > 1 && !split && !weft_segment_transforms(before, a))
            return (weft_tiling){.tiles = (int)weft_least(n, most), .axis = a};
    }
    return (weft_tiling){.tiles = 1, .axis = -1};
}

/* The pass in front of exchange `number`, unless this rank has none there, stores its blocks. */
static void leave_in_blocks(const weft_stream_state *s, int number) {
    const weft_streaming *stream = &s->schedule->stream;
    weft_streamed_pass *last = stream->passes > 0 ? &stream->pass[stream->passes - 1] : NULL;
    if (last && last->last + 1 == number) last->stores_blocks = number;
}

weft_status weft_stream_add_redistribution(weft_stream_state *s, int next) {
    weft_schedule_request request = *s->request;
    const weft_chain *chain = request.chain;
    const weft_end from = weft_chain_departure(chain, s->segment, request.direction),
                   to = weft_chain_arrival(chain, next, request.direction);
    const int number = s->schedule->steps;
    const bool read = s->departs->carrier == WEFT_CARRIED_BY_READERS,
               blocks = weft_exchange_packs(s->departs);
    request.exchanging.staged = false;
    request.precision = weft_wire_precision(s->request);
    WEFT_TRY(weft_schedule_add_exchange(&request, s->schedule, redistribution_to(s, next),
                                        s->departs, &from, &to));
    weft_step *step = &s->schedule->step[number];
    weft_exchange_step *x = &step->as.exchange;
    step->src = x->send = s->array.target;
    step->dst = x->receive = read     ? -1
                             : blocks ? next_stage(s, s->array.target)
                                      : arrival_buffer(s, next);
    x->own = read || blocks ? WEFT_OWN_STAYS : WEFT_OWN_COPIED;
    x->loaded = read;
    if (!read) x->produced = tiling_of(s, &from, &to);
    x->packing = (weft_packing){.pack = blocks, .unpack = blocks, .own_receive = blocks};
    weft_redistribution_lay_out(&x->geometry, x->packing);
    x->geometry.pack = x->geometry.unpack = false; /* passes do that as they copy their tiles */
    if (blocks) leave_in_blocks(s, number);
    if (read) s->schedule->shared[s->array.target - WEFT_BUFFER_WORKSPACE] = true;
    s->loads_blocks = read || blocks ? number : -1;
    s->array.source = read ? s->array.target : step->dst;
    return WEFT_SUCCESS;
}
