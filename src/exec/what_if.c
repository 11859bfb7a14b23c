/* Listing the candidates of a call whose ranks and devices need not be there. */
#include "exec/what_if.h"

#include "plan/methods.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* A call with the planner for it, and what both need. */
typedef struct question {
    weft_call call;
    weft_planner planner;
    int *node, *own_device;
    weft_chain chain;
} question;

static weft_status check_devices(const weft_device_ops *device, const weft_options *o) {
    if (o->device_aware == WEFT_AWARE && !device->transport_aware)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.device_aware: the transport cannot read memory of device %s; "
                         "leave it 0",
                         device->name);
    for (int i = 0; i < WEFT_MAX_RANK; i++)
        if (weft_method_needs(o->exchange[i]) == WEFT_NEEDS_OWN_DEVICES && !device->messages)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "options.exchange[%d] %s needs GPUs: choose device cuda", i,
                             weft_exchange_name(o->exchange[i]));
    return WEFT_SUCCESS;
}

/* Whether the caller gave a method for ranks that read each other's arrays. */
static bool wants_readable_memory(const weft_options *o) {
    for (int i = 0; i < WEFT_MAX_RANK; i++)
        if (weft_method_needs(o->exchange[i]) == WEFT_NEEDS_READABLE_MEMORY) return true;
    return false;
}

/* Ranks of a node: by its links, or as many as it has cores for; 0: nothing is known of it. */
static int ranks_of_node(const weft_machine *machine, int threads) {
    const int linked = weft_machine_node_ranks(machine), cores = machine->rate.cores;
    if (linked > 0 || cores == 0) return linked;
    return cores > threads && threads > 1 ? cores / threads : threads > 1 ? 1 : cores;
}

/* Ranks on nodes in blocks, each with a device of its own where devices send by themselves. */
static weft_status place_ranks(const weft_what_if *asked, question *q) {
    const int of_node = ranks_of_node(asked->machine, q->call.options.threads);
    const weft_device_ops *device = q->planner.common.device;
    q->node = calloc((size_t)asked->ranks, sizeof *q->node);
    q->own_device = calloc((size_t)asked->ranks, sizeof *q->own_device);
    if (!q->node || !q->own_device)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %d ranks", asked->ranks);
    for (int r = 0; r < asked->ranks; r++) {
        q->node[r] = of_node > 0 ? r / of_node : r;
        q->own_device[r] = r;
    }
    if (of_node > 0 || wants_readable_memory(&q->call.options)) q->planner.node = q->node;
    if (device->messages && !q->planner.common.staged) q->planner.own_device = q->own_device;
    return WEFT_SUCCESS;
}

static weft_status fill(const weft_what_if *asked, question *q) {
    const weft_options *o = &q->call.options;
    const weft_device_ops *device = weft_device_find(o->device);
    q->planner = (weft_planner){.call = &q->call, .machine = asked->machine, .ranks = asked->ranks};
    q->planner.common.device = device;
    q->planner.common.engine = o->engine == WEFT_ENGINE_AUTO ? weft_engine_default_elsewhere(device)
                                                             : weft_engine_find(o->engine);
    q->planner.common.staged =
        o->device_aware == WEFT_STAGED || (!device->host_addressable && !device->transport_aware);
    q->planner.addressable = device->host_addressable || device->memory_export;
    WEFT_TRY(check_devices(device, o));
    return place_ranks(asked, q);
}

static void release(question *q) {
    weft_planner_release(&q->planner);
    weft_call_release(&q->call);
    free(q->node);
    free(q->own_device);
    free(q);
}

static void add_step(const weft_step *step, weft_forecast *f) {
    f->seconds += step->predicted;
    f->bytes_sent += (double)step->bytes_sent;
    switch (step->kind) {
    case WEFT_STEP_FFT:
        f->transforms += step->predicted;
        break;
    case WEFT_STEP_EXCHANGE:
        f->exchanges += step->predicted;
        f->messages += step->as.exchange.messages_sent;
        break;
    default:
        f->copies += step->predicted;
    }
}

/* What the schedule that was compared consists of. */
static weft_status describe(question *q, const weft_candidate *c, weft_forecast *f) {
    const weft_planner *p = &q->planner;
    const bool in_place = q->call.options.placement == WEFT_IN_PLACE;
    weft_held held;
    weft_schedule schedule;
    WEFT_TRY(weft_planner_chain(p, c, &q->chain));
    WEFT_TRY(weft_planner_held(p, c, &q->chain, 0, &held));
    const weft_status status =
        weft_planner_schedule(p, c, &q->chain, 0, WEFT_FORWARD, in_place, held, &schedule);
    *f = (weft_forecast){.candidate = *c};
    f->candidate.reason = NULL;
    if (status == WEFT_SUCCESS) {
        const weft_model model = weft_planner_model(p, c, &q->chain);
        weft_model_predict(&model, &schedule);
        for (int i = 0; i < schedule.steps; i++) add_step(&schedule.step[i], f);
        for (int b = 0; b < WEFT_BUFFERS; b++) f->memory += (double)schedule.buffer_bytes[b];
    }
    weft_schedule_release(&schedule);
    return status;
}

static const weft_candidate *fastest(const weft_planner *planner) {
    const weft_candidate *best = &planner->candidates[0];
    for (int i = 1; i < planner->count; i++)
        if (planner->candidates[i].seconds.predicted < best->seconds.predicted)
            best = &planner->candidates[i];
    return best;
}

weft_status weft_forecast_best(const weft_what_if *asked, weft_forecast *best) {
    question *q = calloc(1, sizeof *q);
    weft_forecast found;
    if (!q) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the planner");
    weft_status status =
        weft_call_read(asked->problem, asked->options, NULL, asked->ranks, &q->call);
    if (status == WEFT_SUCCESS) {
        weft_call_split_line(&q->call, asked->ranks);
        q->call.directions = 1u << WEFT_FORWARD;
        if (q->call.options.placement == WEFT_PLACEMENT_ANY)
            q->call.options.placement = WEFT_OUT_OF_PLACE;
        status = fill(asked, q);
    }
    if (status == WEFT_SUCCESS) status = weft_planner_list(&q->planner);
    if (status == WEFT_SUCCESS) status = describe(q, fastest(&q->planner), &found);
    if (status == WEFT_SUCCESS) *best = found;
    release(q);
    return status;
}
