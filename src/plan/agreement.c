/* One reduction when all is well; the failing rank's sentence travels only when something is not.
 */
#include "plan/agreement.h"

#include "support/error.h"

#include <stdio.h>
#include <string.h>

/* The failure of the rank with the lowest number, told by the largest value of all ranks. */
static int64_t failure_of(const weft_transport *transport, weft_status mine) {
    return mine == WEFT_SUCCESS
               ? 0
               : ((int64_t)(transport->size - transport->rank) << 16) + (int64_t)mine;
}

static weft_status spread(weft_transport *transport, int64_t worst) {
    int culprit = transport->size - (int)(worst >> 16);
    char sentence[960], said[1024];
    snprintf(sentence, sizeof sentence, "%.959s", weft_thread_error());
    WEFT_TRY(transport->ops->broadcast(transport, sentence, sizeof sentence, culprit));
    bool named = strncmp(sentence, "rank ", 5) == 0;
    if (named)
        snprintf(said, sizeof said, "%s", sentence);
    else
        snprintf(said, sizeof said, "rank %d: %s", culprit, sentence);
    weft_thread_error_set(said);
    return (weft_status)(worst & 0xffff);
}

weft_status weft_agree(weft_transport *transport, weft_status mine) {
    if (transport->size == 1 || transport->simulated) return mine;
    int64_t worst = failure_of(transport, mine);
    WEFT_TRY(transport->ops->maximum(transport, &worst, 1));
    return worst == 0 ? WEFT_SUCCESS : spread(transport, worst);
}

weft_status weft_agree_on(weft_transport *transport, weft_status mine, const char *name,
                          int number) {
    if (transport->size == 1 || transport->simulated) return mine;
    /* Whose number is largest, and whose is least. */
    const int64_t ranks = transport->size, stamped = (int64_t)number * ranks + transport->rank;
    int64_t seen[3] = {failure_of(transport, mine), stamped, -stamped};
    WEFT_TRY(transport->ops->maximum(transport, seen, 3));
    if (seen[0] != 0) return spread(transport, seen[0]);
    const int64_t most = seen[1], least = -seen[2];
    if (most / ranks == least / ranks) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_MISMATCH,
                     "rank %d passes %s %d, but rank %d passes %d; pass the same on all ranks",
                     (int)(most % ranks), name, (int)(most / ranks), (int)(least % ranks),
                     (int)(least / ranks));
}
