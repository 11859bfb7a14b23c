/* Overlap-save over several ranks: see overlap_save_ranks.h. */
#include "convolve/overlap_save_ranks.h"

#include "exec/context.h"
#include "exec/explain.h"
#include "multilevel/multilevel.h"
#include "plan/agreement.h"
#include "sampled/sampled.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes ---- */

/* A rank's box, with an axis for the batch in front. */
static weft_region box_of(weft_plan outline, const weft_convolved *c, weft_space space, int rank) {
    const int axes = c->problem.rank;
    weft_region region = {.axes = axes + 1, .n = {c->problem.batch > 0 ? c->problem.batch : 1}};
    weft_box box;
    weft_composition_end_box(outline, space, rank, &box);
    for (int a = 0; a < axes; a++) {
        region.lo[a + 1] = box.lo[a];
        region.n[a + 1] = box.n[a];
    }
    return region;
}

/* The points of the field on which a box of the result depends. */
static weft_region around(const weft_convolved *c, const weft_region *result) {
    weft_region field = *result;
    for (int a = 0; a < c->problem.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        const int64_t last = result->lo[a + 1] + result->n[a + 1] - 1 + axis->first;
        const int64_t first = result->lo[a + 1] + axis->first - (axis->kernel - 1);
        const int64_t lo = first > 0 ? first : 0, end = last < axis->n ? last + 1 : axis->n;
        field.lo[a + 1] = lo;
        field.n[a + 1] = result->n[a + 1] > 0 && end > lo ? end - lo : 0;
    }
    return field;
}

/* All ranks' boxes of the field, and of what their boxes of the result depend on; NULL: no memory.
 */
static weft_region *all_boxes(weft_plan outline, const weft_convolved *c, int ranks, bool wanted) {
    weft_region *boxes = calloc((size_t)ranks, sizeof *boxes);
    for (int r = 0; boxes && r < ranks; r++) {
        boxes[r] = box_of(outline, c, wanted ? WEFT_RESULT : WEFT_INPUT, r);
        if (wanted) boxes[r] = around(c, &boxes[r]);
    }
    return boxes;
}

static size_t element_bytes(const weft_convolved *c) {
    return weft_number_bytes(c->problem.precision) * (c->real ? 1 : 2);
}

/* ---- the choice ---- */

bool weft_overlap_save_ranks_possible(weft_context ctx, const weft_convolved *c,
                                      const weft_options *options) {
    const int64_t method = c->problem.method;
    return ctx->transport->size > 1 && !weft_overlap_save_obstacle(ctx, c, options) &&
           (method == WEFT_METHOD_AUTO || method == WEFT_OVERLAP_SAVE);
}

/* Of what a rank receives. */
static double bytes_around(weft_plan outline, const weft_convolved *c, int rank) {
    const weft_region result = box_of(outline, c, WEFT_RESULT, rank);
    const weft_region own = box_of(outline, c, WEFT_INPUT, rank);
    const weft_region wanted = around(c, &result), both = weft_region_intersect(&own, &wanted);
    return (double)(weft_region_elements(&wanted) - weft_region_elements(&both)) *
           (double)element_bytes(c);
}

weft_status weft_overlap_save_ranks_choose(weft_context ctx, weft_plan outline, weft_convolved *c,
                                           const weft_options *options,
                                           weft_convolution_method *method) {
    enum { ROOM = 256 };
    const weft_machine *machine = &ctx->source.machine;
    const int ranks = ctx->transport->size;
    const weft_region result = box_of(outline, c, WEFT_RESULT, 0);
    const weft_region field = around(c, &result);
    /* Rank 0 has the largest boxes, and all ranks find the same. */
    const weft_method_cost sent = {.bytes = bytes_around(outline, c, 0), .messages = ranks - 1};
    int64_t exact_bytes = weft_exact_bytes(outline);
    weft_decide(ctx->transport, &exact_bytes, 1);
    const weft_method_cost exact = {.bytes = (double)exact_bytes, .messages = 2.0 * (ranks - 1)};
    const double whole =
        weft_overlap_save_whole_seconds(c) / ranks + weft_method_seconds(machine, &exact);
    double tiles = weft_overlap_save_seconds(c, options, &field, &result) +
                   weft_method_seconds(machine, &sent);
    weft_status status = WEFT_SUCCESS;
    const bool asked = c->problem.method == WEFT_OVERLAP_SAVE;
    int64_t chosen = asked || tiles < whole;
    weft_decide(ctx->transport, &chosen, 1);
    if (chosen) *method = WEFT_OVERLAP_SAVE;
    if (asked) return WEFT_SUCCESS;
    c->note = calloc(ROOM, 1);
    if (c->note)
        snprintf(c->note, ROOM,
                 "method %s of these estimates for a rank: whole %.2e s (%.0f bytes); overlap-save "
                 "%.2e s (%.0f bytes)",
                 weft_convolution_method_name(*method), whole, exact.bytes, tiles, sent.bytes);
    else
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution");
    return weft_agree(ctx->transport, status);
}

/* ---- making ---- */

/* Not collective. */
static weft_status make_own_plan(weft_overlap_save_ranks *s, weft_plan outline, weft_context ctx,
                                 const weft_convolved *c, const weft_options *options) {
    const int rank = ctx->transport->rank;
    const weft_region result = box_of(outline, c, WEFT_RESULT, rank);
    const weft_region source = box_of(outline, c, WEFT_INPUT, rank);
    const weft_region *field = &s->exchange.wanted[rank];
    const weft_options of_one = {.engine = options->engine,
                                 .threads = options->threads,
                                 .effort = options->effort,
                                 .device_memory_limit = options->device_memory_limit};
    s->reads = weft_region_elements(&source) > 0;
    s->stores = weft_region_elements(&result) > 0;
    if (!s->stores) return WEFT_SUCCESS;
    s->around_bytes = (size_t)weft_region_elements(field) * element_bytes(c);
    s->around = malloc(s->around_bytes + 1);
    if (!s->around)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of a field",
                         s->around_bytes);
    WEFT_TRY(weft_context_create(NULL, &s->context));
    s->context->source = ctx->source;
    return weft_convolved_by_tiles(s->context, c, &of_one, field, &result, &s->plan);
}

static weft_status set_kernel(weft_plan plan, const void *kernel) {
    const weft_overlap_save_ranks *s = plan->outlined.state;
    const weft_convolved *c = plan->convolution;
    const weft_region whole = weft_convolved_whole(c);
    weft_given_kernel given;
    weft_status status = weft_convolved_collect(s->transport, c, kernel, &whole, &given);
    if (status == WEFT_SUCCESS && s->plan)
        status = weft_convolution_set_kernel(s->plan, given.data);
    free(given.own);
    return weft_agree(s->transport, status);
}

static void destroy(weft_plan plan) {
    weft_overlap_save_ranks *s = plan->outlined.state;
    if (!s) return;
    weft_plan_destroy(&s->plan);
    weft_context_destroy(&s->context);
    weft_box_exchange_destroy(&s->exchange);
    free(s->around);
    free(s);
}

static void add_memory(weft_plan plan, weft_memory *memory) {
    const weft_overlap_save_ranks *s = plan->outlined.state;
    weft_memory own = {0};
    if (s->plan) weft_plan_memory(s->plan, &own);
    memory->workspace += own.workspace + s->around_bytes + weft_packets_bytes(&s->exchange.packets);
    memory->tables += own.tables + sizeof *s;
}

/* ---- running ---- */

static weft_status check_arrays(const weft_overlap_save_ranks *s, const void *in, const void *out) {
    if ((s->reads && !in) || (s->stores && !out))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_convolution_execute: %s is NULL",
                         s->reads && !in ? "in" : "out");
    if (in != out || !in) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "weft_convolution_execute: in == out, but convolutions by tiles are not done "
                     "in place; give two arrays");
}

static weft_status run(weft_plan plan, const void *in, void *out) {
    const weft_overlap_save_ranks *s = plan->outlined.state;
    WEFT_TRY(weft_agree(s->transport, check_arrays(s, in, out)));
    weft_recorder_start(&plan->recorder);
    weft_status status = weft_box_exchange_run(&s->exchange, in, s->around, &plan->recorder);
    const double begin = weft_clock();
    if (status == WEFT_SUCCESS && s->plan)
        status = weft_convolution_execute(s->plan, s->around, out);
    weft_record(&plan->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, begin);
    plan->recorder.timings.total = weft_clock() - plan->recorder.start;
    return weft_agree(s->transport, status);
}

/* ---- the report ---- */

static json_t *explain(weft_plan plan) {
    const weft_overlap_save_ranks *s = plan->outlined.state;
    const weft_packets *sent = &s->exchange.packets;
    json_t *out = s->plan ? weft_explain_overlap_save(s->plan->overlap_save) : json_object();
    json_object_set_new(out, "bytes_sent", json_integer(sent->sent * (int64_t)sent->element_bytes));
    json_object_set_new(out, "exact_bytes_sent", json_integer(weft_exact_bytes(plan)));
    return out;
}

/* ---- creation ---- */

static const weft_outlined_ops ops = {.name = "overlap_save",
                                      .run = run,
                                      .set_kernel = set_kernel,
                                      .explain = explain,
                                      .add_memory = add_memory,
                                      .destroy = destroy};

weft_status weft_overlap_save_ranks_create(weft_plan plan, weft_context ctx,
                                           const weft_convolved *c, const weft_options *options,
                                           const void *kernel) {
    weft_overlap_save_ranks *s = calloc(1, sizeof *s);
    bool has = false;
    WEFT_TRY(weft_outlined_begin(plan, ctx, &ops, s, "tiles"));
    s->transport = plan->outlined.transport;
    const int ranks = s->transport->size;
    weft_status status =
        weft_box_exchange_create(s->transport, element_bytes(c), all_boxes(plan, c, ranks, false),
                                 all_boxes(plan, c, ranks, true), &s->exchange);
    if (status == WEFT_SUCCESS) status = make_own_plan(s, plan, ctx, c, options);
    WEFT_TRY(weft_agree(s->transport, status));
    WEFT_TRY(weft_convolved_has_array(s->transport, c, kernel, &has));
    return has ? set_kernel(plan, kernel) : WEFT_SUCCESS;
}
