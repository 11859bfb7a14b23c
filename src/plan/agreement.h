/* Agreement: a collective call fails on all ranks alike, with the sentence of the rank that failed.
 */
#ifndef WEFT_PLAN_AGREEMENT_H
#define WEFT_PLAN_AGREEMENT_H

#include "transport/transport.h"

/* Returns on every rank the status of the lowest rank whose `mine` is not success, with its
 * sentence as the calling thread's last error. Collective. */
weft_status weft_agree(weft_transport *transport, weft_status mine);

#endif
