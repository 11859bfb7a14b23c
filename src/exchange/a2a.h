/* All at once: pack for everybody, one all-to-all, unpack. a2a-sync packs; a2a-type uses datatypes.
 */
#ifndef WEFT_EXCHANGE_A2A_H
#define WEFT_EXCHANGE_A2A_H

#include "exchange/exchange.h"

weft_status weft_a2a_prepare(weft_exchange_plan *plan);
weft_status weft_a2a_run(weft_exchange_plan *plan);
void weft_a2a_release(weft_exchange_plan *plan);

#endif
