/* Convolutions by levels: see multilevel.h. */
#include "multilevel/multilevel.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- the choice ---- */

static const char *kernel_obstacle(const weft_convolved *c) {
    const weft_convolution_kernel *k = &c->problem.kernel;
    if (k->kind != WEFT_KERNEL_ELASTIC)
        return weft_convolved_is_radial(c) ? NULL : "the kernel is no real function of |k|^2";
    if (k->discretization == WEFT_STAGGERED) return NULL;
    return "kernel elastic has ripples unless kernel.discretization is WEFT_STAGGERED";
}

/* Why it cannot be done by levels, or NULL. */
static const char *obstacle(weft_context ctx, const weft_convolved *c, const weft_options *o) {
    const weft_convolution_problem *p = &c->problem;
    if (ctx->transport->simulated) return "the context has simulated ranks";
    if (o->device != WEFT_HOST) return "options.device is not the host";
    if (p->rank > WEFT_LATTICE_AXES) return "problem.rank is more than 3";
    for (int a = 0; a < p->rank; a++)
        if (p->boundary[a] != WEFT_PERIODIC) return "an axis is not periodic";
    return kernel_obstacle(c);
}

bool weft_multilevel_possible(const weft_convolved *c) {
    return !kernel_obstacle(c) && weft_splitting_most_levels(c) > 0;
}

weft_status weft_multilevel_choose(weft_context ctx, weft_convolved *c, const weft_options *options,
                                   bool *chosen) {
    const char *why = obstacle(ctx, c, options);
    *chosen = c->problem.method == WEFT_MULTILEVEL;
    if (!*chosen) return WEFT_SUCCESS;
    if (why)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.method is multilevel, but %s; leave problem.method 0", why);
    *chosen = weft_splitting_most_levels(c) > 0;
    if (*chosen) return WEFT_SUCCESS;
    c->note = strdup("method multilevel is the exact one here: 2 does not divide all extents");
    return c->note ? WEFT_SUCCESS
                   : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution");
}

/* ---- making ---- */

static double *reserve(weft_multilevel *m, weft_status *status, int64_t points) {
    const size_t bytes = (size_t)(points * m->parts * m->fields) * sizeof(double);
    double *memory = *status == WEFT_SUCCESS ? calloc(bytes + sizeof(double), 1) : NULL;
    if (!memory && *status == WEFT_SUCCESS)
        *status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                      "no memory for %lld points of a convolution by levels", (long long)points);
    m->bytes += bytes;
    return memory;
}

/* The boxes of all ranks on a level; NULL: no memory. */
static weft_lattice_boxes *find_boxes(const weft_multilevel *m, weft_plan plan, int level) {
    const int ranks = m->transport->size, axes = m->convolved->problem.rank;
    weft_lattice_boxes *boxes = calloc((size_t)ranks, sizeof *boxes);
    for (int r = 0; boxes && r < ranks; r++) {
        const weft_region source = weft_convolved_region(plan, WEFT_INPUT, r, axes);
        const weft_region target = weft_convolved_region(plan, WEFT_RESULT, r, axes);
        boxes[r] = weft_lattice_find(&m->splitting, level, &source, &target);
    }
    return boxes;
}

/* A level's arrays and tiles. Not collective. */
static weft_status make_level(weft_multilevel *m, int number, int threads) {
    const weft_splitting *s = &m->splitting;
    weft_level *l = &m->level[number];
    const weft_lattice_boxes *b = &l->boxes;
    const bool last = number == s->levels;
    weft_status status = WEFT_SUCCESS;
    l->own = reserve(m, &status, weft_region_elements(&b->own));
    l->around = reserve(m, &status, weft_region_elements(&b->around));
    l->made = last ? l->around : reserve(m, &status, weft_region_elements(&b->made));
    if (status == WEFT_SUCCESS)
        status = weft_near_tiles_create(s, number, b, m->convolved->problem.subdomain, threads,
                                        &l->tiles);
    m->bytes += l->tiles.bytes + weft_packets_bytes(&l->gathering.packets);
    return status;
}

/* Room for what is between two lattices. */
static weft_status make_scratch(weft_multilevel *m) {
    weft_status status = WEFT_SUCCESS;
    int64_t most = 0;
    for (int i = 0; i < m->splitting.levels; i++) {
        const weft_lattice_boxes *b = &m->level[i].boxes, *next = &m->level[i + 1].boxes;
        const int64_t numbers[2] = {weft_transfer_scratch(&b->around, &next->own, 1),
                                    weft_transfer_scratch(&next->around, &b->made, 1)};
        most = numbers[0] > most ? numbers[0] : most;
        most = numbers[1] > most ? numbers[1] : most;
    }
    m->scratch = reserve(m, &status, most);
    return status;
}

/* Levels one after the other, each with its exchange. Collective: a rank that fails takes part. */
static weft_status make_levels(weft_multilevel *m, weft_plan plan) {
    const weft_convolution_problem *p = &m->convolved->problem;
    weft_status status = WEFT_SUCCESS;
    m->level = calloc((size_t)m->splitting.levels + 1, sizeof *m->level);
    if (!m->level)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a convolution by levels");
    WEFT_TRY(weft_agree(m->transport, status));
    for (int i = 0; i <= m->splitting.levels; i++) {
        weft_level *l = &m->level[i];
        weft_lattice_boxes *boxes = find_boxes(m, plan, i);
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            l->period[a] = weft_lattice_period(&m->splitting, i, a);
        if (boxes) l->boxes = boxes[m->transport->rank];
        weft_keep(&status,
                  weft_gathering_create(m->transport, p->precision == WEFT_SINGLE, m->fields,
                                        m->parts, l->period, boxes, &l->gathering));
        if (status == WEFT_SUCCESS) status = make_level(m, i, plan->call.options.threads);
    }
    if (status == WEFT_SUCCESS) status = make_scratch(m);
    return weft_agree(m->transport, status);
}

static void destroy(weft_plan plan) {
    weft_multilevel *m = plan->outlined.state;
    if (!m) return;
    for (int i = 0; m->level && i <= m->splitting.levels; i++) {
        weft_level *l = &m->level[i];
        weft_gathering_destroy(&l->gathering);
        weft_near_tiles_destroy(&l->tiles);
        if (l->made != l->around) free(l->made);
        free(l->own);
        free(l->around);
    }
    free(m->level);
    free(m->scratch);
    weft_splitting_release(&m->splitting);
    free(m);
}

static void add_memory(weft_plan plan, weft_memory *memory) {
    const weft_multilevel *m = plan->outlined.state;
    memory->workspace += sizeof *m + m->bytes + weft_splitting_bytes(&m->splitting);
}

/* ---- running ---- */

/* Where number i of a member, fields one after the other, is in the caller's array. */
static int64_t place_of(const weft_multilevel *m, int64_t numbers, int64_t i) {
    const int64_t part = i % m->parts, point = i % numbers / m->parts, field = i / numbers;
    if (m->fields == 1 || !m->convolved->problem.fields_fastest) return i;
    return (point * m->fields + field) * m->parts + part;
}

static void load(const weft_multilevel *m, const void *in, int64_t member) {
    const int64_t numbers = weft_region_elements(&m->source) * m->parts;
    const int64_t all = numbers * m->fields, first = member * all;
    double *own = m->level[0].own;
    if (m->convolved->problem.precision == WEFT_SINGLE)
        for (int64_t i = 0; i < all; i++)
            own[i] = (double)((const float *)in)[first + place_of(m, numbers, i)];
    else
        for (int64_t i = 0; i < all; i++)
            own[i] = ((const double *)in)[first + place_of(m, numbers, i)];
}

static void store(const weft_multilevel *m, void *out, int64_t member) {
    const int64_t numbers = weft_region_elements(&m->target) * m->parts;
    const int64_t all = numbers * m->fields, first = member * all;
    const double *made = m->level[0].made;
    if (m->convolved->problem.precision == WEFT_SINGLE)
        for (int64_t i = 0; i < all; i++)
            ((float *)out)[first + place_of(m, numbers, i)] = (float)made[i];
    else
        for (int64_t i = 0; i < all; i++)
            ((double *)out)[first + place_of(m, numbers, i)] = made[i];
}

/* A level's sources to the next one's, and results back. */
static void transfer(const weft_multilevel *m, const weft_level *l, bool down) {
    const weft_level *next = l + 1;
    const weft_region *from = down ? &l->boxes.around : &next->tiles.made;
    const weft_region *to = down ? &next->boxes.own : &l->boxes.made;
    const int64_t of_from = weft_region_elements(from) * m->parts;
    const int64_t of_to = weft_region_elements(to) * m->parts;
    if (of_to <= 0) return;
    for (int f = 0; f < m->fields; f++)
        if (down)
            weft_transfer_down(&m->splitting, f, l->period, m->parts, from, l->around + f * of_from,
                               to, next->own + f * of_to, m->scratch);
        else
            weft_transfer_up(&m->splitting, f, l->period, m->parts, from, next->made + f * of_from,
                             to, l->made + f * of_to, m->scratch);
}

/* Sources to all lattices, each with those around the boxes. */
static weft_status go_down(weft_plan plan) {
    const weft_multilevel *m = plan->outlined.state;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i <= m->splitting.levels; i++) {
        const weft_level *l = &m->level[i];
        weft_keep(&status, weft_gathering_run(&l->gathering, l->own, l->around, &plan->recorder));
        if (i == m->splitting.levels) break;
        const double begin = weft_clock();
        transfer(m, l, true);
        weft_record(&plan->recorder, WEFT_PHASE_LOCAL, WEFT_NO_PARTNER, begin);
    }
    return status;
}

/* The result, from the last lattice on. */
static weft_status go_up(weft_plan plan) {
    const weft_multilevel *m = plan->outlined.state;
    for (int i = m->splitting.levels; i >= 0; i--) {
        const weft_level *l = &m->level[i];
        double begin = weft_clock();
        WEFT_TRY(weft_near_tiles_run(&l->tiles, l->around, l->made));
        begin = weft_record(&plan->recorder, WEFT_PHASE_FFT, WEFT_NO_PARTNER, begin);
        if (i < m->splitting.levels) transfer(m, l, false);
        weft_record(&plan->recorder, WEFT_PHASE_LOCAL, WEFT_NO_PARTNER, begin);
    }
    return WEFT_SUCCESS;
}

static weft_status check_arrays(const weft_multilevel *m, const void *in, const void *out) {
    const bool reads = weft_region_elements(&m->source) > 0;
    const bool stores = weft_region_elements(&m->target) > 0;
    if ((!reads || in) && (!stores || out)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_convolution_execute: %s is NULL",
                     reads && !in ? "in" : "out");
}

static weft_status run(weft_plan plan, const void *in, void *out) {
    const weft_multilevel *m = plan->outlined.state;
    const int64_t batch = m->convolved->problem.batch;
    weft_status status = WEFT_SUCCESS;
    WEFT_TRY(weft_agree(m->transport, check_arrays(m, in, out)));
    weft_recorder_start(&plan->recorder);
    for (int64_t member = 0; member < (batch > 0 ? batch : 1); member++) {
        load(m, in, member);
        weft_keep(&status, go_down(plan));
        if (status == WEFT_SUCCESS) status = go_up(plan);
        if (status == WEFT_SUCCESS) store(m, out, member);
    }
    plan->recorder.timings.total = weft_clock() - plan->recorder.start;
    return weft_agree(m->transport, status);
}

/* ---- creation ---- */

static const weft_outlined_ops ops = {.name = "multilevel",
                                      .run = run,
                                      .explain = weft_multilevel_explain,
                                      .add_memory = add_memory,
                                      .destroy = destroy};

weft_status weft_multilevel_create(weft_plan plan, weft_context ctx, const weft_convolved *c) {
    weft_multilevel *m = calloc(1, sizeof *m);
    WEFT_TRY(weft_outlined_begin(plan, ctx, &ops, m, "levels"));
    m->transport = plan->outlined.transport;
    m->convolved = c;
    m->parts = c->real ? 1 : 2;
    m->fields = weft_convolved_fields(c, true);
    m->source = weft_convolved_region(plan, WEFT_INPUT, m->transport->rank, c->problem.rank);
    m->target = weft_convolved_region(plan, WEFT_RESULT, m->transport->rank, c->problem.rank);
    /* All ranks choose alike: with the box of the first one, which is no smaller than others. */
    const weft_region first = weft_convolved_region(plan, WEFT_INPUT, 0, c->problem.rank);
    const weft_status status = weft_multilevel_split(&plan->context->source.machine, c, &first,
                                                     m->transport->size, &m->splitting);
    WEFT_TRY(weft_agree(m->transport, status));
    return make_levels(m, plan);
}
