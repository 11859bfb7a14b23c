/* The public interface of compositions: plans, and arrays between them. */
#include "compose/compose.h"

#include "plan/agreement.h"
#include "support/error.h"
#include "support/hash.h"

#include <stdlib.h>
#include <string.h>

static const weft_versioned versions = WEFT_VERSIONED(weft_composition_problem, reserved);

static weft_status check_problem(const weft_composition_problem *p) {
    if (p->rank < 1 || p->rank > WEFT_MAX_RANK)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.rank is %d; it must be 1 to %d",
                         p->rank, WEFT_MAX_RANK);
    WEFT_TRY(weft_check_range("problem.kind", (int)p->kind, WEFT_R2C));
    WEFT_TRY(weft_check_range("problem.begin", (int)p->begin, WEFT_OUTPUT));
    WEFT_TRY(weft_check_range("problem.precision", (int)p->precision, WEFT_SINGLE));
    if (p->stages < 1 || p->stages > WEFT_MAX_STAGES || !p->stage)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.stages is %d and problem.stage %s; give 1 to %d stages",
                         p->stages, p->stage ? "a list" : "NULL", WEFT_MAX_STAGES);
    for (int a = 0; a < p->rank; a++)
        if (p->n[a] < 1 || p->n[a] > (int64_t)1 << 60)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.n[%d] is %lld; every extent must be 1 to 2^60", a,
                             (long long)p->n[a]);
    return WEFT_SUCCESS;
}

/* A number that differs (very probably) where two ranks' legs do. What plans are made of they
 * compare themselves. */
static int checksum(const weft_composed *c) {
    uint64_t sum = WEFT_HASH_OF_NOTHING;
    for (int i = 0; i < c->legs; i++) {
        const weft_leg *leg = &c->leg[i];
        const int number[] = {leg->first,
                              leg->last,
                              leg->copies,
                              leg->copy.embeds,
                              leg->kept,
                              leg->output,
                              (int)leg->purpose.direction};
        sum = weft_hash_bytes(sum, number, sizeof number);
        sum = weft_hash_bytes(sum, leg->copy.lo, sizeof leg->copy.lo);
        sum = weft_hash_bytes(sum, leg->copy.step, sizeof leg->copy.step);
        sum = weft_hash_bytes(sum, leg->copy.n, sizeof leg->copy.n);
        sum = weft_hash_bytes(sum, leg->copy.most, sizeof leg->copy.most);
    }
    return (int)(sum >> 33);
}

/* ---- plans ---- */

static bool follows(const weft_composed *c, int leg) {
    for (int r = 0; leg > 0 && r < c->leg[leg].plan->transport->size; r++) {
        const weft_box before = weft_leg_exit(c, leg - 1, r), here = weft_leg_entry(c, leg, r);
        for (int a = 0; a < c->leg[leg].problem.rank; a++)
            if (before.lo[a] != here.lo[a] || before.n[a] != here.n[a]) return false;
    }
    return true;
}

/* The plan of a leg. It has the decomposition of the first one, so that each rank finds the box
 * that the leg before has left. Where the boxes differ all the same, the plan begins with an
 * exchange. */
static weft_status make_plan(weft_context ctx, weft_composed *c, int number,
                             weft_options *options) {
    weft_leg *leg = &c->leg[number];
    weft_options used = {.struct_size = 0};
    if (c->handle) {
        leg->purpose.memory.device = &c->handle->build->device;
        leg->purpose.memory.lender = c->handle->build;
    }
    WEFT_TRY(weft_plan_create_for(ctx, &leg->problem, options, &leg->purpose, &leg->plan));
    if (!c->handle) {
        c->handle = leg->plan;
        WEFT_TRY(weft_plan_options(c->handle, &used));
        if (options->decomposition != WEFT_BRICK) options->decomposition = used.decomposition;
        memcpy(options->grid, used.grid, sizeof used.grid);
        return WEFT_SUCCESS;
    }
    if (follows(c, number)) return WEFT_SUCCESS;
    const weft_brick brick = {.box = weft_leg_exit(c, number - 1, ctx->transport->rank)};
    weft_problem problem = leg->problem;
    *(weft_begins_with_spectrum(leg->purpose.direction) ? &problem.output : &problem.input) =
        &brick;
    weft_plan_destroy(&leg->plan);
    const weft_status status =
        weft_plan_create_for(ctx, &problem, options, &leg->purpose, &leg->plan);
    if (status != WEFT_ERROR_UNSUPPORTED) return status;
    return weft_fail(status,
                     "problem.stage[%d] and those behind it cannot begin with the boxes of points "
                     "that problem.stage[%d] takes out on %d ranks, with zeros, arrays or copies "
                     "between them; put them into a composition of their own",
                     leg->first, c->leg[number - 1].last, ctx->transport->size);
}

static weft_status make_plans(weft_context ctx, weft_composed *c, weft_options *options) {
    for (int i = 0; i < c->legs; i++)
        if (!c->leg[i].copies) WEFT_TRY(make_plan(ctx, c, i, options));
    return WEFT_SUCCESS;
}

/* Whether no two plans have a reduction of the same number. */
static weft_status check_reductions(const weft_composed *c) {
    uint32_t reductions = 0;
    for (int i = 0; i < c->legs; i++) {
        uint32_t here = 0;
        for (int k = 0; k < WEFT_PLACES && !c->leg[i].copies; k++)
            here |= weft_operators_reductions(&c->leg[i].plan->call.operators[k]);
        if (reductions & here)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.stage[%d] or one behind it has a reduction with the number "
                             "of another stage's; give it one of its own",
                             c->leg[i].first);
        reductions |= here;
    }
    return WEFT_SUCCESS;
}

/* ---- arrays ---- */

static void find_bytes(weft_composed *c) {
    for (int i = 0; i < c->legs; i++) {
        const size_t next = i + 1 < c->legs ? weft_leg_entry_bytes(c, i + 1) : 0;
        c->leg[i].bytes = weft_leg_exit_bytes(c, i);
        if (next > c->leg[i].bytes) c->leg[i].bytes = next;
    }
}

/* A leg's result is read by the next one only, so the one after that may store there again. Zeros
 * around an embedded box are written once, so nothing else may lie there. */
static void lend(weft_composed *c) {
    for (int i = 2; i < c->legs; i++) {
        weft_leg *leg = &c->leg[i], *owner = &c->leg[i - 2];
        if (leg->output >= 0 || owner->output >= 0 || leg->copy.embeds || owner->copy.embeds)
            continue;
        leg->lent = true;
        for (int k = i - 2; k >= 0; k -= 2) {
            if (c->leg[k].bytes < leg->bytes) c->leg[k].bytes = leg->bytes;
            if (!c->leg[k].lent) break;
        }
    }
}

static weft_status allocate(const weft_composed *c, weft_leg *leg) {
    if (leg->bytes == 0) return WEFT_SUCCESS;
    if (!c->on_host) {
        WEFT_TRY(weft_buffer_create(c->handle, leg->bytes, &leg->between));
    } else {
        leg->between = calloc(1, leg->bytes);
        if (!leg->between)
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes between two stages",
                             leg->bytes);
    }
    if (!leg->copy.embeds || c->on_host) return WEFT_SUCCESS;
    void *zeros = calloc(1, leg->bytes);
    if (!zeros)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of zeros", leg->bytes);
    const weft_status status = weft_buffer_upload(c->handle, leg->between, zeros, leg->bytes);
    free(zeros);
    return status;
}

/* Room for the spans of all plans. */
static weft_status make_room_for_spans(weft_composed *c) {
    size_t spans = 0;
    if (c->legs == 1 || !c->handle->call.options.trace) return WEFT_SUCCESS;
    for (int i = 0; i < c->legs; i++)
        if (!c->leg[i].copies) spans += (size_t)c->leg[i].plan->recorder.capacity;
    c->spans = malloc(spans * sizeof *c->spans + 1);
    return c->spans ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a trace");
}

static weft_status make_arrays(weft_composed *c) {
    WEFT_TRY(check_reductions(c));
    if (c->handle->transport->simulated) return WEFT_SUCCESS;
    WEFT_TRY(make_room_for_spans(c));
    find_bytes(c);
    lend(c);
    for (int i = 0; i < c->legs; i++) {
        weft_leg *leg = &c->leg[i];
        if (leg->output >= 0) continue;
        if (leg->lent)
            leg->between = c->leg[i - 2].between;
        else
            WEFT_TRY(allocate(c, leg));
    }
    return WEFT_SUCCESS;
}

/* ---- creation ---- */

static weft_status read_problem(const weft_composition_problem *given, int ranks,
                                const weft_options *opt, weft_options *options, weft_composed *c) {
    weft_composition_problem problem;
    if (!given)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_composition_create: problem is NULL");
    WEFT_TRY(weft_versioned_read(versions, given, &problem, "problem"));
    WEFT_TRY(check_problem(&problem));
    if (opt) WEFT_TRY(weft_versioned_read(weft_options_versions, opt, options, "options"));
    options->struct_size = 0;
    c->on_host = options->location == WEFT_LOCATION_HOST && options->device != WEFT_HOST;
    const bool whole = !c->on_host && !weft_line_is(problem.rank, ranks);
    const bool streams = options->stream != WEFT_STREAM_AUTO && options->stream != WEFT_STREAM_OFF;
    const weft_leg_abilities can = {.keep = whole, .go_back = whole && !streams};
    WEFT_TRY(weft_compose_lower(&problem, can, &c->leg, &c->legs, &c->outputs));
    if (c->legs == 1) return WEFT_SUCCESS;
    if (options->placement == WEFT_IN_PLACE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "options.placement: these stages are %d plans and copies, which work from "
                         "array to array; choose WEFT_OUT_OF_PLACE",
                         c->legs);
    options->placement = WEFT_OUT_OF_PLACE;
    return WEFT_SUCCESS;
}

/* The plans that a composition has made, the handle last. */
static void release(weft_composed *c) {
    for (int i = 0; i < c->legs; i++) {
        weft_leg *leg = &c->leg[i];
        if (leg->between && !leg->lent && c->on_host) free(leg->between);
        if (leg->between && !leg->lent && !c->on_host)
            weft_buffer_destroy(c->handle, &leg->between);
        if (leg->plan != c->handle) weft_plan_destroy(&leg->plan);
    }
    free(c->leg);
    free(c->spans);
    free(c);
}

static void abandon(weft_composed *c) {
    weft_plan handle = c->handle;
    release(c);
    weft_plan_destroy(&handle);
}

weft_status weft_compose(weft_context ctx, const weft_composition_problem *problem,
                         const weft_purpose *purpose, const weft_options *opt, weft_plan *handle) {
    weft_options options = {.struct_size = 0};
    weft_composed *c = calloc(1, sizeof *c);
    weft_status status = c ? read_problem(problem, ctx->transport->size, opt, &options, c)
                           : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a composition");
    if (status == WEFT_SUCCESS && !handle)
        status =
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_composition_create: composition is NULL");
    status =
        weft_agree_on(ctx->transport, status, "weft_composition_create stages with the checksum",
                      status == WEFT_SUCCESS ? checksum(c) : 0);
    for (int i = 0; status == WEFT_SUCCESS && purpose && i < c->legs; i++) {
        c->leg[i].purpose.scatters = purpose->scatters;
        c->leg[i].purpose.parity = purpose->parity;
        c->leg[i].purpose.memory.beside = purpose->memory.beside;
    }
    if (status == WEFT_SUCCESS) status = make_plans(ctx, c, &options);
    /* What some rank owes from here on is told by the composition's own next call. */
    if (status == WEFT_SUCCESS) status = weft_agree(c->handle->transport, make_arrays(c));
    if (status != WEFT_SUCCESS) {
        if (c) abandon(c);
        return status;
    }
    c->handle->composition = c;
    *handle = c->handle;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_composition_create(weft_context ctx,
                                             const weft_composition_problem *problem,
                                             const weft_options *opt,
                                             weft_composition *composition) {
    if (!ctx)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_composition_create: the context is NULL; create it first");
    return weft_context_note(ctx, weft_compose(ctx, problem, NULL, opt, composition));
}

void weft_composition_forget(weft_plan plan) {
    release(plan->composition);
    plan->composition = NULL;
}

WEFT_API void weft_composition_destroy(weft_composition *composition) {
    weft_plan_destroy(composition);
}

/* ---- execution ---- */

static weft_status copy_box(const weft_composed *c, int number, const void *in, void *out) {
    const weft_device_handle *d = &c->handle->build->device;
    const int rank = c->handle->transport->rank;
    const weft_box from = weft_leg_entry(c, number, rank), to = weft_leg_exit(c, number, rank);
    weft_copy copy;
    if (!c->on_host && d->ops->await_caller) WEFT_TRY(d->ops->await_caller(d->state));
    for (int part = 0; weft_leg_copying(&c->leg[number], &from, &to, part, &copy); part++) {
        if (copy.elements == 0) continue;
        if (c->on_host)
            weft_copy_run(&copy, in, out, c->handle->call.options.threads);
        else
            WEFT_TRY(d->ops->copy(d->state, NULL, &copy, in, out, WEFT_DEVICE_TO_DEVICE));
    }
    return c->on_host ? WEFT_SUCCESS : d->ops->queue_wait(d->state, NULL);
}

static weft_status check_arrays(const weft_composed *c, const void *in, void *const *out) {
    for (int i = -1; i < c->outputs; i++) {
        const char *mine = i < 0 ? in : out[i];
        const size_t bytes = weft_composed_bytes(c, i);
        if (!mine && bytes > 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "weft_composition_execute: %s is NULL; it needs %zu bytes",
                             i < 0 ? "in" : "an array of out", bytes);
        for (int k = i + 1; k < c->outputs; k++) {
            const char *other = out[k];
            const size_t its = weft_composed_bytes(c, k);
            if (bytes > 0 && its > 0 && mine < other + its && other < mine + bytes)
                return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                 "weft_composition_execute: %s and out[%d] overlap; give arrays of "
                                 "their own",
                                 i < 0 ? "in" : "an array of out", k);
        }
    }
    return WEFT_SUCCESS;
}

static weft_status check(const weft_composed *c, const void *in, void *const *out) {
    if (c->handle->transport->simulated)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "weft_composition_execute: a plan over simulated ranks can only be "
                         "explained");
    if (!out)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_composition_execute: out is NULL");
    return c->legs == 1 ? WEFT_SUCCESS : check_arrays(c, in, out);
}

static weft_status run_leg(const weft_composed *c, int number, const void *in, void *const *out) {
    const weft_leg *leg = &c->leg[number];
    void *to = leg->output >= 0 ? out[leg->output] : leg->between;
    if (leg->copies) return copy_box(c, number, in, to);
    return weft_plan_run(leg->plan, leg->purpose.direction, in,
                         leg->kept >= 0 ? out[leg->kept] : NULL, to);
}

/* A single plan agrees on its arguments and its outcome by itself. Of several legs all are run even
 * after a failure, for the other ranks may not know of it yet. */
static weft_status execute(weft_composed *c, const void *in, void *const *out) {
    const weft_status checked = check(c, in, out);
    if (c->legs == 1) return checked == WEFT_SUCCESS ? run_leg(c, 0, in, out) : checked;
    weft_transport *transport = c->handle->transport;
    WEFT_TRY(weft_agree(transport, checked));
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < c->legs; i++) {
        const weft_leg *before = i > 0 ? &c->leg[i - 1] : NULL;
        const void *from = !before               ? in
                           : before->output >= 0 ? out[before->output]
                                                 : before->between;
        weft_keep(&status, run_leg(c, i, from, out));
    }
    return weft_agree(transport, status);
}

weft_status weft_composition_run(weft_plan plan, const void *in, void *out) {
    weft_composed *c = plan->composition;
    if (plan->outlined.ops) return plan->outlined.ops->run(plan, in, out);
    if (c->outputs == 1) return execute(c, in, &out);
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "weft_execute: this composition stores %d arrays; use "
                     "weft_composition_execute",
                     c->outputs);
}

WEFT_API weft_status weft_composition_execute(weft_composition composition, const void *in,
                                              void *const *out) {
    WEFT_TRY(weft_composition_check(composition, "weft_composition_execute"));
    return weft_context_note(composition->context, execute(composition->composition, in, out));
}
