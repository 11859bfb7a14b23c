/* Symbols of the levels of a split kernel: see splitting.h. */
#include "multilevel/splitting.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

int weft_splitting_most_levels(const weft_convolved *c) {
    int levels = WEFT_LATTICE_LEVELS - 1;
    bool active = false;
    for (int a = 0; a < c->problem.rank; a++) {
        int64_t n = c->problem.n[a];
        int halves = 0;
        if (n == 1) continue;
        for (active = true; n % 2 == 0; n /= 2) halves++;
        if (halves < levels) levels = halves;
    }
    return active ? levels : 0;
}

/* cos(k / 2)^(2 span): the weights of a B-spline at the points of the finer lattice, for each
 * B-spline is the sum of those on a lattice twice as fine. */
void weft_splitting_set_span(weft_splitting *s, int span) {
    double binomial = 1;
    s->span = span;
    for (int i = 0; i < span; i++) binomial *= (double)(span + 1 + i) / (double)(i + 1);
    for (int o = 0; o <= span; o++) {
        s->tap[o] = ldexp(binomial, -2 * span);
        binomial *= (double)(span - o) / (double)(span + 1 + o);
    }
}

double weft_spline_symbol(const weft_splitting *s, double angle) {
    const double once = (1 + cos(angle)) / 2;
    double power = 1;
    for (int i = 0; i < s->span; i++) power *= once;
    return power;
}

weft_status weft_splitting_near(const weft_splitting *s, int level, const weft_angles *angles,
                                double *value) {
    int64_t terms[WEFT_LATTICE_AXES];
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) terms[a] = s->active[a] ? s->radius + 1 : 1;
    return weft_tensor_cosines(angles, terms, false, s->near[level], value);
}

/* ---- symbols of levels ---- */

/* The square of a wavenumber at an angle of the grid. */
static double square_of(const weft_splitting *s, int axis, double angle) {
    const int first = WEFT_LATTICE_AXES - s->convolved->problem.rank;
    if (axis < first) return 0;
    const weft_convolved_axis *a = &s->convolved->axis[axis - first];
    const double wave = (a->staggered ? 2 * sin(angle / 2) : angle) / a->spacing;
    return wave * wave;
}

/* The symbol of the kernel itself. angle[a] are those of the grid. */
static weft_status start(const weft_splitting *s, const weft_angles *angles, double *value) {
    const int64_t *n = angles->count;
    double *square = malloc((size_t)n[Z] * sizeof *square);
    if (!square) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
    for (int64_t z = 0; z < n[Z]; z++) square[z] = square_of(s, Z, angles->angle[Z][z]);
    for (int64_t x = 0; x < n[X]; x++)
        for (int64_t y = 0; y < n[Y]; y++) {
            double *row = value + (x * n[Y] + y) * n[Z];
            weft_convolved_radial_row(s->convolved,
                                      square_of(s, X, angles->angle[X][x]) +
                                          square_of(s, Y, angles->angle[Y][y]),
                                      square, n[Z], row);
            for (int64_t z = 0; z < n[Z]; z++) row[z] *= s->convolved->points;
        }
    free(square);
    return WEFT_SUCCESS;
}

/* From one level to the next: what the short part leaves, over p^2. `short_part` is room. */
static weft_status descend(const weft_splitting *s, int level, const weft_angles *angles,
                           double *short_part, double *value) {
    const int64_t *n = angles->count;
    double *over[WEFT_LATTICE_AXES] = {NULL};
    weft_status status = weft_splitting_near(s, level, angles, short_part);
    for (int a = 0; a < WEFT_LATTICE_AXES && status == WEFT_SUCCESS; a++) {
        over[a] = malloc((size_t)n[a] * sizeof *over[a]);
        if (!over[a])
            status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
        for (int64_t i = 0; i < n[a] && over[a]; i++) {
            const double p = s->active[a] ? weft_spline_symbol(s, angles->angle[a][i]) : 1;
            over[a][i] = 1 / (p * p);
        }
    }
    for (int64_t x = 0; x < n[X] && status == WEFT_SUCCESS; x++)
        for (int64_t y = 0; y < n[Y]; y++)
            for (int64_t z = 0; z < n[Z]; z++) {
                const int64_t i = (x * n[Y] + y) * n[Z] + z;
                value[i] = (value[i] - short_part[i]) * over[X][x] * over[Y][y] * over[Z][z];
            }
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) free(over[a]);
    return status;
}

weft_status weft_splitting_symbol(const weft_splitting *s, int level, const weft_angles *angles,
                                  double *value) {
    const int64_t *n = angles->count;
    double *angle = malloc((size_t)(n[X] + n[Y] + n[Z]) * sizeof *angle);
    double *short_part = malloc((size_t)(n[X] * n[Y] * n[Z]) * sizeof *short_part);
    weft_angles finer = {.angle = {angle, angle + n[X], angle + n[X] + n[Y]},
                         .count = {n[X], n[Y], n[Z]}};
    weft_status status = WEFT_SUCCESS;
    if (!angle || !short_part)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's symbol");
    for (int l = 0; l <= level && status == WEFT_SUCCESS; l++) {
        double *to = angle;
        for (int a = 0; a < WEFT_LATTICE_AXES; a++)
            for (int64_t i = 0; i < n[a]; i++) *to++ = ldexp(angles->angle[a][i], l - level);
        if (l == 0) status = start(s, &finer, value);
        /* The kernel's symbol is taken at the grid's angles, the parts' at those of their level. */
        if (l < level && status == WEFT_SUCCESS) status = descend(s, l, &finer, short_part, value);
    }
    free(angle);
    free(short_part);
    return status;
}

void weft_splitting_release(weft_splitting *s) {
    for (int l = 0; l < WEFT_LATTICE_LEVELS; l++) free(s->near[l]);
    memset(s->near, 0, sizeof s->near);
}

size_t weft_splitting_bytes(const weft_splitting *s) {
    size_t bytes = sizeof(double);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        if (s->active[a]) bytes *= (size_t)s->radius + 1;
    return bytes * (size_t)s->levels;
}
