/* Blocks of a redistribution: intersections of boxes, and where they lie in arrays and buffers. */
#include "layout/redistribution.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* A part of the box of a whole array. */
static weft_view part_of(const weft_view *whole, const weft_region *box, const weft_region *part) {
    weft_view view = *whole;
    view.offset = 0;
    memcpy(view.n, part->n, sizeof view.n);
    for (int a = 0; a < part->axes && weft_region_elements(part) > 0; a++)
        view.offset += (part->lo[a] - box->lo[a]) * view.stride[a];
    return view;
}

weft_status weft_redistribution_create(const weft_side *src, const weft_side *dst, const int *wire,
                                       size_t element_bytes, int members, int me,
                                       int (*member_rank)(const void *context, int member),
                                       const void *context, weft_redistribution *redistribution) {
    int my_rank = member_rank(context, me);
    weft_redistribution r = {.members = members, .me = me, .element_bytes = element_bytes};
    r.src_box = weft_distribution_box(src->distribution, my_rank);
    r.dst_box = weft_distribution_box(dst->distribution, my_rank);
    memcpy(r.wire, wire, sizeof r.wire);
    memcpy(r.src_order, src->order, sizeof r.src_order);
    memcpy(r.dst_order, dst->order, sizeof r.dst_order);
    r.send = calloc((size_t)members, sizeof *r.send);
    r.receive = calloc((size_t)members, sizeof *r.receive);
    if (!r.send || !r.receive) {
        weft_redistribution_release(&r);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the blocks of %d partners",
                         members);
    }
    const weft_view whole_src = weft_view_of(&r.src_box, r.src_order, &r.src_box);
    const weft_view whole_dst = weft_view_of(&r.dst_box, r.dst_order, &r.dst_box);
    for (int m = 0; m < members; m++) {
        int rank = member_rank(context, m);
        weft_region theirs = weft_distribution_box(dst->distribution, rank);
        weft_region part = weft_region_intersect(&r.src_box, &theirs);
        r.send[m].elements = weft_region_elements(&part);
        r.send[m].view = part_of(&whole_src, &r.src_box, &part);
        theirs = weft_distribution_box(src->distribution, rank);
        part = weft_region_intersect(&theirs, &r.dst_box);
        r.receive[m].elements = weft_region_elements(&part);
        r.receive[m].view = part_of(&whole_dst, &r.dst_box, &part);
        r.receive[m].origin = r.receive[m].elements > 0 ? weft_view_of(&theirs, r.src_order, &part)
                                                        : r.receive[m].view; /* of nothing */
        if (m == me) continue;
        if (r.send[m].elements > 0 && !weft_view_contiguous(&r.send[m].view, wire)) r.pack = true;
        if (r.receive[m].elements > 0 && !weft_view_contiguous(&r.receive[m].view, wire))
            r.unpack = true;
    }
    *redistribution = r;
    return WEFT_SUCCESS;
}

void weft_redistribution_release(weft_redistribution *redistribution) {
    free(redistribution->send);
    free(redistribution->receive);
    redistribution->send = redistribution->receive = NULL;
}

static void restrict_block(weft_block *block, int axis, int parts, int part) {
    weft_view *views[2] = {&block->view, &block->origin};
    int64_t first, n, whole = block->view.n[axis];
    weft_split(whole, parts, part, &first, &n);
    if (whole > 0) block->elements = block->elements / whole * n;
    for (int i = 0; i < 2; i++) {
        views[i]->offset += first * views[i]->stride[axis];
        views[i]->n[axis] = n;
    }
}

weft_status weft_redistribution_restrict(const weft_redistribution *whole, int axis, int parts,
                                         int part, weft_redistribution *restricted) {
    weft_redistribution r = *whole;
    size_t bytes = (size_t)r.members * sizeof *r.send;
    r.send = malloc(bytes);
    r.receive = malloc(bytes);
    if (!r.send || !r.receive) {
        weft_redistribution_release(&r);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the blocks of %d partners",
                         r.members);
    }
    memcpy(r.send, whole->send, bytes);
    memcpy(r.receive, whole->receive, bytes);
    for (int m = 0; m < r.members; m++) {
        restrict_block(&r.send[m], axis, parts, part);
        restrict_block(&r.receive[m], axis, parts, part);
    }
    *restricted = r;
    return WEFT_SUCCESS;
}

weft_view weft_redistribution_stored_alone(const weft_redistribution *r, const weft_view *block,
                                           int64_t offset) {
    weft_region part = {.axes = block->axes};
    memcpy(part.n, block->n, sizeof part.n);
    return weft_view_packed(&part, r->wire, offset);
}

void weft_redistribution_store_blocks(const weft_redistribution *r, weft_block *blocks) {
    int64_t offset = 0;
    for (int m = 0; m < r->members; m++) {
        if (blocks[m].elements == 0) continue;
        blocks[m].view = weft_redistribution_stored_alone(r, &blocks[m].view, offset);
        offset += blocks[m].elements;
    }
}

static int64_t lay_out_side(weft_redistribution *r, weft_block *blocks, bool packed, bool own) {
    int64_t offset = 0;
    for (int m = 0; m < r->members; m++) {
        weft_block *block = &blocks[m];
        if (!packed) {
            block->packed = block->view;
            continue;
        }
        if (m == r->me && !own) continue;
        block->packed = weft_redistribution_stored_alone(r, &block->view, offset);
        offset += block->elements;
    }
    return offset;
}

void weft_redistribution_lay_out(weft_redistribution *redistribution, weft_packing packing) {
    weft_redistribution *r = redistribution;
    r->pack = packing.pack;
    r->unpack = packing.unpack;
    r->send_elements = lay_out_side(r, r->send, packing.pack && !packing.whole, packing.own_send);
    r->receive_elements =
        lay_out_side(r, r->receive, packing.unpack && !packing.whole, packing.own_receive);
    if (packing.whole) {
        r->send_elements = weft_region_elements(&r->src_box);
        r->receive_elements = weft_region_elements(&r->dst_box);
    }
}
