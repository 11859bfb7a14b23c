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

static int64_t count(const weft_box_exchange *x, int from, int to) {
    const weft_region part = common(x, from, to);
    return from == to ? 0 : weft_region_elements(&part);
}

static weft_status allocate(weft_box_exchange *x) {
    x->out = malloc((size_t)x->sent * x->element_bytes + 1);
    x->in = malloc((size_t)x->received * x->element_bytes + 1);
    if (x->out && x->in) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for messages of %lld elements",
                     (long long)(x->sent + x->received));
}

weft_status weft_box_exchange_create(weft_transport *transport, size_t element_bytes,
                                     weft_region *held, weft_region *wanted, weft_box_exchange *x) {
    const int ranks = transport->size, rank = transport->rank;
    weft_status status = WEFT_SUCCESS;
    *x = (weft_box_exchange){
        .transport = transport, .element_bytes = element_bytes, .held = held, .wanted = wanted};
    x->send = calloc((size_t)ranks, sizeof *x->send);
    x->receive = calloc((size_t)ranks, sizeof *x->receive);
    if (!held || !wanted || !x->send || !x->receive)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a list of messages");
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) {
        x->send[r] = (weft_run){x->sent, count(x, rank, r)};
        x->receive[r] = (weft_run){x->received, count(x, r, rank)};
        x->sent += x->send[r].count;
        x->received += x->receive[r].count;
        x->messages += x->send[r].count > 0;
    }
    if (status == WEFT_SUCCESS) status = allocate(x);
    if (ranks == 1) return status;
    const bool well = status == WEFT_SUCCESS;
    weft_keep(&status, transport->ops->alltoall_create(transport, well ? x->send : NULL,
                                                       well ? x->receive : NULL, element_bytes,
                                                       &x->alltoall));
    return status;
}

void weft_box_exchange_destroy(weft_box_exchange *x) {
    if (x->alltoall) x->transport->ops->alltoall_destroy(x->transport, x->alltoall);
    free(x->held);
    free(x->wanted);
    free(x->send);
    free(x->receive);
    free(x->out);
    free(x->in);
    *x = (weft_box_exchange){.transport = NULL};
}

size_t weft_box_exchange_bytes(const weft_box_exchange *x) {
    return (size_t)(x->sent + x->received) * x->element_bytes;
}

/* ---- running ---- */

static void copy(const weft_box_exchange *x, const weft_view *from, const void *src,
                 const weft_view *to, void *dst) {
    const weft_copy all = weft_copy_between(from, to, x->element_bytes);
    weft_copy_run(&all, src, dst, 1);
}

weft_status weft_box_exchange_run(const weft_box_exchange *x, const void *held, void *wanted,
                                  weft_recorder *recorder) {
    const int ranks = x->transport->size, rank = x->transport->rank;
    weft_status status = WEFT_SUCCESS;
    double begin = weft_clock();
    for (int r = 0; r < ranks; r++) {
        const weft_region part = common(x, rank, r);
        const weft_view from = weft_view_of(&x->held[rank], row_major, &part);
        const weft_view to = weft_view_packed(&part, row_major, x->send[r].offset);
        if (r != rank) copy(x, &from, held, &to, x->out);
    }
    begin = weft_record(recorder, WEFT_PHASE_PACK, WEFT_NO_PARTNER, begin);
    if (ranks > 1) {
        status = x->transport->ops->alltoall(x->transport, x->alltoall, x->out, x->in);
        begin = weft_record(recorder, WEFT_PHASE_EXCHANGE, WEFT_NO_PARTNER, begin);
    }
    for (int r = 0; r < ranks && status == WEFT_SUCCESS; r++) {
        const weft_region part = common(x, r, rank);
        const weft_view own = weft_view_of(&x->held[rank], row_major, &part);
        const weft_view packed = weft_view_packed(&part, row_major, x->receive[r].offset);
        const weft_view to = weft_view_of(&x->wanted[rank], row_major, &part);
        copy(x, r == rank ? &own : &packed, r == rank ? held : x->in, &to, wanted);
    }
    weft_record(recorder, WEFT_PHASE_UNPACK, WEFT_NO_PARTNER, begin);
    recorder->timings.bytes_sent += x->sent * (int64_t)x->element_bytes;
    recorder->timings.messages_sent += x->messages;
    return status;
}
