/*
 * Memory that ranks of one node read in each other: each rank has a memory file of its own, and the
 * others of its node map it read-only (support/memory_file.h). Not MPI_Win_allocate_shared: Open
 * MPI 4.1 fails on one rank and leaves the others waiting where /dev/shm is too small (64 MiB in
 * many containers), MPICH 4.0 grants more than there is, and neither aligns a rank's part to its
 * pages.
 */
#include "support/memory_file.h"
#include "transport/mpi/mpi.h"

#include <stdlib.h>
#include <unistd.h>

struct weft_shared {
    int ranks;
    weft_memory_file *parts; /* as this process sees them; address NULL: not mapped here */
};

/* Maps, for reading, the files of the other ranks on this rank's node. */
static weft_status map_others(const int *node, int rank, const weft_memory_ticket *tickets,
                              weft_shared *shared) {
    for (int r = 0; r < shared->ranks; r++) {
        if (r == rank || node[r] != node[rank] || tickets[r].bytes == 0) continue;
        if (!weft_memory_file_open(&tickets[r], &shared->parts[r]))
            return weft_fail(WEFT_ERROR_SYSTEM,
                             "rank %d cannot read the memory that rank %d shares; choose exchange "
                             "p2p-sync",
                             rank, r);
    }
    return WEFT_SUCCESS;
}

/* A rank that fails takes part to the end, so that nobody waits for it. */
weft_status weft_mpi_share(weft_transport *transport, const int *node, size_t bytes,
                           weft_shared **shared) {
    int ranks = transport->size, rank = transport->rank;
    weft_memory_ticket mine = {.bytes = 0};
    weft_status status = WEFT_SUCCESS;
    weft_shared *made = calloc(1, sizeof *made);
    weft_memory_file *parts = calloc((size_t)ranks, sizeof *parts);
    weft_memory_ticket *tickets = calloc((size_t)ranks, sizeof *tickets);
    if (made && parts) *made = (weft_shared){ranks, parts};
    if (made && parts && tickets) {
        status = weft_memory_file_create(bytes, &parts[rank], &mine);
    } else {
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to share with %d ranks", ranks);
    }
    int64_t failed = status != WEFT_SUCCESS;
    weft_keep(&status, transport->ops->maximum(transport, &failed, 1));
    if (!failed) {
        weft_keep(&status, transport->ops->gather_all(transport, &mine, sizeof mine, tickets));
        if (status == WEFT_SUCCESS) status = map_others(node, rank, tickets, made);
        /* The files stay open until everybody has opened them. */
        weft_keep(&status, transport->ops->barrier(transport));
    }
    if (mine.bytes > 0) weft_memory_file_seal(&parts[rank]);
    free(tickets);
    if (!made || !parts) {
        free(made);
        free(parts);
        return status;
    }
    *shared = made; /* also of a half: the caller gives it back */
    return status;
}

void *weft_mpi_shared_part(const weft_shared *shared, int rank) {
    return shared->parts[rank].address;
}

void weft_mpi_unshare(weft_transport *transport, weft_shared *shared) {
    (void)transport;
    if (!shared) return;
    for (int r = 0; r < shared->ranks; r++) weft_memory_file_close(&shared->parts[r]);
    free(shared->parts);
    free(shared);
}

/* Gets the lowest of the ranks that share memory with this one, according to MPI. After the split
 * there is no collective call over the caller's group, since another rank may not have got the
 * communicator. */
static weft_status ask_mpi(weft_transport *transport, int *lowest) {
    MPI_Comm node = MPI_COMM_NULL;
    *lowest = transport->rank;
    MPI_TRY(MPI_Comm_split_type(weft_mpi_comm(transport), MPI_COMM_TYPE_SHARED, transport->rank,
                                MPI_INFO_NULL, &node));
    const int first = 0;
    MPI_Group ours, all;
    MPI_Comm_group(node, &ours);
    MPI_Comm_group(weft_mpi_comm(transport), &all);
    int code = MPI_Group_translate_ranks(ours, 1, &first, all, lowest);
    MPI_Group_free(&ours);
    MPI_Group_free(&all);
    MPI_Comm_free(&node);
    return code ? weft_mpi_failed("MPI_Group_translate_ranks", code) : WEFT_SUCCESS;
}

/* MPI compares host names only. Whether the system lets a rank read another's memory (it may not
 * between containers or users) is tried with one page. If that fails for any rank, sharing is not
 * used at all. */
weft_status weft_mpi_nodes(weft_transport *transport, int *node) {
    int lowest;
    weft_shared *trial = NULL;
    weft_status status = ask_mpi(transport, &lowest);
    weft_keep(&status, transport->ops->gather_all(transport, &lowest, sizeof lowest, node));
    int64_t failed =
        weft_mpi_share(transport, node, (size_t)sysconf(_SC_PAGESIZE), &trial) != WEFT_SUCCESS;
    weft_mpi_unshare(transport, trial);
    weft_keep(&status, transport->ops->maximum(transport, &failed, 1));
    for (int r = 0; r < transport->size && failed; r++) node[r] = r;
    return status;
}

void weft_mpi_progress(weft_transport *transport) {
    int any = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, weft_mpi_comm(transport), &any,
                     MPI_STATUS_IGNORE);
}
