/*
 * Between two lattices: sources go down, and results up, axis by axis with the weights of a
 * B-spline. They are symmetric, so that both are transposes of each other.
 */
#include "multilevel/lattice.h"

#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

static int64_t place_along(const weft_region *box, const int64_t *period, int axis, int64_t at) {
    return weft_lattice_place(at, box->lo[axis], box->n[axis], period[axis]);
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A plane, one of its lines, and a line with points to both sides. */
int64_t weft_transfer_scratch(const weft_region *from, const weft_region *to, int parts) {
    const int64_t wide = larger(from->n[Y], to->n[Y]), deep = larger(from->n[Z], to->n[Z]);
    return (wide * deep + deep + 2 * deep + 4 * WEFT_SPLINE_SPAN) * parts;
}

static void add_scaled(double factor, const double *from, int64_t count, double *to) {
    for (int64_t i = 0; i < count; i++) to[i] += factor * from[i];
}

/* Copies so many points of a row along z, from the one at `lo` on, which may repeat. */
static void widen(const weft_region *box, const int64_t *period, int parts, const double *row,
                  int64_t lo, int64_t count, double *wide) {
    for (int64_t i = 0, run; i < count; i += run) {
        const int64_t place = place_along(box, period, Z, lo + i);
        run = box->n[Z] - place < count - i ? box->n[Z] - place : count - i;
        memcpy(wide + i * parts, row + place * parts, (size_t)(run * parts) * sizeof *wide);
    }
}

/* ---- down ---- */

/* Sums the rows about coarse point m, each `count` numbers, with their weights. */
static void sum_rows(const weft_splitting *s, const double *weight, const weft_region *around,
                     const int64_t *period, int axis, int64_t m, int64_t count, const double *rows,
                     double *to) {
    memset(to, 0, (size_t)count * sizeof *to);
    if (!s->active[axis]) {
        add_scaled(1, rows + place_along(around, period, axis, m) * count, count, to);
        return;
    }
    for (int o = -s->span; o <= s->span; o++)
        add_scaled(2 * weight[o + s->span],
                   rows + place_along(around, period, axis, 2 * m + o) * count, count, to);
}

/* Sums the points of a row about the coarse ones. */
static void sum_points(const weft_splitting *s, const double *weight, const weft_region *around,
                       const int64_t *period, int parts, const weft_region *coarse,
                       const double *row, double *wide, double *to) {
    const int64_t n = coarse->n[Z];
    const int span = s->span;
    if (!s->active[Z]) {
        memcpy(to, row, (size_t)parts * sizeof *to);
        return;
    }
    widen(around, period, parts, row, 2 * coarse->lo[Z] - span, 2 * n - 1 + 2 * span, wide);
    for (int64_t z = 0; z < n; z++)
        for (int part = 0; part < parts; part++) {
            const double *points = wide + 2 * z * parts + part;
            double sum = 0;
            for (int i = 0; i <= 2 * span; i++) sum += weight[i] * points[i * parts];
            to[z * parts + part] = 2 * sum;
        }
}

void weft_transfer_down(const weft_splitting *s, int field, const int64_t *period, int parts,
                        const weft_region *around, const double *sources, const weft_region *coarse,
                        double *sums, double *scratch) {
    const int64_t row = around->n[Z] * parts, plane = around->n[Y] * row;
    const bool *half = s->half[field];
    double *line = scratch + plane, *wide = line + row;
    for (int64_t x = 0; x < coarse->n[X]; x++) {
        sum_rows(s, s->weight[half[X]], around, period, X, coarse->lo[X] + x, plane, sources,
                 scratch);
        for (int64_t y = 0; y < coarse->n[Y]; y++) {
            sum_rows(s, s->weight[half[Y]], around, period, Y, coarse->lo[Y] + y, row, scratch,
                     line);
            sum_points(s, s->weight[half[Z]], around, period, parts, coarse, line, wide,
                       sums + (x * coarse->n[Y] + y) * coarse->n[Z] * parts);
        }
    }
}

/* ---- up ---- */

/* Adds to a fine row at `at` the coarse ones from which it is interpolated: those for which it is
 * point 2 m + o. */
static void add_rows(const weft_splitting *s, const double *weight, const weft_region *coarse,
                     const int64_t *period, int axis, int64_t at, int64_t count, const double *rows,
                     double *to) {
    if (!s->active[axis]) {
        add_scaled(1, rows + place_along(coarse, period, axis, at) * count, count, to);
        return;
    }
    for (int64_t o = -s->span + ((at + s->span) & 1); o <= s->span; o += 2)
        add_scaled(weight[o + s->span],
                   rows + place_along(coarse, period, axis, (at - o) / 2) * count, count, to);
}

/* Adds to the points of a fine row. */
static void add_points(const weft_splitting *s, const double *weight, const weft_region *coarse,
                       const int64_t *period, int parts, const weft_region *fine, const double *row,
                       double *wide, double *to) {
    const int64_t lo = fine->lo[Z], n = fine->n[Z];
    const int span = s->span;
    if (!s->active[Z]) {
        add_scaled(1, row, parts, to);
        return;
    }
    /* The first and the last coarse points from which one is interpolated: halves of even numbers.
     */
    const int64_t first = (lo - span + ((lo + span) & 1)) / 2, end = lo + n - 1 + span;
    widen(coarse, period, parts, row, first, (end - (end & 1)) / 2 - first + 1, wide);
    for (int64_t z = 0; z < n; z++) {
        const int64_t odd = (lo + z + span) & 1, from = (lo + z - span + odd) / 2 - first;
        for (int part = 0; part < parts; part++) {
            const double *points = wide + from * parts + part;
            double sum = 0;
            for (int64_t o = 2 * span - odd, i = 0; o >= 0; o -= 2, i++)
                sum += weight[o] * points[i * parts];
            to[z * parts + part] += sum;
        }
    }
}

void weft_transfer_up(const weft_splitting *s, int field, const int64_t *period, int parts,
                      const weft_region *coarse, const double *values, const weft_region *fine,
                      double *result, double *scratch) {
    const int64_t row = coarse->n[Z] * parts, plane = coarse->n[Y] * row;
    const bool *half = s->half[field];
    double *line = scratch + plane, *wide = line + row;
    int64_t of_coarse[WEFT_LATTICE_AXES];
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        of_coarse[a] = s->active[a] ? period[a] / 2 : period[a];
    for (int64_t x = 0; x < fine->n[X]; x++) {
        memset(scratch, 0, (size_t)plane * sizeof *scratch);
        add_rows(s, s->weight[half[X]], coarse, of_coarse, X, fine->lo[X] + x, plane, values,
                 scratch);
        for (int64_t y = 0; y < fine->n[Y]; y++) {
            memset(line, 0, (size_t)row * sizeof *line);
            add_rows(s, s->weight[half[Y]], coarse, of_coarse, Y, fine->lo[Y] + y, row, scratch,
                     line);
            add_points(s, s->weight[half[Z]], coarse, of_coarse, parts, fine, line, wide,
                       result + (x * fine->n[Y] + y) * fine->n[Z] * parts);
        }
    }
}
