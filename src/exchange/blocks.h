/*
 * What all exchange methods share: the prepared copies of every block (pack, unpack, this rank's
 * own) and the messages, made once from the geometry.
 */
#ifndef WEFT_EXCHANGE_BLOCKS_H
#define WEFT_EXCHANGE_BLOCKS_H

#include "exchange/exchange.h"
#include "support/error.h"

typedef struct weft_blocks {
    int members, partners;
    int *
        partner; /* [partners]: members that something is sent to or received from, nearest first */
    weft_copy *pack, *unpack;       /* [members]; elements 0 where nothing is to be copied */
    weft_message **send, **receive; /* [members]; NULL where nothing travels */
    weft_copy own_out, own_in;      /* own_direct: out only, from src to dst */
    weft_request *send_requests, *receive_requests; /* [members] */
} weft_blocks;

/* Fills *blocks (released by the caller also on failure). Messages are made where `messages`. */
weft_status weft_blocks_prepare(const weft_exchange_plan *plan, bool messages, weft_blocks *blocks);
void weft_blocks_release(const weft_exchange_plan *plan, weft_blocks *blocks);

/* Enqueues the pack of one member's block on `queue`; NULL is the plan's queue. */
weft_status weft_blocks_pack(const weft_exchange_plan *plan, const weft_blocks *blocks,
                             weft_queue *queue, int member);
weft_status weft_blocks_unpack(const weft_exchange_plan *plan, const weft_blocks *blocks,
                               int member);

/* The same for all partners' blocks, on the plan's queue. */
weft_status weft_blocks_pack_all(const weft_exchange_plan *plan, const weft_blocks *blocks);
weft_status weft_blocks_unpack_all(const weft_exchange_plan *plan, const weft_blocks *blocks);

/* Enqueues the copy of this rank's own block before messages leave. */
weft_status weft_blocks_leave(const weft_exchange_plan *plan, const weft_blocks *blocks);
/* The same after messages arrived. */
weft_status weft_blocks_arrive(const weft_exchange_plan *plan, const weft_blocks *blocks);

/* Posts all receives, also where one fails. */
weft_status weft_blocks_post_receives(const weft_exchange_plan *plan, weft_blocks *blocks);
weft_status weft_blocks_send(const weft_exchange_plan *plan, weft_blocks *blocks, int member);

/* Waits for everything on the plan's queue. */
weft_status weft_blocks_settle(const weft_exchange_plan *plan);

#endif
