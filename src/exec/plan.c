/* Plans: creation, queries, execution, buffers. */
#include "exec/plan.h"
#include "exec/arguments.h"

#include "plan/agreement.h"
#include "support/error.h"
#include "support/versioned.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static weft_status missing_plan(const char *function) {
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: the plan is NULL; create it first",
                     function);
}

static void free_plan(weft_plan plan) {
    if (plan->build) weft_build_release(plan->build);
    free(plan->build);
    weft_call_release(&plan->call);
    free(plan->recorder.spans);
    weft_planner_release(&plan->planner);
    free(plan->node);
    free(plan->own_device);
    free(plan->input_boxes);
    free(plan->output_boxes);
    if (plan->transport) plan->transport->ops->release(plan->transport);
    free(plan);
}

/* Whether messages go through page-locked memory on this device. Who asks for WEFT_AWARE is
 * believed that the transport can read it, where any can. */
static weft_status decide_staging(const weft_options *o, weft_transport *transport,
                                  const weft_device_ops *device, bool *staged) {
    if (o->device_aware == WEFT_AWARE && !device->transport_aware)
        return weft_fail(
            WEFT_ERROR_UNSUPPORTED,
            "options.device_aware: the transport cannot read memory of device %s; leave "
            "it 0 or choose WEFT_STAGED",
            device->name);
    bool aware = device->host_addressable || o->device_aware == WEFT_AWARE ||
                 (device->transport_aware && transport->ops->reads_device &&
                  transport->ops->reads_device(transport, device->id));
    *staged = o->device_aware == WEFT_STAGED || !aware;
    return WEFT_SUCCESS;
}

static weft_status find_back_ends(const weft_options *o, weft_kind kind, weft_candidate *p) {
    const char *unused;
    p->device = weft_device_find(o->device);
    WEFT_TRY(p->device->probe(&unused));
    if (o->engine == WEFT_ENGINE_AUTO) {
        p->engine =
            kind == WEFT_R2R ? weft_engine_default_real(p->device) : weft_engine_default(p->device);
        if (p->engine) return WEFT_SUCCESS;
        if (kind == WEFT_R2R)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "no engine has real-to-real transforms on device %s; choose host",
                             weft_device_name(o->device));
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "no engine works on device %s",
                         weft_device_name(o->device));
    }
    p->engine = weft_engine_find(o->engine);
    return p->engine->probe(&unused);
}

/* What the caller gives as code must be code for this device. */
static weft_status check_operators(const weft_call *call, const weft_device_ops *device) {
    for (int i = 0; i < WEFT_PLACES; i++)
        for (int k = 0; k < call->operators[i].count; k++) {
            const weft_operator *o = &call->operators[i].item[k];
            if (o->kind != WEFT_OPERATOR_FUNCTION ||
                (device->run ? o->function != NULL : o->snippet != NULL))
                continue;
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.%s: device %s runs no operator that is given as a %s only; "
                             "give its %s too",
                             weft_operator_place_name((weft_operator_place)i), device->name,
                             device->run ? "snippet" : "function",
                             device->run ? "function" : "snippet");
        }
    return WEFT_SUCCESS;
}

static weft_status fill_planner(weft_plan plan) {
    const weft_options *o = &plan->call.options;
    weft_planner *p = &plan->planner;
    *p = (weft_planner){.call = &plan->call,
                        .ranks = plan->transport->size,
                        .rank = plan->transport->rank,
                        .transport = plan->transport,
                        .node = plan->node,
                        .own_device = plan->own_device,
                        .input_boxes = plan->input_boxes,
                        .output_boxes = plan->output_boxes};
    WEFT_TRY(find_back_ends(o, plan->call.problem.kind, &p->common));
    const weft_device_ops *device = p->common.device;
    WEFT_TRY(check_operators(&plan->call, device));
    WEFT_TRY(decide_staging(o, plan->transport, device, &p->common.staged));
    p->addressable = device->host_addressable || device->memory_export;
    p->host_buffers = o->location == WEFT_LOCATION_HOST && !device->host_addressable;
    if (p->host_buffers && o->keep_spectrum)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.keep_spectrum: not with callers' buffers on the host; choose "
                         "WEFT_LOCATION_DEVICE");
    return WEFT_SUCCESS;
}

/* Each task has a span where it is begun or ends, one for what the calling thread waited before,
 * and one of another thread's. */
static weft_status make_room_for_spans(weft_plan plan) {
    weft_recorder *r = &plan->recorder;
    if (!plan->call.options.trace) return WEFT_SUCCESS;
    for (int s = 0; s < WEFT_SCHEDULES; s++) {
        const int64_t spans = 4 * (int64_t)plan->build->program[s].lowered.tasks.count + 16;
        if (spans > r->capacity) r->capacity = (int)spans;
    }
    size_t bytes = (size_t)r->capacity * sizeof *r->spans;
    r->spans = malloc(bytes + 1);
    if (!r->spans) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a trace");
    plan->build->memory.tables += bytes;
    return WEFT_SUCCESS;
}

static weft_status make_plan(weft_plan plan) {
    weft_transport *t = plan->transport;
    const weft_call *call = &plan->call;
    if (call->has_input) WEFT_TRY(weft_call_gather_boxes(t, call, WEFT_INPUT, &plan->input_boxes));
    if (call->has_output)
        WEFT_TRY(weft_call_gather_boxes(t, call, WEFT_OUTPUT, &plan->output_boxes));
    WEFT_TRY(weft_plan_find_nodes(plan));
    WEFT_TRY(weft_plan_find_devices(plan));
    WEFT_TRY(weft_agree(t, fill_planner(plan)));
    WEFT_TRY(weft_planner_list(&plan->planner));
    if (call->options.effort != WEFT_ESTIMATE && plan->planner.count > 1 && !t->simulated)
        WEFT_TRY(weft_measure_candidates(t, &plan->planner));
    plan->build = calloc(1, sizeof *plan->build);
    WEFT_TRY(weft_agree(t, plan->build
                               ? WEFT_SUCCESS
                               : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan")));
    WEFT_TRY(weft_build_first(t, &plan->planner, plan->build));
    WEFT_TRY(weft_agree(t, make_room_for_spans(plan)));
    plan->recorder.ticker = weft_ticker_find();
    weft_arguments_find(plan);
    return WEFT_SUCCESS;
}

/* Reads and compares the arguments, then plans in a message space of its own, so that plans of
 * different threads do not meet. */
static weft_status create(weft_context ctx, const weft_problem *problem, const weft_options *opt,
                          weft_plan *out) {
    weft_plan plan = calloc(1, sizeof *plan);
    weft_status status =
        !plan  ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan")
        : !out ? weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_create: plan is NULL")
               : weft_call_read(problem, opt, ctx->transport->size, &plan->call);
    status = weft_agree(ctx->transport, status);
    if (status == WEFT_SUCCESS) status = weft_call_compare(ctx->transport, &plan->call);
    if (status == WEFT_SUCCESS)
        status = weft_agree(
            ctx->transport,
            ctx->transport->ops->split(ctx->transport, 0, ctx->transport->rank, &plan->transport));
    if (status == WEFT_SUCCESS) {
        weft_owe_elsewhere(ctx->transport, plan->transport);
        plan->context = ctx;
        status = make_plan(plan);
    }
    if (status != WEFT_SUCCESS) {
        if (plan) free_plan(plan);
        return status;
    }
    *out = plan;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_create(weft_context ctx, const weft_problem *problem,
                                      const weft_options *opt, weft_plan *plan) {
    if (!ctx)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_create: the context is NULL; create it first");
    return weft_context_keep(ctx, create(ctx, problem, opt, plan));
}

WEFT_API void weft_plan_destroy(weft_plan *plan) {
    if (!plan || !*plan) return;
    free_plan(*plan);
    *plan = NULL;
}

WEFT_API weft_status weft_plan_box(weft_plan plan, weft_space space, int rank, weft_box *box) {
    if (!plan) return missing_plan("weft_plan_box");
    if (!box || (space != WEFT_INPUT && space != WEFT_OUTPUT) || rank < 0 ||
        rank >= plan->transport->size)
        return weft_context_keep(
            plan->context,
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "weft_plan_box: %s; the plan has ranks 0..%d and spaces WEFT_INPUT, "
                      "WEFT_OUTPUT",
                      !box ? "box is NULL" : "rank or space is out of range",
                      plan->transport->size - 1));
    const weft_chain *chain = &plan->build->chain;
    weft_region region = weft_distribution_box(
        space == WEFT_INPUT ? &chain->segment[0].in : &chain->segment[chain->segments - 1].out,
        rank);
    *box = (weft_box){{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    memcpy(box->lo, region.lo, (size_t)plan->call.problem.rank * sizeof box->lo[0]);
    memcpy(box->n, region.n, (size_t)plan->call.problem.rank * sizeof box->n[0]);
    for (int a = 0; a < plan->call.problem.rank && space == WEFT_INPUT; a++) {
        const int64_t end = plan->call.problem.pad_from[a];
        if (end > 0 && box->lo[a] + box->n[a] > end)
            box->n[a] = end > box->lo[a] ? end - box->lo[a] : 0;
    }
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_bytes(weft_plan plan, weft_space space, size_t *bytes) {
    if (!plan) return missing_plan("weft_plan_bytes");
    if (!bytes || (space != WEFT_INPUT && space != WEFT_OUTPUT))
        return weft_context_keep(plan->context,
                                 weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_bytes: %s",
                                           !bytes ? "bytes is NULL" : "no such space"));
    *bytes = plan->build->buffers.callers_bytes[space];
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_memory(weft_plan plan, weft_memory *memory) {
    if (!plan) return missing_plan("weft_plan_memory");
    if (!memory)
        return weft_context_keep(plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                                          "weft_plan_memory: memory is NULL"));
    *memory = plan->build->memory;
    memory->tables += sizeof *plan +
                      (size_t)plan->planner.count * sizeof *plan->planner.candidates +
                      weft_call_operator_bytes(&plan->call);
    for (int i = 0; i < plan->planner.count; i++)
        if (plan->planner.candidates[i].reason)
            memory->tables += strlen(plan->planner.candidates[i].reason) + 1;
    memory->total = memory->workspace + memory->page_locked + memory->tables;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_options(weft_plan plan, weft_options *options) {
    if (!plan) return missing_plan("weft_plan_options");
    if (!options)
        return weft_context_keep(plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                                          "weft_plan_options: options is NULL"));
    const weft_candidate *c = &plan->build->candidate;
    weft_options made = plan->call.options;
    made.decomposition = c->decomposition;
    made.variant = c->variant;
    memset(made.grid, 0, sizeof made.grid);
    memcpy(made.grid, c->grid, (size_t)c->grid_axes * sizeof c->grid[0]);
    for (int i = 0; i < WEFT_MAX_RANK; i++)
        made.exchange[i] = i < c->grid_axes ? c->exchange[i] : WEFT_EXCHANGE_AUTO;
    made.engine = plan->build->candidate.engine->id;
    made.chunks = c->tiles;
    made.device_aware = c->staged ? WEFT_STAGED : WEFT_AWARE;
    return weft_context_keep(
        plan->context,
        weft_versioned_write(weft_options_versions, &made, options, "weft_plan_options: options"));
}

static weft_status execute(weft_plan plan, weft_direction dir, const void *in, void *spectrum,
                           void *out) {
    const bool plain =
        !spectrum && !plan->build->meeting.broken && weft_arguments_fit(plan, dir, in, out);
    const weft_status checked =
        plain ? WEFT_SUCCESS : weft_arguments_check(plan, dir, in, spectrum, out);
    WEFT_TRY(weft_agree_on(plan->transport, checked, "weft_execute the direction", (int)dir));
    plan->build->buffers.kept = spectrum;
    /* A rank without data passes NULL twice, whatever the plan was made for. */
    bool in_place = in == out && plan->call.options.placement != WEFT_OUT_OF_PLACE;
    weft_status status = weft_build_run(plan->build, dir, in_place, in, out, &plan->recorder);
    if (!plan->build->device.ops->can_fail) {
        weft_owe(plan->transport, status); /* at the price of no reduction now */
        return status;
    }
    return weft_build_agree(plan->build, plan->transport, status);
}

/* A schedule that is one transform, on one rank and the host: nobody else is concerned. */
static weft_status run_single(weft_plan plan, weft_engine_plan *transform, const void *in,
                              void *out) {
    weft_recorder *r = &plan->recorder;
    const weft_build *b = plan->build;
    const uint64_t begin = weft_ticks(r->ticker);
    const weft_status status = b->candidate.engine->execute(transform, &b->device, NULL, in, out);
    weft_record_single(r, begin);
    return status;
}

WEFT_API weft_status weft_execute(weft_plan plan, weft_direction dir, const void *in, void *out) {
    if (!plan) return missing_plan("weft_execute");
    if (weft_arguments_fit(plan, dir, in, out)) {
        weft_engine_plan *transform = plan->arguments[dir].single[in == out];
        if (transform)
            return weft_context_keep(plan->context, run_single(plan, transform, in, out));
    }
    return weft_context_keep(plan->context, execute(plan, dir, in, NULL, out));
}

WEFT_API weft_status weft_convolve(weft_plan plan, const void *in, void *spectrum, void *out) {
    if (!plan) return missing_plan("weft_convolve");
    return weft_context_keep(plan->context, execute(plan, WEFT_CONVOLVE, in, spectrum, out));
}

WEFT_API weft_status weft_plan_timings(weft_plan plan, weft_timings *timings) {
    if (!plan) return missing_plan("weft_plan_timings");
    if (!timings)
        return weft_context_keep(plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                                          "weft_plan_timings: timings is NULL"));
    *timings = weft_recorder_timings(&plan->recorder);
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_trace(weft_plan plan, const weft_span **spans, int *count) {
    if (!plan) return missing_plan("weft_plan_trace");
    if (!spans || !count)
        return weft_context_keep(plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                                          "weft_plan_trace: a pointer is NULL"));
    if (!plan->call.options.trace)
        return weft_context_keep(
            plan->context,
            weft_fail(
                WEFT_ERROR_INVALID_ARGUMENT,
                "weft_plan_trace: the plan keeps no trace; create it with options.trace = 1"));
    *spans = plan->recorder.spans;
    *count = weft_recorder_spans(&plan->recorder);
    return WEFT_SUCCESS;
}
