/* peer: every rank copies its blocks straight from its partners' arrays to where they belong. */
#include "exchange/peer.h"
#include "exchange/blocks.h"
#include "support/error.h"

#include <stdlib.h>

enum { MOST_QUEUES = 8 };

typedef struct peer_state {
    weft_copy *pull; /* [members] */
    int *partner;    /* [partners]: members that something comes from, nearest first */
    int partners;
    /* Devices copy from several partners at once, each on a queue; queue i of partner i % queues */
    weft_queue *queue[MOST_QUEUES];
    int queues;
} peer_state;

static weft_status create_queues(const weft_exchange_plan *plan, peer_state *state) {
    const weft_device_handle *d = plan->device;
    if (d->ops->host_addressable || plan->queue) return WEFT_SUCCESS;
    for (; state->queues < state->partners && state->queues < MOST_QUEUES; state->queues++)
        WEFT_TRY(d->ops->queue_create(d->state, false, &state->queue[state->queues]));
    return WEFT_SUCCESS;
}

static weft_status prepare(weft_exchange_plan *plan) {
    const weft_redistribution *g = plan->geometry;
    size_t members = (size_t)g->members;
    peer_state *state = calloc(1, sizeof *state);
    if (!state) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    plan->method_state = state;
    state->pull = calloc(members, sizeof *state->pull);
    state->partner = calloc(members, sizeof *state->partner);
    if (!state->pull || !state->partner)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange with %d ranks",
                         g->members);
    for (int i = 0; i < g->members; i++) {
        int m = (g->me + i) % g->members;
        const weft_block *block = &g->receive[m];
        if (block->elements == 0) continue;
        state->pull[m] = weft_copy_between(&block->origin, &block->view, g->element_bytes);
        if (i > 0) state->partner[state->partners++] = m;
    }
    return create_queues(plan, state);
}

static void release(weft_exchange_plan *plan) {
    peer_state *state = plan->method_state;
    if (!state) return;
    for (int q = 0; q < state->queues; q++)
        plan->device->ops->queue_destroy(plan->device->state, state->queue[q]);
    free(state->pull);
    free(state->partner);
    free(state);
    plan->method_state = NULL;
}

static weft_status pull_from(weft_exchange_plan *plan, weft_queue *queue, int member,
                             const void *src) {
    const weft_copy *copy = &((peer_state *)plan->method_state)->pull[member];
    if (copy->elements == 0) return WEFT_SUCCESS;
    return plan->device->ops->copy(plan->device->state, queue, copy, src, plan->dst,
                                   WEFT_DEVICE_TO_DEVICE);
}

static weft_status pull(weft_exchange_plan *plan, weft_queue *const *queue, int queues) {
    const peer_state *state = plan->method_state;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < state->partners; i++) {
        int member = state->partner[i];
        weft_keep(&status, pull_from(plan, queue[i % queues], member, plan->peer_src[member]));
    }
    return status;
}

static weft_status copy_own(weft_exchange_plan *plan) {
    return pull_from(plan, NULL, plan->geometry->me, plan->src);
}

/* Also after a failure, here or before: the partners wait for the words. */
static weft_status run(weft_exchange_plan *plan) {
    peer_state *state = plan->method_state;
    int me = plan->geometry->me;
    weft_status status = weft_blocks_settle(plan);
    weft_peer_publish(plan);
    double start = weft_clock();
    weft_keep(&status, pull_from(plan, plan->queue, me, plan->src));
    start = weft_record(plan->recorder, WEFT_PHASE_LOCAL, me, start);
    for (int i = 0; i < state->partners; i++) {
        int member = state->partner[i];
        weft_peer_await(plan, member);
        start = weft_record(plan->recorder, WEFT_PHASE_EXCHANGE, member, start);
        weft_queue *queue = state->queues > 0 ? state->queue[i % state->queues] : plan->queue;
        weft_keep(&status, pull_from(plan, queue, member, plan->peer_src[member]));
        start = weft_record(plan->recorder, WEFT_PHASE_UNPACK, member, start);
    }
    weft_keep(&status, weft_blocks_settle(plan));
    for (int q = 0; q < state->queues; q++)
        weft_keep(&status, plan->device->ops->queue_wait(plan->device->state, state->queue[q]));
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
