/*
 * Making a candidate ready: chain, schedules, device, buffers, engine plans, groups, exchanges, in
 * this order. Each stage that can fail on one rank alone ends with an agreement, so that all ranks
 * stop at the same place.
 */
#include "exec/plan.h"
#include "plan/agreement.h"
#include "plan/model.h"
#include "support/checked.h"
#include "support/error.h"
#include "support/host_memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_staging(int buffer) {
    return buffer >= WEFT_BUFFER_STAGE_SEND;
}

static weft_memory_kind memory_kind(int buffer) {
    return is_staging(buffer) ? WEFT_MEMORY_PAGE_LOCKED : WEFT_MEMORY_DEVICE;
}

/* Makes all schedules, given what is held anyway. */
static weft_status make_schedules_within(weft_build *b, int rank, weft_held held) {
    const weft_model model = weft_planner_model(b->planner, &b->candidate, &b->chain);
    for (int s = 0; s < WEFT_SCHEDULES; s++) {
        const weft_direction direction = (weft_direction)(s / 2);
        const bool in_place = s % 2 == 1;
        if (!weft_planner_wants(b->planner, direction, in_place)) continue;
        WEFT_TRY(weft_planner_schedule(b->planner, &b->candidate, &b->chain, rank, direction,
                                       in_place, held, &b->schedule[s]));
        weft_model_predict(&model, &b->schedule[s]);
        b->scheduled[s] = true;
    }
    return WEFT_SUCCESS;
}

/* The buffer of a schedule that is the caller's buffer in a space, or -1. `one`: the plan runs in
 * place only, so that all spaces have one buffer. Where it runs out of place too, the one array of
 * an execution in place counts as the output space's, but for those there and back. */
static int callers_buffer(const weft_schedule *schedule, weft_space space, bool one) {
    const weft_space from = weft_space_of_first(schedule->direction);
    const weft_space to = weft_space_of_result(schedule->direction);
    if (one) return WEFT_BUFFER_OUT;
    if (schedule->in_place && !weft_goes_both_ways(schedule->direction))
        return space == WEFT_OUTPUT ? WEFT_BUFFER_OUT : -1;
    return space == to                            ? WEFT_BUFFER_OUT
           : space == from && !schedule->in_place ? WEFT_BUFFER_IN
                                                  : -1;
}

static void raise_to(size_t *most, size_t bytes) {
    if (bytes > *most) *most = bytes;
}

/* A strided array reaches as far before element 0, and behind it, as at any of its places. */
static void size_strided(weft_build *b, weft_operator_place place) {
    const bool input = place == WEFT_PLACE_LOAD || place == WEFT_PLACE_STORE;
    const weft_space space = input ? WEFT_INPUT : WEFT_OUTPUT;
    int64_t *begin = &b->buffers.callers_first[space], first, end;
    if (!b->planner->call->strides.given[space]) return;
    weft_call_reach(b->planner->call, place, &first, &end);
    if (first < *begin) *begin = first;
    raise_to(&b->buffers.callers_bytes[space], (size_t)(end - *begin));
}

/* Bytes of this rank's box of the spectrum. */
static size_t spectrum_bytes(const weft_build *b, int rank) {
    const weft_chain *chain = &b->chain;
    const int last = chain->segments - 1;
    const weft_region box =
        weft_distribution_box(&chain->segment[last].side[WEFT_FORWARD][WEFT_OUTPUT], rank);
    return (size_t)weft_region_elements(&box) *
           weft_number_bytes(b->planner->call->problem.precision) *
           (weft_chain_is_real(chain, last + 1) ? 1 : 2);
}

/* Finds the size that each buffer must have for all schedules. */
static void size_buffers(weft_build *b, int rank) {
    const bool one = b->planner->call->options.placement == WEFT_IN_PLACE;
    for (int s = 0; s < WEFT_SCHEDULES; s++) {
        const size_t *bytes = b->schedule[s].buffer_bytes;
        if (!b->scheduled[s]) continue;
        for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++)
            raise_to(&b->buffers.bytes[i], bytes[i]);
        for (int space = WEFT_INPUT; space <= WEFT_RESULT; space++) {
            const int buffer = callers_buffer(&b->schedule[s], (weft_space)space, one);
            if (buffer >= 0) raise_to(&b->buffers.callers_bytes[space], bytes[buffer]);
        }
    }
    for (int i = 0; i < WEFT_PLACES; i++) size_strided(b, (weft_operator_place)i);
    if (b->planner->call->options.keep_spectrum && weft_call_only(b->planner->call, WEFT_CONVOLVE))
        raise_to(&b->buffers.callers_bytes[WEFT_OUTPUT], spectrum_bytes(b, rank));
    size_t *callers = b->buffers.callers_bytes;
    const weft_problem *p = &b->planner->call->problem;
    const weft_line *line = &b->planner->call->line;
    if (memcmp(p->pad_from, p->crop_to, sizeof p->pad_from) != 0 || p->fields != p->result_fields ||
        line->stored[WEFT_FORWARD] != line->stored[WEFT_INVERSE])
        return;
    raise_to(&callers[WEFT_INPUT], callers[WEFT_RESULT]);
    raise_to(&callers[WEFT_RESULT], callers[WEFT_INPUT]);
    b->buffers.callers_first[WEFT_RESULT] = b->buffers.callers_first[WEFT_INPUT];
}

static weft_status make_schedules(weft_build *b, int rank) {
    weft_held held;
    WEFT_TRY(weft_planner_chain(b->planner, &b->candidate, &b->chain));
    WEFT_TRY(weft_planner_held(b->planner, &b->candidate, &b->chain, rank, &held));
    WEFT_TRY(make_schedules_within(b, rank, held));
    size_buffers(b, rank);
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++)
        *(is_staging(i) ? &b->memory.page_locked : &b->memory.workspace) += b->buffers.bytes[i];
    return WEFT_SUCCESS;
}

/* Checks that workspaces of so many bytes are within options.device_memory_limit. */
static weft_status check_limit(const weft_build *b, int64_t bytes) {
    const size_t limit = b->planner->call->options.device_memory_limit;
    if (limit == 0 || (uint64_t)bytes <= limit) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "device memory: the plan's workspaces of %lld bytes, those that ranks share "
                     "included, do not fit options.device_memory_limit, %zu bytes; raise the limit "
                     "or use more ranks",
                     (long long)bytes, limit);
}

/* Checks that the buffers fit into memory and the caller's limit, before anything is made that
 * depends on their size. */
static weft_status check_memory(const weft_build *b) {
    int64_t device = 0, staging = 0;
    bool fits = true;
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++) {
        int64_t *sum = is_staging(i) ? &staging : &device;
        fits = fits && weft_checked_add(*sum, (int64_t)b->buffers.bytes[i], sum);
    }
    int64_t host = staging;
    if (b->candidate.device->host_addressable) fits = fits && weft_checked_add(host, device, &host);
    if (!fits)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "the plan's workspaces have more than 2^63 bytes; use more ranks");
    WEFT_TRY(check_limit(b, device));
    return weft_host_memory_check("the plan's workspaces", (size_t)host, "use more ranks");
}

/* Takes the lender's memory for a buffer, unless partners read one of the two. */
static bool borrow(weft_build *b, int buffer) {
    const weft_build *lender = b->planner->call->memory.lender;
    const int workspace = buffer - WEFT_BUFFER_WORKSPACE;
    if (!lender || !lender->buffers.memory[buffer] ||
        lender->buffers.bytes[buffer] < b->buffers.bytes[buffer] ||
        weft_build_is_read(lender, workspace) || weft_build_is_read(b, workspace))
        return false;
    b->buffers.memory[buffer] = lender->buffers.memory[buffer];
    b->buffers.borrowed[buffer] = true;
    *(is_staging(buffer) ? &b->memory.page_locked : &b->memory.workspace) -=
        b->buffers.bytes[buffer];
    return true;
}

static weft_status allocate_buffers(weft_build *b) {
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++)
        if (b->buffers.bytes[i] > 0 && !weft_build_shares_buffer(b, i) && !borrow(b, i))
            WEFT_TRY(b->device.ops->allocate(b->device.state, memory_kind(i), b->buffers.bytes[i],
                                             &b->buffers.memory[i]));
    return WEFT_SUCCESS;
}

static weft_status create_programs(weft_build *b) {
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        if (b->scheduled[s]) WEFT_TRY(weft_program_create(b, s));
    for (int i = 0; i < 2; i++) b->memory.workspace += b->transforms.scratch[i].bytes;
    return check_limit(b, (int64_t)b->memory.workspace);
}

/* Prepares a list of operators as the host's code, or as a kernel where the device does not run
 * that code, or as data where it has no kernels either. */
static weft_status prepare_operators_of(weft_build *b, const weft_step *step, int slot) {
    const weft_pointwise_step *pointwise = &step->as.pointwise;
    if (b->device.ops->run) {
        WEFT_TRY(weft_pointwise_create(pointwise->operators, &pointwise->layout,
                                       b->planner->call->options.threads,
                                       &b->operators.pointwise[slot]));
        b->memory.tables += weft_pointwise_bytes(b->operators.pointwise[slot]);
    } else if (step->dst_bytes > 0 && !b->device.ops->kernel_create) {
        WEFT_TRY(weft_operator_offload_create(pointwise->operators, &pointwise->layout,
                                              b->planner->call->options.threads, &b->device,
                                              &b->operators.offload[slot]));
        b->memory.tables += weft_operator_offload_bytes(b->operators.offload[slot]);
        b->memory.page_locked += weft_operator_offload_page_locked(b->operators.offload[slot]);
    } else if (step->dst_bytes > 0) {
        WEFT_TRY(weft_operator_pass_create(pointwise->operators, &pointwise->layout, &b->device,
                                           &b->operators.pass[slot]));
        b->memory.tables += weft_operator_pass_bytes(b->operators.pass[slot]);
    }
    return WEFT_SUCCESS;
}

static weft_status prepare_operators(weft_build *b) {
    double unused;
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        for (int i = 0; i < b->schedule[s].steps; i++) {
            const weft_step *step = &b->schedule[s].step[i];
            if (step->kind != WEFT_STEP_POINTWISE || weft_step_scales(step, &unused)) continue;
            const int slot = weft_operator_slot(&b->schedule[s], step);
            if (!b->operators.pointwise[slot] && !b->operators.pass[slot] &&
                !b->operators.offload[slot])
                WEFT_TRY(prepare_operators_of(b, step, slot));
        }
    /* Kernels that are a pass of operators load and store whole elements, and cuFFT pairs. */
    b->buffers.wants_pairs = b->candidate.engine->wants_pairs;
    for (int i = 0; i < WEFT_OPERATOR_SLOTS; i++) {
        const bool callers = i % WEFT_MAX_POINTWISE_STEPS < WEFT_FIRST_CONVERSION;
        if (callers && b->operators.pass[i]) b->buffers.wants_pairs = true;
    }
    return WEFT_SUCCESS;
}

static weft_status split_groups(weft_build *b, weft_transport *transport) {
    weft_status status = WEFT_SUCCESS;
    for (int k = 0; k + 1 < b->chain.segments; k++) {
        int color, key, size;
        weft_chain_group(&b->chain, k, transport->rank, &color, &key, &size);
        weft_keep(&status, transport->ops->split(transport, color, key, &b->groups.of[k]));
    }
    return status;
}

/* Starts the sender that all exchanges share, if some exchange sends by it. */
static weft_status start_sender(weft_build *b, weft_transport *transport) {
    int messages = 0;
    bool any = false;
    for (int s = 0; s < WEFT_SCHEDULES; s++) {
        const weft_program *p = &b->program[s];
        any = any || (p->lowered.lanes & 1 << WEFT_LANE_SENDER);
        if (p->sends > messages) messages = p->sends;
    }
    if (!any) return WEFT_SUCCESS;
    return weft_sender_create(transport->ops->threads_allowed(transport), messages,
                              &b->lanes.sender);
}

/* Connecting programs is collective over groups, so a rank that fails goes on with the others and
 * returns the failure at the end. */
static weft_status connect_programs(weft_build *b, weft_transport *transport) {
    weft_status status = WEFT_SUCCESS;
    for (int s = 0; s < WEFT_SCHEDULES; s++)
        if (b->scheduled[s]) weft_keep(&status, weft_program_connect(b, s));
    weft_keep(&status, start_sender(b, transport));
    return status;
}

/* The device's limit counts shared workspaces, which do not come from it; check_memory has found
 * that all of them fit. */
static weft_status open_device(weft_build *b) {
    if (b->planner->call->memory.device) {
        b->device = *b->planner->call->memory.device;
        return WEFT_SUCCESS;
    }
    const weft_options *o = &b->planner->call->options;
    weft_device_settings settings = {.threads = o->threads,
                                     .memory_limit = o->device_memory_limit,
                                     .number = (int)o->device_number};
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS && settings.memory_limit > 0; i++)
        if (weft_build_shares_buffer(b, i) && !is_staging(i))
            settings.memory_limit -= b->buffers.bytes[i];
    if (o->device_memory_limit > 0 && settings.memory_limit == 0)
        settings.memory_limit = 1; /* 0 would be no limit */
    WEFT_TRY(b->candidate.device->open(&settings, &b->device.state));
    b->device.ops = b->candidate.device;
    return WEFT_SUCCESS;
}

/* What comes behind all buffers and queues: the device's own memory for transfers, which has no
 * more than what is left beside the memory that belongs to the plan. */
static weft_status finish(const weft_build *b) {
    const size_t beside = b->planner->call->memory.beside;
    const weft_device_handle *d = &b->device;
    void *memory = NULL;
    if (d->ops->kernels_await) WEFT_TRY(d->ops->kernels_await(d->state));
    if (beside > 0) WEFT_TRY(d->ops->allocate(d->state, WEFT_MEMORY_DEVICE, beside, &memory));
    if (d->ops->prepare_transfers && (b->candidate.staged || b->planner->host_buffers))
        d->ops->prepare_transfers(d->state);
    if (beside > 0) d->ops->free(d->state, WEFT_MEMORY_DEVICE, memory);
    return WEFT_SUCCESS;
}

weft_status weft_build_create(weft_transport *transport, const weft_planner *planner,
                              const weft_candidate *candidate, weft_build *b) {
    memset(b, 0, sizeof *b);
    b->planner = planner;
    b->candidate = *candidate;
    b->memory.tables = sizeof *b;
    weft_status status = make_schedules(b, transport->rank);
    if (status == WEFT_SUCCESS && !transport->simulated) status = check_memory(b);
    WEFT_TRY(weft_agree(transport, status));
    if (transport->simulated) return WEFT_SUCCESS;
    WEFT_TRY(weft_agree(transport, open_device(b)));
    weft_build_find_repeating(b);
    WEFT_TRY(weft_agree(transport, create_programs(b)));
    WEFT_TRY(weft_agree(transport, prepare_operators(b)));
    WEFT_TRY(weft_agree(transport, allocate_buffers(b)));
    if (weft_build_shares(b)) WEFT_TRY(weft_build_share(b, transport));
    WEFT_TRY(weft_agree(transport, split_groups(b, transport)));
    if (weft_build_needs_communicators(b)) WEFT_TRY(weft_build_make_communicators(b, transport));
    WEFT_TRY(weft_agree(transport, connect_programs(b, transport)));
    return weft_agree(transport, finish(b));
}

void weft_build_release(weft_build *b) {
    if (b->enqueued) b->device.ops->queue_wait(b->device.state, NULL);
    weft_sender_destroy(b->lanes.sender);
    for (int s = 0; s < WEFT_SCHEDULES; s++) weft_program_release(b, s);
    weft_build_leave_communicators(b);
    weft_build_release_graphs(b);
    for (int lane = 0; lane < WEFT_LANES; lane++)
        if (b->lanes.queue[lane])
            b->device.ops->queue_destroy(b->device.state, b->lanes.queue[lane]);
    for (int k = 0; k < WEFT_MAX_SEGMENTS; k++)
        if (b->groups.of[k]) b->groups.of[k]->ops->release(b->groups.of[k]);
    for (int i = 0; i < b->transforms.count; i++)
        b->candidate.engine->destroy(b->transforms.list[i].plan);
    free(b->transforms.list);
    for (int i = 0; i < 2; i++) weft_scratch_release(&b->transforms.scratch[i]);
    for (int i = 0; i < WEFT_OPERATOR_SLOTS; i++) {
        weft_pointwise_release(b->operators.pointwise[i]);
        weft_operator_pass_release(b->operators.pass[i]);
        weft_operator_offload_release(b->operators.offload[i]);
    }
    weft_build_unshare(b);
    for (int i = WEFT_BUFFER_WORKSPACE; i < WEFT_BUFFERS; i++)
        if (b->buffers.memory[i] && !b->buffers.borrowed[i] && !weft_build_shares_buffer(b, i))
            b->device.ops->free(b->device.state, memory_kind(i), b->buffers.memory[i]);
    if (b->device.ops && !b->planner->call->memory.device) b->device.ops->close(b->device.state);
    for (int s = 0; s < WEFT_SCHEDULES; s++) weft_schedule_release(&b->schedule[s]);
}
