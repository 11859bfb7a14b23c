/* Where the ranks of a plan are: which of them share a node, and which share a device. This is
 * found out only where an exchange method that the caller gives, or weft may choose, depends on it.
 */
#include "device/messages.h"
#include "exec/plan.h"
#include "plan/agreement.h"
#include "plan/methods.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The first entry of options.exchange whose method has this need, or -1. */
static int entry_with(const weft_options *o, weft_method_need need) {
    for (int i = 0; i < WEFT_MAX_RANK; i++)
        if (weft_method_needs(o->exchange[i]) == need) return i;
    return -1;
}

/* Whether ranks may read each other's memory of this device, by themselves or because the caller
 * says so. */
static weft_status check_readable(const weft_options *o, bool *possible) {
    const weft_device_ops *device = weft_device_find(o->device);
    const int entry = entry_with(o, WEFT_NEEDS_READABLE_MEMORY);
    const bool readable = device->host_addressable || device->memory_export;
    *possible = entry >= 0 || (o->exchange[0] == WEFT_EXCHANGE_AUTO && readable);
    if (entry < 0 || readable) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "options.exchange[%d] %s: ranks cannot read each other's memory of device %s; "
                     "choose %s",
                     entry, weft_exchange_name(o->exchange[entry]), device->name,
                     weft_exchange_name(weft_method_usual()));
}

weft_status weft_plan_find_nodes(weft_plan plan) {
    weft_transport *t = plan->transport;
    bool possible;
    weft_status status = check_readable(&plan->call.options, &possible);
    if (status == WEFT_SUCCESS && possible && !t->simulated && t->size > 1) {
        plan->ranks.node = calloc((size_t)t->size, sizeof *plan->ranks.node);
        if (!plan->ranks.node)
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", t->size);
    }
    WEFT_TRY(weft_agree(t, status));
    return plan->ranks.node ? weft_agree(t, t->ops->nodes(t, plan->ranks.node)) : WEFT_SUCCESS;
}

/* Whether the caller gives an exchange method that needs a device for each rank; fails where this
 * rank cannot have it. */
static weft_status check_given(const weft_options *o, bool simulated, bool *given) {
    const weft_device_ops *device = weft_device_find(o->device);
    const int entry = entry_with(o, WEFT_NEEDS_OWN_DEVICES);
    *given = entry >= 0;
    if (entry < 0) return WEFT_SUCCESS;
    const char *name = weft_exchange_name(o->exchange[entry]);
    if (simulated)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.exchange[%d] %s needs GPUs, and simulated ranks have none; "
                         "choose %s",
                         entry, name, weft_exchange_name(weft_method_usual()));
    if (!device->messages)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.exchange[%d] %s needs GPUs: choose device cuda, or another "
                         "exchange for device %s",
                         entry, name, device->name);
    return device->messages->probe(NULL);
}

/* Whether weft may choose such a method. It does only for callers who allow planning some time,
 * since making communicators takes longer than most transforms. Collective. */
static bool may_choose(weft_plan plan) {
    const weft_options *o = &plan->call.options;
    const weft_device_ops *device = weft_device_find(o->device);
    weft_device_place unused;
    if (o->exchange[0] != WEFT_EXCHANGE_AUTO || o->effort == WEFT_ESTIMATE ||
        o->device_aware == WEFT_STAGED || !device->messages || plan->transport->simulated)
        return false;
    int64_t missing = device->messages->probe(NULL) != WEFT_SUCCESS ||
                      device->messages->locate(&unused) != WEFT_SUCCESS;
    weft_decide(plan->transport, &missing, 1);
    return !missing;
}

weft_status weft_plan_number_devices(weft_plan plan, int **own_device) {
    weft_transport *t = plan->transport;
    const weft_device_messages *messages = weft_device_find(plan->call.options.device)->messages;
    size_t ranks = (size_t)t->size;
    weft_device_place mine, *all = malloc(ranks * sizeof *all);
    int *numbers = malloc(ranks * sizeof *numbers);
    weft_status status =
        all && numbers ? messages->locate(&mine)
                       : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", t->size);
    status = weft_agree(t, status);
    if (status == WEFT_SUCCESS)
        status = weft_agree(t, t->ops->gather_all(t, &mine, sizeof mine, all));
    for (int r = 0; r < t->size && status == WEFT_SUCCESS; r++) {
        int first = 0;
        while (strcmp(all[first].text, all[r].text) != 0) first++;
        numbers[r] = first;
    }
    free(all);
    *own_device = numbers;
    return status;
}

weft_status weft_plan_find_devices(weft_plan plan) {
    bool given;
    WEFT_TRY(weft_agree(plan->transport,
                        check_given(&plan->call.options, plan->transport->simulated, &given)));
    if (plan->transport->size == 1) return WEFT_SUCCESS;
    return given || may_choose(plan) ? weft_plan_number_devices(plan, &plan->ranks.own_device)
                                     : WEFT_SUCCESS;
}
