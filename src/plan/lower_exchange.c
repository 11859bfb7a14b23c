/* An exchange of a schedule as its method sees it, from its first task to its last: its buffers and
 * lanes, and the tiles that it goes in. */
#include "plan/lowering.h"

#include "support/error.h"

#include <stdlib.h>

/* The redistribution restricted to tile `produced` of the array before and tile `consumed` of the
 * array after it. */
static weft_status restrict_tile(const weft_exchange_step *x, weft_exchange_tile *tile) {
    const weft_tiling *before = &x->produced, *after = &x->consumed;
    weft_redistribution row;
    if (before->tiles == 1)
        return weft_redistribution_restrict(&x->geometry, after->tiles > 1 ? after->axis : 0,
                                            after->tiles, tile->consumed, &tile->geometry);
    if (after->tiles == 1 || after->axis == before->axis)
        return weft_redistribution_restrict(&x->geometry, before->axis, before->tiles,
                                            tile->produced, &tile->geometry);
    WEFT_TRY(weft_redistribution_restrict(&x->geometry, before->axis, before->tiles, tile->produced,
                                          &row));
    weft_status status = weft_redistribution_restrict(&row, after->axis, after->tiles,
                                                      tile->consumed, &tile->geometry);
    weft_redistribution_release(&row);
    return status;
}

static weft_status make_tile(const weft_exchange_step *step, weft_exchange_lowering *x, int k) {
    weft_exchange_tile *tile = &x->tile[k];
    const int64_t element = (int64_t)step->geometry.element_bytes;
    tile->produced = step->produced.tiles > 1 ? k % step->produced.tiles : 0;
    tile->consumed = step->produced.axis == step->consumed.axis ? k : k / step->produced.tiles;
    WEFT_TRY(restrict_tile(step, tile));
    weft_redistribution_lay_out(&tile->geometry, step->packing);
    if (k > 0 && !step->packing.whole) {
        tile->send_base = tile[-1].send_base + tile[-1].geometry.send_elements * element;
        tile->receive_base = tile[-1].receive_base + tile[-1].geometry.receive_elements * element;
    }
    return WEFT_SUCCESS;
}

/* Lanes of copies from partners. On a device several partners are read at once: if each rank read
 * from one after the other, two would now and then read from the same one, at half the speed of its
 * link, while nobody reads from another. */
static int links_of(const weft_lowering *l, const weft_exchange_step *x) {
    const int least = weft_step_is_tiled(x) ? 1 : 0, partners = x->geometry.members - 1;
    if (x->method->carrier != WEFT_CARRIED_BY_READERS || l->device->host_addressable) return least;
    return partners < least ? least : partners < WEFT_LINKS ? partners : WEFT_LINKS;
}

/* Tiles that are copied from partners' arrays; the transform after the exchange loads the others.
 */
static int tiles_copied(const weft_lowering *l, int number) {
    const weft_step *after = weft_lowering_step(l, number + 1);
    const weft_exchange_step *x = &l->schedule->step[number].as.exchange;
    if (weft_step_stays_remote(x)) return 0;
    return x->consumed.tiles -
           (after && after->kind == WEFT_STEP_FFT ? after->as.fft.remote_tiles : 0);
}

weft_status weft_lowering_begin_exchange(weft_lowering *l, int number, weft_exchange_lowering *x) {
    const weft_step *step = &l->schedule->step[number];
    const weft_exchange_step *e = &step->as.exchange;
    const size_t members = (size_t)e->geometry.members;
    const int tiles = weft_step_tiles(e);
    *x = (weft_exchange_lowering){
        .step = number,
        .redistribution = e->redistribution,
        .src = step->src,
        .send = e->send,
        .receive = e->receive,
        .dst = step->dst,
        .memory = e->staged ? WEFT_EXCHANGE_STAGED : WEFT_EXCHANGE_ON_DEVICE,
        .own = e->own,
        .lane = weft_step_is_tiled(e) ? WEFT_LANE_LINK : WEFT_LANE_COMPUTE,
        .links = links_of(l, e),
        .produced = e->produced.tiles,
        .consumed = e->consumed.tiles,
        .produced_axis = e->produced.axis,
        .tile = calloc((size_t)tiles, sizeof *x->tile),
        .tiles = tiles,
        .partners = {.opened = -1,
                     .signalled = -1,
                     .last_copy = calloc(members, sizeof(int)),
                     .last_await = calloc(members, sizeof(int))}};
    if (!x->tile || !x->partners.last_copy || !x->partners.last_await)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan's exchanges");
    for (int k = 0; k < tiles; k++) WEFT_TRY(make_tile(e, x, k));
    if (e->method->carrier != WEFT_CARRIED_BY_READERS) return WEFT_SUCCESS;
    x->partners.copied = tiles_copied(l, number);
    x->partners.peer = l->out->peers;
    x->partners.first_buffer = l->out->buffers;
    l->out->buffers += e->geometry.members * x->produced;
    l->out->peer_step[l->out->peers++] = number;
    return WEFT_SUCCESS;
}

void weft_lowering_end_exchange(weft_exchange_lowering *x) {
    for (int k = 0; k < x->tiles && x->tile; k++) weft_redistribution_release(&x->tile[k].geometry);
    free(x->tile);
    free(x->partners.last_copy);
    free(x->partners.last_await);
    *x = (weft_exchange_lowering){0};
}

void weft_lowering_finish_exchange(weft_lowering *l, weft_exchange_lowering *x) {
    const weft_exchange_ops *method =
        x->tile ? l->schedule->step[x->step].as.exchange.method : NULL;
    if (method && method->finish) method->finish(x, &l->out->tasks);
    weft_lowering_end_exchange(x);
}
