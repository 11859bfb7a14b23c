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

/* The periods of the coarser lattice. */
static void coarsen(const weft_splitting *s, const int64_t *period, int64_t *coarse) {
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        coarse[a] = s->active[a] ? period[a] / 2 : period[a];
}

int64_t weft_transfer_scratch(const weft_region *around, const weft_region *coarse, int parts) {
    const int64_t wide = around->n[Y] > coarse->n[Y] ? around->n[Y] : coarse->n[Y];
    const int64_t deep = around->n[Z] > coarse->n[Z] ? around->n[Z] : coarse->n[Z];
    return 2 * wide * deep * parts;
}

static void add_scaled(double factor, const double *from, int64_t count, double *to) {
    for (int64_t i = 0; i < count; i++) to[i] += factor * from[i];
}

/* ---- down ---- */

/* Adds the rows about coarse point m, each `count` numbers, with their weights. */
static void sum_rows(const weft_splitting *s, const weft_region *around, const int64_t *period,
                     int axis, int64_t m, int64_t count, const double *rows, double *to) {
    memset(to, 0, (size_t)count * sizeof *to);
    if (!s->active[axis]) {
        add_scaled(1, rows + place_along(around, period, axis, m) * count, count, to);
        return;
    }
    for (int o = -s->span; o <= s->span; o++)
        add_scaled(2 * s->tap[abs(o)], rows + place_along(around, period, axis, 2 * m + o) * count,
                   count, to);
}

void weft_transfer_down(const weft_splitting *s, const int64_t *period, int parts,
                        const weft_region *around, const double *sources, const weft_region *coarse,
                        double *sums, double *scratch) {
    const int64_t row = around->n[Z] * parts, plane = around->n[Y] * row;
    double *line = scratch + plane;
    for (int64_t x = 0; x < coarse->n[X]; x++) {
        sum_rows(s, around, period, X, coarse->lo[X] + x, plane, sources, scratch);
        for (int64_t y = 0; y < coarse->n[Y]; y++) {
            sum_rows(s, around, period, Y, coarse->lo[Y] + y, row, scratch, line);
            for (int64_t z = 0; z < coarse->n[Z]; z++)
                sum_rows(s, around, period, Z, coarse->lo[Z] + z, parts, line,
                         sums + ((x * coarse->n[Y] + y) * coarse->n[Z] + z) * parts);
        }
    }
}

/* ---- up ---- */

/* Adds to a fine row at `at` the coarse ones from which it is interpolated. */
static void add_rows(const weft_splitting *s, const weft_region *coarse, const int64_t *period,
                     int axis, int64_t at, int64_t count, const double *rows, double *to) {
    if (!s->active[axis]) {
        add_scaled(1, rows + place_along(coarse, period, axis, at) * count, count, to);
        return;
    }
    /* Offsets have the parity of the point. */
    for (int64_t o = -s->span + ((at + s->span) & 1); o <= s->span; o += 2)
        add_scaled(s->tap[llabs(o)], rows + place_along(coarse, period, axis, (at + o) / 2) * count,
                   count, to);
}

void weft_transfer_up(const weft_splitting *s, const int64_t *period, int parts,
                      const weft_region *coarse, const double *values, const weft_region *fine,
                      double *result, double *scratch) {
    const int64_t row = coarse->n[Z] * parts, plane = coarse->n[Y] * row;
    double *line = scratch + plane;
    int64_t of_coarse[WEFT_LATTICE_AXES];
    coarsen(s, period, of_coarse);
    for (int64_t x = 0; x < fine->n[X]; x++) {
        memset(scratch, 0, (size_t)plane * sizeof *scratch);
        add_rows(s, coarse, of_coarse, X, fine->lo[X] + x, plane, values, scratch);
        for (int64_t y = 0; y < fine->n[Y]; y++) {
            memset(line, 0, (size_t)row * sizeof *line);
            add_rows(s, coarse, of_coarse, Y, fine->lo[Y] + y, row, scratch, line);
            for (int64_t z = 0; z < fine->n[Z]; z++)
                add_rows(s, coarse, of_coarse, Z, fine->lo[Z] + z, parts, line,
                         result + ((x * fine->n[Y] + y) * fine->n[Z] + z) * parts);
        }
    }
}
