/*
 * nccl: pack all, then the GPUs send and receive among themselves, then unpack; all of it on one
 * lane, so that the calling thread waits for nothing. Every block travels at the same time: the
 * device's library schedules them.
 */
#include "exchange/messages.h"

static void depart(weft_exchange_lowering *x, const weft_exchange_tile *tile, weft_tasks *tasks) {
    weft_depart_at_once(x, tile, WEFT_TASK_DEVICE_MESSAGES, x->lane, false, tasks);
}

const weft_exchange_ops weft_exchange_nccl = {
    .name = "nccl",
    .id = WEFT_NCCL,
    .carrier = WEFT_CARRIED_BY_DEVICES,
    .depart = depart,
    .arrive = weft_arrive_as_messages,
};
