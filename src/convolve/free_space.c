/*
 * Green's functions of free space. A field in a box sees the function only up to the box's
 * diameter L, so it may be cut off there, and the function that is cut off has a smooth spectrum in
 * closed form (Vico, Greengard, Ferrando, "Fast convolution with free-space Green's functions", J.
 * Comput. Phys. 323, 2016). Sampled on a grid that is longer than the box by L along each axis, it
 * is transformed back, cut to the displacements that the box has, and transformed again: smooth
 * fields are convolved to rounding.
 *
 * Where only some axes are free, a wavenumber q of the others leaves the equation (kappa^2 + |q|^2
 * - Laplacian) u = f along the free axes, whose Green's function is the screened one of as many
 * dimensions as there are free axes.
 */
#include "convolve/convolve.h"

#include "plan/agreement.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>

/* The modified Bessel function of the second kind, of order 0 or 1: the integral over t from 0 to
 * infinity of exp(-x cosh t) cosh(order t), by the trapezoidal rule, which converges faster than
 * any power of the step here: with 1/8 the error is below 1e-30 for any x. */
static double bessel_k(int order, double x) {
    const double step = 1.0 / 8;
    double sum = exp(-x) / 2;
    if (x > 700) return 0; /* below the smallest double */
    for (int i = 1;; i++) {
        const double t = i * step, term = exp(-x * cosh(t)) * (order ? cosh(t) : 1);
        sum += term;
        if (term < sum * 1e-18 && x * sinh(t) > 2) return sum * step;
    }
}

/* The spectrum at |k| = k of the function of `axes` dimensions that solves -Laplacian u = delta,
 * cut off at distance L. */
static double poisson(int axes, double k, double L) {
    const double x = k * L;
    if (axes == 1) return k == 0 ? -L * L / 2 : (1 - cos(x)) / (k * k) - L * sin(x) / k;
    if (axes == 2)
        return k == 0 ? L * L / 4 - L * L * log(L) / 2
                      : (1 - j0(x)) / (k * k) - L * log(L) * j1(x) / k;
    const double half = sin(x / 2);
    return k == 0 ? L * L / 2 : 2 * half * half / (k * k);
}

/* (kappa^2 - Laplacian) u = delta: what its spectra have in common for all k. */
typedef struct screening {
    double kappa, decay; /* exp(-kappa L) */
    double k0, k1;       /* in two dimensions: K0(kappa L), and kappa L K1(kappa L) */
} screening;

static screening screening_of(int axes, double kappa, double L) {
    const double x = kappa * L;
    screening s = {.kappa = kappa, .decay = exp(-x)};
    if (axes != 2) return s;
    s.k0 = bessel_k(0, x);
    s.k1 = x * bessel_k(1, x);
    return s;
}

static double screened(int axes, double k, const screening *s, double L) {
    const double x = k * L, over = k * k + s->kappa * s->kappa;
    if (axes == 1) return (1 - s->decay * (cos(x) - k / s->kappa * sin(x))) / over;
    if (axes == 2) return (1 + x * j1(x) * s->k0 - s->k1 * j0(x)) / over;
    const double sine = k == 0 ? L : sin(x) / k;
    return (1 - s->decay * (cos(x) + s->kappa * sine)) / over;
}

/* The grid on which the function is sampled. */
typedef struct sampling {
    const weft_convolved *c;
    double L, kappa;
    double points;                 /* what there and back multiplies by */
    int64_t n[WEFT_MAX_RANK];      /* its extents; those of the convolution where it is not free */
    int64_t middle[WEFT_MAX_RANK]; /* displacement 0 gets this index when transformed back */
} sampling;

static bool is_free(const weft_convolved *c, int a) {
    return c->axis[a].boundary == WEFT_FREE_SPACE;
}

static sampling sampling_of(const weft_convolved *c) {
    sampling s = {.c = c, .points = 1};
    if (c->problem.kernel.kind == WEFT_KERNEL_SCREENED_POISSON)
        s.kappa = fabs(c->problem.kernel.parameter);
    for (int a = 0; a < c->problem.rank; a++)
        if (is_free(c, a)) s.L = hypot(s.L, c->axis[a].spacing * (double)c->axis[a].n);
    for (int a = 0; a < c->problem.rank; a++) {
        const weft_convolved_axis *axis = &c->axis[a];
        s.n[a] = axis->transform;
        if (is_free(c, a)) {
            const int64_t reach = (int64_t)fmin(ceil(s.L / axis->spacing), 0x1p60);
            const int64_t least = axis->n + reach + 1;
            s.n[a] = weft_convolved_length(least > axis->transform ? least : axis->transform);
            s.middle[a] = axis->transform / 2;
        }
        if (axis->type == WEFT_AXIS_OF_KIND) s.points *= (double)s.n[a];
    }
    return s;
}

/* Element i of a box of the sampled spectrum, moved so that displacement 0 comes to the middle.
 * *screen is that of the element before, or of a negative kappa. */
static void sample_one(const sampling *s, const weft_box *box, int64_t i, screening *screen,
                       double value[2]) {
    static const double pi = 3.14159265358979323846;
    const weft_convolved *c = s->c;
    double square = 0, bounded = s->kappa * s->kappa, turns = 0;
    for (int a = c->problem.rank - 1; a >= 0; a--) {
        const weft_convolved_axis *axis = &c->axis[a];
        const int64_t n = s->n[a], at = box->lo[a] + i % box->n[a];
        i /= box->n[a];
        if (is_free(c, a)) {
            const int64_t f = 2 * at > n ? at - n : at;
            const double k = 2 * pi * (double)f / ((double)n * axis->spacing);
            square += k * k;
            turns += (double)(f * s->middle[a] % n) / (double)n;
        } else {
            const double k = weft_convolved_wavenumber(axis, at);
            bounded += k * k;
        }
    }
    const double k = sqrt(square), kappa = sqrt(bounded);
    if (kappa > 0 && kappa != screen->kappa) *screen = screening_of(c->free_axes, kappa, s->L);
    const double size =
        (kappa > 0 ? screened(c->free_axes, k, screen, s->L) : poisson(c->free_axes, k, s->L)) /
        s->points;
    turns -= floor(turns);
    value[0] = size * cos(2 * pi * turns);
    value[1] = -size * sin(2 * pi * turns);
}

static void sample(const sampling *s, const weft_box *box, int threads, double *spectrum) {
    const int rank = s->c->problem.rank;
    const int64_t row = box->n[rank - 1];
    int64_t rows = 1;
    for (int a = 0; a < rank - 1; a++) rows *= box->n[a];
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t r = 0; r < rows; r++) {
        screening screen = {.kappa = -1};
        for (int64_t i = r * row; i < (r + 1) * row; i++)
            sample_one(s, box, i, &screen, spectrum + 2 * i);
    }
}

/* A plan along the Fourier axes. Those that reflect the field are left alone: their wavenumbers
 * only number the functions. Of a line over several ranks each does all of it, `alone`, which is
 * NULL otherwise: two lines of different lengths have different boxes. */
static weft_status make_plan(weft_plan plan, weft_context alone, const weft_convolved *c,
                             weft_problem *problem, weft_plan *made) {
    const weft_options options = {.threads = plan->call.options.threads,
                                  .placement = WEFT_OUT_OF_PLACE};
    problem->rank = c->problem.rank;
    for (int a = 0; a < problem->rank; a++)
        if (c->axis[a].type != WEFT_AXIS_OF_KIND) problem->axis[a] = WEFT_AXIS_NONE;
    if (alone) return weft_plan_create(alone, problem, &options, made);
    return weft_convolved_plan(plan, problem, made);
}

/* The plan that goes back from the sampled spectrum, to the function at the displacements of the
 * box. */
static weft_status plan_back(weft_plan plan, weft_context alone, const sampling *s,
                             weft_plan *made) {
    weft_problem problem = {.kind = WEFT_R2C};
    for (int a = 0; a < s->c->problem.rank; a++) {
        problem.n[a] = s->n[a];
        problem.crop_to[a] = s->c->axis[a].transform;
    }
    return make_plan(plan, alone, s->c, &problem, made);
}

/* The plan from there to the grid of the convolution, displacement 0 back at index 0. */
static weft_status plan_forth(weft_plan plan, weft_context alone, const weft_convolved *c,
                              weft_plan *made) {
    weft_problem problem = {.kind = c->problem.kind};
    weft_operator shift = {.kind = WEFT_OPERATOR_SHIFT};
    for (int a = 0; a < c->problem.rank; a++) {
        problem.n[a] = c->axis[a].transform;
        if (is_free(c, a)) shift.shift[a] = -(double)(c->axis[a].transform / 2);
    }
    problem.spectral = (weft_operators){&shift, 1};
    if (!c->real) problem.load_storage = WEFT_STORAGE_DOUBLE;
    return make_plan(plan, alone, c, &problem, made);
}

/* Bytes of an array that both plans take. */
static size_t bytes_of(weft_plan back, weft_plan forth, weft_space space) {
    size_t bytes[2] = {0, 0};
    weft_plan_bytes(back, space, &bytes[0]);
    weft_plan_bytes(forth, space, &bytes[1]);
    return bytes[0] > bytes[1] ? bytes[0] : bytes[1];
}

/* Which element of the transform is element i of this rank's part of the spectrum. Since the
 * function is even, so is its spectrum, of which a real field has half. */
static int64_t place_of(const weft_convolved *c, int64_t i) {
    if (c->scattered.rows == 0) return i;
    const int64_t k = weft_convolved_scattered_index(c, i);
    return k < weft_convolved_extent(c, 0) ? k : c->axis[0].transform - k;
}

/* Stores real parts; the imaginary ones are rounding. */
static void store(const weft_convolved *c, const double *transformed, void *spectrum) {
    int64_t elements = 1;
    for (int a = 0; a < c->problem.rank; a++) elements *= c->spectrum.n[a];
    for (int64_t i = 0; i < elements; i++) {
        double value[2] = {transformed[2 * place_of(c, i)], 0};
        weft_convolved_finish(c, value);
        weft_convolved_put(c, spectrum, i, value);
    }
}

static weft_status transform(weft_plan plan, const sampling *s, weft_plan back, weft_plan forth,
                             void *spectrum) {
    weft_box box;
    WEFT_TRY(weft_plan_box(back, WEFT_OUTPUT, back->transport->rank, &box));
    double *sampled = malloc(bytes_of(back, forth, WEFT_OUTPUT) + 1),
           *function = malloc(bytes_of(back, forth, WEFT_INPUT) + 1);
    weft_status status = weft_agree(
        plan->transport, sampled && function
                             ? WEFT_SUCCESS
                             : weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                                         "no memory to sample a Green's function of free space"));
    if (status == WEFT_SUCCESS) {
        sample(s, &box, plan->call.options.threads, sampled);
        status = weft_execute(back, WEFT_INVERSE, sampled, function);
    }
    if (status == WEFT_SUCCESS) status = weft_execute(forth, WEFT_FORWARD, function, sampled);
    if (status == WEFT_SUCCESS) store(s->c, sampled, spectrum);
    free(function);
    free(sampled);
    return status;
}

/* A context of this process alone. */
static weft_status open_alone(weft_plan plan, weft_context *alone) {
    weft_transport *transport = NULL;
    weft_status status = weft_transport_self_create(0, &transport);
    if (status == WEFT_SUCCESS) status = weft_context_over_transport(transport, NULL, alone);
    return weft_agree(plan->transport, status);
}

weft_status weft_convolved_free_space(weft_plan plan, const weft_convolved *c, void *spectrum) {
    const sampling s = sampling_of(c);
    const bool line = c->scattered.rows > 0;
    weft_context alone = NULL;
    weft_plan back = NULL, forth = NULL;
    if (line) WEFT_TRY(open_alone(plan, &alone));
    weft_status status = plan_back(plan, alone, &s, &back);
    if (status == WEFT_SUCCESS) status = plan_forth(plan, alone, c, &forth);
    if (line) status = weft_agree(plan->transport, status);
    if (status == WEFT_SUCCESS) status = transform(plan, &s, back, forth, spectrum);
    weft_plan_destroy(&forth);
    weft_plan_destroy(&back);
    weft_context_destroy(&alone);
    return status;
}
