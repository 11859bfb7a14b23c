/*
 * nccl: pack all, then the GPUs send and receive among themselves, then unpack; all of it on one
 * queue, so that nothing here waits for the device. Every block travels at the same time: the
 * device's library schedules them.
 */
#include "device/messages.h"
#include "exchange/blocks.h"
#include "support/error.h"

#include <stdlib.h>

typedef struct nccl_state {
    weft_blocks blocks;
    weft_device_message *send, *receive; /* [partners] */
} nccl_state;

static weft_status prepare(weft_exchange_plan *plan) {
    size_t members = (size_t)plan->geometry->members;
    nccl_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = state;
    state->send = calloc(members, sizeof *state->send);
    state->receive = calloc(members, sizeof *state->receive);
    if (!state->send || !state->receive)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange with %zu ranks",
                         members);
    return weft_blocks_prepare(plan, false, &state->blocks);
}

static void release(weft_exchange_plan *plan) {
    nccl_state *state = plan->method_state;
    if (!state) return;
    weft_blocks_release(plan, &state->blocks);
    free(state->send);
    free(state->receive);
    free(state);
    plan->method_state = NULL;
}

/* Where the blocks of all partners lie now; returns how many there are. */
static int list_messages(const weft_exchange_plan *plan, const weft_block *blocks, void *base,
                         weft_device_message *list) {
    const weft_blocks *prepared = &((nccl_state *)plan->method_state)->blocks;
    const size_t element = plan->geometry->element_bytes;
    int count = 0;
    for (int i = 0; i < prepared->partners; i++) {
        int member = prepared->partner[i];
        const weft_block *block = &blocks[member];
        if (block->elements > 0)
            list[count++] =
                (weft_device_message){member, (char *)base + (size_t)block->packed.offset * element,
                                      (size_t)block->elements * element};
    }
    return count;
}

static weft_status exchange(weft_exchange_plan *plan) {
    const nccl_state *state = plan->method_state;
    const weft_redistribution *g = plan->geometry;
    weft_device_exchange messages = {
        .send = state->send,
        .receive = state->receive,
        .sends = list_messages(plan, g->send, plan->send, state->send),
        .receives = list_messages(plan, g->receive, plan->receive, state->receive)};
    double start = weft_clock();
    if (messages.sends > 0) weft_record_sent(plan->recorder, start);
    weft_status status =
        plan->device->ops->messages->exchange(plan->communicator, plan->queue, &messages);
    weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, start);
    return status;
}

/* The partners' sends and receives wait for this rank's, so they are enqueued also after a failure.
 */
static weft_status run(weft_exchange_plan *plan) {
    const nccl_state *state = plan->method_state;
    const weft_blocks *blocks = &state->blocks;
    weft_status status = WEFT_SUCCESS;
    weft_keep(&status, weft_blocks_leave(plan, blocks));
    double start = weft_clock();
    weft_keep(&status, weft_blocks_pack_all(plan, blocks));
    weft_record(plan->recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, start);
    weft_keep(&status, exchange(plan));
    weft_keep(&status, weft_blocks_arrive(plan, blocks));
    start = weft_clock();
    weft_keep(&status, weft_blocks_unpack_all(plan, blocks));
    weft_record(plan->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
    return status;
}

const weft_exchange_ops weft_exchange_nccl = {
    .name = "nccl",
    .id = WEFT_NCCL,
    .by_device = true,
    .prepare = prepare,
    .run = run,
    .release = release,
};
