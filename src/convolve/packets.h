/*
 * Packets: so many elements for each rank, and from each, which one all-to-all brings from a buffer
 * of what is sent to a buffer of what is received. Who sends and who receives find how many there
 * are by the same function, so nothing but elements travels.
 */
#ifndef WEFT_PACKETS_H
#define WEFT_PACKETS_H

#include "support/recorder.h"
#include "transport/transport.h"

typedef struct weft_packets {
    weft_transport *transport; /* not owned */
    size_t element_bytes;
    weft_run *send, *receive; /* [ranks]: elements of out and in */
    weft_alltoall *alltoall;  /* NULL: one rank */
    void *out, *in;
    int64_t sent, received; /* elements */
    int messages;           /* sent */
} weft_packets;

/* How many elements rank `from` sends to rank `to`, another one. */
typedef int64_t (*weft_packet_size)(void *argument, int from, int to);

/* `status` is a failure that this rank brings: it then only takes part. Collective; destroy them
 * also after a failure. */
weft_status weft_packets_create(weft_transport *transport, size_t element_bytes, weft_status status,
                                weft_packet_size size, void *argument, weft_packets *packets);
void weft_packets_destroy(weft_packets *packets);
size_t weft_packets_bytes(const weft_packets *packets);

/* From `out` of all ranks to their `in`, which takes its time from *begin on, and tells the
 * recorder what was sent. Collective. */
weft_status weft_packets_exchange(const weft_packets *packets, weft_recorder *recorder,
                                  double *begin);

#endif
