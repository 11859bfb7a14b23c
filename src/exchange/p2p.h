/*
 * Point to point without worker queues: receives first, then pack and send one partner after the
 * other, then unpack in order of arrival. p2p-sync packs; p2p-type lets the transport gather and
 * scatter.
 */
#ifndef WEFT_EXCHANGE_P2P_H
#define WEFT_EXCHANGE_P2P_H

#include "exchange/exchange.h"

weft_status weft_p2p_prepare(weft_exchange_plan *plan);
weft_status weft_p2p_run(weft_exchange_plan *plan);
void weft_p2p_release(weft_exchange_plan *plan);

#endif
