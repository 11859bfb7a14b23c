/*
 * peer: every rank reads its blocks straight from its partners' arrays: it copies them to where
 * they belong, or the transform after the exchange loads them. A rank signals each tile of its own
 * array as soon as that is complete, and, at the end, that it has read all it needs.
 */
#include "exchange/messages.h"
#include "support/recorder.h"

static weft_task signal(const weft_exchange_lowering *x, const weft_exchange_tile *tile,
                        weft_task_kind kind, int member) {
    weft_task task = weft_exchange_task(x, tile, kind, WEFT_LANE_NETWORK, WEFT_PHASE_EXCHANGE,
                                        kind == WEFT_TASK_AWAIT ? member : WEFT_NO_PARTNER);
    task.as.signal =
        (weft_signal_task){.peer = x->partners.peer, .member = member, .buffer = x->src};
    return task;
}

static weft_access view_in(const weft_exchange_tile *tile, int buffer, const weft_view *view) {
    return (weft_access){
        .buffer = buffer, .element_bytes = tile->geometry.element_bytes, .view = *view};
}

static int buffer_of(const weft_exchange_lowering *x, const weft_exchange_tile *tile, int member) {
    return x->partners.first_buffer + tile->produced * tile->geometry.members + member;
}

/* Whether no earlier tile of the exchange is made of the same tile of the array. */
static bool is_first_of_array(const weft_exchange_lowering *x, const weft_exchange_tile *tile) {
    for (const weft_exchange_tile *t = x->tile; t < tile; t++)
        if (t->produced == tile->produced) return false;
    return true;
}

/* Tells that a tile of this rank's array is complete. The last one reads the whole workspace, so
 * that nothing is written there before it. */
static void add_signal(weft_exchange_lowering *x, const weft_exchange_tile *tile,
                       weft_tasks *tasks) {
    weft_task task = signal(x, tile, WEFT_TASK_SIGNAL, -1);
    task.as.signal.tiles = tile->produced + 1;
    task.as.signal.opens = tile->produced == 0;
    task.as.signal.all = tile->produced + 1 == x->produced;
    task.after = task.as.signal.opens ? -1 : x->partners.signalled;
    x->partners.signalled = weft_tasks_add(tasks, task);
    if (task.as.signal.opens) x->partners.opened = x->partners.signalled;
    if (task.as.signal.all) weft_tasks_access(tasks, weft_access_all(x->src, false));
    for (int i = 0; i < x->tiles && !task.as.signal.all; i++)
        for (int m = 0; m < tile->geometry.members && x->tile[i].produced == tile->produced; m++)
            weft_tasks_access(tasks,
                              view_in(&x->tile[i], x->src, &x->tile[i].geometry.send[m].view));
}

static void depart(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    const weft_redistribution *g = &tile->geometry;
    const weft_block *own = &g->receive[g->me];
    if (is_first_of_array(x, tile)) add_signal(x, tile, tasks);
    if (x->own == WEFT_OWN_STAYS || tile->consumed >= x->partners.copied || own->elements == 0)
        return;
    weft_tasks_add_copy(
        tasks,
        weft_exchange_task(x, tile, WEFT_TASK_COPY, WEFT_LANE_COMPUTE, WEFT_PHASE_LOCAL, g->me),
        WEFT_DEVICE_TO_DEVICE, view_in(tile, x->src, &own->origin),
        view_in(tile, x->dst, &own->view));
}

static void add_await(weft_exchange_lowering *x, const weft_exchange_tile *tile, int member,
                      weft_tasks *tasks) {
    const int buffer = buffer_of(x, tile, member);
    weft_task task = signal(x, tile, WEFT_TASK_AWAIT, member);
    task.as.signal.tiles = tile->produced;
    task.as.signal.buffer = buffer;
    task.after = tile->produced == 0 ? x->partners.opened : x->partners.last_await[member];
    x->partners.last_await[member] = weft_tasks_add(tasks, task);
    weft_tasks_access(tasks, weft_access_all(buffer, true));
}

/* Copies from tiles of a partner's array that follow each other, to the same tile of the next
 * transform, can be done as one. */
static void add_copy(weft_exchange_lowering *x, const weft_exchange_tile *tile, int i, int member,
                     weft_tasks *tasks) {
    const weft_block *block = &tile->geometry.receive[member];
    const int lane = x->links > 0 ? WEFT_LANE_LINK + i % x->links : x->lane;
    const int before = tile->produced > 0 ? x->partners.last_copy[member] : -1;
    const int added = weft_tasks_add_copy(
        tasks, weft_exchange_task(x, tile, WEFT_TASK_COPY, lane, WEFT_PHASE_UNPACK, member),
        WEFT_DEVICE_TO_DEVICE, view_in(tile, buffer_of(x, tile, member), &block->origin),
        view_in(tile, x->dst, &block->view));
    x->partners.last_copy[member] = added;
    if (added < 0) return;
    tasks->task[added].as.copy.from_partner = true;
    tasks->task[added].as.copy.axis = x->produced_axis;
    if (before >= 0 && x->tile[tasks->task[before].tile].consumed == tile->consumed)
        tasks->task[before].as.copy.next = added;
}

static void arrive(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    for (int i = 0; i + 1 < tile->geometry.members && is_first_of_array(x, tile); i++) {
        const int member = weft_partner(tile, i);
        if (tile->geometry.receive[member].elements > 0) add_await(x, tile, member, tasks);
    }
    for (int i = 0; i + 1 < tile->geometry.members && tile->consumed < x->partners.copied; i++) {
        const int member = weft_partner(tile, i);
        if (tile->geometry.receive[member].elements > 0) add_copy(x, tile, i, member, tasks);
    }
}

/* Comes behind every task that reads from a partner. */
static void finish(weft_exchange_lowering *x, weft_tasks *tasks) {
    weft_task task = signal(x, x->tile, WEFT_TASK_SIGNAL, -1);
    const int members = x->tile->geometry.members;
    task.as.signal.tiles = -1;
    task.after = x->partners.opened;
    weft_tasks_add(tasks, task);
    for (int b = 0; b < x->produced * members; b++)
        weft_tasks_access(tasks, weft_access_all(x->partners.first_buffer + b, true));
}

const weft_exchange_ops weft_exchange_peer = {
    .name = "peer",
    .id = WEFT_PEER,
    .carrier = WEFT_CARRIED_BY_READERS,
    .depart = depart,
    .arrive = arrive,
    .finish = finish,
};
