/* Boxes of lattices: see lattice.h. */
#include "multilevel/lattice.h"

#include <string.h>

enum { X, Y, Z };

static int64_t floor_of_half(int64_t a) {
    return a >= 0 ? a / 2 : -((1 - a) / 2);
}

static int64_t ceiling_of_half(int64_t a) {
    return floor_of_half(a + 1);
}

int64_t weft_lattice_period(const weft_splitting *s, int level, int axis) {
    const int first = WEFT_LATTICE_AXES - s->convolved->problem.rank;
    return axis < first      ? 1
           : s->active[axis] ? s->convolved->problem.n[axis - first] >> level
                             : s->convolved->problem.n[axis - first];
}

static bool is_empty(const weft_region *box) {
    return box->n[X] <= 0 || box->n[Y] <= 0 || box->n[Z] <= 0;
}

/* The points from lo to before hi along an axis, or all of them. */
static void set_range(weft_region *box, int axis, int64_t lo, int64_t hi, int64_t period) {
    const bool all = hi - lo >= period;
    box->lo[axis] = all ? 0 : lo;
    box->n[axis] = all ? period : hi - lo;
}

/* The next level's boxes of sources and of the result. */
static void descend(const weft_splitting *s, int level, weft_lattice_boxes *b) {
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int64_t period = weft_lattice_period(s, level, a);
        const int64_t own_hi = b->own.lo[a] + b->own.n[a];
        const int64_t hi = b->made.lo[a] + b->made.n[a];
        if (!s->active[a]) continue;
        b->own.lo[a] = ceiling_of_half(b->own.lo[a]);
        b->own.n[a] = ceiling_of_half(own_hi) - b->own.lo[a];
        if (is_empty(&b->made)) continue;
        set_range(&b->made, a, ceiling_of_half(b->made.lo[a] - s->span),
                  floor_of_half(hi - 1 + s->span) + 1, period);
    }
}

/* Sources that the result needs, and those of the next level: without either, the other one's. */
static void find_around(const weft_splitting *s, int level, weft_lattice_boxes *b) {
    weft_lattice_boxes next = *b;
    const bool last = level == s->levels;
    if (!last) descend(s, level + 1, &next);
    const bool makes = !is_empty(&b->made), sums = !last && !is_empty(&next.own);
    b->around = (weft_region){.axes = WEFT_LATTICE_AXES};
    if (!makes && !sums) return;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int64_t period = weft_lattice_period(s, level, a);
        const int reach = s->active[a] ? s->radius : 0, span = s->active[a] ? s->span : 0;
        const int64_t stride = s->active[a] ? 2 : 1;
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        if (last) {
            set_range(&b->around, a, 0, period, period);
            continue;
        }
        if (makes) {
            lo = b->made.lo[a] - reach;
            hi = b->made.lo[a] + b->made.n[a] + reach;
        }
        if (sums) {
            const int64_t first = stride * next.own.lo[a] - span;
            const int64_t end = stride * (next.own.lo[a] + next.own.n[a] - 1) + span + 1;
            lo = first < lo ? first : lo;
            hi = end > hi ? end : hi;
        }
        set_range(&b->around, a, lo, hi, period);
    }
}

weft_lattice_boxes weft_lattice_find(const weft_splitting *s, int level, const weft_region *source,
                                     const weft_region *target) {
    weft_lattice_boxes b = {.own = *source, .made = *target};
    for (int l = 1; l <= level; l++) descend(s, l, &b);
    find_around(s, level, &b);
    return b;
}

/* ---- copies ---- */

/* So many points of a row from `at` on that follow each other in an array, too. */
static int64_t run_of(int64_t place, int64_t n, int64_t left) {
    return n - place < left ? n - place : left;
}

void weft_lattice_copy(const int64_t *from_period, const int64_t *to_period, int parts,
                       const weft_region *box, const weft_region *from, const double *in,
                       const weft_region *to, double *out) {
    const size_t number = sizeof *in * (size_t)parts;
    int64_t f[WEFT_LATTICE_AXES], t[WEFT_LATTICE_AXES];
    for (int64_t x = 0; x < box->n[X]; x++) {
        f[X] = weft_lattice_place(box->lo[X] + x, from->lo[X], from->n[X], from_period[X]);
        t[X] = weft_lattice_place(box->lo[X] + x, to->lo[X], to->n[X], to_period[X]);
        for (int64_t y = 0; y < box->n[Y]; y++) {
            f[Y] = weft_lattice_place(box->lo[Y] + y, from->lo[Y], from->n[Y], from_period[Y]);
            t[Y] = weft_lattice_place(box->lo[Y] + y, to->lo[Y], to->n[Y], to_period[Y]);
            for (int64_t z = 0, run; z < box->n[Z]; z += run) {
                f[Z] = weft_lattice_place(box->lo[Z] + z, from->lo[Z], from->n[Z], from_period[Z]);
                t[Z] = weft_lattice_place(box->lo[Z] + z, to->lo[Z], to->n[Z], to_period[Z]);
                run = run_of(t[Z], to->n[Z], run_of(f[Z], from->n[Z], box->n[Z] - z));
                memcpy(out + ((t[X] * to->n[Y] + t[Y]) * to->n[Z] + t[Z]) * parts,
                       in + ((f[X] * from->n[Y] + f[Y]) * from->n[Z] + f[Z]) * parts,
                       (size_t)run * number);
            }
        }
    }
}
