/* How much of its device's memory a plan may count on: what the caller allows or, where callers'
 * arrays on the host may be streamed, what the device has free. Ranks that share a device have
 * equal parts of that, and the smallest part of any rank is everybody's, so that all plan alike.
 * All ask before anybody allocates. */
#include "device/messages.h"
#include "exec/plan.h"
#include "plan/agreement.h"

#include <stdlib.h>

/* What engines, other plans and other processes are left of what is free: one part of so many. */
enum { MARGIN = 8 };

/* Whether the device is asked. */
static bool matters(weft_plan plan) {
    const weft_options *o = &plan->call.options;
    return o->device_memory_limit == 0 && o->stream != WEFT_STREAM_OFF &&
           plan->planner.host_buffers && !plan->transport->simulated &&
           plan->planner.common.device->memory_free;
}

static weft_status ask(weft_plan plan, size_t *bytes) {
    const weft_device_ops *device = plan->planner.common.device;
    const weft_device_handle *lent = plan->call.memory.device;
    if (lent) return lent->ops->memory_free(lent->state, bytes);
    weft_device_state *state;
    const weft_device_settings settings = {.threads = 1,
                                           .number = (int)plan->call.options.device_number};
    WEFT_TRY(device->open(&settings, &state));
    const weft_status status = device->memory_free(state, bytes);
    device->close(state);
    return status;
}

/* How many ranks use this rank's device, where ranks of one can be told apart. Collective. */
static weft_status count_sharers(weft_plan plan, int *sharers) {
    int *own_device = NULL;
    *sharers = 1;
    if (plan->transport->size == 1 || !plan->planner.common.device->messages) return WEFT_SUCCESS;
    const weft_status status = weft_plan_number_devices(plan, &own_device);
    const int rank = plan->transport->rank;
    for (int r = 0; r < plan->transport->size && status == WEFT_SUCCESS; r++)
        if (r != rank && own_device[r] == own_device[rank]) ++*sharers;
    free(own_device);
    return status;
}

static weft_status find(weft_plan plan, int64_t *room) {
    const size_t limit = plan->call.options.device_memory_limit;
    size_t bytes = 0;
    int sharers;
    *room = limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
    if (!matters(plan)) return WEFT_SUCCESS;
    WEFT_TRY(count_sharers(plan, &sharers));
    WEFT_TRY(weft_agree(plan->transport, ask(plan, &bytes)));
    int64_t less = bytes > INT64_MAX ? -INT64_MAX : -(int64_t)(bytes / (size_t)sharers);
    weft_decide(plan->transport, &less, 1); /* the largest of negatives: the smallest part */
    if (less == -INT64_MAX) return WEFT_SUCCESS;
    *room = -less - -less / MARGIN;
    if (*room == 0) *room = 1; /* 0 would be any number */
    return WEFT_SUCCESS;
}

weft_status weft_plan_find_room(weft_plan plan) {
    int64_t *room = &plan->planner.room;
    const int64_t beside = (int64_t)plan->call.memory.beside;
    WEFT_TRY(find(plan, room));
    if (*room > beside) *room -= beside; /* else there is too little anyway */
    return WEFT_SUCCESS;
}
