/* Agreement: a collective call fails on all ranks alike, with the sentence of the rank that failed.
 */
#ifndef WEFT_PLAN_AGREEMENT_H
#define WEFT_PLAN_AGREEMENT_H

#include "transport/transport.h"

#include <string.h>

/*
 * The rule for everything collective: from one collective call of the transport to the next no rank
 * returns early. Who fails in between keeps the status (weft_keep), takes part in what the others
 * do, and brings it to the next weft_agree.
 */

/* Returns on every rank the status of the lowest rank whose `mine` is not success, with its
 * sentence as the calling thread's last error. Collective. A reduction that fails on one rank alone
 * has told the others to go on, so that rank goes on with them and owes them the failure. */
weft_status weft_agree(weft_transport *transport, weft_status mine);

/* As weft_agree, in the same single reduction, and that all ranks call with the same `number` (not
 * negative), which `name` says what it is. MISMATCH on all ranks if they do not. Collective. */
weft_status weft_agree_on(weft_transport *transport, weft_status mine, const char *name,
                          int number);

/* The next agreement of these ranks fails, for what has just failed on this one. Not collective. */
void weft_owe(weft_transport *transport, weft_status status);

/* What this rank owes over one transport it owes over another instead, whose agreements come next.
 * Not collective. */
static inline void weft_owe_elsewhere(weft_transport *from, weft_transport *to) {
    if (from->owed == WEFT_SUCCESS) return;
    to->owed = from->owed;
    memcpy(to->owed_sentence, from->owed_sentence, sizeof to->owed_sentence);
    from->owed = WEFT_SUCCESS;
}

/* Reduces values by which all ranks decide how to go on. Where that fails on one rank alone, it
 * decides as the others do and owes them the failure. Collective. */
void weft_decide(weft_transport *transport, int64_t *values, int count);

#endif
