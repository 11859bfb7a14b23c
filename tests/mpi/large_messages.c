/*
 * Messages above 2^31 bytes through the MPI transport: contiguous and strided, point to point and
 * all-to-all, with offsets beyond int. Started on 2 ranks; each holds 4.4 GiB.
 */
#include "transport/transport.h"

#include "exec/context.h"

#include <weft/weft_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t count = (1LL << 31) + (1LL << 27) + 3;

static unsigned char pattern(int64_t i, int rank) {
    return (unsigned char)((uint64_t)(i + 17 * rank) * 2654435761u >> 13);
}

static void fill(unsigned char *data, int rank) {
    for (int64_t i = 0; i < count; i++) data[i] = pattern(i, rank);
}

static int64_t wrong(const unsigned char *data, int rank) {
    int64_t bad = 0;
    for (int64_t i = 0; i < count; i++) bad += data[i] != pattern(i, rank);
    return bad;
}

static weft_status swap(weft_transport *t, const weft_message *out, const weft_message *in,
                        const void *send, void *receive) {
    weft_request requests[2];
    int partner = 1 - t->rank;
    weft_status status = t->ops->receive(t, receive, in, partner, &requests[0]);
    if (status == WEFT_SUCCESS) status = t->ops->send(t, send, out, partner, &requests[1]);
    if (status == WEFT_SUCCESS) status = t->ops->wait_all(t, requests, 2);
    return status;
}

int main(int argc, char **argv) {
    weft_context ctx = NULL;
    int order[] = {0, 1, 2}, failures = 0;
    MPI_Init(&argc, &argv);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        ctx->transport->size != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    weft_transport *t = ctx->transport;
    unsigned char *send = malloc((size_t)count + 8), *receive = malloc((size_t)count + 8);
    weft_message *whole, *strided;
    if (!send || !receive) MPI_Abort(MPI_COMM_WORLD, 1);
    fill(send, t->rank);

    /* One contiguous run, then its rows of 4096 bytes dealt into two halves: both sides above 2^31.
     */
    weft_view run = {.axes = 3, .n = {1, 1, count}, .stride = {count, count, 1}};
    const int64_t row = 4096, pairs = count / (2 * row);
    weft_view rows = {.axes = 3, .n = {pairs, 2, row}, .stride = {row, pairs * row, 1}};
    memset(receive, 0xA5, (size_t)count);
    failures += t->ops->message_create(t, &run, order, 1, &whole) != WEFT_SUCCESS;
    failures += swap(t, whole, whole, send, receive) != WEFT_SUCCESS;
    failures += wrong(receive, 1 - t->rank) != 0;
    failures += t->ops->message_create(t, &rows, order, 1, &strided) != WEFT_SUCCESS;
    weft_view even = {.axes = 3, .n = {1, 1, 2 * pairs * row}, .stride = {count, count, 1}};
    weft_message *prefix;
    failures += t->ops->message_create(t, &even, order, 1, &prefix) != WEFT_SUCCESS;
    memset(receive, 0xA5, (size_t)count);
    failures += swap(t, prefix, strided, send, receive) != WEFT_SUCCESS;
    for (int64_t i = 0; i < 2 * pairs * row; i += 4097) {
        int64_t place = i / row % 2 * pairs * row + i / row / 2 * row + i % row;
        failures += receive[place] != pattern(i, 1 - t->rank);
    }
    t->ops->message_destroy(t, whole);
    t->ops->message_destroy(t, strided);
    t->ops->message_destroy(t, prefix);

    /* All-to-all: a run of more than int elements to the other rank, one element to oneself at the
     * far end. */
    weft_alltoall *all;
    weft_run out[2], in[2];
    out[t->rank] = in[t->rank] = (weft_run){count, 1};
    out[1 - t->rank] = in[1 - t->rank] = (weft_run){0, count};
    send[count] = 77;
    memset(receive, 0xA5, (size_t)count + 1);
    failures += t->ops->alltoall_create(t, out, in, 1, &all) != WEFT_SUCCESS;
    failures += t->ops->alltoall(t, all, send, receive) != WEFT_SUCCESS;
    failures += wrong(receive, 1 - t->rank) != 0;
    failures += receive[count] != 77;
    t->ops->alltoall_destroy(t, all);

    free(send);
    free(receive);
    if (failures > 0) fprintf(stderr, "rank %d: %s\n", t->rank, weft_last_error(NULL));
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (t->rank == 0) printf("large messages: %d failed checks\n", failures);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
