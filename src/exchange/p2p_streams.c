/*
 * p2p-streams: every block is packed on a link lane, and sent by the sender as soon as that copy is
 * done, while others are still packed; blocks are unpacked in order of arrival. The sender is a
 * thread of its own where any thread may communicate.
 */
#include "exchange/messages.h"

static void depart(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    weft_add_receives(x, tile, tasks);
    for (int i = 0; i + 1 < tile->geometry.members; i++) {
        const int member = weft_partner(tile, i);
        const int link = WEFT_LANE_LINK + i % WEFT_LINKS;
        const int packed = weft_add_pack(x, tile, link, member, tasks);
        weft_add_send(x, tile, WEFT_LANE_SENDER, member, packed, tasks);
    }
    weft_add_own_departure(x, tile, tasks);
}

const weft_exchange_ops weft_exchange_p2p_streams = {
    .name = "p2p-streams",
    .id = WEFT_P2P_STREAMS,
    .receives_early = true,
    .depart = depart,
    .arrive = weft_arrive_as_messages,
};
