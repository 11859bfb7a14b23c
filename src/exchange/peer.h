/*
 * Signals between ranks that read each other's arrays where they lie. An array that partners read
 * lies in a workspace that they see; instead of messages there are three words for each rank, each
 * written by that rank alone:
 *
 *   ready  the owner's: in which workspace the array of this epoch lies
 *   tiles  the owner's: the epoch, and how many tiles of its array are complete
 *   done   the reader's: it has read all it needs of this epoch, from everybody
 *
 * An epoch is one run of a redistribution in one direction; all ranks count alike, since every rank
 * runs every exchange. In a run:
 *
 *   weft_peer_open          once, when weft_peer_may_open; then
 *   weft_peer_complete      as tiles of the array become complete
 *   weft_peer_ready         for each partner and tile that something comes from; once true,
 *                           peer->src[member] is that partner's array
 *   weft_peer_finish        once, when all is read; peer->src is void from then on
 *
 * Before the workspace is written again its readers must have read: those of the epoch in which
 * partners could read it, which weft_peer_current_readers tells. Later epochs of the same
 * redistribution may use other workspaces, and to wait for their readers instead would be to wait
 * for partners that wait for this rank. No function here waits; the executor asks again.
 *
 * No order of executions can deadlock, since all ranks run the same exchanges in the same order: a
 * rank waits for what its partners post in the same exchange before they wait for anything there
 * (`ready`, `tiles`), or for what they have posted by the end of an earlier one (`done`). So the
 * rank that is furthest behind never waits for long. tests/test_peer.c tries all small cases.
 *
 * The words are stored with release and loaded with acquire order: what the owner wrote before
 * `tiles` is seen after it, and what a reader read before `done` is read before the owner writes
 * again.
 */
#ifndef WEFT_EXCHANGE_PEER_H
#define WEFT_EXCHANGE_PEER_H

#include "layout/redistribution.h"

#include <stdatomic.h>

enum {
    WEFT_PEER_WORKSPACES = 7,
    WEFT_PEER_TILES = 4096, /* more than the tiles of any array */
    WEFT_PEER_LINE = 128    /* two lines: processors fetch pairs */
};

/* In shared memory, zero at first. */
typedef struct weft_peer_flags {
    _Alignas(WEFT_PEER_LINE) _Atomic uint64_t ready; /* epoch * WEFT_PEER_WORKSPACES + workspace */
    _Atomic uint64_t tiles;                          /* epoch * WEFT_PEER_TILES + complete ones */
    _Alignas(WEFT_PEER_LINE) _Atomic uint64_t done;  /* epoch */
} weft_peer_flags;

/* A partner's memory as this rank sees it. */
typedef struct weft_peer_member {
    weft_peer_flags *flags;                      /* to be written by the member only */
    const void *workspace[WEFT_PEER_WORKSPACES]; /* NULL where the member has none */
} weft_peer_member;

typedef struct weft_peer weft_peer;

/* One redistribution of one direction of a plan; schedules of both placements share it, since
 * ranks may differ in placement. */
struct weft_peer {
    int members, me;
    uint64_t epoch;           /* of the last run; 0 before the first */
    weft_peer_member *member; /* [members] */
    int *reader;              /* [readers]: members that read from this rank */
    int readers;
    const void **src; /* [members]: their arrays in this epoch, as far as they are ready */
};

/* Who may still read a workspace: the readers of one epoch of a redistribution. */
typedef struct weft_peer_readers {
    const weft_peer *peer; /* NULL: nobody */
    uint64_t epoch;
} weft_peer_readers;

/* Not collective. `member` (of the group) must be filled in before the first run. */
weft_status weft_peer_create(const weft_redistribution *geometry, weft_peer **peer);
void weft_peer_destroy(weft_peer *peer);

/* Whether a new epoch may begin: all have read the last one. */
bool weft_peer_may_open(const weft_peer *peer);
void weft_peer_open(weft_peer *peer, int workspace, const void *array);
void weft_peer_complete(const weft_peer *peer, int tiles); /* the first so many */
/* Whether this tile of a member's array is complete. */
bool weft_peer_ready(weft_peer *peer, int member, int tile);
void weft_peer_finish(const weft_peer *peer);
weft_peer_readers
weft_peer_current_readers(const weft_peer *peer); /* who reads this epoch's workspace */
bool weft_peer_have_read(const weft_peer_readers *readers);

#endif
