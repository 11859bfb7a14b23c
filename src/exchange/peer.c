/* peer: every rank copies its blocks straight from its partners' arrays to where they belong. */
#include "exchange/peer.h"
#include "exchange/blocks.h"
#include "support/error.h"

#include <stdlib.h>

typedef struct peer_state {
    int *partner; /* [partners]: members that something comes from, nearest first */
    int partners;
} peer_state;

static weft_status prepare(weft_exchange_plan *plan) {
    const weft_redistribution *g = plan->geometry;
    peer_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = state;
    state->partner = calloc((size_t)g->members, sizeof *state->partner);
    if (!state->partner)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange with %d ranks",
                         g->members);
    for (int i = 1; i < g->members; i++) {
        int m = (g->me + i) % g->members;
        if (g->receive[m].elements > 0) state->partner[state->partners++] = m;
    }
    return WEFT_SUCCESS;
}

static void release(weft_exchange_plan *plan) {
    peer_state *state = plan->method_state;
    if (!state) return;
    free(state->partner);
    free(state);
    plan->method_state = NULL;
}

/* The member's blocks of this part to the last one, which follow each other along the axis. */
static weft_status pull_from(const weft_exchange_plan *plan, const weft_exchange_plan *last,
                             int axis, weft_queue *queue, int member, const void *src) {
    const weft_redistribution *g = plan->geometry;
    const weft_block *block = &g->receive[member], *end = &last->geometry->receive[member];
    weft_view origin = block->origin, view = block->view;
    if (block->elements == 0) return WEFT_SUCCESS; /* so are those that follow (weft_split) */
    if (last != plan) {
        origin = weft_view_through(&block->origin, &end->origin, axis);
        view = weft_view_through(&block->view, &end->view, axis);
    }
    const weft_copy copy = weft_copy_between(&origin, &view, g->element_bytes);
    return plan->device->ops->copy(plan->device->state, queue, &copy, src, plan->dst,
                                   WEFT_DEVICE_TO_DEVICE);
}

/* Of partner number i. */
static weft_status pull_partner(const weft_exchange_plan *plan, const weft_exchange_plan *last,
                                int axis, int i) {
    const int member = ((peer_state *)plan->method_state)->partner[i];
    weft_queue *queue =
        plan->partner_queues > 0 ? plan->partner_queue[i % plan->partner_queues] : plan->queue;
    return pull_from(plan, last, axis, queue, member, plan->peer_src[member]);
}

static weft_status pull(weft_exchange_plan *plan, const weft_exchange_plan *last, int axis) {
    const peer_state *state = plan->method_state;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < state->partners; i++) weft_keep(&status, pull_partner(plan, last, axis, i));
    return status;
}

static weft_status copy_own(weft_exchange_plan *plan) {
    return pull_from(plan, plan, -1, NULL, plan->geometry->me, plan->src);
}

/* Also after a failure, here or before: the partners wait for the words. */
static weft_status run(weft_exchange_plan *plan) {
    peer_state *state = plan->method_state;
    int me = plan->geometry->me;
    weft_status status = weft_blocks_settle(plan);
    weft_peer_publish(plan);
    double start = weft_clock();
    weft_keep(&status, pull_from(plan, plan, -1, plan->queue, me, plan->src));
    start = weft_record(plan->recorder, WEFT_PHASE_LOCAL, me, start);
    for (int i = 0; i < state->partners; i++) {
        int member = state->partner[i];
        weft_peer_await(plan, member);
        start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, member, start);
        weft_keep(&status, pull_partner(plan, plan, -1, i));
        start = weft_record(plan->recorder, WEFT_PHASE_UNPACK, member, start);
    }
    weft_keep(&status, weft_blocks_settle(plan));
    for (int q = 0; q < plan->partner_queues; q++)
        weft_keep(&status,
                  plan->device->ops->queue_wait(plan->device->state, plan->partner_queue[q]));
    weft_record(plan->recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, start);
    weft_peer_finish(plan);
    return status;
}

const weft_exchange_ops weft_exchange_peer = {
    .name = "peer",
    .id = WEFT_PEER,
    .shared = true,
    .prepare = prepare,
    .run = run,
    .pull = pull,
    .copy_own = copy_own,
    .release = release,
};
