/*
 * Green's functions of free space. A field in a box sees the function only up to the box's
 * diameter L, so it may be cut off there, and the function that is cut off has a smooth spectrum in
 * closed form (Vico, Greengard, Ferrando, "Fast convolution with free-space Green's functions", J.
 * Comput. Phys. 323, 2016). Sampled on a grid that is longer than the box by L along each axis, it
 * is transformed back, cut to the displacements that the box has, and transformed again: smooth
 * fields are convolved to rounding.
 */
#include "convolve/convolve.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

/* The modified Bessel function of the second kind, of order 0 or 1: the integral over t from 0 to
 * infinity of exp(-x cosh t) cosh(order t), by the trapezoidal rule, which converges faster than
 * any power of the step here. */
static double bessel_k(int order, double x) {
    const double step = 1.0 / 64;
    double sum = exp(-x) / 2;
    for (int i = 1;; i++) {
        const double t = i * step, term = exp(-x * cosh(t)) * (order ? cosh(t) : 1);
        sum += term;
        if (term < sum * 1e-18 && x * sinh(t) > 2) return sum * step;
    }
}

/* Spectra at |k| = k of the functions that solve -Laplacian u = delta, cut off at distance L. */
static double poisson(int rank, double k, double L) {
    const double x = k * L;
    if (rank == 1) return k == 0 ? -L * L / 2 : (1 - cos(x)) / (k * k) - L * sin(x) / k;
    if (rank == 2)
        return k == 0 ? L * L / 4 - L * L * log(L) / 2
                      : (1 - j0(x)) / (k * k) - L * log(L) * j1(x) / k;
    const double half = sin(x / 2);
    return k == 0 ? L * L / 2 : 2 * half * half / (k * k);
}

/* The same of (kappa^2 - Laplacian) u = delta. */
static double screened(int rank, double k, double kappa, double L) {
    const double x = k * L, decay = exp(-kappa * L), over = k * k + kappa * kappa;
    if (rank == 1) return (1 - decay * (cos(x) - k / kappa * sin(x))) / over;
    if (rank == 2)
        return (1 + x * j1(x) * bessel_k(0, kappa * L) -
                kappa * L * j0(x) * bessel_k(1, kappa * L)) /
               over;
    const double sine = k == 0 ? L : sin(x) / k;
    return (1 - decay * (cos(x) + kappa * sine)) / over;
}

/* The grid on which the function is sampled. */
typedef struct sampling {
    int rank;
    double L, kappa;
    int64_t n[WEFT_MAX_RANK];      /* its points; */
    int64_t middle[WEFT_MAX_RANK]; /* displacement 0 gets this index when transformed back */
    double spacing[WEFT_MAX_RANK];
} sampling;

static sampling sampling_of(const weft_convolved *c) {
    sampling s = {.rank = c->problem.rank};
    if (c->problem.kernel.kind == WEFT_KERNEL_SCREENED_POISSON)
        s.kappa = fabs(c->problem.kernel.parameter);
    for (int a = 0; a < s.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        s.spacing[a] = axis->spacing;
        s.L = hypot(s.L, axis->spacing * (double)axis->n);
    }
    for (int a = 0; a < s.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        const int64_t reach = (int64_t)fmin(ceil(s.L / axis->spacing), 0x1p60);
        const int64_t least = axis->n + reach + 1;
        s.n[a] = weft_convolved_length(least > axis->transform ? least : axis->transform);
        s.middle[a] = axis->transform / 2;
    }
    return s;
}

/* Fills in a box of the sampled spectrum, moved so that displacement 0 comes to the middle. */
static void sample(const sampling *s, const weft_box *box, double *spectrum) {
    static const double pi = 3.14159265358979323846;
    int64_t elements = 1;
    double points = 1;
    for (int a = 0; a < s->rank; a++) {
        elements *= box->n[a];
        points *= (double)s->n[a];
    }
    for (int64_t i = 0; i < elements; i++) {
        double square = 0, turns = 0;
        int64_t left = i;
        for (int a = s->rank - 1; a >= 0; a--) {
            const int64_t n = s->n[a], at = box->lo[a] + left % box->n[a];
            const int64_t f = 2 * at > n ? at - n : at;
            const double k = 2 * pi * (double)f / ((double)n * s->spacing[a]);
            left /= box->n[a];
            square += k * k;
            turns += (double)(f * s->middle[a] % n) / (double)n;
        }
        const double k = sqrt(square);
        const double value =
            (s->kappa > 0 ? screened(s->rank, k, s->kappa, s->L) : poisson(s->rank, k, s->L)) /
            points;
        turns -= floor(turns);
        spectrum[2 * i] = value * cos(2 * pi * turns);
        spectrum[2 * i + 1] = -value * sin(2 * pi * turns);
    }
}

/* Back from the sampled spectrum: the function at the displacements of the box. */
static weft_status function_of(weft_plan plan, const weft_convolved *c, const sampling *s,
                               double **function) {
    weft_problem problem = {.rank = s->rank, .kind = WEFT_R2C};
    weft_plan made = NULL;
    weft_box box;
    size_t bytes = 0, result = 0;
    for (int a = 0; a < s->rank; a++) {
        problem.n[a] = s->n[a];
        problem.crop_to[a] = c->axis[a].transform;
    }
    WEFT_TRY(weft_convolved_plan(plan, &problem, &made));
    weft_plan_box(made, WEFT_OUTPUT, plan->transport->rank, &box);
    weft_plan_bytes(made, WEFT_OUTPUT, &bytes);
    weft_plan_bytes(made, WEFT_RESULT, &result);
    double *spectrum = malloc(bytes + 1);
    *function = malloc(result + 1);
    weft_status status = weft_agree(
        plan->transport, spectrum && *function
                             ? WEFT_SUCCESS
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                         "no memory to sample a Green's function of free space"));
    if (status == WEFT_SUCCESS) {
        sample(s, &box, spectrum);
        status = weft_execute(made, WEFT_INVERSE, spectrum, *function);
    }
    free(spectrum);
    weft_plan_destroy(&made);
    return status;
}

/* The real parts of the function's spectrum on the grid of the convolution, displacement 0 back at
 * index 0; the imaginary ones are rounding, since the function is even. */
static weft_status spectrum_of(weft_plan plan, const weft_convolved *c, const double *function,
                               void *spectrum) {
    weft_problem problem = {.rank = c->problem.rank, .kind = c->problem.kind};
    weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT};
    weft_plan made = NULL;
    size_t bytes = 0;
    int64_t elements = 1;
    for (int a = 0; a < problem.rank; a++) {
        problem.n[a] = c->axis[a].transform;
        shift.shift[a] = -(double)(c->axis[a].transform / 2);
        elements *= c->spectrum.n[a];
    }
    problem.spectral = (weft_operators){&shift, 1};
    if (!c->real) problem.load_storage = WEFT_STORAGE_DOUBLE;
    WEFT_TRY(weft_convolved_plan(plan, &problem, &made));
    weft_plan_bytes(made, WEFT_OUTPUT, &bytes);
    double *out = malloc(bytes + 1);
    weft_status status =
        weft_agree(plan->transport, out ? WEFT_SUCCESS
                                        : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                                    "no memory to transform a Green's function"));
    if (status == WEFT_SUCCESS) status = weft_execute(made, WEFT_FORWARD, function, out);
    for (int64_t i = 0; i < elements && status == WEFT_SUCCESS; i++) {
        double value[2] = {out[2 * i], 0};
        weft_convolved_finish(c, value);
        weft_convolved_put(c, spectrum, i, value);
    }
    free(out);
    weft_plan_destroy(&made);
    return status;
}

weft_status weft_convolved_free_space(weft_plan plan, const weft_convolved *c, void *spectrum) {
    const sampling s = sampling_of(c);
    double *function = NULL;
    weft_status status = function_of(plan, c, &s, &function);
    if (status == WEFT_SUCCESS) status = spectrum_of(plan, c, function, spectrum);
    free(function);
    return status;
}
