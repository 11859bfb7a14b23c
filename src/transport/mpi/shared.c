/*
 * Memory that ranks of one node read in each other.
 *
 * Each rank has a memory file of its own (memfd); the others of its node open it through
 * /proc/PID/fd/N and map it read-only. Not MPI_Win_allocate_shared: Open MPI 4.1 fails on one rank
 * and leaves the others waiting where /dev/shm is too small (64 MiB in many containers), MPICH 4.0
 * grants more than there is, and neither aligns a rank's part to its
 * pages. A memory file has no name to leave behind and is not limited by /dev/shm. The pages are
 * the owner's: it touches them first, and they are freed when the last mapping goes.
 *
 * Large parts are gathered into huge pages as soon as they are made (MADV_COLLAPSE, Linux 6.1):
 * transforms along strided axes are slower without them, and most systems give shared memory none
 * of their own accord.
 */
#include "transport/mpi/mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* the kernel may know it where the C library does not */
#endif

/* A rank's part as this process sees it. */
typedef struct part {
    void *address; /* NULL: not mapped here */
    size_t bytes;
} part;

struct weft_shared {
    int ranks;
    part *parts;
};

/* What the others need to open a rank's file; device and inode tell that it is the right one. */
typedef struct ticket {
    int64_t process, file; /* -1: there is none */
    int64_t device, inode, bytes;
} ticket;

/* More than the machine has is refused at once: a memory file would be made all the same. */
static weft_status check_fits(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0 || bytes / (size_t)page < (size_t)pages) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "no host memory for %zu shared bytes; use more ranks", bytes);
}

/* Maps the file; large ones where huge pages fit. NULL where that fails. */
static void *map(int file, size_t bytes, int protection) {
    if (bytes < HUGE_PAGE) {
        void *address = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);
        return address == MAP_FAILED ? NULL : address;
    }
    size_t room = bytes + HUGE_PAGE;
    char *reserved = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserved == MAP_FAILED) return NULL;
    size_t skip = (HUGE_PAGE - (uintptr_t)reserved % HUGE_PAGE) % HUGE_PAGE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (bytes + page - 1) / page * page;
    char *address = mmap(reserved + skip, bytes, protection, MAP_SHARED | MAP_FIXED, file, 0);
    if (address == MAP_FAILED) {
        munmap(reserved, room);
        return NULL;
    }
    if (skip > 0) munmap(reserved, skip);
    if (room > skip + end) munmap(address + end, room - skip - end);
    return address;
}

/* Advice: where the kernel declines, the memory works all the same. The first touch of each huge
 * page says to which part of the machine it belongs. */
static void ask_for_huge_pages(char *address, size_t bytes) {
#ifdef __linux__
    size_t whole = bytes / HUGE_PAGE * HUGE_PAGE;
    if (whole == 0) return;
    (void)madvise(address, whole, MADV_HUGEPAGE);
    for (size_t i = 0; i < whole; i += HUGE_PAGE) address[i] = 0;
    (void)madvise(address, whole, MADV_COLLAPSE);
#else
    (void)address, (void)bytes;
#endif
}

/* This rank's file, mapped for writing; the caller closes *file. */
static weft_status make_own(size_t bytes, int *file, part *own, ticket *mine) {
    struct stat status;
    WEFT_TRY(check_fits(bytes));
#ifdef MFD_CLOEXEC
    *file = memfd_create("weft", MFD_CLOEXEC);
#else
    errno = ENOSYS;
#endif
    if (*file < 0 || ftruncate(*file, (off_t)bytes) != 0 || fstat(*file, &status) != 0)
        return weft_fail(WEFT_ERROR_SYSTEM,
                         "no memory that other ranks can read (%s); choose exchange p2p-sync",
                         strerror(errno));
    own->address = map(*file, bytes, PROT_READ | PROT_WRITE);
    if (!own->address)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "no host memory for %zu shared bytes; use more ranks", bytes);
    own->bytes = bytes;
    ask_for_huge_pages(own->address, bytes);
    *mine = (ticket){.process = getpid(),
                     .file = *file,
                     .device = (int64_t)status.st_dev,
                     .inode = (int64_t)status.st_ino,
                     .bytes = (int64_t)bytes};
    return WEFT_SUCCESS;
}

/* Another rank's file, mapped for reading; false where this process may not, or it lies elsewhere.
 */
static bool map_other(const ticket *theirs, part *other) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)theirs->process,
             (long long)theirs->file);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    if (fstat(file, &status) == 0 && (int64_t)status.st_dev == theirs->device &&
        (int64_t)status.st_ino == theirs->inode) {
        other->address = map(file, (size_t)theirs->bytes, PROT_READ);
        other->bytes = (size_t)theirs->bytes;
    }
    close(file);
    return other->address != NULL;
}

static weft_status map_others(const int *node, int rank, const ticket *tickets,
                              weft_shared *shared) {
    for (int r = 0; r < shared->ranks; r++) {
        if (r == rank || node[r] != node[rank] || tickets[r].file < 0) continue;
        if (!map_other(&tickets[r], &shared->parts[r]))
            return weft_fail(WEFT_ERROR_SYSTEM,
                             "rank %d cannot read the memory that rank %d shares; choose exchange "
                             "p2p-sync",
                             rank, r);
    }
    return WEFT_SUCCESS;
}

/* A rank that fails goes on with the others up to the end, so that nobody waits for it. */
weft_status weft_mpi_share(weft_transport *transport, const int *node, size_t bytes,
                           weft_shared **shared) {
    int ranks = transport->size, rank = transport->rank, file = -1;
    ticket mine = {.file = -1};
    part none, *own = &none;
    weft_status status = WEFT_SUCCESS;
    weft_shared *made = calloc(1, sizeof *made);
    part *parts = calloc((size_t)ranks, sizeof *parts);
    ticket *tickets = calloc((size_t)ranks, sizeof *tickets);
    if (made && parts && tickets) {
        *made = (weft_shared){ranks, parts};
        own = &parts[rank];
        status = make_own(bytes, &file, own, &mine);
    } else {
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to share with %d ranks", ranks);
    }
    int64_t failed = status != WEFT_SUCCESS;
    weft_status agreed = transport->ops->maximum(transport, &failed, 1);
    if (agreed == WEFT_SUCCESS && !failed) {
        agreed = transport->ops->gather_all(transport, &mine, sizeof mine, tickets);
        if (agreed == WEFT_SUCCESS) status = map_others(node, rank, tickets, made);
        /* The files stay open until everybody has opened them. */
        weft_status over = transport->ops->barrier(transport);
        if (agreed == WEFT_SUCCESS) agreed = over;
    }
    if (status == WEFT_SUCCESS) status = agreed;
    if (file >= 0) close(file);
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
    for (int r = 0; r < shared->ranks; r++)
        if (shared->parts[r].address) munmap(shared->parts[r].address, shared->parts[r].bytes);
    free(shared->parts);
    free(shared);
}

/* The ranks that MPI says share memory, as their lowest rank. */
static weft_status ask_mpi(weft_transport *transport, int *lowest) {
    MPI_Comm node = MPI_COMM_NULL;
    *lowest = transport->rank;
    MPI_TRY(MPI_Comm_split_type(weft_mpi_comm(transport), MPI_COMM_TYPE_SHARED, transport->rank,
                                MPI_INFO_NULL, &node));
    int code = MPI_Bcast(lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return code == MPI_SUCCESS ? WEFT_SUCCESS : weft_mpi_failed("MPI_Bcast", code);
}

/* MPI goes by the name of the host; whether the system lets a rank read another's memory
 * (containers and other users may not) is tried out with a page. If it does not work everywhere, it
 * is not used anywhere. */
weft_status weft_mpi_nodes(weft_transport *transport, int *node) {
    int lowest;
    weft_shared *trial = NULL;
    WEFT_TRY(ask_mpi(transport, &lowest));
    WEFT_TRY(transport->ops->gather_all(transport, &lowest, sizeof lowest, node));
    int64_t failed =
        weft_mpi_share(transport, node, (size_t)sysconf(_SC_PAGESIZE), &trial) != WEFT_SUCCESS;
    weft_mpi_unshare(transport, trial);
    WEFT_TRY(transport->ops->maximum(transport, &failed, 1));
    for (int r = 0; r < transport->size && failed; r++) node[r] = r;
    return WEFT_SUCCESS;
}

void weft_mpi_progress(weft_transport *transport) {
    int any = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, weft_mpi_comm(transport), &any,
                     MPI_STATUS_IGNORE);
}
