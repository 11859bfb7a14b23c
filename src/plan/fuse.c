/*
 * Exchanges without copies: where the engine takes pieces, the transform before an exchange stores
 * each partner's block as it travels, and the transform after it loads the blocks as they arrived,
 * this rank's own one where it was stored. What partners read where it lies (exchange method peer)
 * is loaded from there; in tiles, the first ones are copied to where they belong while the
 * transform before works on. Nothing is packed or unpacked then.
 *
 * Each rank decides for itself: messages are the same either way.
 */
#include "plan/schedule.h"

#include <math.h>
#include <stdlib.h>

/* The only axis that the blocks share out, or -1. */
static int shared_out_axis(const weft_block *blocks, int members, const weft_region *box) {
    int axis = -1;
    for (int m = 0; m < members; m++) {
        if (blocks[m].elements == 0) continue;
        for (int a = 0; a < box->axes; a++) {
            if (blocks[m].view.n[a] == box->n[a] || a == axis) continue;
            if (axis >= 0) return -1;
            axis = a;
        }
    }
    return axis;
}

/* The dimension of the transform that is this axis, or -1. */
static int dimension_of(const weft_fft_step *fft, int axis) {
    for (int d = 0; d < fft->transform.dims; d++)
        if (fft->axis[fft->transform.dims - 1 - d] == axis) return d;
    return -1;
}

/* A block of a transform's array `box` as a piece: its indices are those of `view`, a part of the
 * whole array, and it lies as `stored`. */
static weft_piece piece_of(const weft_fft_step *fft, const weft_region *box, int axis,
                           const weft_view *view, const weft_view *stored, int array) {
    const weft_transform *t = &fft->transform;
    bool transformed[WEFT_AXES] = {false};
    weft_piece piece = {.array = array,
                        .first = view->offset / view->stride[axis],
                        .n = view->n[axis],
                        .offset = stored->offset};
    for (int d = 0; d < t->dims; d++) {
        int a = fft->axis[t->dims - 1 - d];
        transformed[a] = true;
        piece.dim_stride[d] = stored->stride[a];
    }
    int loops = 0;
    for (int a = 0; a < box->axes; a++)
        if (!transformed[a] && box->n[a] != 1) piece.loop_stride[loops++] = stored->stride[a];
    if (fft->parts == 1) return piece;
    piece.offset *= 2;
    for (int d = 0; d < t->dims; d++) piece.dim_stride[d] *= 2;
    for (int i = 0; i < loops; i++) piece.loop_stride[i] *= 2;
    piece.loop_stride[loops] = 1;
    return piece;
}

static void insert(weft_piece *list, int *count, weft_piece piece) {
    int at = (*count)++;
    for (; at > 0 && list[at - 1].first > piece.first; at--) list[at] = list[at - 1];
    list[at] = piece;
}

/* Whether neighbours in the whole array are neighbours in all pieces: an engine may transform lines
 * of neighbours in another way, whose results have other bits. Also whether neighbours in the
 * largest piece, whose strides an engine may go by, are neighbours in all of them. */
static bool alike(const weft_transform *t, bool output) {
    const weft_pieces *pieces = output ? &t->out_pieces : &t->in_pieces;
    const weft_piece *list = pieces->piece, *largest = &list[0];
    for (int p = 1; p < pieces->count; p++)
        if (list[p].n > largest->n) largest = &list[p];
    for (int i = 0; i < t->loops + t->dims; i++) {
        const int d = i - t->loops;
        const weft_dimension *whole = d < 0 ? &t->loop[i] : &t->dim[d];
        const int64_t stride = output ? whole->out_stride : whole->in_stride;
        const bool neighbours = whole->n > 1 && stride == 1;
        for (int p = 0; p < pieces->count; p++) {
            const bool these = (d < 0 ? list[p].loop_stride[i] : list[p].dim_stride[d]) == 1;
            const bool those = (d < 0 ? largest->loop_stride[i] : largest->dim_stride[d]) == 1;
            if ((neighbours || those) && !these) return false;
        }
    }
    return true;
}

/* All tiles of the transform, down to the smallest one, which may be too few lines. */
static bool engine_takes(const weft_schedule_request *request, const weft_fft_step *fft,
                         const weft_transform *t, bool output) {
    const weft_computing *by = &request->computing;
    weft_transform smallest = *t;
    if (fft->tiles > 1) {
        int64_t *n = &smallest.loop[fft->tile_loop].n;
        *n = *n > fft->tiles ? *n / fft->tiles : 1;
    }
    return (output ? t->out_pieces : t->in_pieces).count > 0 && alike(t, output) &&
           by->engine->supports(t, by->device) == WEFT_SUCCESS &&
           by->engine->supports(&smallest, by->device) == WEFT_SUCCESS;
}

/* Gives the transform its pieces if the engine takes them; the list is then the transform's. */
static bool take(const weft_schedule_request *request, weft_fft_step *fft, bool output,
                 weft_pieces pieces) {
    weft_transform t = fft->transform;
    *(output ? &t.out_pieces : &t.in_pieces) = pieces;
    t.destroy_input = t.destroy_input && t.in_pieces.count == 0;
    if (!engine_takes(request, fft, &t, output)) return false;
    fft->transform = t;
    fft->can_alias = false;
    return true;
}

/* The transform before the exchange stores blocks one after the other, each in wire order. */
static void fuse_stores(const weft_schedule_request *request, weft_fft_step *fft,
                        weft_redistribution *r) {
    int axis = shared_out_axis(r->send, r->members, &r->src_box), count = 0;
    int dimension = axis < 0 ? -1 : dimension_of(fft, axis);
    weft_piece *list = dimension < 0 ? NULL : calloc((size_t)r->members, sizeof *list);
    int64_t offset = 0;
    if (!list) return; /* packing does as well */
    for (int m = 0; m < r->members; m++) {
        const weft_block *block = &r->send[m];
        if (block->elements == 0) continue;
        weft_view stored = weft_redistribution_stored_alone(r, &block->view, offset);
        insert(list, &count, piece_of(fft, &r->src_box, axis, &block->view, &stored, 0));
        offset += block->elements;
    }
    if (take(request, fft, true, (weft_pieces){count, dimension, list})) {
        fft->out_piece = list;
        weft_redistribution_store_blocks(r, r->send);
        r->pack = false;
    } else {
        free(list);
    }
}

/* What the transform after the exchange loads: from partners' arrays (one for each member), or from
 * the array before the exchange, which has this rank's own block, and the one after it, where
 * blocks lie as they arrived or where they belong. */
static int list_loads(const weft_redistribution *r, const weft_fft_step *fft, int axis, bool remote,
                      weft_piece *list) {
    int64_t offset = 0;
    int count = 0;
    for (int m = 0; m < r->members; m++) {
        const weft_block *block = &r->receive[m];
        if (block->elements == 0) continue;
        weft_view stored = remote       ? block->origin
                           : m == r->me ? r->send[m].view
                           : r->unpack  ? weft_redistribution_stored_alone(r, &block->view, offset)
                                        : block->view;
        int array = remote ? m : m == r->me ? WEFT_LOADED_OWN : WEFT_LOADED_ARRIVED;
        insert(list, &count, piece_of(fft, &r->dst_box, axis, &block->view, &stored, array));
        offset += block->elements;
    }
    return count;
}

/* How many of the tiles consumed are copied: of a pair, which the links between are for alone, all;
 * of more partners the machine's share. What is copied must travel while the transform before
 * works. */
static int tiles_to_copy(const weft_schedule_request *request, const weft_exchange_step *x) {
    const double share = weft_request_machine(request)->tiling.copied;
    if (!x->produced.transformed) return 0;
    return x->geometry.members > 2 ? (int)ceil(x->consumed.tiles * share) : x->consumed.tiles;
}

/* The transform after the exchange loads its last tiles from partners' arrays, if it takes its
 * input by those pieces. */
static void load_remotely(const weft_schedule_request *request, const weft_exchange_step *x,
                          weft_fft_step *fft, int axis) {
    const int copied = tiles_to_copy(request, x);
    weft_transform t = fft->transform;
    if (x->method->carrier != WEFT_CARRIED_BY_READERS ||
        request->computing.device->host_addressable || !x->consumed.transformed ||
        copied >= x->consumed.tiles ||
        (x->produced.tiles > 1 && x->produced.axis == x->consumed.axis))
        return;
    weft_piece *list = calloc((size_t)x->geometry.members, sizeof *list);
    if (!list) return; /* copying does as well */
    t.in_pieces =
        (weft_pieces){list_loads(&x->geometry, fft, axis, true, list), t.in_pieces.dim, list};
    if (!engine_takes(request, fft, &t, false)) {
        free(list);
        return;
    }
    fft->remote_piece = list;
    fft->remote_tiles = x->consumed.tiles - copied;
}

static void fuse_loads(const weft_schedule_request *request, weft_exchange_step *x,
                       weft_fft_step *fft) {
    weft_redistribution *r = &x->geometry;
    const bool remote = x->method->carrier == WEFT_CARRIED_BY_READERS && !weft_step_is_tiled(x);
    int axis = shared_out_axis(r->receive, r->members, &r->dst_box);
    int dimension = axis < 0 ? -1 : dimension_of(fft, axis);
    weft_piece *list = dimension < 0 ? NULL : calloc((size_t)r->members, sizeof *list);
    if (!list) return;
    const int count = list_loads(r, fft, axis, remote, list);
    if (!take(request, fft, false, (weft_pieces){count, dimension, list})) {
        free(list);
        return;
    }
    fft->in_piece = list;
    x->loaded = true;
    if (r->unpack) weft_redistribution_store_blocks(r, r->receive);
    r->unpack = false;
    load_remotely(request, x, fft, axis);
}

/* Whether a transform can load what arrives where it arrives. Partners' arrays stay as they are
 * until a whole transform has loaded them. */
static bool can_load(const weft_exchange_step *x, const weft_fft_step *fft) {
    if (x->method->carrier == WEFT_CARRIED_BY_READERS)
        return weft_step_is_tiled(x) || fft->tiles == 1;
    return weft_step_tiles_are_runs(x, &x->geometry.dst_box);
}

void weft_schedule_fuse(const weft_schedule_request *request, weft_schedule *schedule) {
    if (!request->computing.engine || !request->computing.engine->takes_pieces) return;
    for (int i = 0; i < schedule->steps; i++) {
        weft_exchange_step *x = &schedule->step[i].as.exchange;
        if (schedule->step[i].kind != WEFT_STEP_EXCHANGE || x->staged || x->method->gathers)
            continue;
        weft_step *before = weft_schedule_transform(schedule, i - 1);
        weft_step *after = weft_schedule_transform(schedule, i + 1);
        if (before && x->geometry.pack && weft_step_tiles_are_runs(x, &x->geometry.src_box))
            fuse_stores(request, &before->as.fft, &x->geometry);
        if (after && can_load(x, &after->as.fft)) fuse_loads(request, x, &after->as.fft);
    }
}

void weft_schedule_load_own_copy(const weft_exchange_step *exchange, weft_fft_step *fft) {
    const weft_redistribution *r = &exchange->geometry;
    const weft_view *view = &r->receive[r->me].view;
    weft_pieces *pieces = &fft->transform.in_pieces;
    int axis = fft->axis[fft->transform.dims - 1 - pieces->dim];
    for (int p = 0; p < pieces->count; p++)
        if (fft->in_piece[p].array == WEFT_LOADED_OWN) {
            weft_piece copied = piece_of(fft, &r->dst_box, axis, view, view, WEFT_LOADED_ARRIVED);
            copied.first = fft->in_piece[p].first;
            fft->in_piece[p] = copied;
        }
}
