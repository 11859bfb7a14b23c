/*
 * Convolutions in a box, tile by tile: overlap-save with short kernels, whose tiles lie in the
 * cache. Where a tile has all of an axis, its convolution is cyclic along that.
 */
#include "multilevel/multilevel.h"

#include "support/error.h"
#include "support/pair.h"
#include "support/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };
static const double pi = 3.14159265358979323846;

/* ---- the tile ---- */

/* What a point of the result costs, relative to others: the points of the tile's transforms and
 * their passes, more where its array and spectrum do not fit the second-level cache. */
static double cost_of(const weft_near_tiles *t) {
    double points = 1, kept = 1, passes = 6;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int64_t steps = t->n[a] - 2 * t->skip[a];
        const int64_t tiles = (t->made.n[a] + steps - 1) / steps;
        points *= (double)(t->n[a] * tiles);
        kept *= (double)t->made.n[a];
        passes += log2((double)t->n[a]);
    }
    const double bytes =
        (double)(t->n[X] * t->n[Y] * t->n[Z] * t->parts * t->splitting->fields) * sizeof(double);
    return points / kept * passes * (2 * bytes > (double)weft_topology_get()->l2 ? 1.5 : 1);
}

/* A tile makes `edge` points along each axis, or what there is to make. */
static void set_edge(weft_near_tiles *t, int64_t edge) {
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int64_t most = t->made.n[a] < edge ? t->made.n[a] : edge;
        const bool all = t->around.n[a] == t->period[a] && most == t->period[a];
        t->skip[a] = all ? 0 : t->reach[a];
        t->n[a] = all ? t->period[a] : weft_convolved_length(most + 2 * t->reach[a]);
    }
}

static void choose_edge(weft_near_tiles *t, int64_t edge) {
    double least = INFINITY;
    int64_t best = edge, longest = 1;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        longest = t->made.n[a] > longest ? t->made.n[a] : longest;
    for (int64_t e = 16; edge == 0; e += e / 2) {
        set_edge(t, e);
        if (cost_of(t) < least) {
            least = cost_of(t);
            best = e;
        }
        if (e >= longest) break;
    }
    set_edge(t, best);
}

/* ---- making ---- */

/* exp(i k / 2) for each axis along which a field lies half a point lower, all multiplied. */
static weft_pair turn_of(const weft_near_tiles *t, int field, const int64_t *index) {
    weft_pair turn = {1, 0};
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const double *x = t->turn[a] + 2 * index[a];
        if (t->splitting->half[field][a]) turn = weft_pair_times(turn, (weft_pair){x[0], x[1]});
    }
    return turn;
}

/* The strains that stresses make: symbols of pairs of fields, at the places of both. */
static void multiply_fields(const weft_fields_run *run, void *tiles) {
    const weft_near_tiles *t = tiles;
    const int64_t *count = t->waves, all = count[X] * count[Y] * count[Z];
    const int fields = t->splitting->fields;
    int64_t index[WEFT_LATTICE_AXES];
    memcpy(index, run->index, sizeof index);
    for (int64_t i = 0; i < run->count; i++) {
        weft_pair in[WEFT_SPLIT_FIELDS], turn[WEFT_SPLIT_FIELDS], out[WEFT_SPLIT_FIELDS] = {{0, 0}};
        index[run->axis] = run->index[run->axis] + i;
        const double *symbol = t->factors + (index[X] * count[Y] + index[Y]) * count[Z] + index[Z];
        for (int f = 0; f < fields; f++) {
            turn[f] = turn_of(t, f, index);
            in[f] = weft_pair_times(turn[f], weft_pair_at(run->in[f], false, i * run->in_stride)) *
                    t->splitting->twice[f];
        }
        for (int to = 0; to < fields; to++)
            for (int from = to; from < fields; from++, symbol += all) {
                out[to] += *symbol * in[from];
                if (from > to) out[from] += *symbol * in[to];
            }
        for (int f = 0; f < fields; f++)
            weft_pair_set(run->out[f], false, i * run->out_stride,
                          weft_pair_times(weft_pair_conjugate(turn[f]), out[f]));
    }
}

static weft_status make_plan(const weft_splitting *s, int threads, weft_near_tiles *t) {
    const weft_operator by_array = {.kind = WEFT_OPERATOR_ARRAY};
    const weft_operator by_matrix = {
        .kind = WEFT_OPERATOR_MATRIX, .matrix = multiply_fields, .argument = t};
    const bool one = t->splitting->fields == 1;
    const weft_problem problem = {.rank = WEFT_LATTICE_AXES,
                                  .n = {t->n[X], t->n[Y], t->n[Z]},
                                  .kind = s->convolved->real ? WEFT_R2C : WEFT_C2C,
                                  .fields = one ? 0 : t->splitting->fields,
                                  .spectral = {one ? &by_array : &by_matrix, 1}};
    const weft_options options = {.threads = threads, .engine = WEFT_ENGINE_NATIVE, .convolve = 1};
    weft_memory memory;
    WEFT_TRY(weft_context_create(NULL, &t->context));
    WEFT_TRY(weft_plan_create(t->context, &problem, &options, &t->plan));
    if (one) WEFT_TRY(weft_plan_set_array(t->plan, 0, t->factors));
    WEFT_TRY(weft_plan_memory(t->plan, &memory));
    t->bytes += memory.total;
    return WEFT_SUCCESS;
}

/* The kernel's symbols at the tile's wavenumbers, over the points that there and back multiply by.
 */
static weft_status make_factors(const weft_splitting *s, int level, weft_near_tiles *t) {
    const int64_t all = t->waves[X] * t->waves[Y] * t->waves[Z];
    weft_angles angles = {.count = {t->waves[X], t->waves[Y], t->waves[Z]}};
    weft_field_pair pair;
    double *angle = malloc((size_t)(t->waves[X] + t->waves[Y] + t->waves[Z]) * sizeof *angle);
    weft_status status = WEFT_SUCCESS;
    if (!angle) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
    for (int a = 0, at = 0; a < WEFT_LATTICE_AXES; a++) {
        angles.angle[a] = angle + at;
        for (int64_t i = 0; i < t->waves[a]; i++, at++) {
            angle[at] = 2 * pi * (double)(2 * i > t->n[a] ? i - t->n[a] : i) / (double)t->n[a];
            t->turn[a][2 * i] = cos(angle[at] / 2);
            t->turn[a][2 * i + 1] = sin(angle[at] / 2);
        }
    }
    for (int i = 0; status == WEFT_SUCCESS && weft_splitting_pair(s, i, &pair); i++) {
        double *factors = t->factors + i * all;
        status = level == s->levels ? weft_splitting_symbol(s, &pair, level, &angles, factors)
                                    : weft_splitting_near(s, &pair, level, &angles, factors);
        for (int64_t k = 0; k < all && status == WEFT_SUCCESS; k++)
            factors[k] /= (double)(t->n[X] * t->n[Y] * t->n[Z]);
    }
    free(angle);
    return status;
}

/* A tile, and the factors of its spectrum. */
static weft_status make_arrays(const weft_splitting *s, weft_near_tiles *t) {
    const int64_t points = t->n[X] * t->n[Y] * t->n[Z] * t->parts * t->splitting->fields;
    int64_t factors = t->splitting->fields * (t->splitting->fields + 1) / 2;
    bool failed = false;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        t->waves[a] = a == Z && s->convolved->real ? t->n[a] / 2 + 1 : t->n[a];
        t->turn[a] = malloc((size_t)t->waves[a] * 2 * sizeof *t->turn[a]);
        failed = failed || !t->turn[a];
        factors *= t->waves[a];
    }
    t->array = malloc((size_t)points * sizeof *t->array);
    t->factors = malloc((size_t)factors * sizeof *t->factors);
    t->bytes = (size_t)(points + factors) * sizeof *t->array;
    if (!failed && t->array && t->factors) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for tiles of %lld numbers",
                     (long long)points);
}

weft_status weft_near_tiles_create(const weft_splitting *s, int level,
                                   const weft_lattice_boxes *boxes, int64_t edge, int threads,
                                   weft_near_tiles *t) {
    *t = (weft_near_tiles){.parts = s->convolved->real ? 1 : 2,
                           .splitting = s,

                           .made = boxes->made,
                           .around = boxes->around};
    if (weft_region_elements(&t->made) <= 0) return WEFT_SUCCESS;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        t->period[a] = weft_lattice_period(s, level, a);
        t->reach[a] = s->active[a] && level < s->levels ? s->radius : 0;
    }
    if (level == s->levels) { /* every rank makes all of it */
        t->made = t->around;
        edge = INT64_MAX / 2;
    }
    choose_edge(t, edge);
    WEFT_TRY(make_arrays(s, t));
    WEFT_TRY(make_factors(s, level, t));
    return make_plan(s, threads, t);
}

void weft_near_tiles_destroy(weft_near_tiles *t) {
    weft_plan_destroy(&t->plan);
    weft_context_destroy(&t->context);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        free(t->turn[a]);
        t->turn[a] = NULL;
    }
    free(t->array);
    free(t->factors);
    t->array = t->factors = NULL;
}

/* ---- running ---- */

/* The part of a range of n points from *lo on that lies in a box's. */
static void clip(const weft_region *box, int axis, int64_t period, int64_t *lo, int64_t *n) {
    const int64_t end = *lo + *n, box_end = box->lo[axis] + box->n[axis];
    if (box->n[axis] >= period) return;
    if (*lo < box->lo[axis]) *lo = box->lo[axis];
    *n = (end < box_end ? end : box_end) - *lo;
}

static weft_status run_tile(const weft_near_tiles *t, const int64_t *first, const double *around,
                            double *made) {
    weft_region tile = {.axes = WEFT_LATTICE_AXES}, load = tile, store = tile;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int64_t steps = t->n[a] - 2 * t->skip[a];
        tile.lo[a] = load.lo[a] = t->made.lo[a] + first[a] - t->skip[a];
        tile.n[a] = load.n[a] = t->n[a];
        store.lo[a] = t->made.lo[a] + first[a];
        store.n[a] = t->made.n[a] - first[a] < steps ? t->made.n[a] - first[a] : steps;
        load.n[a] = store.n[a] + 2 * t->skip[a];
        clip(&t->around, a, t->period[a], &load.lo[a], &load.n[a]);
    }
    /* Tiles may be longer than the period, whose points they then have more than once. */
    static const int64_t never[WEFT_LATTICE_AXES] = {INT64_MAX, INT64_MAX, INT64_MAX};
    const int64_t of_tile = weft_region_elements(&tile) * t->parts;
    const int64_t of_around = weft_region_elements(&t->around) * t->parts;
    const int64_t of_made = weft_region_elements(&t->made) * t->parts;
    if (weft_region_elements(&load) < weft_region_elements(&tile))
        memset(t->array, 0, (size_t)(of_tile * t->splitting->fields) * sizeof *t->array);
    for (int f = 0; f < t->splitting->fields; f++)
        weft_lattice_copy(t->period, never, t->parts, &load, &t->around, around + f * of_around,
                          &tile, t->array + f * of_tile);
    WEFT_TRY(weft_execute(t->plan, WEFT_CONVOLVE, t->array, t->array));
    for (int f = 0; f < t->splitting->fields; f++)
        weft_lattice_copy(never, t->period, t->parts, &store, &tile, t->array + f * of_tile,
                          &t->made, made + f * of_made);
    return WEFT_SUCCESS;
}

weft_status weft_near_tiles_run(const weft_near_tiles *t, const double *around, double *made) {
    int64_t first[WEFT_LATTICE_AXES], steps[WEFT_LATTICE_AXES];
    if (!t->plan) return WEFT_SUCCESS;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) steps[a] = t->n[a] - 2 * t->skip[a];
    for (first[X] = 0; first[X] < t->made.n[X]; first[X] += steps[X])
        for (first[Y] = 0; first[Y] < t->made.n[Y]; first[Y] += steps[Y])
            for (first[Z] = 0; first[Z] < t->made.n[Z]; first[Z] += steps[Z])
                WEFT_TRY(run_tile(t, first, around, made));
    return WEFT_SUCCESS;
}
