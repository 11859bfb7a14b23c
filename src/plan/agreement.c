/* One reduction when all is well; the failing rank's sentence travels only when something is not.
 */
#include "plan/agreement.h"

#include "support/error.h"

#include <stdio.h>
#include <string.h>

void weft_owe(weft_transport *transport, weft_status status) {
    if (status == WEFT_SUCCESS || transport->owed != WEFT_SUCCESS) return;
    transport->owed = status;
    snprintf(transport->owed_sentence, sizeof transport->owed_sentence, "%s", weft_thread_error());
}

void weft_decide(weft_transport *transport, int64_t *values, int count) {
    weft_owe(transport, transport->ops->maximum(transport, values, count));
}

/* The sentence of the rank that failed, which all get. */
static void tell(weft_transport *transport, int culprit) {
    char sentence[960], said[1024];
    snprintf(sentence, sizeof sentence, "%.959s", weft_thread_error());
    if (transport->ops->broadcast(transport, sentence, sizeof sentence, culprit) != WEFT_SUCCESS)
        snprintf(sentence, sizeof sentence, "what it says did not arrive here");
    if (strncmp(sentence, "rank ", 5) == 0)
        snprintf(said, sizeof said, "%s", sentence);
    else
        snprintf(said, sizeof said, "rank %d: %s", culprit, sentence);
    weft_thread_error_set(said);
}

/* Reduces values of which the first, filled in here, tells of failures. */
static weft_status agree(weft_transport *transport, weft_status mine, int64_t *values, int count) {
    if (mine == WEFT_SUCCESS && transport->owed != WEFT_SUCCESS) {
        mine = transport->owed;
        weft_thread_error_set(transport->owed_sentence);
    }
    transport->owed = WEFT_SUCCESS;
    /* The lowest failing rank has the largest value. */
    values[0] = mine == WEFT_SUCCESS
                    ? 0
                    : ((int64_t)(transport->size - transport->rank) << 16) + (int64_t)mine;
    weft_owe(transport, transport->ops->maximum(transport, values, count));
    if (values[0] == 0) return WEFT_SUCCESS;
    transport->owed = WEFT_SUCCESS;
    tell(transport, transport->size - (int)(values[0] >> 16));
    return (weft_status)(values[0] & 0xffff);
}

WEFT_API weft_status weft_agree(weft_transport *transport, weft_status mine) {
    int64_t failure;
    if (transport->size == 1 || transport->simulated) return mine;
    return agree(transport, mine, &failure, 1);
}

weft_status weft_agree_on(weft_transport *transport, weft_status mine, const char *name,
                          int number) {
    if (transport->size == 1 || transport->simulated) return mine;
    /* Whose number is largest, and whose is least. */
    const int64_t ranks = transport->size, stamped = (int64_t)number * ranks + transport->rank;
    int64_t seen[3] = {0, stamped, -stamped};
    WEFT_TRY(agree(transport, mine, seen, 3));
    const int64_t most = seen[1], least = -seen[2];
    if (most / ranks == least / ranks) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "rank %d passes %s %d, but rank %d passes %d; pass the same on all ranks",
                     (int)(most % ranks), name, (int)(most / ranks), (int)(least % ranks),
                     (int)(least / ranks));
}
