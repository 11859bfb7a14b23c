/*
 * Reading partners' arrays where they lie: what peer, and whoever fuses its copy into a transform,
 * uses. src lies in a workspace that the partners see; instead of messages there are three words
 * for each rank, each written by that rank alone:
 *
 *   ready  the owner's: in which workspace the array of this epoch lies
 *   parts  the owner's: the epoch, and how many parts of its array are complete
 *   done   the reader's: it has read all it needs of this epoch, from everybody
 *
 * An epoch is one run of a redistribution in one direction; all ranks count alike, since every rank
 * runs every exchange. In a run:
 *
 *   weft_peer_open          once; then weft_peer_complete as parts of src become complete, or
 *   weft_peer_publish       both, when all of src is complete
 *   weft_peer_await         for each partner that something comes from; then peer_src[member] is
 *                           its array, laid out as geometry->receive[member].origin says
 *   weft_peer_finish        once, when all is read; peer_src is void from then on
 *
 * and before src's workspace is written again, weft_peer_reclaim waits for its readers: those of
 * the epoch in which it was lent, which weft_peer_lend tells. Later epochs of the same
 * redistribution may have lent other workspaces, and to wait for their readers here would be to
 * wait for partners that wait for this rank.
 *
 * No order of executions can deadlock, since all ranks run the same exchanges in the same order: a
 * rank waits for what its partners post in the same exchange before they wait for anything there
 * (`ready`, `parts`), or for what they have posted by the end of an earlier one (`done`). So the
 * rank that is furthest behind never waits for long. tests/test_peer.c tries all small cases.
 *
 * The words are stored with release and loaded with acquire order: what the owner wrote before
 * `parts` is seen after it, and what a reader read before done is read before the owner writes on.
 */
#ifndef WEFT_EXCHANGE_PEER_H
#define WEFT_EXCHANGE_PEER_H

#include "exchange/exchange.h"

#include <stdatomic.h>

enum {
    WEFT_PEER_WORKSPACES = 4,
    WEFT_PEER_PARTS = 4096, /* more than the parts of any array */
    WEFT_PEER_LINE = 128    /* two lines: processors fetch pairs */
};

/* In shared memory, zero at first. */
typedef struct weft_peer_flags {
    _Alignas(WEFT_PEER_LINE) _Atomic uint64_t ready; /* epoch * WEFT_PEER_WORKSPACES + workspace */
    _Atomic uint64_t parts;                          /* epoch * WEFT_PEER_PARTS + complete ones */
    _Alignas(WEFT_PEER_LINE) _Atomic uint64_t done;  /* epoch */
} weft_peer_flags;

/* A partner's memory as this rank sees it. */
typedef struct weft_peer_member {
    weft_peer_flags *flags;                      /* to be written by the member only */
    const void *workspace[WEFT_PEER_WORKSPACES]; /* NULL where the member has none */
} weft_peer_member;

/* One redistribution of one direction of a plan; schedules of both placements share it, since
 * ranks may differ in placement. */
struct weft_peer {
    weft_transport *group; /* kept going while this rank waits */
    int members, me;
    uint64_t epoch;           /* of the last run; 0 before the first */
    weft_peer_member *member; /* [members] */
    int *reader;              /* [readers]: members that read from this rank */
    int readers;
    const void **src; /* [members]: weft_exchange_plan.peer_src */
};

/* Who may still read a workspace: the readers of one epoch of a redistribution. */
typedef struct weft_peer_readers {
    const weft_peer *peer; /* NULL: nobody */
    uint64_t epoch;
} weft_peer_readers;

/* Not collective. `member` (of the group) must be filled in before the first run. */
weft_status weft_peer_create(weft_transport *group, const weft_redistribution *geometry,
                             weft_peer **peer);
void weft_peer_destroy(weft_peer *peer);

void weft_peer_open(weft_exchange_plan *plan);
void weft_peer_complete(const weft_exchange_plan *plan, int parts); /* the first so many */
void weft_peer_publish(weft_exchange_plan *plan);
bool weft_peer_ready(weft_exchange_plan *plan, int member); /* await without waiting */
void weft_peer_await(weft_exchange_plan *plan, int member);
bool weft_peer_all_ready(weft_exchange_plan *plan); /* every partner that something comes from */
void weft_peer_await_all(weft_exchange_plan *plan);
void weft_peer_pause(const weft_peer *peer, int *spins); /* between two looks; *spins 0 at first */
void weft_peer_finish(weft_exchange_plan *plan);
weft_peer_readers weft_peer_lend(const weft_peer *peer); /* who reads the last epoch's workspace */
bool weft_peer_have_read(const weft_peer_readers *readers);
void weft_peer_reclaim(weft_peer_readers *readers); /* waits until they have read; then nobody */

#endif
