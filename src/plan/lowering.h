/* What lowering (lower.h) is made of: lower.c has the steps of schedules that are not streamed,
 * lower_stream.c those that are, lower_exchange.c what both need of an exchange. */
#ifndef WEFT_PLAN_LOWERING_H
#define WEFT_PLAN_LOWERING_H

#include "exchange/exchange.h"
#include "plan/lower.h"

typedef struct weft_lowering {
    const weft_schedule *schedule;
    const weft_device_ops *device;
    weft_lowered *out;
} weft_lowering;

/* NULL: there is no such step. */
static inline const weft_step *weft_lowering_step(const weft_lowering *l, int number) {
    return number >= 0 && number < l->schedule->steps ? &l->schedule->step[number] : NULL;
}

/* Makes the tiles of an exchange, step `number`. The caller ends it, also after a failure. */
weft_status weft_lowering_begin_exchange(weft_lowering *l, int number,
                                         weft_exchange_lowering *exchange);
/* Adds the method's last tasks, and ends the exchange; nothing where none was begun. */
void weft_lowering_finish_exchange(weft_lowering *l, weft_exchange_lowering *exchange);
void weft_lowering_end_exchange(weft_exchange_lowering *exchange);

/* Adds the tasks of a streamed schedule: of its passes, and of the exchanges between them. */
weft_status weft_lowering_add_streamed(weft_lowering *l);

#endif
