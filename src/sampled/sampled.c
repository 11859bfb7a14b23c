/* Convolutions by samples: see sampled.h. */
#include "sampled/sampled.h"

#include "plan/agreement.h"
#include "sampled/device_local.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t every_point[WEFT_TREE_AXES] = {1, 1, 1};

/* ---- the choice ---- */

/* Why it cannot be done by samples, or NULL. */
static const char *obstacle(weft_context ctx, const weft_convolved *c) {
    const weft_convolution_problem *p = &c->problem;
    if (ctx->transport->simulated) return "the context has simulated ranks";
    if (p->rank > WEFT_TREE_AXES) return "problem.rank is more than 3";
    if (weft_convolved_is_given(c)) return "the kernel is an array";
    for (int a = 0; a < p->rank; a++)
        if (p->boundary[a] != WEFT_PERIODIC) return "an axis is not periodic";
    return NULL;
}

static weft_status check_sampling(const weft_convolution_problem *p) {
    if (p->interpolation != 0 && p->interpolation != 2 && p->interpolation != 4 &&
        p->interpolation != WEFT_TREE_POINTS)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.interpolation is %lld; it is 2, 4 or 6 points, or 0",
                         (long long)p->interpolation);
    if (!(p->opening >= 0 && p->opening <= 1))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.opening is %g; it is a share of the distance, up to 1, or 0",
                         p->opening);
    if (!(p->tolerance >= 0))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.tolerance is %g; give a relative error, or 0", p->tolerance);
    if (p->subdomain < 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.subdomain is %lld; give the edge of sub-domains, or 0",
                         (long long)p->subdomain);
    return weft_check_range("problem.pattern", (int)p->pattern, WEFT_FIXED);
}

weft_status weft_sampled_choose(weft_context ctx, const weft_convolved *c,
                                const weft_options *options, bool *chosen) {
    const char *why = obstacle(ctx, c);
    *chosen = c->problem.method == WEFT_SAMPLES;
    WEFT_TRY(check_sampling(&c->problem));
    if (!*chosen) return WEFT_SUCCESS;
    if (!why)
        return options->device == WEFT_HOST ? WEFT_SUCCESS : weft_device_local_check(c, options);
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.method is samples, but %s; leave problem.method 0", why);
}

static weft_sampling sampling_of(const weft_convolution_problem *p) {
    weft_sampling s = {.fixed = p->pattern == WEFT_FIXED,
                       .points = (int)p->interpolation,
                       .opening = p->opening,
                       .edge = p->subdomain};
    if (s.points == 0) s.points = s.fixed ? 2 : 4;
    if (s.opening == 0) s.opening = 0.25;
    if (s.opening > 2.0 / s.points) s.opening = 2.0 / s.points;
    return s;
}

/* ---- making ---- */

weft_tree weft_sampled_tree(const weft_sampled *s, const int64_t *edge) {
    int64_t period[WEFT_TREE_AXES] = {1, 1, 1};
    const weft_convolution_problem *p = &s->convolved->problem;
    for (int a = 0; a < p->rank; a++) period[WEFT_TREE_AXES - p->rank + a] = p->n[a];
    if (s->sampling.fixed) return weft_tree_fixed(period, edge, s->sampling.points);
    return weft_tree_graded(period, edge, s->sampling.points, s->sampling.opening);
}

void weft_sampled_edges(const weft_sampled *s, const weft_region *box, int64_t *edge) {
    for (int a = 0; a < WEFT_TREE_AXES; a++) {
        const int64_t most = s->sampling.edge > 0 ? s->sampling.edge : box->n[a];
        edge[a] = box->n[a] < most ? box->n[a] : most;
    }
}

void weft_sampled_subdomain(const weft_region *box, const int64_t *edge, const int64_t *count,
                            int64_t number, weft_region *sub) {
    *sub = (weft_region){.axes = WEFT_TREE_AXES};
    for (int a = WEFT_TREE_AXES - 1; a >= 0; a--, number /= count[a + 1]) {
        sub->lo[a] = box->lo[a] + number % count[a] * edge[a];
        sub->n[a] = edge[a];
    }
}

/* All ranks choose alike: with the box of the first one, which is no smaller than others. */
static weft_status choose_sampling(weft_sampled *s) {
    const weft_convolution_problem *p = &s->convolved->problem;
    const bool given = p->opening > 0 || p->interpolation > 0 || p->pattern == WEFT_FIXED;
    int64_t edge[WEFT_TREE_AXES];
    s->sampling = sampling_of(p);
    weft_sampled_edges(s, &s->source[0], edge);
    const weft_tree around = weft_sampled_tree(s, edge);
    return weft_sampling_choose(s->convolved, &around, given, &s->sampling);
}

static weft_status find_boxes(weft_sampled *s, weft_plan plan) {
    const int ranks = s->transport->size;
    s->source = calloc((size_t)ranks, sizeof *s->source);
    s->target = calloc((size_t)ranks, sizeof *s->target);
    if (!s->source || !s->target)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the ranks' boxes");
    for (int r = 0; r < ranks; r++) {
        s->source[r] = weft_convolved_region(plan, WEFT_INPUT, r, s->convolved->problem.rank);
        s->target[r] = weft_convolved_region(plan, WEFT_RESULT, r, s->convolved->problem.rank);
    }
    return WEFT_SUCCESS;
}

static double *reserve(weft_sampled *s, weft_status *status, int64_t numbers) {
    double *memory = *status == WEFT_SUCCESS ? calloc((size_t)numbers + 1, sizeof *memory) : NULL;
    if (!memory && *status == WEFT_SUCCESS)
        *status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %lld samples", (long long)numbers);
    s->bytes += (size_t)numbers * sizeof *memory;
    return memory;
}

static void reserve_tree(weft_sampled *s, weft_status *status, const weft_tree *tree,
                         double **values) {
    for (int i = 0; i < tree->levels; i++)
        values[i] = reserve(s, status,
                            tree->level[i].n[0] * tree->level[i].n[1] * tree->level[i].n[2] *
                                s->made * s->parts);
}

static bool has_one(const weft_sampled *s) {
    return s->count[0] * s->count[1] * s->count[2] == 1;
}

static void widen(const weft_tree *tree, int64_t *most) {
    for (int i = 0; i < tree->levels; i++)
        for (int a = 0; a < WEFT_TREE_AXES; a++)
            if (tree->level[i].n[a] > most[a]) most[a] = tree->level[i].n[a];
}

static weft_status make_memory(weft_sampled *s, const weft_options *options) {
    const int rank = s->transport->rank;
    const weft_region *source = &s->source[rank], *target = &s->target[rank];
    int64_t edge[WEFT_TREE_AXES], most[WEFT_TREE_AXES];
    weft_status status = WEFT_SUCCESS;
    memcpy(most, target->n, sizeof most);
    s->array.sum = reserve(s, &status, weft_region_elements(target) * s->made * s->parts);
    if (weft_region_elements(source) > 0) {
        /* The last sub-domains may be empty in part. */
        weft_sampled_edges(s, source, edge);
        for (int a = 0; a < WEFT_TREE_AXES; a++)
            s->count[a] = (source->n[a] + edge[a] - 1) / edge[a];
        s->tree = weft_sampled_tree(s, source->n);
        s->sub = weft_sampled_tree(s, edge);
        s->array.sources = reserve(s, &status, edge[0] * edge[1] * edge[2] * s->fields * s->parts);
        reserve_tree(s, &status, &s->tree, s->array.values);
        if (has_one(s))
            memcpy(s->array.of_sub, s->array.values, sizeof s->array.of_sub);
        else
            reserve_tree(s, &status, &s->sub, s->array.of_sub);
        widen(&s->tree, most);
        if (status == WEFT_SUCCESS)
            status = weft_local_create(s->convolved, &s->sub, options, &s->local);
    }
    if (status == WEFT_SUCCESS)
        status = weft_interpolation_create(most, s->parts, s->made, &s->interpolation);
    return status;
}

weft_status weft_sampled_create(weft_plan plan, weft_context ctx, const weft_convolved *c,
                                const weft_options *options) {
    weft_sampled *s = calloc(1, sizeof *s);
    WEFT_TRY(weft_outlined_begin(plan, ctx, &weft_sampled_ops, s, "samples"));
    s->transport = plan->outlined.transport;
    s->convolved = c;
    s->parts = c->real ? 1 : 2;
    s->fields = weft_convolved_fields(c, false);
    s->made = weft_convolved_fields(c, true);
    WEFT_TRY(weft_agree(s->transport, find_boxes(s, plan)));
    WEFT_TRY(weft_agree(s->transport, choose_sampling(s)));
    s->sampling.device = options->device;
    WEFT_TRY(weft_agree(s->transport, make_memory(s, options)));
    return weft_agree(s->transport, weft_sample_messages_create(s));
}

static void destroy(weft_plan plan) {
    weft_sampled *s = plan->outlined.state;
    if (!s) return;
    weft_sample_messages_destroy(s);
    weft_local_destroy(s->local);
    weft_interpolation_destroy(s->interpolation);
    for (int i = 0; i < WEFT_TREE_LEVELS; i++) {
        if (s->array.of_sub[i] != s->array.values[i]) free(s->array.of_sub[i]);
        free(s->array.values[i]);
    }
    free(s->array.sources);
    free(s->array.sum);
    free(s->array.cells.cell);
    free(s->source);
    free(s->target);
    free(s);
}

static void add_memory(weft_plan plan, weft_memory *memory) {
    const weft_sampled *s = plan->outlined.state;
    memory->workspace += sizeof *s + s->bytes +
                         (size_t)s->array.cells.count * sizeof(weft_octree_cell) +
                         (s->local ? weft_local_bytes(s->local) : 0);
}

/* ---- running ---- */

/* Where numbers of the caller's arrays lie: element (field, point) of a member. */
static int64_t place_of(const weft_sampled *s, int fields, int64_t points, int field,
                        int64_t point) {
    const bool fastest = s->convolved->problem.fields_fastest != 0;
    return (fastest ? point * fields + field : field * points + point) * s->parts;
}

static double number_at(const weft_sampled *s, const void *array, int64_t i) {
    return s->convolved->problem.precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                                          : ((const double *)array)[i];
}

/* The sources in a sub-domain, zero where it reaches beyond this rank's box. */
static void load(weft_sampled *s, const void *in, int64_t member, const weft_region *sub) {
    const weft_region *box = &s->source[s->transport->rank];
    const int64_t points = weft_region_elements(box), all = weft_region_elements(sub);
    const weft_region both = weft_region_intersect(box, sub);
    memset(s->array.sources, 0, (size_t)(all * s->fields * s->parts) * sizeof *s->array.sources);
    for (int f = 0; f < s->fields; f++)
        for (int64_t x = 0; x < both.n[0]; x++)
            for (int64_t y = 0; y < both.n[1]; y++) {
                const int64_t row =
                    ((both.lo[0] - box->lo[0] + x) * box->n[1] + both.lo[1] - box->lo[1] + y) *
                        box->n[2] +
                    both.lo[2] - box->lo[2];
                double *to =
                    s->array.sources + ((f * sub->n[0] + x) * sub->n[1] + y) * sub->n[2] * s->parts;
                for (int64_t z = 0; z < both.n[2]; z++)
                    for (int part = 0; part < s->parts; part++)
                        to[z * s->parts + part] =
                            number_at(s, in,
                                      member * points * s->fields * s->parts + part +
                                          place_of(s, s->fields, points, f, row + z));
            }
}

static void store(const weft_sampled *s, void *out, int64_t member) {
    const int64_t points = weft_region_elements(&s->target[s->transport->rank]);
    const bool single = s->convolved->problem.precision == WEFT_SINGLE;
    for (int f = 0; f < s->made; f++)
        for (int64_t i = 0; i < points; i++)
            for (int part = 0; part < s->parts; part++) {
                const double value = s->array.sum[(f * points + i) * s->parts + part];
                const int64_t at = member * points * s->made * s->parts +
                                   place_of(s, s->made, points, f, i) + part;
                if (single)
                    ((float *)out)[at] = (float)value;
                else
                    ((double *)out)[at] = value;
            }
}

/* What a sub-domain makes at the lattice points of this rank's tree. */
static void add_to_tree(const weft_sampled *s, const int64_t *lo) {
    const int64_t *box_lo = s->source[s->transport->rank].lo;
    for (int i = 0; i < s->tree.levels; i++) {
        const weft_tree_level *l = &s->tree.level[i];
        weft_region nodes = {.axes = WEFT_TREE_AXES};
        for (int a = 0; a < WEFT_TREE_AXES; a++) {
            nodes.lo[a] = weft_tree_first(&s->tree, i, a, box_lo[a]);
            nodes.n[a] = l->n[a];
        }
        weft_interpolation_add(s->interpolation, &s->sub, lo, s->array.of_sub, l->stride, &nodes,
                               s->array.values[i]);
    }
}

static void clear_tree(const weft_sampled *s) {
    for (int i = 0; i < s->tree.levels; i++) {
        const int64_t *n = s->tree.level[i].n;
        memset(s->array.values[i], 0,
               (size_t)(n[0] * n[1] * n[2] * s->made * s->parts) * sizeof(double));
    }
}

/* Sub-domains without sources are common where those fill a part of the grid. */
static bool has_sources(const weft_sampled *s, const weft_region *sub) {
    const int64_t numbers = weft_region_elements(sub) * s->fields * s->parts;
    for (int64_t i = 0; i < numbers; i++)
        if (s->array.sources[i] != 0) return true;
    return false;
}

static weft_status convolve_subdomains(weft_sampled *s, const void *in, int64_t member) {
    const weft_region *box = &s->source[s->transport->rank];
    weft_region sub;
    clear_tree(s);
    for (int64_t k = 0; k < s->count[0] * s->count[1] * s->count[2]; k++) {
        weft_sampled_subdomain(box, s->sub.edge, s->count, k, &sub);
        load(s, in, member, &sub);
        if (!has_sources(s, &sub)) continue;
        WEFT_TRY(weft_local_run(s->local, sub.lo, s->array.sources, s->array.of_sub));
        if (!has_one(s)) add_to_tree(s, sub.lo);
    }
    return WEFT_SUCCESS;
}

static weft_status run_member(weft_plan plan, const void *in, void *out, int64_t member) {
    weft_sampled *s = plan->outlined.state;
    const weft_region *target = &s->target[s->transport->rank];
    const int64_t numbers = weft_region_elements(target) * s->made * s->parts;
    double begin = weft_clock();
    weft_status status = convolve_subdomains(s, in, member);
    begin = weft_record(&plan->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, begin);
    memset(s->array.sum, 0, (size_t)numbers * sizeof *s->array.sum);
    if (s->count[0] > 0)
        weft_interpolation_add(s->interpolation, &s->tree, s->source[s->transport->rank].lo,
                               s->array.values, every_point, target, s->array.sum);
    weft_record(&plan->recorder, WEFT_PHASE_LOCAL, WEFT_NO_PARTNER, begin);
    weft_keep(&status, weft_sample_messages_run(s, &plan->recorder));
    begin = weft_clock();
    store(s, out, member);
    weft_record(&plan->recorder, WEFT_PHASE_LOCAL, WEFT_NO_PARTNER, begin);
    return status;
}

static weft_status check_arrays(const weft_sampled *s, const void *in, const void *out) {
    const int rank = s->transport->rank;
    const bool reads = weft_region_elements(&s->source[rank]) > 0;
    const bool stores = weft_region_elements(&s->target[rank]) > 0;
    if ((reads && !in) || (stores && !out))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_convolution_execute: %s is NULL",
                         in ? "out" : "in");
    if (in == out && in && s->fields != s->made)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_convolution_execute: in == out, but %d fields become %d; give two "
                         "arrays",
                         s->fields, s->made);
    return WEFT_SUCCESS;
}

static weft_status run(weft_plan plan, const void *in, void *out) {
    weft_sampled *s = plan->outlined.state;
    const int64_t batch = s->convolved->problem.batch;
    WEFT_TRY(weft_agree(s->transport, check_arrays(s, in, out)));
    weft_recorder_start(&plan->recorder);
    weft_status status = WEFT_SUCCESS;
    for (int64_t member = 0; member < (batch > 0 ? batch : 1); member++)
        weft_keep(&status, run_member(plan, in, out, member));
    plan->recorder.timings.total = weft_clock() - plan->recorder.start;
    return weft_agree(s->transport, status);
}

const weft_outlined_ops weft_sampled_ops = {.name = "samples",
                                            .run = run,
                                            .explain = weft_sampled_explain,
                                            .add_memory = add_memory,
                                            .destroy = destroy};
