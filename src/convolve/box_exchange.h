/*
 * Boxes that ranks hold of an array, and boxes of it that they want: each rank gets what others
 * hold of the box that it wants. The boxes that are held do not overlap; those that are wanted may.
 */
#ifndef WEFT_BOX_EXCHANGE_H
#define WEFT_BOX_EXCHANGE_H

#include "convolve/packets.h"

typedef struct weft_box_exchange {
    weft_region *held, *wanted; /* [ranks] */
    weft_packets packets;
} weft_box_exchange;

/* held and wanted are those of all ranks, [ranks], and belong to the exchange then; NULL where they
 * could not be allocated. Collective; destroy it also after a failure. */
weft_status weft_box_exchange_create(weft_transport *transport, size_t element_bytes,
                                     weft_region *held, weft_region *wanted,
                                     weft_box_exchange *exchange);
void weft_box_exchange_destroy(weft_box_exchange *exchange);
/* From the box that this rank holds to the one that it wants, both row-major; elements that nobody
 * holds stay as they are. Collective. */
weft_status weft_box_exchange_run(const weft_box_exchange *exchange, const void *held, void *wanted,
                                  weft_recorder *recorder);

#endif
