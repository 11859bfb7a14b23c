/* Who may read, who has read: the words of each rank that stand for messages (peer.h). */
#include "exchange/peer.h"
#include "support/error.h"

#include <sched.h>
#include <stdlib.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "words between processes must be free of locks");

enum { SPINS = 2000 }; /* some tens of microseconds */

weft_status weft_peer_create(weft_transport *group, const weft_redistribution *g,
                             weft_peer **peer) {
    size_t members = (size_t)g->members;
    weft_peer *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange");
    *made = (weft_peer){.group = group,
                        .members = g->members,
                        .me = g->me,
                        .member = calloc(members, sizeof *made->member),
                        .reader = calloc(members, sizeof *made->reader),
                        .src = calloc(members, sizeof *made->src)};
    if (!made->member || !made->reader || !made->src) {
        weft_peer_destroy(made);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an exchange with %d ranks",
                         g->members);
    }
    for (int m = 0; m < g->members; m++)
        if (m != g->me && g->send[m].elements > 0) made->reader[made->readers++] = m;
    *peer = made;
    return WEFT_SUCCESS;
}

void weft_peer_destroy(weft_peer *peer) {
    if (!peer) return;
    free(peer->member);
    free(peer->reader);
    free(peer->src);
    free(peer);
}

/* Ranks may be more than cores, and another rank may still wait for a message that this one's
 * transport holds. */
void weft_peer_pause(const weft_peer *peer, int *spins) {
    if (++*spins < SPINS) {
#if defined(__x86_64__) || defined(__i386__)
        _mm_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        return;
    }
    peer->group->ops->progress(peer->group);
    sched_yield();
}

weft_peer_readers weft_peer_lend(const weft_peer *peer) {
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

void weft_peer_reclaim(weft_peer_readers *readers) {
    int spins = 0;
    while (!weft_peer_have_read(readers)) weft_peer_pause(readers->peer, &spins);
    readers->peer = NULL;
}

/* Who reads this epoch has finished the last one, so `ready` stays as it is until all have seen it.
 */
void weft_peer_open(weft_exchange_plan *plan) {
    weft_peer *peer = plan->peer;
    weft_peer_readers last = weft_peer_lend(peer);
    weft_peer_reclaim(&last);
    peer->epoch++;
    uint64_t word = peer->epoch * WEFT_PEER_WORKSPACES + (uint64_t)plan->workspace;
    atomic_store_explicit(&peer->member[peer->me].flags->ready, word, memory_order_release);
    for (int m = 0; m < peer->members; m++) peer->src[m] = NULL;
    peer->src[peer->me] = plan->src;
    plan->peer_src = peer->src;
}

void weft_peer_complete(const weft_exchange_plan *plan, int parts) {
    const weft_peer *peer = plan->peer;
    uint64_t word = peer->epoch * WEFT_PEER_PARTS + (uint64_t)parts;
    atomic_store_explicit(&peer->member[peer->me].flags->parts, word, memory_order_release);
}

void weft_peer_publish(weft_exchange_plan *plan) {
    weft_peer_open(plan);
    weft_peer_complete(plan, WEFT_PEER_PARTS - 1);
}

bool weft_peer_ready(weft_exchange_plan *plan, int member) {
    weft_peer *peer = plan->peer;
    weft_peer_member *partner = &peer->member[member];
    uint64_t before = peer->epoch * WEFT_PEER_PARTS + (uint64_t)plan->chunk;
    if (member == peer->me) return true;
    if (atomic_load_explicit(&partner->flags->parts, memory_order_acquire) <= before) return false;
    if (peer->src[member]) return true;
    uint64_t word = atomic_load_explicit(&partner->flags->ready, memory_order_acquire);
    if (word / WEFT_PEER_WORKSPACES != peer->epoch) return false;
    peer->src[member] = partner->workspace[word % WEFT_PEER_WORKSPACES];
    return true;
}

void weft_peer_await(weft_exchange_plan *plan, int member) {
    int spins = 0;
    while (!weft_peer_ready(plan, member)) weft_peer_pause(plan->peer, &spins);
}

bool weft_peer_all_ready(weft_exchange_plan *plan) {
    const weft_redistribution *g = plan->geometry;
    for (int m = 0; m < g->members; m++)
        if (g->receive[m].elements > 0 && !weft_peer_ready(plan, m)) return false;
    return true;
}

void weft_peer_await_all(weft_exchange_plan *plan) {
    int spins = 0;
    while (!weft_peer_all_ready(plan)) weft_peer_pause(plan->peer, &spins);
}

void weft_peer_finish(weft_exchange_plan *plan) {
    weft_peer *peer = plan->peer;
    atomic_store_explicit(&peer->member[peer->me].flags->done, peer->epoch, memory_order_release);
}
