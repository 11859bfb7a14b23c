/*
 * All at once: one all-to-all for everybody. a2a-sync packs all blocks before it and unpacks them
 * after it; a2a-type lets the transport gather and scatter.
 */
#include "exchange/messages.h"

static void depart(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    weft_depart_at_once(x, tile, WEFT_TASK_ALLTOALL, WEFT_LANE_NETWORK, false, tasks);
}

static void depart_typed(weft_exchange_lowering *x, const weft_exchange_tile *tile,
                         weft_tasks *tasks) {
    weft_depart_at_once(x, tile, WEFT_TASK_ALLTOALL, WEFT_LANE_NETWORK, true, tasks);
}

const weft_exchange_ops weft_exchange_a2a_sync = {
    .name = "a2a-sync",
    .id = WEFT_A2A_SYNC,
    .depart = depart,
    .arrive = weft_arrive_as_messages,
};

const weft_exchange_ops weft_exchange_a2a_type = {
    .name = "a2a-type",
    .id = WEFT_A2A_TYPE,
    .gathers = true,
    .depart = depart_typed,
    .arrive = weft_arrive_as_messages,
};
