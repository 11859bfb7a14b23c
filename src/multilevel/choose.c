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

static weft_status find_norms(const weft_splitting *s, double *square, double *smooth) {
    const weft_convolution_problem *p = &s->convolved->problem;
    double angle[WEFT_LATTICE_AXES][MOST_POINTS / 2 + 1] = {{0}}, all = 1;
    weft_angles angles = {.angle = {angle[0], angle[1], angle[2]}, .count = {1, 1, 1}};
    int64_t n[WEFT_LATTICE_AXES] = {1, 1, 1}, at = 0;
    for (int a = 0; a < p->rank; a++) {
        const int axis = WEFT_LATTICE_AXES - p->rank + a;
        n[axis] = p->n[a] < MOST_POINTS ? p->n[a] : MOST_POINTS;
        angles.count[axis] = n[axis] / 2 + 1;
        all *= (double)n[axis];
        for (int64_t i = 0; i <= n[axis] / 2; i++)
            angle[axis][i] = 2 * pi * (double)i / (double)n[axis];
    }
    const int64_t *count = angles.count;
    double *symbol = malloc((size_t)(count[0] * count[1] * count[2]) * sizeof *symbol);
    if (!symbol) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to split a kernel");
    const weft_status status = weft_splitting_symbol(s, 0, &angles, symbol);
    *square = *smooth = 0;
    for (int64_t x = 0; x < count[0] && status == WEFT_SUCCESS; x++)
        for (int64_t y = 0; y < count[1]; y++)
            for (int64_t z = 0; z < count[2]; z++, at++) {
                const int64_t i[WEFT_LATTICE_AXES] = {x, y, z};
                double k = 0, value = symbol[at] * symbol[at] / all;
                for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
                    k += angle[a][i[a]] * angle[a][i[a]];
                    value *= i[a] == 0 || 2 * i[a] == n[a] ? 1 : 2;
                }
                *square += value;
                if (at > 0) *smooth += value / (k * k);
            }
    free(symbol);
    return status;
}

/* Fits the levels from `from` on, up to `to`, and adds their part of the error. */
static weft_status fit_levels(weft_splitting *s, int from, int to, const double norm[2],
                              double sum[2]) {
    int axes = 0;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) axes += s->active[a];
    for (int l = from; l < to; l++) {
        double square, smooth;
        WEFT_TRY(weft_splitting_fit(s, l, &square, &smooth));
        /* Of the grid's wavenumbers, a lattice has one in 2^axes for each level. */
        sum[0] += ldexp(square, -axes * l) / norm[0];
        sum[1] += ldexp(smooth, (4 - axes) * l) / norm[1];
    }
    s->error = sqrt(fmax(sum[0], sum[1]));
    return WEFT_SUCCESS;
}

static weft_status refuse(const weft_convolved *c, double tolerance, double error) {
    const bool spectral = c->problem.kernel.discretization == WEFT_SPECTRAL;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.tolerance is %g, but kernel %s cannot be split into levels better "
                     "than to %.1e; %s a larger tolerance or method whole",
                     tolerance, weft_kernel_kind_name(c->problem.kernel.kind), error,
                     spectral ? "choose kernel.discretization WEFT_STAGGERED, whose kernels have "
                                "no ripples, or"
                              : "choose");
}

/* Whether a radius and a span, of which the first level tells most, keep to the tolerance. */
static weft_status try_span(weft_splitting *s, int span, double tolerance, const double norm[2],
                            bool *good) {
    double sum[2] = {0, 0};
    weft_splitting_set_span(s, span);
    WEFT_TRY(fit_levels(s, 0, 1, norm, sum));
    if (MARGIN * s->error <= tolerance) WEFT_TRY(fit_levels(s, 1, s->levels, norm, sum));
    *good = MARGIN * s->error <= tolerance;
    return WEFT_SUCCESS;
}

weft_status weft_splitting_create(const weft_convolved *c, int levels, int points,
                                  weft_splitting *s) {
    const double tolerance = c->problem.tolerance > 0 ? c->problem.tolerance : 1e-3;
    double norm[2], best = INFINITY;
    *s = (weft_splitting){.convolved = c, .levels = levels};
    for (int a = 0; a < c->problem.rank; a++)
        s->active[WEFT_LATTICE_AXES - c->problem.rank + a] = c->problem.n[a] > 1;
    WEFT_TRY(find_norms(s, &norm[0], &norm[1]));
    for (s->radius = 1; s->radius <= WEFT_NEAR_RADIUS; s->radius++) {
        const int usual = (s->radius + 1) / 2;
        for (int span = usual; span <= usual + 2 && span <= WEFT_SPLINE_SPAN; span++) {
            bool good;
            if (points > 0 && span != points - 1) continue;
            WEFT_TRY(try_span(s, span, tolerance, norm, &good));
            if (good) return WEFT_SUCCESS;
            best = fmin(best, s->error);
        }
    }
    return refuse(c, tolerance, MARGIN * best);
}
