/*
 * What methods that send messages share: the tasks that pack and unpack blocks, move this rank's
 * own block, and send and receive.
 */
#ifndef WEFT_EXCHANGE_MESSAGES_H
#define WEFT_EXCHANGE_MESSAGES_H

#include "exchange/exchange.h"

/* The i-th partner of a tile, from 0 to members - 2: the members after this rank, nearest first. */
static inline int weft_partner(const weft_exchange_tile *tile, int i) {
    return (tile->geometry.me + 1 + i) % tile->geometry.members;
}

/* A task of the exchange as a whole, or of one partner. */
weft_task weft_exchange_task(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                             weft_task_kind kind, int lane, weft_phase phase, int partner);

/* The blocks as they travel: read from the send buffer, written to the receive buffer. */
weft_access weft_sent(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                      int member);
weft_access weft_received(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                          int member);

/* Copies a partner's block to the send buffer, if it is packed; returns the task, or -1. */
int weft_add_pack(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile, int lane,
                  int member, weft_tasks *tasks);

/* The copy of this rank's own block before messages leave. */
void weft_add_own_departure(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                            weft_tasks *tasks);

/* Posts the receives of a tile, the farthest partner's first. */
void weft_add_receives(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                       weft_tasks *tasks);
/* Sends a partner's block, if there is one; `packed` is the task that packs it, or -1. Returns the
 * task, or -1. */
int weft_add_send(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile, int lane,
                  int member, int packed, weft_tasks *tasks);

/* All blocks are packed, then one task, ALLTOALL or DEVICE_MESSAGES, has the messages of all
 * partners, as runs or, if `typed`, as views. */
void weft_depart_at_once(const weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                         weft_task_kind kind, int lane, bool typed, weft_tasks *tasks);

/* This rank's own block and what has arrived go where they belong: `arrive` of all methods that
 * send messages. */
void weft_arrive_as_messages(weft_exchange_lowering *exchange, const weft_exchange_tile *tile,
                             weft_tasks *tasks);

#endif
