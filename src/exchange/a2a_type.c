/* a2a-type: one MPI_Alltoallw with derived datatypes straight from array to array. */
#include "exchange/a2a.h"

const weft_exchange_ops weft_exchange_a2a_type = {
    .name = "a2a-type",
    .id = WEFT_A2A_TYPE,
    .datatypes = true,
    .prepare = weft_a2a_prepare,
    .run = weft_a2a_run,
    .release = weft_a2a_release,
};
