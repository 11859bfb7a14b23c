/*
 * How far the short kernels of a splitting reach, and which B-splines take sources down: the
 * smallest radius whose error, as the symbols tell it, keeps to the tolerance. The error is that of
 * noise, or of sources whose spectrum falls with |k|^-2, whichever is larger, relative to the
 * result's norm.
 */
#include "multilevel/splitting.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* The norms to which errors are relative: of the kernel's symbol over the wavenumbers, those of
 * noise, and of smooth sources. Grids with more points along an axis count with so many, which
 * makes less of what is large at small wavenumbers. */
enum { MOST_POINTS = 128 };

/* The tolerance is so many times the error that is expected: single fields differ from the mean,
 * those on small grids most. */
enum { MARGIN = 2 };

/* How much a pair of fields counts: each with the other. */
static double share_of(const weft_splitting *s, const weft_field_pair *pair) {
    const double to = s->twice[pair->to], from = s->twice[pair->from];
    return pair->to == pair->from ? to * to : to * to + from * from;
}

/* The wavenumbers of a grid from 0 up along each axis, and what is summed over them. */
typedef struct norms {
    double angle[WEFT_LATTICE_AXES][MOST_POINTS / 2 + 1], all;
    weft_angles angles;
    int64_t n[WEFT_LATTICE_AXES];
    double square, smooth;
} norms;

static void set_grid(const weft_splitting *s, norms *g) {
    const weft_convolution_problem *p = &s->convolved->problem;
    g->all = 1;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        const int axis = a - (WEFT_LATTICE_AXES - p->rank);
        g->n[a] = axis < 0 ? 1 : p->n[axis] < MOST_POINTS ? p->n[axis] : MOST_POINTS;
        g->angles.angle[a] = g->angle[a];
        g->angles.count[a] = g->n[a] / 2 + 1;
        g->all *= (double)g->n[a];
        for (int64_t i = 0; i <= g->n[a] / 2; i++)
            g->angle[a][i] = 2 * pi * (double)i / (double)g->n[a];
    }
}

static void add_squares(const double *symbol, double share, norms *g) {
    const int64_t *count = g->angles.count;
    int64_t at = 0;
    for (int64_t x = 0; x < count[0]; x++)
        for (int64_t y = 0; y < count[1]; y++)
            for (int64_t z = 0; z < count[2]; z++, at++) {
                const int64_t i[WEFT_LATTICE_AXES] = {x, y, z};
                double k = 0, value = share * symbol[at] * symbol[at] / g->all;
                for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
                    k += g->angle[a][i[a]] * g->angle[a][i[a]];
                    value *= i[a] == 0 || 2 * i[a] == g->n[a] ? 1 : 2;
                }
                g->square += value;
                if (at > 0) g->smooth += value / (k * k);
            }
}

static weft_status find_norms(const weft_splitting *s, double norm[2]) {
    norms *g = calloc(1, sizeof *g);
    weft_status status = WEFT_SUCCESS;
    weft_field_pair pair;
    double *symbol = NULL;
    if (g) {
        set_grid(s, g);
        symbol = malloc((size_t)(g->angles.count[0] * g->angles.count[1] * g->angles.count[2]) *
                        sizeof *symbol);
    }
    if (!symbol) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to split a kernel");
    for (int i = 0; status == WEFT_SUCCESS && weft_splitting_pair(s, i, &pair); i++) {
        status = weft_splitting_symbol(s, &pair, 0, &g->angles, symbol);
        if (status == WEFT_SUCCESS) add_squares(symbol, share_of(s, &pair), g);
    }
    if (status == WEFT_SUCCESS) {
        norm[0] = g->square;
        norm[1] = g->smooth;
    }
    free(symbol);
    free(g);
    return status;
}

/* Room for the short kernels of a level, of all pairs. */
static weft_status reserve(weft_splitting *s, int level) {
    size_t numbers = (size_t)(s->fields * (s->fields + 1) / 2);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        if (s->active[a]) numbers *= (size_t)s->radius + 1;
    free(s->near[level]);
    s->near[level] = calloc(numbers, sizeof *s->near[level]);
    if (s->near[level]) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to split a kernel");
}

/* Fits the levels from `from` on, up to `to`, and adds their part of the squared errors; stops
 * where these are more than `limit`. */
static weft_status fit_levels(weft_splitting *s, int from, int to, const double norm[2],
                              double limit, double sum[2]) {
    int axes = 0;
    weft_field_pair pair;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) axes += s->active[a];
    for (int l = from; l < to; l++) {
        WEFT_TRY(reserve(s, l));
        for (int i = 0; weft_splitting_pair(s, i, &pair) && fmax(sum[0], sum[1]) <= limit; i++) {
            double square, smooth;
            WEFT_TRY(weft_splitting_fit(s, &pair, l, &square, &smooth));
            /* Of the grid's wavenumbers, a lattice has one in 2^axes for each level. */
            sum[0] += share_of(s, &pair) * ldexp(square, -axes * l) / norm[0];
            sum[1] += share_of(s, &pair) * ldexp(smooth, (4 - axes) * l) / norm[1];
        }
    }
    s->error = sqrt(fmax(sum[0], sum[1]));
    return WEFT_SUCCESS;
}

/* Tries a radius and a span, of which the first level tells most. */
static weft_status try_span(weft_splitting *s, int span, double error, const double norm[2]) {
    double sum[2] = {0, 0};
    weft_splitting_set_span(s, span);
    WEFT_TRY(fit_levels(s, 0, 1, norm, error * error, sum));
    if (s->error <= error) WEFT_TRY(fit_levels(s, 1, s->levels, norm, error * error, sum));
    return WEFT_SUCCESS;
}

/* Radii of tensors end earlier, for their kernels take long to fit. */
static int most_radius(const weft_splitting *s) {
    return s->fields > 1 ? WEFT_NEAR_RADIUS - 3 : WEFT_NEAR_RADIUS;
}

/* Tells the error with the largest radius. */
static weft_status refuse_after(weft_splitting *s, int points, double tolerance,
                                const double norm[2]) {
    double sum[2] = {0, 0};
    s->radius = most_radius(s);
    weft_splitting_set_span(s, points > 0 ? points - 1 : (s->radius + 1) / 2 + 1);
    WEFT_TRY(fit_levels(s, 0, 1, norm, INFINITY, sum));
    return weft_convolved_refuse(s->convolved, tolerance, "split into levels", MARGIN * s->error);
}

weft_status weft_splitting_create(const weft_convolved *c, int levels, int points,
                                  weft_splitting *s) {
    const double tolerance = c->problem.tolerance > 0 ? c->problem.tolerance : 1e-3;
    double norm[2];
    *s = (weft_splitting){.convolved = c, .levels = levels};
    for (int a = 0; a < c->problem.rank; a++)
        s->active[WEFT_LATTICE_AXES - c->problem.rank + a] = c->problem.n[a] > 1;
    weft_splitting_set_fields(s);
    WEFT_TRY(find_norms(s, norm));
    for (s->radius = 1; s->radius <= most_radius(s); s->radius++) {
        const int usual = (s->radius + 1) / 2;
        for (int span = usual; span <= usual + 2 && span <= WEFT_SPLINE_SPAN; span++) {
            if (points > 0 && span != points - 1) continue;
            WEFT_TRY(try_span(s, span, tolerance / MARGIN, norm));
            if (MARGIN * s->error <= tolerance) return WEFT_SUCCESS;
        }
    }
    return refuse_after(s, points, tolerance, norm);
}
