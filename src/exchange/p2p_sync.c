/* p2p-sync: pack for one partner, wait for that copy, send, go on to the next; unpack as messages
 * arrive. */
#include "exchange/blocks.h"
#include "exchange/p2p.h"
#include "support/error.h"

#include <stdlib.h>

weft_status weft_p2p_prepare(weft_exchange_plan *plan) {
    weft_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = blocks;
    return weft_blocks_prepare(plan, true, blocks);
}

void weft_p2p_release(weft_exchange_plan *plan) {
    if (!plan->method_state) return;
    weft_blocks_release(plan, plan->method_state);
    free(plan->method_state);
    plan->method_state = NULL;
}

static weft_status pack_and_send(weft_exchange_plan *plan, weft_blocks *blocks) {
    weft_status status = WEFT_SUCCESS;
    double start = weft_clock();
    for (int i = 0; i < blocks->partners; i++) {
        int member = blocks->partner[i];
        weft_keep(&status, weft_blocks_pack(plan, blocks, NULL, member));
        weft_keep(&status, weft_blocks_settle(plan));
        start = weft_record(plan->recorder, WEFT_PHASE_PACK, member, start);
        if (blocks->send[member]) weft_record_sent(plan->recorder, start);
        weft_keep(&status, weft_blocks_send(plan, blocks, member));
        start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, member, start);
    }
    return status;
}

static weft_status unpack_arrivals(weft_exchange_plan *plan, weft_blocks *blocks) {
    weft_status status = WEFT_SUCCESS;
    double start = weft_clock();
    for (;;) {
        int member = -1;
        weft_keep(&status, plan->group->ops->wait_any(plan->group, blocks->receive_requests,
                                                      blocks->members, &member));
        start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, member, start);
        if (member < 0) return status;
        weft_record_arrived(plan->recorder, start);
        weft_keep(&status, weft_blocks_unpack(plan, blocks, member));
        start = weft_record(plan->recorder, WEFT_PHASE_UNPACK, member, start);
    }
}

static weft_status wait_for_sends(weft_exchange_plan *plan, weft_blocks *blocks) {
    double start = weft_clock();
    weft_status status =
        plan->group->ops->wait_all(plan->group, blocks->send_requests, blocks->members);
    weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
    return status;
}

weft_status weft_p2p_run(weft_exchange_plan *plan) {
    weft_blocks *blocks = plan->method_state;
    weft_status status = weft_blocks_settle(plan);
    /* What arrives may go where this rank still sends from: then the sends must be over first. */
    bool shared = plan->dst == plan->src && !plan->geometry->pack;

    weft_keep(&status, weft_blocks_post_receives(plan, blocks));
    weft_keep(&status, pack_and_send(plan, blocks));
    weft_keep(&status, weft_blocks_leave(plan, blocks));
    if (shared) weft_keep(&status, wait_for_sends(plan, blocks));
    weft_keep(&status, weft_blocks_arrive(plan, blocks));
    weft_keep(&status, unpack_arrivals(plan, blocks));
    if (!shared) weft_keep(&status, wait_for_sends(plan, blocks));
    return status;
}

const weft_exchange_ops weft_exchange_p2p_sync = {
    .name = "p2p-sync",
    .id = WEFT_P2P_SYNC,
    .point_to_point = true,
    .prepare = weft_p2p_prepare,
    .run = weft_p2p_run,
    .release = weft_p2p_release,
};
