/* The list of exchange methods. */
#include "exchange/exchange.h"

#define WEFT_EXCHANGE_ENTRY(symbol) extern const weft_exchange_ops symbol;
#include "exchange/exchanges.def"
#undef WEFT_EXCHANGE_ENTRY

static const weft_exchange_ops *const methods[] = {
#define WEFT_EXCHANGE_ENTRY(symbol) &symbol,
#include "exchange/exchanges.def"
#undef WEFT_EXCHANGE_ENTRY
};

const weft_exchange_ops *weft_exchange_find(weft_exchange id) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (methods[i]->id == id) return methods[i];
    return NULL;
}
