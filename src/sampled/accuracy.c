/*
 * What a pattern of samples costs in accuracy with a kernel. It is measured: sources are convolved
 * on a grid of 64 points along each axis, which is enough for three strides, once everywhere and
 * once on the pattern's tree; the norm of what differs, relative to that of the result, is the
 * error. It is taken of one point, which stands for sources without order, and of a small box of
 * equal ones, whose errors add up; larger boxes are farther from most of their samples.
 */
#include "sampled/sampled.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 64, TRIALS = 2 };
static const int64_t edges[TRIALS] = {1, 4};

/* What is convolved to try patterns. */
typedef struct trial {
    weft_convolved convolved; /* the kernel on the grid */
    weft_tree dense[TRIALS];
    double *exact[TRIALS];
} trial;

static weft_tree tree_of(const weft_convolved *c, int64_t edge, int points, double opening) {
    int64_t period[WEFT_TREE_AXES] = {1, 1, 1}, box[WEFT_TREE_AXES];
    const int rank = c->problem.rank;
    for (int a = 0; a < rank; a++) period[WEFT_TREE_AXES - rank + a] = c->problem.n[a];
    for (int a = 0; a < WEFT_TREE_AXES; a++) box[a] = edge < period[a] ? edge : period[a];
    return weft_tree_graded(period, box, points, opening);
}

/* With the spacings of the problem's. */
static weft_status shrink(const weft_convolved *c, weft_convolved *small) {
    *small = *c;
    memset(small->wave, 0, sizeof small->wave);
    memset(small->phase, 0, sizeof small->phase);
    for (int a = 0; a < c->problem.rank; a++) {
        small->problem.n[a] = c->problem.n[a] > 1 ? GRID : 1;
        small->problem.length[a] = c->axis[a].spacing * (double)small->problem.n[a];
    }
    weft_convolved_find_axes(small);
    return weft_convolved_makes_fields(c) ? weft_convolved_find_waves(small) : WEFT_SUCCESS;
}

static int64_t points_of(const int64_t *n) {
    return n[0] * n[1] * n[2];
}

/* Sources of all fields, and room for samples and the result. */
static weft_status make_arrays(const weft_convolved *c, const weft_tree *tree, double **sources,
                               double **values, double **result) {
    const int parts = c->real ? 1 : 2, made = weft_convolved_fields(c, true) * parts;
    const int64_t points = points_of(tree->edge);
    const int64_t numbers = points * weft_convolved_fields(c, false) * parts;
    *sources = calloc((size_t)numbers, sizeof **sources);
    *result = calloc((size_t)(points_of(tree->period) * made), sizeof **result);
    bool failed = !*sources || !*result;
    for (int i = 0; i < tree->levels; i++) {
        values[i] = calloc((size_t)(points_of(tree->level[i].n) * made), sizeof **values);
        failed = failed || !values[i];
    }
    for (int64_t i = 0; i < numbers && !failed; i++) (*sources)[i] = 1 - 0.3 * (double)(i / points);
    return failed ? weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to try samples") : WEFT_SUCCESS;
}

/* What a tree makes of the sources, at all points of the grid. */
static weft_status respond(const weft_convolved *c, const weft_tree *tree, double **result) {
    static const int64_t lo[WEFT_TREE_AXES] = {0}, step[WEFT_TREE_AXES] = {1, 1, 1};
    static const weft_options host = {.threads = 1};
    weft_region all = {.axes = WEFT_TREE_AXES};
    weft_local *local = NULL;
    weft_interpolation *interpolation = NULL;
    double *sources, *values[WEFT_TREE_LEVELS] = {NULL};
    memcpy(all.n, tree->period, sizeof tree->period);
    weft_status status = make_arrays(c, tree, &sources, values, result);
    if (status == WEFT_SUCCESS) status = weft_local_create(c, tree, &host, &local);
    if (status == WEFT_SUCCESS)
        status = weft_interpolation_create(all.n, c->real ? 1 : 2, weft_convolved_fields(c, true),
                                           &interpolation);
    if (status == WEFT_SUCCESS) status = weft_local_run(local, lo, sources, values);
    if (status == WEFT_SUCCESS)
        weft_interpolation_add(interpolation, tree, lo, values, step, &all, *result);
    free(sources);
    for (int i = 0; i < tree->levels; i++) free(values[i]);
    weft_interpolation_destroy(interpolation);
    weft_local_destroy(local);
    return status;
}

static weft_status begin(const weft_convolved *c, trial *t) {
    WEFT_TRY(shrink(c, &t->convolved));
    for (int i = 0; i < TRIALS; i++) {
        t->dense[i] = tree_of(&t->convolved, edges[i], 2, 1e-6);
        WEFT_TRY(respond(&t->convolved, &t->dense[i], &t->exact[i]));
    }
    return WEFT_SUCCESS;
}

static void end(trial *t) {
    for (int a = 0; a < WEFT_MAX_RANK; a++) {
        free(t->convolved.wave[a]);
        free(t->convolved.phase[a]);
    }
    for (int i = 0; i < TRIALS; i++) free(t->exact[i]);
}

/* Errors of linear interpolation have the sign of the result's curvature, so they add up where the
 * results of several boxes cancel: SIGNED times as much was seen. */
static weft_status measure(const trial *t, weft_sampling *sampling) {
    enum { SIGNED = 5 };
    const weft_convolved *c = &t->convolved;
    sampling->error = 0;
    for (int i = 0; i < TRIALS; i++) {
        const weft_tree tree = tree_of(c, edges[i], sampling->points, sampling->opening);
        const int64_t numbers =
            points_of(tree.period) * weft_convolved_fields(c, true) * (c->real ? 1 : 2);
        double *found = NULL, off = 0, all = 0;
        const weft_status status = respond(c, &tree, &found);
        for (int64_t k = 0; k < numbers && status == WEFT_SUCCESS; k++) {
            off += (found[k] - t->exact[i][k]) * (found[k] - t->exact[i][k]);
            all += t->exact[i][k] * t->exact[i][k];
        }
        free(found);
        WEFT_TRY(status);
        if (all > 0) sampling->error = fmax(sampling->error, sqrt(off / all));
    }
    if (sampling->points == 2) sampling->error *= SIGNED;
    return WEFT_SUCCESS;
}

/* The pattern with the fewest samples around a box of those that are accurate enough; *best is the
 * most accurate one where none is. */
static weft_status search(const trial *t, double tolerance, const weft_tree *around,
                          weft_sampling *best) {
    int64_t fewest = INT64_MAX;
    best->error = INFINITY;
    for (int points = 2; points <= WEFT_TREE_POINTS; points += 2)
        for (double opening = 0.5; opening >= 0.125; opening /= 2) {
            const weft_tree tree = weft_tree_graded(around->period, around->edge, points, opening);
            const int64_t samples = weft_tree_samples(&tree);
            weft_sampling s = *best;
            s.points = points;
            s.opening = opening;
            if (opening > 2.0 / points || samples >= fewest) continue;
            WEFT_TRY(measure(t, &s));
            if (s.error <= tolerance) fewest = samples;
            if (s.error <= tolerance || (s.error < best->error && fewest == INT64_MAX)) *best = s;
        }
    return WEFT_SUCCESS;
}

weft_status weft_sampling_choose(const weft_convolved *c, const weft_tree *around, bool given,
                                 weft_sampling *sampling) {
    const double tolerance = c->problem.tolerance > 0 ? c->problem.tolerance : 1e-3;
    /* The fixed pattern goes by the box's edge, so small ones tell nothing of it. */
    if (sampling->fixed || (given && c->problem.tolerance == 0)) return WEFT_SUCCESS;
    trial *t = calloc(1, sizeof *t);
    if (!t) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to try samples");
    weft_status status = begin(c, t);
    if (status == WEFT_SUCCESS)
        status = given ? measure(t, sampling) : search(t, tolerance, around, sampling);
    if (status == WEFT_SUCCESS && sampling->error > tolerance)
        status = weft_convolved_refuse(c, tolerance, "interpolated", sampling->error);
    end(t);
    free(t);
    return status;
}
