/*
 * Exchanges in tiles, so that transforms work on one tile while another travels. A transform before
 * an exchange produces tiles if it leaves alone the axis that they share out, and one after it can
 * consume a tile if all of its lines are there. So the best axis is one that neither of them
 * transforms and the exchange leaves as it is (the first axis in the first exchange of a pencil). A
 * slab has none: there the tiles produced share out the axis that the exchange gathers, which is
 * not transformed before it, and the tiles consumed the axis that it splits, which is not
 * transformed after it. What partners read where it lies is copied in tiles of both, in the order
 * that the reader likes; messages go in the tiles of the larger transform.
 *
 * Transforms go in their tiles whatever the exchange method and the buffers, for engines may round
 * otherwise when they do less at once. A transform between two exchanges goes in the tiles of the
 * first, in the direction of the data; so does the second, if it can produce tiles along that axis,
 * as after the transform of a convolution that goes there and back.
 *
 * The exchanges of a line over several ranks go whole: whether its twiddle factors are part of a
 * transform, or a step between it and an exchange, differs by rank, and tiles must not.
 */
#include "plan/schedule.h"

/* The transform next to step i, with nothing between them but a copy that is dropped where the
 * transform can store into a workspace, or a step that pads or crops, for which *adjacent becomes
 * false: ranks differ in whether the transform does that itself, but not in their tiles. */
static weft_fft_step *transform_next_to(weft_schedule *schedule, int i, int direction,
                                        bool *adjacent) {
    *adjacent = true;
    for (i += direction; i >= 0 && i < schedule->steps; i += direction) {
        weft_step *step = &schedule->step[i];
        const bool pads =
            step->kind == WEFT_STEP_POINTWISE && step->as.pointwise.number >= (int)WEFT_PLACES;
        if (step->kind == WEFT_STEP_FFT) return &step->as.fft;
        if (!pads && (step->kind != WEFT_STEP_COPY || !step->as.copy.optional)) return NULL;
        if (pads) *adjacent = false;
    }
    return NULL;
}

/* The segment on one side of an exchange. Ranks may differ in how many steps its transforms are. */
static const weft_segment *segment_of(const weft_chain *chain, const weft_exchange_step *x,
                                      bool after) {
    return &chain->segment[x->redistribution + (after == (x->direction == WEFT_FORWARD))];
}

/* The axes that the tiles before and after an exchange share out, equal on all members; -1: none.
 * Engines do lines that lie side by side together, so the contiguous axis is no good one. */
static void choose_axes(const weft_chain *chain, const weft_exchange_step *x, int *produced,
                        int *consumed) {
    const weft_segment *before = segment_of(chain, x, false), *after = segment_of(chain, x, true);
    const weft_distribution *from = before < after ? &before->side[WEFT_FORWARD][WEFT_OUTPUT]
                                                   : &before->side[WEFT_FORWARD][WEFT_INPUT];
    const weft_distribution *to = before < after ? &after->side[WEFT_FORWARD][WEFT_INPUT]
                                                 : &after->side[WEFT_FORWARD][WEFT_OUTPUT];
    const weft_distribution *whole =
        &chain->segment[chain->segments - 1].side[WEFT_FORWARD][WEFT_OUTPUT];
    const int contiguous = x->geometry.wire[chain->axes - 1];
    int common = -1;
    *produced = *consumed = -1;
    if (from->boxes || to->boxes) return;
    for (int i = 0; i < chain->axes; i++) { /* slowest first */
        const int a = x->geometry.wire[i];
        const bool gathered = from->split_by[a] >= 0 && to->split_by[a] < 0;
        const bool split = from->split_by[a] < 0 && to->split_by[a] >= 0;
        if (whole->n[a] < 2) continue;
        if (gathered && before->transforms > 0) *produced = a;
        if (split && after->transforms > 0) *consumed = a;
        if (!gathered && !split && common < 0 && !weft_segment_transforms(before, a) &&
            !weft_segment_transforms(after, a))
            common = a;
    }
    if (*consumed == contiguous && *produced >= 0) *consumed = -1;
    if (*produced == contiguous && *consumed >= 0) *produced = -1;
    if (common >= 0 && (common != contiguous || (*produced < 0 && *consumed < 0)))
        *produced = *consumed = common;
}

/* Whether the transform goes in these tiles, from now on unless it has others already. Engines may
 * want real data aligned as complex numbers are, so its tiles begin at even places. */
static bool tile_transform(weft_tiling tiling, const weft_region *box, weft_fft_step *fft) {
    if (!fft || tiling.tiles < 2 || weft_step_transforms(fft, tiling.axis) ||
        box->n[tiling.axis] < 2)
        return false;
    const weft_transform *t = &fft->transform;
    const int loop = weft_step_loop(fft, box->n, tiling.axis);
    if (fft->tiles > 1) return fft->tiles == tiling.tiles && fft->tile_loop == loop;
    if ((t->kind == WEFT_TRANSFORM_R2C && t->loop[loop].in_stride % 2 != 0) ||
        (t->kind == WEFT_TRANSFORM_C2R && t->loop[loop].out_stride % 2 != 0))
        return false;
    fft->tiles = tiling.tiles;
    fft->tile_loop = loop;
    return true;
}

/* How many tiles exchange i produces along an axis: as many as the exchange before it consumes, if
 * it consumes tiles along that axis. */
static int tiles_produced(const weft_schedule_request *request, const weft_schedule *schedule,
                          int i, int axis) {
    while (--i >= 0 && schedule->step[i].kind != WEFT_STEP_EXCHANGE) continue;
    const weft_tiling *consumed = i >= 0 ? &schedule->step[i].as.exchange.consumed : NULL;
    return consumed && consumed->tiles > 1 && consumed->axis == axis ? consumed->tiles
                                                                     : request->exchanging.tiles;
}

/* Along an axis of their own there are half as many tiles consumed as produced, for what partners
 * read is copied in pairs of both. */
static int tiles_consumed(const weft_schedule_request *request, int produced) {
    const int tiles = request->exchanging.tiles;
    const int most = weft_request_machine(request)->tiling.most_consumed;
    if (produced < 0) return tiles;
    return (tiles + 1) / 2 < most ? (tiles + 1) / 2 : most;
}

/* The tiles of the transforms on both sides of exchange i, whatever its method. */
static void choose_tiles(const weft_schedule_request *request, weft_schedule *schedule, int i) {
    weft_exchange_step *x = &schedule->step[i].as.exchange;
    bool adjacent[2];
    weft_fft_step *before = transform_next_to(schedule, i, -1, &adjacent[0]);
    weft_fft_step *after = transform_next_to(schedule, i, 1, &adjacent[1]);
    int produced, consumed;
    choose_axes(request->chain, x, &produced, &consumed);
    if (produced >= 0)
        x->produced = (weft_tiling){.tiles = tiles_produced(request, schedule, i, produced),
                                    .axis = produced};
    if (consumed >= 0)
        x->consumed = (weft_tiling){
            .tiles = produced == consumed ? x->produced.tiles : tiles_consumed(request, produced),
            .axis = consumed};
    x->produced.transformed =
        adjacent[0] && tile_transform(x->produced, &x->geometry.src_box, before);
    x->consumed.transformed =
        adjacent[1] && tile_transform(x->consumed, &x->geometry.dst_box, after);
}

/* Messages go in the tiles of one of the transforms. */
static void choose_messages(const weft_chain *chain, weft_exchange_step *x) {
    const weft_tiling whole = {.tiles = 1, .axis = -1};
    if (x->method->carrier == WEFT_CARRIED_BY_READERS || x->produced.axis == x->consumed.axis)
        return;
    const bool larger =
        segment_of(chain, x, false)->transforms >= segment_of(chain, x, true)->transforms;
    const bool first = larger ? x->produced.axis >= 0 : x->consumed.axis < 0;
    *(first ? &x->consumed : &x->produced) = whole;
}

bool weft_step_tiles_are_runs(const weft_exchange_step *x, const weft_region *box) {
    const weft_tiling *tiling = x->produced.tiles > 1 ? &x->produced : &x->consumed;
    if (!weft_step_is_tiled(x)) return true;
    for (int i = 0; i < box->axes && x->geometry.wire[i] != tiling->axis; i++)
        if (box->n[x->geometry.wire[i]] > 1) return false;
    return true;
}

void weft_schedule_tile(const weft_schedule_request *request, weft_schedule *schedule) {
    if (request->exchanging.tiles < 2 || request->chain->line.points > 0) return;
    for (int i = 0; i < schedule->steps; i++)
        if (schedule->step[i].kind == WEFT_STEP_EXCHANGE) choose_tiles(request, schedule, i);
    for (int i = 0; i < schedule->steps; i++) {
        weft_exchange_step *x = &schedule->step[i].as.exchange;
        if (schedule->step[i].kind != WEFT_STEP_EXCHANGE) continue;
        choose_messages(request->chain, x);
        if (!weft_exchange_packs(x->method)) continue;
        weft_redistribution *r = &x->geometry;
        r->pack = r->pack || !weft_step_tiles_are_runs(x, &r->src_box);
        r->unpack = r->unpack || !weft_step_tiles_are_runs(x, &r->dst_box);
    }
}

/* Whether the tiles of the exchange, step i, can leave between those of the transform before it. A
 * reader whose own block stays where it is stores nothing until the transform has ended. The others
 * must not store where the transform is still to load: in place a tile touches nothing but itself.
 * Nor may they leave while the exchange before the transform has not ended: what is exchanged at
 * once stops this rank until its partners begin, too, and they may wait for it to have read what
 * they lent. */
static bool can_leave_early(const weft_schedule *schedule, int i) {
    const weft_step *step = &schedule->step[i], *before = step - 1;
    const weft_exchange_step *x = &step->as.exchange;
    if (x->method->carrier == WEFT_CARRIED_BY_READERS && x->own == WEFT_OWN_STAYS) return true;
    if (i > 1 && step[-2].kind == WEFT_STEP_EXCHANGE) return false;
    return before->src == before->dst ||
           (step->dst != before->src && x->send != before->src && x->receive != before->src);
}

/* A transform alternates with the exchange next to it unless it stores where the exchange still
 * reads, or reads where the exchange stores: the list of tasks must be right when each ends before
 * the next begins. In place a transform touches nothing but the tile it works on. */
void weft_schedule_alternate(weft_schedule *schedule) {
    for (int i = 1; i + 1 < schedule->steps; i++) {
        weft_step *step = &schedule->step[i], *before = step - 1, *after = step + 1;
        weft_exchange_step *x = &step->as.exchange;
        if (step->kind != WEFT_STEP_EXCHANGE || !weft_step_is_tiled(x)) continue;
        const bool separate = step->src != step->dst && x->receive != step->src;
        x->produced.alternates = separate && x->produced.transformed &&
                                 before->kind == WEFT_STEP_FFT && can_leave_early(schedule, i);
        x->consumed.alternates =
            separate && x->consumed.transformed && after->kind == WEFT_STEP_FFT &&
            (after->src == after->dst ||
             (after->dst != step->src && after->dst != x->send && after->dst != x->receive));
        if (after->kind != WEFT_STEP_FFT || !after->as.fft.remote_piece) continue;
        /* Copies that nothing is done beside are of no use. */
        if (!x->produced.alternates) after->as.fft.remote_tiles = after->as.fft.tiles;
        if (!x->consumed.alternates) after->as.fft.remote_tiles = 0;
    }
}
