/*
 * Communicators of devices, for exchanges that devices carry out themselves (method nccl): one for
 * each group of a redistribution. Member 0 of a group makes an invitation, and the transport takes
 * it to the others. The groups of a redistribution make theirs at the same time, one redistribution
 * after the other. After each stage all ranks of the plan agree, so that nobody waits for a rank
 * that has failed.
 */
#include "device/messages.h"
#include "exec/plan.h"
#include "plan/agreement.h"
#include "support/error.h"

#include <stdio.h>
#include <time.h>

static bool is_carried_by_devices(const weft_build *b, int redistribution) {
    weft_exchange method = b->candidate.exchange[b->chain.method[redistribution]];
    return weft_exchange_find(method)->carrier == WEFT_CARRIED_BY_DEVICES;
}

bool weft_build_needs_communicators(const weft_build *b) {
    bool any = false;
    for (int k = 0; k + 1 < b->chain.segments; k++) any = any || is_carried_by_devices(b, k);
    return any;
}

/* Lets a stage go on until no rank is busy with it or one has failed; `mine` is this rank's status
 * so far. Collective. */
static weft_status finish_stage(const weft_build *b, weft_transport *transport,
                                weft_communicator *communicator, weft_status mine) {
    const struct timespec pause = {0, 100000};
    for (;;) {
        bool busy = false;
        if (mine == WEFT_SUCCESS) mine = b->device.ops->messages->progress(communicator, &busy);
        int64_t seen[2] = {mine != WEFT_SUCCESS || transport->owed != WEFT_SUCCESS, busy};
        weft_decide(transport, seen, 2);
        if (seen[0] || !seen[1]) return weft_agree(transport, mine);
        nanosleep(&pause, NULL);
    }
}

static weft_status invite(const weft_build *b, weft_transport *group, weft_invitation *invitation) {
    weft_status status = WEFT_SUCCESS;
    *invitation = (weft_invitation){{0}};
    if (group->rank == 0) status = b->device.ops->messages->invite(invitation);
    weft_keep(&status, group->ops->broadcast(group, invitation, sizeof *invitation, 0));
    return status;
}

static weft_status make_communicator(weft_build *b, weft_transport *transport, int redistribution) {
    const weft_device_messages *messages = b->device.ops->messages;
    weft_transport *group = b->groups.of[redistribution];
    weft_communicator **communicator = &b->groups.communicator[redistribution];
    weft_invitation invitation;
    WEFT_TRY(weft_agree(transport, invite(b, group, &invitation)));
    weft_status status =
        messages->join(b->device.state, &invitation, group->size, group->rank, communicator);
    WEFT_TRY(finish_stage(b, transport, *communicator, status));
    WEFT_TRY(finish_stage(b, transport, *communicator, messages->connect(*communicator)));
    return weft_agree(transport, b->device.ops->queue_wait(b->device.state, NULL));
}

weft_status weft_build_make_communicators(weft_build *b, weft_transport *transport) {
    b->groups.broken = true;
    for (int k = 0; k + 1 < b->chain.segments; k++)
        if (is_carried_by_devices(b, k)) WEFT_TRY(make_communicator(b, transport, k));
    b->groups.broken = false;
    return WEFT_SUCCESS;
}

weft_status weft_build_agree(weft_build *b, weft_transport *transport, weft_status mine) {
    char sentence[WEFT_ERROR_BYTES];
    int64_t broken = b->groups.broken;
    weft_status status = weft_agree(transport, mine);
    if (status == WEFT_SUCCESS || !weft_build_needs_communicators(b)) return status;
    snprintf(sentence, sizeof sentence, "%s", weft_thread_error());
    for (int k = 0; k < WEFT_MAX_SEGMENTS; k++)
        if (b->groups.communicator[k] && b->device.ops->messages->broken(b->groups.communicator[k]))
            broken = 1;
    weft_decide(transport, &broken, 1);
    b->groups.broken = broken != 0;
    weft_thread_error_set(sentence);
    return status;
}

void weft_build_leave_communicators(weft_build *b) {
    for (int k = 0; k < WEFT_MAX_SEGMENTS; k++)
        if (b->groups.communicator[k])
            b->device.ops->messages->leave(b->groups.communicator[k], b->groups.broken);
}
