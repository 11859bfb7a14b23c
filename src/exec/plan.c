/* Plans: creation, queries, execution. */
#include "exec/plan.h"
#include "exec/arguments.h"
#include "exec/wisdom.h"

#include "plan/agreement.h"
#include "support/axis.h"
#include "support/error.h"
#include "support/versioned.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

weft_status weft_plan_check(weft_plan plan, const void *argument, const char *function,
                            const char *name) {
    if (!plan)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: the plan is NULL; create it first",
                         function);
    if (argument) return WEFT_SUCCESS;
    return weft_context_note(
        plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", function, name));
}

static void free_plan(weft_plan plan) {
    if (plan->convolution) weft_convolution_forget(plan);
    if (plan->composition) weft_composition_forget(plan);
    if (plan->build) weft_build_release(plan->build);
    free(plan->build);
    weft_call_release(&plan->call);
    free(plan->recorder.spans);
    weft_planner_release(&plan->planner);
    free(plan->ranks.node);
    free(plan->ranks.own_device);
    free(plan->ranks.input_boxes);
    free(plan->ranks.output_boxes);
    if (plan->transport) plan->transport->ops->release(plan->transport);
    free(plan);
}

/* Whether messages go through page-locked memory on this device. A caller who asks for WEFT_AWARE
 * vouches that the transport can read the device's memory, where any transport can. */
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

static weft_status find_back_ends(const weft_call *call, weft_candidate *p) {
    const weft_options *o = &call->options;
    const weft_problem *problem = &call->problem;
    bool real = false; /* to real, along some axis */
    for (int a = 0; a < problem->rank; a++)
        real = real || weft_axis_is_real_to_real(problem->axis[a]);
    p->device = weft_device_find(o->device);
    WEFT_TRY(p->device->probe(NULL));
    if (o->engine == WEFT_ENGINE_AUTO) {
        if (weft_call_only(call, WEFT_CONVOLVE) && !real)
            p->engine = weft_engine_default_fusing(p->device);
        if (!p->engine)
            p->engine = real ? weft_engine_default_real(p->device) : weft_engine_default(p->device);
        if (p->engine) return WEFT_SUCCESS;
        if (real)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "no engine has real-to-real transforms on device %s; choose host",
                             weft_device_name(o->device));
        return weft_fail(WEFT_ERROR_UNSUPPORTED, "no engine works on device %s",
                         weft_device_name(o->device));
    }
    p->engine = weft_engine_find(o->engine);
    return p->engine->probe(NULL);
}

/* Operators that are code must be code for this device. */
static weft_status check_operators(const weft_call *call, const weft_device_ops *device) {
    for (int i = 0; i < WEFT_PLACES; i++)
        for (int k = 0; k < call->operators[i].count; k++) {
            const weft_operator *o = &call->operators[i].item[k];
            const bool matrix = o->kind == WEFT_OPERATOR_MATRIX;
            const bool has_function = matrix ? o->matrix != NULL : o->function != NULL;
            if ((!matrix && o->kind != WEFT_OPERATOR_FUNCTION) ||
                (device->kernel_create ? o->snippet != NULL : has_function))
                continue;
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.%s: device %s runs no %s that is given as a %s only; give "
                             "its %s too",
                             weft_operator_place_name((weft_operator_place)i), device->name,
                             matrix ? "matrix" : "operator",
                             device->kernel_create ? "function" : "snippet",
                             device->kernel_create ? "snippet" : "function");
        }
    return WEFT_SUCCESS;
}

static weft_status fill_planner(weft_plan plan) {
    const weft_options *o = &plan->call.options;
    weft_planner *p = &plan->planner;
    *p = (weft_planner){.call = &plan->call,
                        .machine = &plan->context->source.machine,
                        .ranks = plan->transport->size,
                        .rank = plan->transport->rank,
                        .transport = plan->transport,
                        .node = plan->ranks.node,
                        .own_device = plan->ranks.own_device,
                        .leaves_on_host = plan->context->leaves_on_host,
                        .input_boxes = plan->ranks.input_boxes,
                        .output_boxes = plan->ranks.output_boxes};
    WEFT_TRY(find_back_ends(&plan->call, &p->common));
    const weft_device_ops *device = p->common.device;
    WEFT_TRY(check_operators(&plan->call, device));
    WEFT_TRY(decide_staging(o, plan->transport, device, &p->common.staged));
    p->addressable = device->host_addressable || device->memory_export;
    p->common.stream.used = o->stream == WEFT_STREAM_ON || o->stream == WEFT_STREAM_SYNC;
    p->host_buffers =
        device->host_addressable ? p->common.stream.used : o->location == WEFT_LOCATION_HOST;
    if (p->common.stream.used && !p->host_buffers)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.stream: only callers' arrays on the host are streamed; choose "
                         "WEFT_LOCATION_HOST");
    if (p->host_buffers && o->keep_spectrum)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.keep_spectrum: not with callers' buffers on the host; choose "
                         "WEFT_LOCATION_DEVICE");
    return WEFT_SUCCESS;
}

/* A task may have four spans: where it begins, where it ends, for the calling thread's wait before
 * it, and one of another thread. */
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

/* Measures what was not measured before. */
static weft_status measure_once(weft_plan plan) {
    bool found;
    WEFT_TRY(weft_wisdom_recall(plan, &found));
    if (found) return WEFT_SUCCESS;
    WEFT_TRY(weft_measure_candidates(plan->transport, &plan->planner));
    weft_wisdom_keep(plan);
    return WEFT_SUCCESS;
}

static weft_status make_plan(weft_plan plan) {
    weft_transport *t = plan->transport;
    const weft_call *call = &plan->call;
    if (call->has_input)
        WEFT_TRY(weft_call_gather_boxes(t, call, WEFT_INPUT, &plan->ranks.input_boxes));
    if (call->has_output)
        WEFT_TRY(weft_call_gather_boxes(t, call, WEFT_OUTPUT, &plan->ranks.output_boxes));
    WEFT_TRY(weft_plan_find_nodes(plan));
    WEFT_TRY(weft_plan_find_devices(plan));
    WEFT_TRY(weft_agree(t, fill_planner(plan)));
    WEFT_TRY(weft_plan_find_room(plan));
    WEFT_TRY(weft_planner_list(&plan->planner));
    if (call->options.effort != WEFT_ESTIMATE && plan->planner.count > 1 && !t->simulated)
        WEFT_TRY(measure_once(plan));
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

/* Reads and compares the arguments, then plans over a transport of its own, so that messages of
 * plans in different threads do not mix. */
weft_status weft_plan_create_for(weft_context ctx, const weft_problem *problem,
                                 const weft_options *opt, const weft_purpose *purpose,
                                 weft_plan *out) {
    weft_plan plan = calloc(1, sizeof *plan);
    weft_status status =
        !plan  ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a plan")
        : !out ? weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_plan_create: plan is NULL")
               : weft_call_read(problem, opt, purpose, ctx->transport->size, &plan->call);
    status = weft_agree(ctx->transport, status);
    if (status == WEFT_SUCCESS) status = weft_call_compare(ctx->transport, &plan->call);
    if (status == WEFT_SUCCESS) weft_call_split_line(&plan->call, ctx->transport->size);
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
    return weft_context_note(ctx, weft_plan_create_for(ctx, problem, opt, NULL, plan));
}

WEFT_API void weft_plan_destroy(weft_plan *plan) {
    if (!plan || !*plan) return;
    free_plan(*plan);
    *plan = NULL;
}

static bool is_space(weft_space space) {
    return space == WEFT_INPUT || space == WEFT_OUTPUT || space == WEFT_RESULT;
}

void weft_plan_own_box(weft_plan plan, weft_space space, int rank, weft_box *box) {
    const weft_chain *chain = &plan->build->chain;
    const weft_distribution *side =
        space == WEFT_OUTPUT
            ? chain->segment[chain->segments - 1].side[WEFT_FORWARD]
            : chain->segment[0].side[space == WEFT_INPUT ? WEFT_FORWARD : WEFT_INVERSE];
    const weft_region region =
        weft_distribution_box(&side[space == WEFT_OUTPUT ? WEFT_OUTPUT : WEFT_INPUT], rank);
    if (plan->call.line.points > 0) {
        *box = weft_line_box(&plan->call.line, &region, space);
        return;
    }
    *box = (weft_box){{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int a = 0; a < plan->call.problem.rank; a++) {
        box->lo[a] = region.lo[a];
        box->n[a] = region.n[a];
    }
}

weft_scattered weft_plan_scattered(weft_plan plan) {
    const weft_chain *chain = &plan->build->chain;
    weft_scattered scattered = {0};
    if (!chain->line.scattered || chain->line.points == 0) return scattered;
    const weft_region box =
        weft_distribution_box(&chain->segment[chain->segments - 1].side[WEFT_FORWARD][WEFT_OUTPUT],
                              plan->transport->rank);
    return (weft_scattered){chain->n[0], box.lo[0], chain->n[1]};
}

WEFT_API weft_status weft_plan_box(weft_plan plan, weft_space space, int rank, weft_box *box) {
    WEFT_TRY(weft_plan_check(plan, box, "weft_plan_box", "box"));
    if (!is_space(space) || rank < 0 || rank >= plan->transport->size)
        return weft_context_note(
            plan->context,
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "weft_plan_box: rank or space is out of range; the plan has ranks 0..%d and "
                      "spaces WEFT_INPUT, WEFT_OUTPUT, WEFT_RESULT",
                      plan->transport->size - 1));
    const weft_overlap_save *whole = plan->overlap_save;
    if (whole) {
        *box = (weft_box){{0}, {1, 1, 1, 1, 1, 1, 1, 1}};
        for (int a = 0; a < whole->rank; a++)
            box->n[a] = space == WEFT_INPUT ? whole->n[a] : whole->kept[a];
        return WEFT_SUCCESS;
    }
    if (plan->composition)
        weft_composition_end_box(plan, space, rank, box);
    else
        weft_plan_own_box(plan, space, rank, box);
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_bytes(weft_plan plan, weft_space space, size_t *bytes) {
    WEFT_TRY(weft_plan_check(plan, bytes, "weft_plan_bytes", "bytes"));
    if (!is_space(space))
        return weft_context_note(plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                                          "weft_plan_bytes: no such space"));
    *bytes = plan->composition ? weft_composition_end_bytes(plan, space)
                               : plan->build->buffers.callers_bytes[space];
    return WEFT_SUCCESS;
}

void weft_plan_own_memory(weft_plan plan, weft_memory *memory) {
    *memory = plan->build->memory;
    memory->tables += sizeof *plan +
                      (size_t)plan->planner.count * sizeof *plan->planner.candidates +
                      weft_call_operator_bytes(&plan->call);
    for (int i = 0; i < plan->planner.count; i++)
        if (plan->planner.candidates[i].reason)
            memory->tables += strlen(plan->planner.candidates[i].reason) + 1;
}

WEFT_API weft_status weft_plan_memory(weft_plan plan, weft_memory *memory) {
    WEFT_TRY(weft_plan_check(plan, memory, "weft_plan_memory", "memory"));
    weft_plan_own_memory(plan, memory);
    if (plan->composition) weft_composition_add_memory(plan, memory);
    if (plan->convolution) weft_convolution_add_memory(plan, memory);
    memory->total = memory->workspace + memory->page_locked + memory->tables;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_options(weft_plan plan, weft_options *options) {
    WEFT_TRY(weft_plan_check(plan, options, "weft_plan_options", "options"));
    const weft_candidate *c = &plan->build->candidate;
    weft_options used = plan->call.options;
    used.decomposition = c->decomposition;
    used.variant = c->variant;
    for (int i = 0; i < WEFT_MAX_RANK; i++) {
        used.grid[i] = i < c->grid_axes ? c->grid[i] : 0;
        used.exchange[i] = i < c->exchanges ? c->exchange[i] : WEFT_EXCHANGE_AUTO;
    }
    used.engine = c->engine->id;
    used.chunks = c->tiles;
    if (used.stream != WEFT_STREAM_SYNC)
        used.stream = c->stream.used ? WEFT_STREAM_ON : WEFT_STREAM_OFF;
    const bool alone = plan->transport->size == 1 && !plan->transport->simulated;
    if (alone && c->device->number) /* several ranks have GPUs of their own */
        used.device_number = c->device->number(plan->build->device.state);
    used.device_aware = c->staged ? WEFT_STAGED : WEFT_AWARE;
    return weft_context_note(
        plan->context,
        weft_versioned_write(weft_options_versions, &used, options, "weft_plan_options: options"));
}

static bool has_array(const struct weft_plan_private *plan, int number) {
    uint32_t used = 0;
    for (int i = 0; i < WEFT_PLACES; i++) used |= weft_operators_arrays(&plan->call.operators[i]);
    return number >= 0 && number < WEFT_MAX_ARRAYS && (used >> number & 1);
}

/* Checks an array of operators' factors. Whether it lies where the plan computes is not known. */
static weft_status check_operator_array(weft_plan plan, int number, const void *array) {
    const size_t unit = weft_number_bytes(plan->call.problem.precision);
    uint32_t read = 0;
    for (int d = 0; d < WEFT_DIRECTIONS; d++) read |= plan->arguments[d].arrays;
    if (number < 0 || number >= WEFT_MAX_ARRAYS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_set_array: number is %d; it is 0 to %d", number,
                         WEFT_MAX_ARRAYS - 1);
    if (!has_array(plan, number))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_set_array: no operator of the plan has array %d; give one with "
                         "that number to problem.load, spectral or store",
                         number);
    if (!array && (read >> number & 1))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_set_array: array %d is NULL, but this rank's box is not empty; "
                         "give a factor for each element (weft_plan_box)",
                         number);
    if ((uintptr_t)array % unit != 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_set_array: the address of array %d is no multiple of %zu, to "
                         "which numbers in %s precision are aligned",
                         number, unit, weft_precision_name(plan->call.problem.precision));
    return WEFT_SUCCESS;
}

weft_status weft_plan_take_array(weft_plan plan, int number, const void *array) {
    const weft_device_handle *d = &plan->build->device;
    const void *there = array;
    WEFT_TRY(check_operator_array(plan, number, array));
    if (array && d->state && d->ops->run_address)
        WEFT_TRY(d->ops->run_address(d->state, array, &there));
    /* Graphs hold the address of the one before. */
    if (there != plan->call.settings.array[number]) weft_build_release_graphs(plan->build);
    plan->call.settings.array[number] = there;
    plan->set_arrays |= 1u << number;
    return WEFT_SUCCESS;
}

/* Of a composition all plans with the array get it; the first one says what is wrong if none has.
 */
static weft_status set_array(weft_plan plan, int number, const void *array) {
    bool taken = false;
    for (weft_plan p = plan; p; p = weft_plan_next(plan, p)) {
        if (!has_array(p, number)) continue;
        WEFT_TRY(weft_plan_take_array(p, number, array));
        taken = true;
    }
    return taken ? WEFT_SUCCESS : weft_plan_take_array(plan, number, array);
}

WEFT_API weft_status weft_plan_set_array(weft_plan plan, int number, const void *array) {
    if (!plan) return weft_plan_check(plan, NULL, "weft_plan_set_array", "");
    if (plan->convolution)
        return weft_context_note(
            plan->context, weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                     "weft_plan_set_array: a convolution's array is the spectrum "
                                     "of its kernel; use weft_convolution_set_kernel"));
    return weft_context_note(plan->context, set_array(plan, number, array));
}

static bool has_parameter(const struct weft_plan_private *plan, int number) {
    for (int i = 0; i < WEFT_PLACES; i++)
        if (number < weft_operators_parameters(&plan->call.operators[i])) return true;
    return false;
}

static weft_status set_parameter(weft_plan plan, int number, double value) {
    bool taken = false;
    if (number < 0 || number >= WEFT_MAX_PARAMETERS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_plan_set_parameter: number is %d; it is 0 to %d", number,
                         WEFT_MAX_PARAMETERS - 1);
    for (weft_plan p = plan; p; p = weft_plan_next(plan, p)) {
        double *parameter = &p->call.settings.parameter[number];
        if (!has_parameter(p, number)) continue;
        taken = true;
        /* Graphs hold the value of before. */
        if (memcmp(parameter, &value, sizeof value) != 0) weft_build_release_graphs(p->build);
        *parameter = value;
    }
    if (taken) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "weft_plan_set_parameter: no operator of the plan reads parameter %d; make "
                     "the `parameters` of one %d or more",
                     number, number + 1);
}

WEFT_API weft_status weft_plan_set_parameter(weft_plan plan, int number, double value) {
    if (!plan) return weft_plan_check(plan, NULL, "weft_plan_set_parameter", "");
    return weft_context_note(plan->context, set_parameter(plan, number, value));
}

/* What reductions tell from now on, when an execution in this direction has ended. */
static void note_reductions(weft_plan plan, weft_direction dir, weft_status status) {
    const uint32_t reductions = plan->arguments[dir].reductions;
    for (int d = 0; d < WEFT_DIRECTIONS; d++) plan->reduced[d] &= ~reductions;
    if (status == WEFT_SUCCESS) plan->reduced[dir] |= reductions;
}

static weft_status execute(weft_plan plan, weft_direction dir, const void *in, void *spectrum,
                           void *out) {
    const bool plain =
        !spectrum && !plan->build->groups.broken && weft_arguments_fit(plan, dir, in, out);
    const weft_status checked =
        plain ? WEFT_SUCCESS : weft_arguments_check(plan, dir, in, spectrum, out);
    WEFT_TRY(weft_agree_on(plan->transport, checked, "weft_execute the direction", (int)dir));
    if (plan->overlap_save) return weft_overlap_save_run(plan, in, out);
    plan->build->buffers.spectrum = spectrum;
    /* A rank without data passes NULL twice, whatever the plan was made for. */
    bool in_place = in == out && weft_call_allows_in_place(&plan->call, dir);
    weft_status status = weft_build_run(plan->build, dir, in_place, in, out, &plan->recorder);
    note_reductions(plan, dir, status);
    if (!plan->build->device.ops->can_fail) {
        weft_owe(plan->transport, status); /* no reduction: the others learn it with the next */
        return status;
    }
    return weft_build_agree(plan->build, plan->transport, status);
}

/* A call that is one transform, on one rank and the host. The processor's counter takes 4 to 25 ns
 * to read, the more where a hypervisor is in between, so of brief transforms few are timed. */
static weft_status run_single(weft_plan plan, weft_direction dir, const void *in, void *out) {
    enum { EXECUTIONS_FOR_EACH_TIMED = 16 };
    const weft_build *b = plan->build;
    weft_arguments *a = &plan->arguments[dir];
    const int same = in == out;
    const bool timed = a->untimed[same] == 0;
    const uint64_t begin = timed ? weft_ticks(plan->recorder.ticker) : 0;
    const weft_status status =
        b->candidate.engine->execute(a->single[same], &b->device, NULL, in, out);
    if (!timed) {
        a->untimed[same]--;
        return status;
    }
    if (a->brief) a->untimed[same] = EXECUTIONS_FOR_EACH_TIMED - 1;
    weft_record_single(&plan->recorder, begin);
    return status;
}

weft_status weft_plan_run(weft_plan plan, weft_direction dir, const void *in, void *spectrum,
                          void *out) {
    if (!spectrum && weft_arguments_fit(plan, dir, in, out) &&
        plan->arguments[dir].single[in == out])
        return run_single(plan, dir, in, out);
    return execute(plan, dir, in, spectrum, out);
}

/* Of a plan that is NULL or a composition: says which. */
static weft_status refuse_handle(weft_plan plan, const char *function) {
    if (!plan) return weft_plan_check(plan, NULL, function, "");
    return weft_context_note(
        plan->context,
        weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                  "%s: this is a composition; use weft_composition_execute, or, of a convolution, "
                  "weft_convolution_execute",
                  function));
}

static __attribute__((noinline)) weft_status execute_any(weft_plan plan, weft_direction dir,
                                                         const void *in, void *out) {
    if (plan && plan->composition && dir == WEFT_CONVOLVE)
        return weft_context_note(plan->context, weft_composition_run(plan, in, out));
    if (!plan || plan->composition) return refuse_handle(plan, "weft_execute");
    return weft_context_note(plan->context, weft_plan_run(plan, dir, in, NULL, out));
}

/* A brief transform that is not timed goes the shortest way; nothing fits a composition's plan. */
WEFT_API weft_status weft_execute(weft_plan plan, weft_direction dir, const void *in, void *out) {
    if (!plan || !weft_arguments_fit(plan, dir, in, out)) return execute_any(plan, dir, in, out);
    weft_arguments *a = &plan->arguments[dir];
    const int same = in == out;
    if (!a->direct[same].run || a->untimed[same] == 0) return execute_any(plan, dir, in, out);
    a->untimed[same]--;
    a->direct[same].run(a->direct[same].self, in, out);
    return WEFT_SUCCESS;
}

static weft_status enqueue(weft_plan plan, weft_direction dir, const void *in, void *out,
                           void *stream) {
    WEFT_TRY(weft_arguments_check(plan, dir, in, NULL, out));
    plan->build->buffers.spectrum = NULL;
    const bool in_place = in == out && weft_call_allows_in_place(&plan->call, dir);
    weft_status status = weft_build_run_behind(plan->build, dir, in_place, in, out, stream);
    note_reductions(plan, dir, status);
    return status;
}

WEFT_API weft_status weft_enqueue(weft_plan plan, weft_direction dir, const void *in, void *out,
                                  void *stream) {
    if (!plan || plan->composition) return refuse_handle(plan, "weft_enqueue");
    return weft_context_note(plan->context, enqueue(plan, dir, in, out, stream));
}

WEFT_API weft_status weft_convolve(weft_plan plan, const void *in, void *spectrum, void *out) {
    if (!plan || plan->composition) return refuse_handle(plan, "weft_convolve");
    return weft_context_note(plan->context, execute(plan, WEFT_CONVOLVE, in, spectrum, out));
}

weft_timings weft_plan_own_timings(weft_plan plan) {
    for (int d = 0; d < WEFT_DIRECTIONS; d++) /* who asks of each execution is told of each */
        plan->arguments[d].untimed[0] = plan->arguments[d].untimed[1] = 0;
    return weft_recorder_timings(&plan->recorder);
}

WEFT_API weft_status weft_plan_timings(weft_plan plan, weft_timings *timings) {
    WEFT_TRY(weft_plan_check(plan, timings, "weft_plan_timings", "timings"));
    *timings = weft_plan_own_timings(plan);
    if (plan->composition) weft_composition_add_timings(plan, timings);
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_plan_trace(weft_plan plan, const weft_span **spans, int *count) {
    WEFT_TRY(weft_plan_check(plan, spans, "weft_plan_trace", "spans"));
    WEFT_TRY(weft_plan_check(plan, count, "weft_plan_trace", "count"));
    if (!plan->call.options.trace)
        return weft_context_note(
            plan->context,
            weft_fail(
                WEFT_ERROR_INVALID_ARGUMENT,
                "weft_plan_trace: the plan keeps no trace; create it with options.trace = 1"));
    *spans = plan->recorder.spans;
    *count = weft_recorder_spans(&plan->recorder);
    if (plan->composition) weft_composition_trace(plan, spans, count);
    return WEFT_SUCCESS;
}
