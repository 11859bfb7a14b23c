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

static weft_status copy_views(const weft_exchange_plan *plan, weft_queue *queue,
                              const weft_view *origin, const weft_view *view, const void *src) {
    const weft_copy copy = weft_copy_between(origin, view, plan->geometry->element_bytes);
    if (copy.elements == 0) return WEFT_SUCCESS;
    return plan->device->ops->copy(plan->device->state, queue, &copy, src, plan->dst,
                                   WEFT_DEVICE_TO_DEVICE);
}

/* From partner number i of the first part, of which the others have none besides: what is empty
 * there is empty in those after it (weft_split). */
static weft_status pull_partner(const weft_exchange_plan *first, const weft_exchange_plan *last,
                                int axis, int i) {
    const int member = ((peer_state *)first->method_state)->partner[i];
    const weft_block *from = &first->geometry->receive[member];
    const weft_block *to = &last->geometry->receive[member];
    const weft_view origin = weft_view_through(&from->origin, &to->origin, axis);
    const weft_view view = weft_view_through(&from->view, &to->view, axis);
    weft_queue *queue =
        first->partner_queues > 0 ? first->partner_queue[i % first->partner_queues] : first->queue;
    return copy_views(first, queue, &origin, &view, first->peer_src[member]);
}

static weft_status pull(weft_exchange_plan *first, const weft_exchange_plan *last, int axis) {
    const peer_state *state = first->method_state;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < state->partners; i++)
        weft_keep(&status, pull_partner(first, last, axis, i));
    return status;
}

static weft_status pull_own(const weft_exchange_plan *plan, weft_queue *queue) {
    const weft_block *own = &plan->geometry->receive[plan->geometry->me];
    return copy_views(plan, queue, &own->origin, &own->view, plan->src);
}

static weft_status copy_own(weft_exchange_plan *plan) {
    return pull_own(plan, NULL);
}

/* Also after a failure, here or before: the partners wait for the words. */
static weft_status run(weft_exchange_plan *plan) {
    peer_state *state = plan->method_state;
    int me = plan->geometry->me;
    weft_status status = weft_blocks_settle(plan);
    weft_peer_publish(plan);
    double start = weft_clock();
    weft_keep(&status, pull_own(plan, plan->queue));
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
