/*
 * Redistribution: what one rank of a group sends to and gets from each member when a global array
 * moves from one distribution to another. Pure geometry: boxes, views and offsets; no
 * communication.
 */
#ifndef WEFT_LAYOUT_REDISTRIBUTION_H
#define WEFT_LAYOUT_REDISTRIBUTION_H

#include "layout/layout.h"

/* The part of this rank's array that goes to (or comes from) one member of the group. */
typedef struct weft_block {
    int64_t elements;
    weft_view view;   /* where it lies in this rank's whole array */
    weft_view packed; /* where it lies in the send (receive) buffer: there, or in the array itself
                         if not packed */
    weft_view origin; /* of what is received: where it lies in the member's array, if that has
                         src_order too */
} weft_block;

typedef struct weft_redistribution {
    int members, me;
    size_t element_bytes;
    int wire[WEFT_AXES];          /* memory order inside messages, equal on all ranks */
    weft_region src_box, dst_box; /* this rank's arrays before and after, ... */
    int src_order[WEFT_AXES], dst_order[WEFT_AXES]; /* ... and how they lie in memory */
    weft_block *send, *receive;                     /* [members] */
    bool pack;   /* some block for a partner is not one contiguous run in wire order */
    bool unpack; /* the same for what arrives */
    int64_t send_elements, receive_elements; /* of the packed buffers, once laid out */
} weft_redistribution;

/* One side of a redistribution. */
typedef struct weft_side {
    const weft_distribution *distribution;
    const int *order;
} weft_side;

/* member_rank(context, member) is the rank that holds a member's boxes; me is this rank's member
 * number. The caller releases the result. Fails only for want of memory. */
weft_status weft_redistribution_create(const weft_side *src, const weft_side *dst, const int *wire,
                                       size_t element_bytes, int members, int me,
                                       int (*member_rank)(const void *context, int member),
                                       const void *context, weft_redistribution *redistribution);
void weft_redistribution_release(weft_redistribution *redistribution);

/* Part `part` of `parts` of a redistribution: of each block, its share of the indices along `axis`
 * (weft_split). Views of the same arrays. To be laid out, and released, on its own. Fails only for
 * want of memory. */
weft_status weft_redistribution_restrict(const weft_redistribution *redistribution, int axis,
                                         int parts, int part, weft_redistribution *restricted);

/* A block's extents stored on their own at `offset`, in wire order. */
weft_view weft_redistribution_stored_alone(const weft_redistribution *redistribution,
                                           const weft_view *block, int64_t offset);
/* From now on the array with these blocks (send or receive) is one block after the other, each in
 * wire order. */
void weft_redistribution_store_blocks(const weft_redistribution *redistribution,
                                      weft_block *blocks);

/* Places the blocks in the send and receive buffers, one after the other in member order; with
 * `own`, this rank's own block too (otherwise it is copied directly). `whole`: the buffers are
 * images of the whole arrays (datatype methods through staging). Sides that are not packed keep
 * pointing into the array. */
typedef struct weft_packing {
    bool pack, unpack;
    bool own_send, own_receive;
    bool whole;
} weft_packing;

void weft_redistribution_lay_out(weft_redistribution *redistribution, weft_packing packing);

#endif
