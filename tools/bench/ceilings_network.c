/*
 * Messages: how soon and how fast rank 0 and the nearest rank of another node (rank 1 where there
 * is one node) exchange them, and how much every rank sends at once in an all-to-all. Bandwidths
 * are bytes per second that leave a rank; both ways at once, each of the two sends so much.
 */
#include "bench/ceilings_parts.h"

#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 1, LARGEST = 64 << 20, MOST_TURNS = 2000, LEAST_TURNS = 5 };
static const double budget = 0.15; /* seconds for each size */

typedef struct messages {
    const ceilings_group *group;
    char *send, *receive;
    size_t room; /* of each */
    double *seconds;
} messages;

typedef weft_status (*turn)(const messages *m, int bytes, int partner);

static weft_status there_and_back(const messages *m, int bytes, int partner) {
    MPI_Comm comm = m->group->world->comm;
    if (m->group->world->rank == 0) {
        CEILINGS_MPI(MPI_Send(m->send, bytes, MPI_BYTE, partner, TAG, comm));
        CEILINGS_MPI(MPI_Recv(m->receive, bytes, MPI_BYTE, partner, TAG, comm, MPI_STATUS_IGNORE));
    } else {
        CEILINGS_MPI(MPI_Recv(m->receive, bytes, MPI_BYTE, partner, TAG, comm, MPI_STATUS_IGNORE));
        CEILINGS_MPI(MPI_Send(m->send, bytes, MPI_BYTE, partner, TAG, comm));
    }
    return WEFT_SUCCESS;
}

static weft_status both_at_once(const messages *m, int bytes, int partner) {
    CEILINGS_MPI(MPI_Sendrecv(m->send, bytes, MPI_BYTE, partner, TAG, m->receive, bytes, MPI_BYTE,
                              partner, TAG, m->group->world->comm, MPI_STATUS_IGNORE));
    return WEFT_SUCCESS;
}

/* Rank 0 says after the first turns how many more there is time for. */
static weft_status agree_on_turns(const messages *m, double seconds, int partner, int *turns) {
    MPI_Comm comm = m->group->world->comm;
    if (m->group->world->rank != 0) {
        CEILINGS_MPI(MPI_Recv(turns, 1, MPI_INT, partner, TAG, comm, MPI_STATUS_IGNORE));
        return WEFT_SUCCESS;
    }
    double fit = budget / seconds;
    *turns = fit > MOST_TURNS ? MOST_TURNS : fit < LEAST_TURNS ? LEAST_TURNS : (int)fit;
    CEILINGS_MPI(MPI_Send(turns, 1, MPI_INT, partner, TAG, comm));
    return WEFT_SUCCESS;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Best and median seconds of a turn, on rank 0. Only the two call it. */
static weft_status time_turns(const messages *m, turn take, int bytes, double *best,
                              double *median) {
    int partner = m->group->world->rank == 0 ? m->group->far_rank : 0, turns = 0;
    WEFT_TRY(take(m, bytes, partner)); /* MPI connects, and touches its buffers */
    double start = weft_clock();
    WEFT_TRY(take(m, bytes, partner));
    WEFT_TRY(agree_on_turns(m, weft_clock() - start, partner, &turns));
    for (int t = 0; t < turns; t++) {
        start = weft_clock();
        WEFT_TRY(take(m, bytes, partner));
        m->seconds[t] = weft_clock() - start;
    }
    qsort(m->seconds, (size_t)turns, sizeof *m->seconds, by_size);
    *best = m->seconds[0];
    *median = m->seconds[turns / 2];
    return WEFT_SUCCESS;
}

static void add_pair(json_t *list, int bytes, double rate) {
    if (list) json_array_append_new(list, json_pack("[i, f]", bytes, rate));
}

/* Fills `network` on rank 0. Only the two call it. */
static weft_status measure_pair(const messages *m, json_t *network) {
    double best, median;
    json_t *bandwidth = network ? json_array() : NULL;
    WEFT_TRY(time_turns(m, there_and_back, 8, &best, &median));
    if (network) json_object_set_new(network, "latency", json_real(median / 2));
    if (network) json_object_set_new(network, "bandwidth", bandwidth);
    for (int bytes = 1 << 10; bytes <= LARGEST; bytes *= 4) {
        WEFT_TRY(time_turns(m, there_and_back, bytes, &best, &median));
        add_pair(bandwidth, bytes, bytes / (best / 2));
    }
    double most = 0;
    for (int bytes = 1 << 18; bytes <= LARGEST; bytes *= 16) {
        WEFT_TRY(time_turns(m, both_at_once, bytes, &best, &median));
        if (bytes / best > most) most = bytes / best;
    }
    if (network) json_object_set_new(network, "both_ways", json_real(most));
    return WEFT_SUCCESS;
}

/* Best time of the slowest rank. Collective. */
static weft_status time_alltoall(const messages *m, int block, double *best) {
    MPI_Comm comm = m->group->world->comm;
    double begun = weft_clock();
    int more = 1;
    for (int t = -1; more; t++) { /* the first is not counted */
        CEILINGS_MPI(MPI_Barrier(comm));
        double start = weft_clock(), slowest = 0;
        CEILINGS_MPI(MPI_Alltoall(m->send, block, MPI_BYTE, m->receive, block, MPI_BYTE, comm));
        double mine = weft_clock() - start;
        CEILINGS_MPI(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm));
        if (t == 0 || (t > 0 && slowest < *best)) *best = slowest;
        more = t < 2 || (weft_clock() - begun < budget && t < MOST_TURNS);
        CEILINGS_MPI(MPI_Bcast(&more, 1, MPI_INT, 0, comm));
    }
    return WEFT_SUCCESS;
}

static weft_status measure_alltoall(const messages *m, json_t *network) {
    int ranks = m->group->world->ranks;
    json_t *rates = network ? json_array() : NULL;
    if (network) json_object_set_new(network, "alltoall", rates);
    for (int block = 1 << 10; (size_t)block * (size_t)ranks <= m->room; block *= 8) {
        double best = 0;
        WEFT_TRY(time_alltoall(m, block, &best));
        add_pair(rates, block, (double)block * (ranks - 1) / best);
    }
    return WEFT_SUCCESS;
}

static weft_status measure(messages *m, json_t *network) {
    const ceilings_group *group = m->group;
    bool one_of_two = group->world->rank == 0 || group->world->rank == group->far_rank;
    weft_status status = one_of_two ? measure_pair(m, network) : WEFT_SUCCESS;
    WEFT_TRY(ceilings_wait(group));
    WEFT_TRY(weft_array_agree(group->world->comm, status));
    return measure_alltoall(m, network);
}

/* Room for the largest message, and for an all-to-all of 1 GiB on a node and both directions. */
static size_t room_of(const ceilings_group *group) {
    size_t share = ((size_t)1 << 29) / (size_t)group->node_ranks;
    bool one_of_two = group->world->rank == 0 || group->world->rank == group->far_rank;
    return one_of_two || share > LARGEST ? LARGEST : share;
}

weft_status ceilings_network(const ceilings_group *group, json_t **network) {
    size_t room = room_of(group);
    messages m = {.group = group,
                  .send = malloc(room),
                  .receive = malloc(room),
                  .seconds = malloc(MOST_TURNS * sizeof(double))};
    weft_status status = WEFT_SUCCESS;
    if (!m.send || !m.receive || !m.seconds)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "ceilings: no memory for messages");
    status = weft_array_agree(group->world->comm, status);
    if (status == WEFT_SUCCESS) {
        memset(m.send, 1, room);
        memset(m.receive, 2, room);
        unsigned long long mine = room, least = 0;
        MPI_Allreduce(&mine, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, group->world->comm);
        m.room = (size_t)least;
        *network = group->world->rank == 0
                       ? json_pack("{s:s}", "between",
                                   group->one_node ? "ranks of one node" : "ranks of two nodes")
                       : NULL;
        status = measure(&m, *network);
    }
    free(m.send);
    free(m.receive);
    free(m.seconds);
    return status;
}
