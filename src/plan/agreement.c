/* One reduction when all is well; the failing rank's sentence travels only when something is not.
 */
#include "plan/agreement.h"

#include "support/error.h"

#include <stdio.h>
#include <string.h>

weft_status weft_agree(weft_transport *transport, weft_status mine) {
    if (transport->size == 1 || transport->simulated) return mine;
    /* The lowest failing rank has the largest value. */
    int64_t worst = mine == WEFT_SUCCESS
                        ? 0
                        : ((int64_t)(transport->size - transport->rank) << 16) + (int64_t)mine;
    WEFT_TRY(transport->ops->maximum(transport, &worst, 1));
    if (worst == 0) return WEFT_SUCCESS;

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
