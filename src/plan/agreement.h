/* Agreement: a collective call fails on all ranks alike, with the sentence of the rank that failed.
 */
#ifndef WEFT_PLAN_AGREEMENT_H
#define WEFT_PLAN_AGREEMENT_H

#include "transport/transport.h"

/* Returns on every rank the status of the lowest rank whose `mine` is not success, with its
 * sentence as the calling thread's last error. Collective. */
weft_status weft_agree(weft_transport *transport, weft_status mine);

/* As weft_agree, in the same single reduction, and that all ranks call with the same `number` (not
 * negative), which `name` says what it is. MISMATCH on all ranks if they do not. Collective. */
weft_status weft_agree_on(weft_transport *transport, weft_status mine, const char *name,
                          int number);

#endif
