/* Copies and messages of the blocks of one exchange. */
#include "exchange/blocks.h"

#include "support/error.h"

#include <stdlib.h>
#include <string.h>

static weft_status allocate(int members, weft_blocks *b) {
    size_t count = (size_t)members;
    *b = (weft_blocks){.members = members,
                       .partner = calloc(count, sizeof *b->partner),
                       .pack = calloc(count, sizeof *b->pack),
                       .unpack = calloc(count, sizeof *b->unpack),
                       .send = calloc(count, sizeof *b->send),
                       .receive = calloc(count, sizeof *b->receive),
                       .send_requests = calloc(count, sizeof *b->send_requests),
                       .receive_requests = calloc(count, sizeof *b->receive_requests)};
    if (b->partner && b->pack && b->unpack && b->send && b->receive && b->send_requests &&
        b->receive_requests)
        return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the messages to %d ranks", members);
}

static void prepare_own(const weft_exchange_plan *plan, weft_blocks *b) {
    const weft_redistribution *g = plan->geometry;
    const weft_block *out = &g->send[g->me], *in = &g->receive[g->me];
    if (out->elements == 0 || plan->own_stays) return;
    if (plan->own_direct) {
        b->own_out = weft_copy_between(&out->view, &in->view, g->element_bytes);
    } else if (g->pack) { /* packed beside the others, and taken from the send buffer */
        b->own_out = weft_copy_between(&out->view, &out->packed, g->element_bytes);
        b->own_in = weft_copy_between(&out->packed, &in->view, g->element_bytes);
    } else { /* placed among what arrives, and unpacked with it */
        b->own_out = weft_copy_between(&out->view, &in->packed, g->element_bytes);
        b->own_in = weft_copy_between(&in->packed, &in->view, g->element_bytes);
    }
}

weft_status weft_blocks_prepare(const weft_exchange_plan *plan, bool messages, weft_blocks *b) {
    const weft_redistribution *g = plan->geometry;
    WEFT_TRY(allocate(g->members, b));
    prepare_own(plan, b);
    for (int i = 1; i < g->members; i++) {
        int m = (g->me + i) % g->members;
        const weft_block *out = &g->send[m], *in = &g->receive[m];
        if (out->elements == 0 && in->elements == 0) continue;
        b->partner[b->partners++] = m;
        if (g->pack) /* into an image of the array, where datatypes are staged */
            b->pack[m] = weft_copy_between(&out->view, &out->packed, g->element_bytes);
        if (g->unpack) /* of a staged image, only what arrived: the own block is in place already */
            b->unpack[m] = weft_copy_between(&in->packed, &in->view, g->element_bytes);
        if (messages && out->elements > 0)
            WEFT_TRY(plan->group->ops->message_create(plan->group, &out->packed, g->wire,
                                                      g->element_bytes, &b->send[m]));
        if (messages && in->elements > 0)
            WEFT_TRY(plan->group->ops->message_create(plan->group, &in->packed, g->wire,
                                                      g->element_bytes, &b->receive[m]));
    }
    return WEFT_SUCCESS;
}

void weft_blocks_release(const weft_exchange_plan *plan, weft_blocks *b) {
    for (int m = 0; m < b->members && b->send && b->receive; m++) {
        if (b->send[m]) plan->group->ops->message_destroy(plan->group, b->send[m]);
        if (b->receive[m]) plan->group->ops->message_destroy(plan->group, b->receive[m]);
    }
    free(b->partner);
    free(b->pack);
    free(b->unpack);
    free(b->send);
    free(b->receive);
    free(b->send_requests);
    free(b->receive_requests);
    *b = (weft_blocks){0};
}

static weft_status enqueue(const weft_exchange_plan *plan, weft_queue *queue, const weft_copy *copy,
                           const void *src, void *dst, weft_transfer transfer) {
    if (copy->elements == 0) return WEFT_SUCCESS;
    return plan->device->ops->copy(plan->device->state, queue ? queue : plan->queue, copy, src, dst,
                                   transfer);
}

static weft_transfer outward(const weft_exchange_plan *plan) {
    return plan->staged ? WEFT_DEVICE_TO_HOST : WEFT_DEVICE_TO_DEVICE;
}

static weft_transfer inward(const weft_exchange_plan *plan) {
    return plan->staged ? WEFT_HOST_TO_DEVICE : WEFT_DEVICE_TO_DEVICE;
}

weft_status weft_blocks_pack(const weft_exchange_plan *plan, const weft_blocks *b,
                             weft_queue *queue, int member) {
    return enqueue(plan, queue, &b->pack[member], plan->src, plan->send, outward(plan));
}

weft_status weft_blocks_unpack(const weft_exchange_plan *plan, const weft_blocks *b, int member) {
    return enqueue(plan, NULL, &b->unpack[member], plan->receive, plan->dst, inward(plan));
}

weft_status weft_blocks_pack_all(const weft_exchange_plan *plan, const weft_blocks *b) {
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < b->partners; i++)
        weft_keep(&status, weft_blocks_pack(plan, b, NULL, b->partner[i]));
    return status;
}

weft_status weft_blocks_unpack_all(const weft_exchange_plan *plan, const weft_blocks *b) {
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < b->partners; i++)
        weft_keep(&status, weft_blocks_unpack(plan, b, b->partner[i]));
    return status;
}

weft_status weft_blocks_leave(const weft_exchange_plan *plan, const weft_blocks *b) {
    double start = weft_clock();
    weft_status status = WEFT_SUCCESS;
    if (plan->own_direct)
        weft_keep(&status,
                  enqueue(plan, NULL, &b->own_out, plan->src, plan->dst, WEFT_DEVICE_TO_DEVICE));
    else if (plan->geometry->pack)
        weft_keep(&status, enqueue(plan, NULL, &b->own_out, plan->src, plan->send, outward(plan)));
    else
        weft_keep(&status,
                  enqueue(plan, NULL, &b->own_out, plan->src, plan->receive, outward(plan)));
    weft_record(plan->recorder, WEFT_PHASE_LOCAL, plan->geometry->me, start);
    return status;
}

weft_status weft_blocks_arrive(const weft_exchange_plan *plan, const weft_blocks *b) {
    const weft_redistribution *g = plan->geometry;
    if (plan->own_direct) return WEFT_SUCCESS;
    double start = weft_clock();
    weft_status status = enqueue(plan, NULL, &b->own_in, g->pack ? plan->send : plan->receive,
                                 plan->dst, inward(plan));
    weft_record(plan->recorder, WEFT_PHASE_LOCAL, g->me, start);
    return status;
}

weft_status weft_blocks_post_receives(const weft_exchange_plan *plan, weft_blocks *b) {
    const weft_transport_ops *ops = plan->group->ops;
    weft_status status = WEFT_SUCCESS;
    for (int m = 0; m < b->members; m++) b->receive_requests[m] = ops->no_request();
    for (int m = 0; m < b->members; m++) b->send_requests[m] = ops->no_request();
    for (int i = 0; i < b->partners; i++) {
        int m = b->partner[b->partners - 1 - i];
        if (b->receive[m])
            weft_keep(&status, ops->receive(plan->group, plan->receive, b->receive[m], m,
                                            &b->receive_requests[m]));
    }
    return status;
}

weft_status weft_blocks_send(const weft_exchange_plan *plan, weft_blocks *b, int member) {
    if (!b->send[member]) return WEFT_SUCCESS;
    return plan->group->ops->send(plan->group, plan->send, b->send[member], member,
                                  &b->send_requests[member]);
}

weft_status weft_blocks_settle(const weft_exchange_plan *plan) {
    return plan->device->ops->queue_wait(plan->device->state, plan->queue);
}
