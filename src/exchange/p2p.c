/*
 * Point to point without threads: receives first; then, one partner after the other, pack, wait for
 * that copy, and send; unpack in order of arrival. p2p-sync packs; p2p-type lets the transport
 * gather and scatter.
 */
#include "exchange/messages.h"

static void depart(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    int sent = -1;
    weft_add_receives(x, tile, tasks);
    for (int i = 0; i + 1 < tile->geometry.members; i++) {
        const int member = weft_partner(tile, i);
        const int packed = weft_add_pack(x, tile, x->lane, member, tasks);
        if (packed >= 0) tasks->task[packed].after = sent;
        sent = weft_add_send(x, tile, WEFT_LANE_NETWORK, member, packed, tasks);
    }
    weft_add_own_departure(x, tile, tasks);
}

const weft_exchange_ops weft_exchange_p2p_sync = {
    .name = "p2p-sync",
    .id = WEFT_P2P_SYNC,
    .receives_early = true,
    .depart = depart,
    .arrive = weft_arrive_as_messages,
};

const weft_exchange_ops weft_exchange_p2p_type = {
    .name = "p2p-type",
    .id = WEFT_P2P_TYPE,
    .gathers = true,
    .receives_early = true,
    .depart = depart,
    .arrive = weft_arrive_as_messages,
};
