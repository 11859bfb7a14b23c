/*
 * Workspaces that partners read (exchange method peer). Each rank has a region of shared memory
 * with its flags and, on devices whose memory the CPU addresses, its workspaces, each on pages of
 * its own. Other devices export the workspaces. Page-locked buffers that partners' devices read
 * (streamed plans) lie in the region, too; each rank locks its own and its partners'. Ranks may
 * differ in which workspaces these are and how large; they tell each other where each begins, or
 * its memory handle.
 */
#include "exchange/peer.h"
#include "exec/plan.h"
#include "plan/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* The end of a region: the flags of every redistribution in either direction. */
typedef struct shared_flags {
    weft_peer_flags flags[2][WEFT_MAX_SEGMENTS];
} shared_flags;

_Static_assert((int)WEFT_SHARED_BUFFERS <= (int)WEFT_PEER_WORKSPACES, "workspaces have numbers");

bool weft_build_shares(const weft_build *b) {
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        for (int i = 0; i < b->schedule[s].steps; i++)
            if (b->schedule[s].step[i].kind == WEFT_STEP_EXCHANGE &&
                b->schedule[s].step[i].as.exchange.method->carrier == WEFT_CARRIED_BY_READERS)
                return true;
    return false;
}

bool weft_build_is_read(const weft_build *b, int w) {
    bool shared = false;
    for (int s = 0; s < WEFT_SCHEDULES; s++) shared = shared || b->schedule[s].shared[w];
    return shared;
}

static bool is_page_locked(int w) {
    return w >= WEFT_BUFFER_STAGE_SEND - WEFT_BUFFER_WORKSPACE;
}

bool weft_build_shares_buffer(const weft_build *b, int buffer) {
    int w = buffer - WEFT_BUFFER_WORKSPACE;
    return w >= 0 && w < WEFT_SHARED_BUFFERS && weft_build_is_read(b, w) &&
           (b->candidate.device->host_addressable || is_page_locked(w));
}

static size_t rounded_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* Fills the layout and returns the size of this rank's region. */
static size_t lay_out(const weft_build *b, weft_shared_layout *layout) {
    size_t end = 0;
    for (int w = 0; w < WEFT_SHARED_BUFFERS; w++) {
        size_t bytes = b->buffers.bytes[WEFT_BUFFER_WORKSPACE + w];
        layout->workspace[w] = -1;
        layout->bytes[w] = bytes;
        layout->exported[w] = !b->device.ops->host_addressable && !is_page_locked(w) &&
                              weft_build_is_read(b, w) && bytes > 0;
        if (!weft_build_shares_buffer(b, WEFT_BUFFER_WORKSPACE + w)) continue;
        end = rounded_up(end, bytes >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : PAGE);
        layout->workspace[w] = (int64_t)end;
        end += bytes;
    }
    end = rounded_up(end, PAGE);
    layout->flags = (int64_t)end;
    return end + sizeof(shared_flags);
}

/* A workspace that a rank's device exports is imported once, and closed with the plan. */
static weft_status import_workspace(weft_build *b, int rank, int w, const void **memory) {
    const void **imported = &b->sharing.imported[rank * WEFT_SHARED_BUFFERS + w];
    if (!*imported)
        WEFT_TRY(b->device.ops->memory_import(b->device.state, &b->sharing.layout[rank].handle[w],
                                              imported));
    *memory = *imported;
    return WEFT_SUCCESS;
}

/* Finds the flags and workspaces of the members of one redistribution's group. */
static weft_status find_members(weft_build *b, int direction, int redistribution, weft_peer *peer) {
    for (int m = 0; m < peer->members; m++) {
        int rank = weft_chain_member(&b->chain, redistribution, b->sharing.over->rank, m);
        char *region = b->sharing.over->ops->shared_part(b->sharing.memory, rank);
        if (!region)
            return weft_fail(WEFT_ERROR_SYSTEM,
                             "exchange peer: the memory of rank %d cannot be read here; choose "
                             "exchange p2p-sync",
                             rank);
        const weft_shared_layout *layout = &b->sharing.layout[rank];
        shared_flags *all = (shared_flags *)(void *)(region + layout->flags);
        peer->member[m].flags = &all->flags[direction][redistribution];
        for (int w = 0; w < WEFT_SHARED_BUFFERS; w++) {
            if (layout->workspace[w] >= 0)
                peer->member[m].workspace[w] = region + layout->workspace[w];
            if (layout->exported[w] && m != peer->me)
                WEFT_TRY(import_workspace(b, rank, w, &peer->member[m].workspace[w]));
        }
    }
    return WEFT_SUCCESS;
}

static weft_status export_workspaces(weft_build *b, weft_shared_layout *layout) {
    for (int w = 0; w < WEFT_SHARED_BUFFERS; w++)
        if (layout->exported[w])
            WEFT_TRY(b->device.ops->memory_export(
                b->device.state, b->buffers.memory[WEFT_BUFFER_WORKSPACE + w], &layout->handle[w]));
    return WEFT_SUCCESS;
}

/* Has the device page-lock the buffers of all ranks that this rank can read. What it does not lock
 * is copied as it is. */
static void lock_buffers(weft_build *b) {
    const weft_device_handle *d = &b->device;
    for (int i = 0; i < b->sharing.over->size * WEFT_SHARED_BUFFERS; i++) {
        const int rank = i / WEFT_SHARED_BUFFERS, w = i % WEFT_SHARED_BUFFERS;
        const weft_shared_layout *layout = &b->sharing.layout[rank];
        char *region = b->sharing.over->ops->shared_part(b->sharing.memory, rank);
        if (!region || !is_page_locked(w) || layout->workspace[w] < 0 || !d->ops->host_lock)
            continue;
        void *buffer = region + layout->workspace[w];
        if (d->ops->host_lock(d->state, buffer, layout->bytes[w])) b->sharing.locked[i] = buffer;
    }
}

weft_status weft_build_share(weft_build *b, weft_transport *transport) {
    weft_shared_layout mine = {.flags = 0};
    size_t bytes = lay_out(b, &mine), ranks = (size_t)transport->size;
    b->sharing.over = transport;
    b->sharing.layout = calloc(ranks, sizeof *b->sharing.layout);
    b->sharing.imported = calloc(ranks * WEFT_SHARED_BUFFERS, sizeof *b->sharing.imported);
    b->sharing.locked = calloc(ranks * WEFT_SHARED_BUFFERS, sizeof *b->sharing.locked);
    weft_status status = b->sharing.layout && b->sharing.imported && b->sharing.locked
                             ? export_workspaces(b, &mine)
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan");
    b->memory.tables += bytes + ranks * (sizeof *b->sharing.layout +
                                         2 * WEFT_SHARED_BUFFERS * sizeof *b->sharing.imported);
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++) /* counted in memory.workspace */
        if (weft_build_shares_buffer(b, i)) b->memory.tables -= b->buffers.bytes[i];
    WEFT_TRY(weft_agree(transport, status));
    status = transport->ops->gather_all(transport, &mine, sizeof mine, b->sharing.layout);
    weft_keep(&status,
              transport->ops->share(transport, b->planner->node, bytes, &b->sharing.memory));
    WEFT_TRY(weft_agree(transport, status));
    b->sharing.exports = !b->device.ops->host_addressable;
    char *region = transport->ops->shared_part(b->sharing.memory, transport->rank);
    for (int w = 0; w < WEFT_SHARED_BUFFERS; w++)
        if (mine.workspace[w] >= 0)
            b->buffers.memory[WEFT_BUFFER_WORKSPACE + w] = region + mine.workspace[w];
    lock_buffers(b);
    return WEFT_SUCCESS;
}

weft_status weft_build_peer(weft_build *b, int s, int i, weft_peer **peer) {
    const weft_exchange_step *x = &b->schedule[s].step[i].as.exchange;
    int direction = (int)x->direction, k = x->redistribution;
    weft_peer **created = &b->sharing.peer[direction][k];
    if (!*created) {
        WEFT_TRY(weft_peer_create(&x->geometry, created));
        WEFT_TRY(find_members(b, direction, k, *created));
    }
    *peer = *created;
    return WEFT_SUCCESS;
}

void weft_build_unshare(weft_build *b) {
    for (int direction = 0; direction < 2; direction++)
        for (int k = 0; k < WEFT_MAX_SEGMENTS; k++)
            weft_peer_destroy(b->sharing.peer[direction][k]);
    for (int i = 0; b->sharing.imported && i < b->sharing.over->size * WEFT_SHARED_BUFFERS; i++)
        if (b->sharing.imported[i])
            b->device.ops->memory_close(b->device.state, b->sharing.imported[i]);
    for (int i = 0; b->sharing.locked && i < b->sharing.over->size * WEFT_SHARED_BUFFERS; i++)
        if (b->sharing.locked[i]) b->device.ops->host_unlock(b->device.state, b->sharing.locked[i]);
    /* No rank frees a workspace that another still has imported. */
    if (b->sharing.exports) (void)b->sharing.over->ops->barrier(b->sharing.over);
    if (b->sharing.memory) b->sharing.over->ops->unshare(b->sharing.over, b->sharing.memory);
    free(b->sharing.layout);
    free(b->sharing.imported);
    free(b->sharing.locked);
}
