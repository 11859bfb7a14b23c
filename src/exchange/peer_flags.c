/* Who may read, who has read: the words of each rank that stand for messages (peer.h). */
#include "exchange/peer.h"
#include "support/error.h"

#include <stdlib.h>

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words between processes must be free of locks");

weft_status weft_peer_create(const weft_redistribution *g, weft_peer **peer) {
    size_t members = (size_t)g->members;
    weft_peer *created = calloc(1, sizeof *created);
    if (!created) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    *created = (weft_peer){.members = g->members,
                           .me = g->me,
                           .member = calloc(members, sizeof *created->member),
                           .reader = calloc(members, sizeof *created->reader),
                           .src = calloc(members, sizeof *created->src)};
    if (!created->member || !created->reader || !created->src) {
        weft_peer_destroy(created);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange with %d ranks",
                         g->members);
    }
    for (int m = 0; m < g->members; m++)
        if (m != g->me && g->send[m].elements > 0) created->reader[created->readers++] = m;
    *peer = created;
    return WEFT_SUCCESS;
}

void weft_peer_destroy(weft_peer *peer) {
    if (!peer) return;
    free(peer->member);
    free(peer->reader);
    free(peer->src);
    free(peer);
}

weft_peer_readers weft_peer_current_readers(const weft_peer *peer) {
    return (weft_peer_readers){peer, peer->epoch};
}

bool weft_peer_have_read(const weft_peer_readers *readers) {
    const weft_peer *peer = readers->peer;
    for (int i = 0; peer && i < peer->readers; i++) {
        const weft_peer_flags *reader = peer->member[peer->reader[i]].flags;
        if (atomic_load_explicit(&reader->done, memory_order_acquire) < readers->epoch)
            return false;
    }
    return true;
}

/* Who reads this epoch has finished the last one, so `ready` stays as it is until all have seen it.
 */
bool weft_peer_may_open(const weft_peer *peer) {
    const weft_peer_readers last = weft_peer_current_readers(peer);
    return weft_peer_have_read(&last);
}

void weft_peer_open(weft_peer *peer, int workspace, const void *array) {
    peer->epoch++;
    uint64_t word = peer->epoch * WEFT_PEER_WORKSPACES + (uint64_t)workspace;
    atomic_store_explicit(&peer->member[peer->me].flags->ready, word, memory_order_release);
    for (int m = 0; m < peer->members; m++) peer->src[m] = NULL;
    peer->src[peer->me] = array;
}

void weft_peer_complete(const weft_peer *peer, int tiles) {
    uint64_t word = peer->epoch * WEFT_PEER_TILES + (uint64_t)tiles;
    atomic_store_explicit(&peer->member[peer->me].flags->tiles, word, memory_order_release);
}

bool weft_peer_ready(weft_peer *peer, int member, int tile) {
    weft_peer_member *partner = &peer->member[member];
    uint64_t before = peer->epoch * WEFT_PEER_TILES + (uint64_t)tile;
    if (member == peer->me) return true;
    if (atomic_load_explicit(&partner->flags->tiles, memory_order_acquire) <= before) return false;
    if (peer->src[member]) return true;
    uint64_t word = atomic_load_explicit(&partner->flags->ready, memory_order_acquire);
    if (word / WEFT_PEER_WORKSPACES != peer->epoch) return false;
    peer->src[member] = partner->workspace[word % WEFT_PEER_WORKSPACES];
    return true;
}

void weft_peer_finish(const weft_peer *peer) {
    atomic_store_explicit(&peer->member[peer->me].flags->done, peer->epoch, memory_order_release);
}
