/*
 * Rates between ranks, in the pattern of an exchange: every rank sends to every other at once.
 */
#include "tune.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 1024, ROWS_BYTES = 4 << 20, SIGNALS = 2000, TURNS = 5 };

/* Messages of `bytes` to every other rank, of a type that describes them in a stride of two or
 * without gaps. */
typedef struct messages {
    const command_world *world;
    char *send, *receive; /* room for twice the bytes for each rank */
    MPI_Request *request; /* [2 * ranks] */
} messages;

static weft_status exchange(const messages *m, MPI_Datatype type, int64_t extent) {
    int count = 0, code = MPI_SUCCESS;
    for (int k = 1; k < m->world->ranks && code == MPI_SUCCESS; k++) {
        const int to = (m->world->rank + k) % m->world->ranks,
                  from = (m->world->rank + m->world->ranks - k) % m->world->ranks;
        code = MPI_Irecv(m->receive + from * extent, 1, type, from, 0, m->world->comm,
                         &m->request[count++]);
        if (code == MPI_SUCCESS)
            code = MPI_Isend(m->send + to * extent, 1, type, to, 0, m->world->comm,
                             &m->request[count++]);
    }
    if (code == MPI_SUCCESS) code = MPI_Waitall(count, m->request, MPI_STATUSES_IGNORE);
    return code == MPI_SUCCESS ? WEFT_SUCCESS
                               : weft_fail(WEFT_ERROR_TRANSPORT, "tune: messages failed");
}

/* Seconds of the slowest rank in the best of many exchanges. Collective. */
static weft_status time_exchange(const tuning *t, const messages *m, MPI_Datatype type,
                                 int64_t extent, double *seconds) {
    const double begin = weft_clock();
    double now[2] = {0, 0}; /* seconds of an exchange, and of all of them */
    *seconds = 1e300;
    for (int run = 0; run < TURNS || now[1] < t->seconds; run++) {
        MPI_Barrier(t->world->comm);
        const double start = weft_clock();
        const weft_status status = exchange(m, type, extent);
        now[0] = weft_clock() - start;
        now[1] = weft_clock() - begin;
        WEFT_TRY(weft_array_agree(t->world->comm, status));
        MPI_Allreduce(MPI_IN_PLACE, now, 2, MPI_DOUBLE, MPI_MAX, t->world->comm);
        if (run > 0 && now[0] < *seconds) *seconds = now[0];
    }
    return WEFT_SUCCESS;
}

static weft_status time_contiguous(const tuning *t, const messages *m, int64_t bytes,
                                   double *seconds) {
    MPI_Datatype type;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    const weft_status status = time_exchange(t, m, type, 2 * bytes, seconds);
    MPI_Type_free(&type);
    return status;
}

/* Passes through memory for each byte that is sent as rows with gaps between them. */
static weft_status tune_datatypes(tuning *t, const messages *m) {
    const int partners = t->world->ranks - 1, rows = ROWS_BYTES / ROW_BYTES / partners;
    const int64_t bytes = (int64_t)rows * ROW_BYTES;
    double packed, gathered;
    MPI_Datatype type;
    if (rows == 0) return WEFT_SUCCESS;
    WEFT_TRY(time_contiguous(t, m, bytes, &packed));
    MPI_Type_vector(rows, ROW_BYTES / 8, 2 * ROW_BYTES / 8, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    const weft_status status = time_exchange(t, m, type, 2 * bytes, &gathered);
    MPI_Type_free(&type);
    WEFT_TRY(status);
    const double passes =
        (gathered - packed) * t->machine.rate.copy[1] / (double)(bytes * partners);
    if (t->round == 0 || passes < t->machine.penalty.datatypes)
        t->machine.penalty.datatypes = passes > 0.1 ? passes : 0.1;
    return WEFT_SUCCESS;
}

static weft_status tune_bandwidth(tuning *t, const messages *m) {
    weft_machine_rates *r = &t->machine.rate;
    const int partners = t->world->ranks - 1;
    double seconds;
    WEFT_TRY(time_contiguous(t, m, 8, &seconds));
    if (t->round == 0 || seconds / partners < r->latency) r->latency = seconds / partners;
    for (int i = 0; i < WEFT_MACHINE_SIZES; i++) {
        const int64_t bytes = (int64_t)(r->bytes[i] / 2) / partners;
        WEFT_TRY(time_contiguous(t, m, bytes, &seconds));
        const double travelling = seconds - partners * r->latency;
        tune_keep_best(t, &r->bandwidth[i],
                       (double)(bytes * partners) /
                           (travelling > 0.1 * seconds ? travelling : 0.1 * seconds));
    }
    return tune_datatypes(t, m);
}

/* Seconds until what one rank of a node writes is seen by another: half of there and back. */
static weft_status tune_signal(tuning *t) {
    MPI_Comm node;
    MPI_Win window;
    MPI_Aint bytes;
    int rank, ranks, unit;
    _Atomic int *word;
    MPI_Comm_split_type(t->world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    int code = MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, node, &word, &window);
    if (code == MPI_SUCCESS) {
        MPI_Win_shared_query(window, 0, &bytes, &unit, &word);
        if (rank == 0) atomic_store(word, 0);
        MPI_Barrier(node);
        const double start = weft_clock();
        for (int i = 0; i < SIGNALS && rank < 2 && ranks > 1; i++) {
            while (atomic_load(word) != 2 * i + rank) sched_yield();
            atomic_store(word, 2 * i + rank + 1);
        }
        const double signal = (weft_clock() - start) / (2 * SIGNALS);
        if (rank == 0 && ranks > 1 && (t->round == 0 || signal < t->machine.rate.signal))
            t->machine.rate.signal = signal;
        MPI_Barrier(node);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&node);
    return weft_array_agree(t->world->comm,
                            code == MPI_SUCCESS
                                ? WEFT_SUCCESS
                                : weft_fail(WEFT_ERROR_TRANSPORT, "tune: no shared memory"));
}

weft_status tune_messages(tuning *t) {
    const int ranks = t->world->ranks;
    if (ranks == 1) return WEFT_SUCCESS;
    const double most = t->machine.rate.bytes[WEFT_MACHINE_SIZES - 1];
    const size_t room = (size_t)(most / (ranks - 1) + 16) * (size_t)ranks;
    messages m = {.world = t->world,
                  .send = malloc(room),
                  .receive = malloc(room),
                  .request = malloc(2 * (size_t)ranks * sizeof(MPI_Request))};
    weft_status status = m.send && m.receive && m.request
                             ? WEFT_SUCCESS
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "tune: no memory for messages");
    status = weft_array_agree(t->world->comm, status);
    if (status == WEFT_SUCCESS) {
        memset(m.send, 1, room);
        memset(m.receive, 1, room);
        status = tune_bandwidth(t, &m);
    }
    if (status == WEFT_SUCCESS) status = tune_signal(t);
    free(m.send);
    free(m.receive);
    free(m.request);
    return status;
}
