/*
 * Which method takes least time, where the caller allows an error: the exact one, samples or
 * levels, by their work, bytes and messages on the ranks of the machine record.
 */
#include "multilevel/multilevel.h"
#include "sampled/sampled.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT, SAMPLES, LEVELS, METHODS };

/* One of the methods: seconds are infinite where it cannot be. */
typedef struct candidate {
    weft_convolution_method method;
    weft_method_cost cost;
    double seconds;
} candidate;

bool weft_methods_compete(weft_context ctx, const weft_convolved *c, const weft_options *options) {
    weft_convolved trial = *c;
    bool possible = false;
    if (c->problem.method != WEFT_METHOD_AUTO || !(c->problem.tolerance > 0)) return false;
    if (ctx->transport->size == 1) return false; /* there is nothing to save */
    if (options->device != WEFT_HOST) return false;
    trial.problem.method = WEFT_SAMPLES;
    return weft_sampled_choose(ctx, &trial, options, &possible) == WEFT_SUCCESS && possible;
}

/* Numbers of a point before and after, all members. */
static double numbers_of(const weft_convolved *c, bool made) {
    const int64_t batch = c->problem.batch > 0 ? c->problem.batch : 1;
    return (double)(weft_convolved_fields(c, made) * batch) * (c->real ? 1 : 2);
}

static double transforms_of(const weft_convolved *c) {
    double points = 1;
    for (int a = 0; a < c->problem.rank; a++) points *= (double)c->problem.n[a];
    return weft_transform_work(points) * (numbers_of(c, false) + numbers_of(c, true)) / 2;
}

/* Of those that the tolerance has, the samples of one box for each rank. */
static weft_status cost_of_samples(const weft_convolved *c, const weft_region *box, int ranks,
                                   weft_method_cost *cost) {
    int64_t period[WEFT_TREE_AXES] = {1, 1, 1};
    weft_sampling sampling = {.points = 4, .opening = 0.25};
    for (int a = 0; a < c->problem.rank; a++)
        period[WEFT_TREE_AXES - c->problem.rank + a] = c->problem.n[a];
    weft_tree tree = weft_tree_graded(period, box->n, sampling.points, sampling.opening);
    WEFT_TRY(weft_sampling_choose(c, &tree, false, &sampling));
    tree = weft_tree_graded(period, box->n, sampling.points, sampling.opening);
    cost->work = 1.5 * transforms_of(c);
    cost->bytes = (double)weft_tree_samples(&tree) * numbers_of(c, true) *
                  (double)weft_number_bytes(c->problem.precision);
    cost->messages = ranks - 1;
    return WEFT_SUCCESS;
}

static weft_status cost_of_levels(const weft_machine *machine, const weft_convolved *c,
                                  const weft_region *box, int ranks, weft_method_cost *cost) {
    weft_splitting splitting = {.levels = 0};
    weft_status status = WEFT_ERROR_UNSUPPORTED;
    if (weft_multilevel_possible(c))
        status = weft_multilevel_split(machine, c, box, ranks, &splitting);
    if (status == WEFT_SUCCESS) *cost = weft_multilevel_cost(&splitting, box, ranks);
    weft_splitting_release(&splitting);
    return status;
}

/* The sentence of weft_plan_explain. */
static weft_status write_note(weft_convolved *c, const candidate *all, const candidate *best) {
    enum { ROOM = 512 };
    int length = 0;
    c->note = calloc(ROOM, 1);
    if (!c->note) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution");
    length += snprintf(c->note, ROOM, "method %s of these estimates for a rank:",
                       weft_convolution_method_name(best->method));
    for (int i = 0; i < METHODS; i++)
        length += isfinite(all[i].seconds)
                      ? snprintf(c->note + length, (size_t)(ROOM - length),
                                 "%s %s %.2e s (%.2e operations, %.0f bytes, %.0f messages)",
                                 i > 0 ? ";" : "", weft_convolution_method_name(all[i].method),
                                 all[i].seconds, all[i].cost.work, all[i].cost.bytes,
                                 all[i].cost.messages)
                      : snprintf(c->note + length, (size_t)(ROOM - length), "%s %s not possible",
                                 i > 0 ? ";" : "", weft_convolution_method_name(all[i].method));
    return WEFT_SUCCESS;
}

/* A method that the kernel or the tolerance rules out is none; other failures stay. */
static weft_status settle(const weft_machine *machine, weft_status status, candidate *of) {
    of->seconds = status == WEFT_SUCCESS ? weft_method_seconds(machine, &of->cost) : INFINITY;
    return status == WEFT_ERROR_UNSUPPORTED ? WEFT_SUCCESS : status;
}

weft_status weft_methods_compare(weft_context ctx, weft_plan outline, weft_convolved *c,
                                 weft_convolution_method *method) {
    const weft_machine *machine = &ctx->source.machine;
    const int ranks = ctx->transport->size;
    const weft_region box = weft_convolved_region(outline, WEFT_INPUT, 0, c->problem.rank);
    candidate all[METHODS] = {[EXACT] = {.method = WEFT_WHOLE},
                              [SAMPLES] = {.method = WEFT_SAMPLES},
                              [LEVELS] = {.method = WEFT_MULTILEVEL}};
    int64_t bytes = weft_exact_bytes(outline);
    const candidate *best = &all[EXACT];
    weft_decide(ctx->transport, &bytes, 1);
    all[EXACT].cost = (weft_method_cost){
        .work = transforms_of(c) / ranks, .bytes = (double)bytes, .messages = 2.0 * (ranks - 1)};
    weft_status status = settle(machine, WEFT_SUCCESS, &all[EXACT]);
    if (status == WEFT_SUCCESS)
        status =
            settle(machine, cost_of_samples(c, &box, ranks, &all[SAMPLES].cost), &all[SAMPLES]);
    if (status == WEFT_SUCCESS)
        status = settle(machine, cost_of_levels(machine, c, &box, ranks, &all[LEVELS].cost),
                        &all[LEVELS]);
    for (int i = 1; i < METHODS; i++)
        if (all[i].seconds < best->seconds) best = &all[i];
    if (status == WEFT_SUCCESS) status = write_note(c, all, best);
    *method = best->method;
    return weft_agree(ctx->transport, status);
}
