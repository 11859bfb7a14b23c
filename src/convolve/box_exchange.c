/* Boxes that ranks want, out of those that they hold: see box_exchange.h. */
#include "convolve/box_exchange.h"

#include "device/device.h"
#include "support/error.h"

#include <stdlib.h>

static const int row_major[WEFT_AXES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

/* What rank `from` holds of the box that rank `to` wants. */
static weft_region common(const weft_box_exchange *x, int from, int to) {
    return weft_region_intersect(&x->held[from], &x->wanted[to]);
}

static int64_t size_of(void *argument, int from, int to) {
    const weft_region part = common(argument, from, to);
    return weft_region_elements(&part);
}

weft_status weft_box_exchange_create(weft_transport *transport, size_t element_bytes,
                                     weft_region *held, weft_region *wanted, weft_box_exchange *x) {
    *x = (weft_box_exchange){.held = held, .wanted = wanted};
    const weft_status status =
        held && wanted ? WEFT_SUCCESS
                       : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of boxes");
    return weft_packets_create(transport, element_bytes, status, size_of, x, &x->packets);
}

void weft_box_exchange_destroy(weft_box_exchange *x) {
    weft_packets_destroy(&x->packets);
    free(x->held);
    free(x->wanted);
    *x = (weft_box_exchange){.held = NULL};
}

/* ---- running ---- */

static void copy(const weft_box_exchange *x, const weft_view *from, const void *src,
                 const weft_view *to, void *dst) {
    const weft_copy all = weft_copy_between(from, to, x->packets.element_bytes);
    weft_copy_run(&all, src, dst, 1);
}

weft_status weft_box_exchange_run(const weft_box_exchange *x, const void *held, void *wanted,
                                  weft_recorder *recorder) {
    const weft_packets *p = &x->packets;
    const int ranks = p->transport->size, rank = p->transport->rank;
    double begin = weft_clock();
    for (int r = 0; r < ranks; r++) {
        const weft_region part = common(x, rank, r);
        const weft_view from = weft_view_of(&x->held[rank], row_major, &part);
        const weft_view to = weft_view_packed(&part, row_major, p->send[r].offset);
        if (r != rank) copy(x, &from, held, &to, p->out);
    }
    begin = weft_record(recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, begin);
    const weft_status status = weft_packets_exchange(p, recorder, &begin);
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) {
        const weft_region part = common(x, r, rank);
        const weft_view own = weft_view_of(&x->held[rank], row_major, &part);
        const weft_view packed = weft_view_packed(&part, row_major, p->receive[r].offset);
        const weft_view to = weft_view_of(&x->wanted[rank], row_major, &part);
        copy(x, r == rank ? &own : &packed, r == rank ? held : p->in, &to, wanted);
    }
    weft_record(recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, begin);
    return status;
}
