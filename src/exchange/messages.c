/* Tasks of methods that send messages. */
#include "exchange/messages.h"

#include "support/recorder.h"

#include <string.h>

weft_task weft_exchange_task(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                             weft_task_kind kind, int lane, weft_phase phase, int partner) {
    return (weft_task){.kind = kind,
                       .lane = lane,
                       .step = x->step,
                       .phase = phase,
                       .partner = partner,
                       .tile = (int)(tile - x->tile),
                       .after = -1};
}

static weft_access access_of(const weft_exchange_tile *tile, int buffer, int64_t base,
                             const weft_view *view) {
    return (weft_access){.buffer = buffer,
                         .element_bytes = tile->geometry.element_bytes,
                         .base = base,
                         .view = *view};
}

weft_access weft_sent(const weft_exchange_lowering *x, const weft_exchange_tile *tile, int member) {
    weft_access access =
        access_of(tile, x->send, tile->send_base, &tile->geometry.send[member].packed);
    access.member = member;
    return access;
}

weft_access weft_received(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                          int member) {
    weft_access access =
        access_of(tile, x->receive, tile->receive_base, &tile->geometry.receive[member].packed);
    access.member = member;
    access.writes = true;
    return access;
}

/* From array to array. */
static weft_transfer across(const weft_exchange_lowering *x) {
    return x->memory == WEFT_EXCHANGE_ON_HOST ? WEFT_HOST_TO_HOST : WEFT_DEVICE_TO_DEVICE;
}

static weft_transfer outward(const weft_exchange_lowering *x) {
    return x->memory == WEFT_EXCHANGE_STAGED ? WEFT_DEVICE_TO_HOST : across(x);
}

static weft_transfer inward(const weft_exchange_lowering *x) {
    return x->memory == WEFT_EXCHANGE_STAGED ? WEFT_HOST_TO_DEVICE : across(x);
}

int weft_add_pack(const weft_exchange_lowering *x, const weft_exchange_tile *tile, int lane,
                  int member, weft_tasks *tasks) {
    const weft_block *block = &tile->geometry.send[member];
    if (!tile->geometry.pack || block->elements == 0) return -1;
    return weft_tasks_add_copy(
        tasks, weft_exchange_task(x, tile, WEFT_TASK_COPY, lane, WEFT_PHASE_PACK, member),
        outward(x), access_of(tile, x->src, 0, &block->view), weft_sent(x, tile, member));
}

static void add_unpack(const weft_exchange_lowering *x, const weft_exchange_tile *tile, int member,
                       weft_tasks *tasks) {
    const weft_block *block = &tile->geometry.receive[member];
    if (!tile->geometry.unpack || block->elements == 0) return;
    weft_tasks_add_copy(
        tasks, weft_exchange_task(x, tile, WEFT_TASK_COPY, x->lane, WEFT_PHASE_UNPACK, member),
        inward(x), weft_received(x, tile, member), access_of(tile, x->dst, 0, &block->view));
}

/* Packed with the others, it is taken from the send buffer; where nothing is packed, it is placed
 * among what arrives, and unpacked with that. */
static weft_access own_on_the_way(const weft_exchange_lowering *x, const weft_exchange_tile *tile) {
    const int me = tile->geometry.me;
    return tile->geometry.pack ? weft_sent(x, tile, me) : weft_received(x, tile, me);
}

void weft_add_own_departure(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                            weft_tasks *tasks) {
    const weft_redistribution *g = &tile->geometry;
    const weft_task task =
        weft_exchange_task(x, tile, WEFT_TASK_COPY, x->lane, WEFT_PHASE_LOCAL, g->me);
    const weft_access from = access_of(tile, x->src, 0, &g->send[g->me].view);
    if (x->own == WEFT_OWN_COPIED)
        weft_tasks_add_copy(tasks, task, across(x), from,
                            access_of(tile, x->dst, 0, &g->receive[g->me].view));
    if (x->own == WEFT_OWN_PACKED && g->send[g->me].elements > 0)
        weft_tasks_add_copy(tasks, task, outward(x), from, own_on_the_way(x, tile));
}

static void add_own_arrival(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                            weft_tasks *tasks) {
    const weft_redistribution *g = &tile->geometry;
    weft_access from = own_on_the_way(x, tile);
    if (x->own != WEFT_OWN_PACKED || g->send[g->me].elements == 0) return;
    from.writes = false;
    weft_tasks_add_copy(
        tasks, weft_exchange_task(x, tile, WEFT_TASK_COPY, x->lane, WEFT_PHASE_LOCAL, g->me),
        inward(x), from, access_of(tile, x->dst, 0, &g->receive[g->me].view));
}

static void set_message(const weft_exchange_lowering *x, const weft_exchange_tile *tile, bool typed,
                        int packed, weft_task *task) {
    task->as.message = (weft_message_task){.redistribution = x->redistribution,
                                           .request = -1,
                                           .typed = typed,
                                           .packed = packed,
                                           .element_bytes = tile->geometry.element_bytes};
    memcpy(task->as.message.order, tile->geometry.wire, sizeof task->as.message.order);
}

void weft_add_receives(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                       weft_tasks *tasks) {
    for (int i = tile->geometry.members - 2; i >= 0; i--) {
        const int member = weft_partner(tile, i);
        weft_task task = weft_exchange_task(x, tile, WEFT_TASK_RECEIVE, WEFT_LANE_NETWORK,
                                            WEFT_PHASE_EXCHANGE, member);
        if (tile->geometry.receive[member].elements == 0) continue;
        set_message(x, tile, true, -1, &task);
        weft_tasks_add(tasks, task);
        weft_tasks_access(tasks, weft_received(x, tile, member));
    }
}

int weft_add_send(const weft_exchange_lowering *x, const weft_exchange_tile *tile, int lane,
                  int member, int packed, weft_tasks *tasks) {
    weft_task task = weft_exchange_task(x, tile, WEFT_TASK_SEND, lane, WEFT_PHASE_EXCHANGE, member);
    if (tile->geometry.send[member].elements == 0) return -1;
    set_message(x, tile, true, packed, &task);
    const int added = weft_tasks_add(tasks, task);
    weft_tasks_access(tasks, weft_sent(x, tile, member));
    return added;
}

void weft_depart_at_once(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                         weft_task_kind kind, int lane, bool typed, weft_tasks *tasks) {
    weft_add_own_departure(x, tile, tasks);
    for (int i = 0; i + 1 < tile->geometry.members; i++)
        weft_add_pack(x, tile, x->lane, weft_partner(tile, i), tasks);
    weft_task task = weft_exchange_task(x, tile, kind, lane, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER);
    set_message(x, tile, typed, -1, &task);
    weft_tasks_add(tasks, task);
    for (int i = 0; i + 1 < tile->geometry.members; i++) {
        const int member = weft_partner(tile, i);
        if (tile->geometry.send[member].elements > 0)
            weft_tasks_access(tasks, weft_sent(x, tile, member));
        if (tile->geometry.receive[member].elements > 0)
            weft_tasks_access(tasks, weft_received(x, tile, member));
    }
}

void weft_arrive_as_messages(weft_exchange_lowering *x, const weft_exchange_tile *tile,
                             weft_tasks *tasks) {
    add_own_arrival(x, tile, tasks);
    for (int i = 0; i + 1 < tile->geometry.members; i++)
        add_unpack(x, tile, weft_partner(tile, i), tasks);
}
