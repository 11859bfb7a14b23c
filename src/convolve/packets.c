/* Packets of elements between ranks: see packets.h. */
#include "convolve/packets.h"

#include "support/error.h"

#include <stdlib.h>

static weft_status allocate(weft_packets *p) {
    p->out = malloc((size_t)p->sent * p->element_bytes + 1);
    p->in = malloc((size_t)p->received * p->element_bytes + 1);
    if (p->out && p->in) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for messages of %lld elements",
                     (long long)(p->sent + p->received));
}

weft_status weft_packets_create(weft_transport *transport, size_t element_bytes, weft_status status,
                                weft_packet_size size, void *argument, weft_packets *p) {
    const int ranks = transport->size, rank = transport->rank;
    *p = (weft_packets){.transport = transport, .element_bytes = element_bytes};
    p->send = calloc((size_t)ranks, sizeof *p->send);
    p->receive = calloc((size_t)ranks, sizeof *p->receive);
    if (status == WEFT_SUCCESS && !(p->send && p->receive))
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of messages");
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) {
        p->send[r] = (weft_run){p->sent, r == rank ? 0 : size(argument, rank, r)};
        p->receive[r] = (weft_run){p->received, r == rank ? 0 : size(argument, r, rank)};
        p->sent += p->send[r].count;
        p->received += p->receive[r].count;
        p->messages += p->send[r].count > 0;
    }
    if (status == WEFT_SUCCESS) status = allocate(p);
    if (ranks == 1) return status;
    const bool well = status == WEFT_SUCCESS;
    weft_keep(&status, transport->ops->alltoall_create(transport, well ? p->send : NULL,
                                                       well ? p->receive : NULL, element_bytes,
                                                       &p->alltoall));
    return status;
}

void weft_packets_destroy(weft_packets *p) {
    if (p->alltoall) p->transport->ops->alltoall_destroy(p->transport, p->alltoall);
    free(p->send);
    free(p->receive);
    free(p->out);
    free(p->in);
    *p = (weft_packets){.transport = NULL};
}

size_t weft_packets_bytes(const weft_packets *p) {
    return (size_t)(p->sent + p->received) * p->element_bytes;
}

weft_status weft_packets_exchange(const weft_packets *p, weft_recorder *recorder, double *begin) {
    if (p->transport->size == 1) return WEFT_SUCCESS;
    const weft_status status =
        p->transport->ops->alltoall(p->transport, p->alltoall, p->out, p->in);
    *begin = weft_record(recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, *begin);
    recorder->timings.bytes_sent += p->sent * (int64_t)p->element_bytes;
    recorder->timings.messages_sent += p->messages;
    return status;
}
