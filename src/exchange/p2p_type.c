/* p2p-type: point to point with derived datatypes straight from array to array. */
#include "exchange/p2p.h"

const weft_exchange_ops weft_exchange_p2p_type = {
    .name = "p2p-type",
    .id = WEFT_P2P_TYPE,
    .point_to_point = true,
    .datatypes = true,
    .prepare = weft_p2p_prepare,
    .run = weft_p2p_run,
    .release = weft_p2p_release,
};
