/* Kernels and lengths of convolutions on one process: free space in one, two and three dimensions
 * against closed forms, adjoints, and what is refused. */
#include "convolve/convolve.h"

#include "one_context.h"
#include "random_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double width = 0.25; /* of the Gaussian that is the field: 2.5 spacings */
static const int64_t extents[3] = {48, 44, 40};

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

/* Creating it fails, with a sentence that has these words. */
static void refused(const weft_convolution_problem *problem, const char *words) {
    weft_convolution made = NULL;
    assert_int_equal(weft_convolution_create(ctx, problem, NULL, &made),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), words));
    assert_null(made);
}

/* How far element i is from the middle of the box, whose spacing is 0.1. */
static double distance(int rank, int64_t i) {
    double square = 0;
    for (int a = rank - 1; a >= 0; a--) {
        const double x = ((double)(i % extents[a]) + 0.5 - (double)extents[a] / 2) / 10;
        square += x * x;
        i /= extents[a];
    }
    return sqrt(square);
}

/* The solution of -Laplacian u = Gaussian of integral 1 without edges, by the Green's functions
 * -|x| / 2, -log(r) / (2 pi) and 1 / (4 pi r). With x = r^2 / (2 s^2) it is, in two dimensions,
 * (gamma - log(2 s^2) - Ein(x)) / (4 pi), where Ein(x) = exp(-x) sum over k of x^k / k! (1 + 1/2 +
 * ... + 1/k). */
static double potential(int rank, double r) {
    const double s = width, x = r * r / (2 * s * s);
    if (rank == 1) return -(r * erf(sqrt(x)) + s * sqrt(2 / pi) * exp(-x)) / 2;
    if (rank == 3) return erf(sqrt(x)) / (4 * pi * r); /* no point lies at r = 0 */
    if (x > 40) return -log(r) / (2 * pi);
    const double euler = 0.57721566490153286061;
    double series = 0, term = 1, harmonic = 0;
    for (int k = 1; k < 400; k++) {
        term *= x / k;
        harmonic += 1.0 / k;
        series += term * harmonic;
    }
    return (euler - log(2 * s * s) - exp(-x) * series) / (4 * pi);
}

/* Solves by a convolution along `rank` free axes, and returns the largest error. With 2 or more
 * copies, an axis of so many points with another boundary comes first, along which the field and
 * so the solution do not change. */
static double free_space_error(int rank, weft_kind kind, int copies, weft_boundary boundary) {
    const int before = copies > 1;
    weft_convolution_problem p = {.rank = before + rank,
                                  .n = {copies},
                                  .boundary = {boundary},
                                  .kind = kind,
                                  .kernel = {.kind = WEFT_KERNEL_POISSON}};
    const int64_t numbers = kind == WEFT_R2C ? 1 : 2;
    int64_t elements = copies;
    weft_convolution made = NULL;
    size_t in_bytes, out_bytes;
    double error = 0;
    for (int a = 0; a < rank; a++) {
        p.n[before + a] = extents[a];
        p.length[before + a] = (double)extents[a] / 10;
        p.boundary[before + a] = WEFT_FREE_SPACE;
        elements *= extents[a];
    }
    ok(weft_convolution_create(ctx, &p, NULL, &made));
    ok(weft_plan_bytes(made, WEFT_INPUT, &in_bytes));
    ok(weft_plan_bytes(made, WEFT_OUTPUT, &out_bytes));
    double *in = malloc(in_bytes), *out = malloc(out_bytes);
    assert_non_null(in);
    assert_non_null(out);
    for (int64_t i = 0; i < numbers * elements; i++) {
        const double x = distance(rank, i / numbers) / width;
        in[i] = (i % numbers ? -3 : 1) * exp(-x * x / 2) / pow(2 * pi * width * width, rank / 2.0);
    }
    ok(weft_convolution_execute(made, in, out));
    for (int64_t i = 0; i < numbers * elements; i++) {
        const double u = potential(rank, distance(rank, i / numbers));
        const double off = fabs(out[i] - (i % numbers ? -3 : 1) * u);
        error = fmax(error, isnan(off) ? INFINITY : off);
    }
    free(in);
    free(out);
    weft_convolution_destroy(&made);
    return error;
}

static void free_space_gives_the_closed_form_in_one_two_and_three_dimensions(void **state) {
    (void)state;
    for (int rank = 1; rank <= 3; rank++) {
        assert_true(free_space_error(rank, WEFT_R2C, 1, WEFT_FREE_SPACE) < 2e-14);
        assert_true(free_space_error(rank, WEFT_C2C, 1, WEFT_FREE_SPACE) < 2e-14);
    }
}

static void free_space_beside_an_axis_without_change_is_that_of_fewer_dimensions(void **state) {
    (void)state;
    for (int rank = 1; rank <= 3; rank++) {
        assert_true(free_space_error(rank, WEFT_R2C, 3, WEFT_PERIODIC) < 2e-14);
        assert_true(free_space_error(rank, WEFT_C2C, 2, WEFT_NEUMANN) < 2e-14);
    }
}

/* 1 / (4 pi r) at the displacements that a box of n^3 points with spacing h has, times h^3; at 0
 * its mean over a cell, of which the integral of 1 / r over a cube of edge 1 is a factor (Hockney,
 * Methods Comput. Phys. 9, 1970). The caller frees it. */
static double *sampled_green(int64_t n, double h) {
    static const double cube = 2.3800774;
    const int64_t m = 2 * n - 1;
    double *kernel = malloc((size_t)(m * m * m) * sizeof *kernel);
    assert_non_null(kernel);
    for (int64_t i = 0; i < m * m * m; i++) {
        const double x = (double)(i / m / m - n + 1), y = (double)(i / m % m - n + 1),
                     z = (double)(i % m - n + 1);
        const double r = sqrt(x * x + y * y + z * z);
        kernel[i] = h * h / (4 * pi) * (r > 0 ? 1 / r : cube);
    }
    return kernel;
}

/* The largest error of the potential of a Gaussian in a box of 4^3, by such a kernel. */
static double hockney_error(int64_t n) {
    const double h = 4 / (double)n;
    double *kernel = sampled_green(n, h), error = 0;
    weft_convolution_problem p = {.rank = 3, .kind = WEFT_R2C, .kernel = {.array = kernel}};
    weft_convolution made = NULL;
    double *in = malloc((size_t)(n * n * n) * sizeof *in),
           *out = malloc((size_t)(n * n * n) * sizeof *out);
    assert_non_null(in);
    assert_non_null(out);
    for (int a = 0; a < 3; a++) {
        p.n[a] = n;
        p.boundary[a] = WEFT_FREE_SPACE;
        p.kernel.n[a] = 2 * n - 1;
        p.kernel.origin[a] = n - 1;
    }
    double *distances = malloc((size_t)(n * n * n) * sizeof *distances);
    assert_non_null(distances);
    for (int64_t i = 0; i < n * n * n; i++) {
        const double x = ((double)(i / n / n) + 0.5) * h - 2,
                     y = ((double)(i / n % n) + 0.5) * h - 2, z = ((double)(i % n) + 0.5) * h - 2;
        distances[i] = sqrt(x * x + y * y + z * z);
        in[i] = exp(-distances[i] * distances[i] / (2 * width * width)) /
                pow(2 * pi * width * width, 1.5);
    }
    ok(weft_convolution_create(ctx, &p, NULL, &made));
    ok(weft_convolution_execute(made, in, out));
    for (int64_t i = 0; i < n * n * n; i++)
        error = fmax(error, fabs(out[i] - potential(3, distances[i])));
    weft_convolution_destroy(&made);
    free(distances);
    free(out);
    free(in);
    free(kernel);
    return error;
}

static void sampled_greens_functions_are_of_second_order(void **state) {
    (void)state;
    const double coarse = hockney_error(48), fine = hockney_error(72);
    const double order = log(coarse / fine) / log(1.5);
    if (!(order > 1.85 && order < 2.1 && fine < 1e-3))
        fail_msg("errors %g and %g: order %g", coarse, fine, order);
}

/* A ball of charge 1: 1 / (4 pi r) outside, (3 R^2 - r^2) / (8 pi R^3) inside; on a grid its
 * surface is a staircase. */
static void a_uniform_ball_has_its_potential_inside_and_outside(void **state) {
    (void)state;
    enum { N = 40, POINTS = N * N * N };
    const double R = 9.5;
    const weft_convolution_problem p = {
        .rank = 3,
        .n = {N, N, N},
        .kind = WEFT_R2C,
        .boundary = {WEFT_FREE_SPACE, WEFT_FREE_SPACE, WEFT_FREE_SPACE},
        .kernel = {.kind = WEFT_KERNEL_POISSON}};
    static double in[POINTS], out[POINTS], distances[POINTS];
    weft_convolution made = NULL;
    double charge = 0;
    for (int i = 0; i < POINTS; i++) {
        const double x = i / N / N - 19.5, y = i / N % N - 19.5, z = i % N - 19.5;
        distances[i] = sqrt(x * x + y * y + z * z);
        in[i] = distances[i] < R;
        charge += in[i];
    }
    for (int i = 0; i < POINTS; i++) in[i] /= charge;
    ok(weft_convolution_create(ctx, &p, NULL, &made));
    ok(weft_convolution_execute(made, in, out));
    for (int i = 0; i < POINTS; i++) {
        const double r = distances[i];
        const double u = r > R ? 1 / (4 * pi * r) : (3 * R * R - r * r) / (8 * pi * R * R * R);
        if (fabs(out[i] - u) > 0.01 * u) fail_msg("at r = %g: %g instead of %g", r, out[i], u);
    }
    weft_convolution_destroy(&made);
}

/* <K f, g> = <f, K^T g>: the correlation is the adjoint. */
static void a_correlation_is_the_adjoint_of_the_convolution(void **state) {
    (void)state;
    static const weft_boundary boundaries[] = {WEFT_PERIODIC, WEFT_FREE_SPACE, WEFT_NEUMANN,
                                               WEFT_DIRICHLET};
    double any[5 * 3], symmetric[5 * 3], f[12 * 9], g[12 * 9], kf[12 * 9], ktg[12 * 9];
    for (int i = 0; i < 15; i++) {
        any[i] = cos(1.0 + 2.3 * i);
        symmetric[i] = 1.0 / (1 + abs(i / 3 - 2) + 2 * abs(i % 3 - 1));
    }
    for (int i = 0; i < 108; i++) {
        f[i] = cos(0.3 + 1.7 * i * i);
        g[i] = sin(0.8 + 2.9 * i * i);
    }
    for (int b = 0; b < 16; b++) {
        weft_convolution_problem p = {.rank = 2,
                                      .n = {12, 9},
                                      .kind = WEFT_R2C,
                                      .boundary = {boundaries[b / 4], boundaries[b % 4]},
                                      .kernel = {.n = {5, 3}, .origin = {2, 1}}};
        p.kernel.array = b / 4 > 1 || b % 4 > 1 ? symmetric : any;
        weft_convolution made = NULL, adjoint = NULL;
        double sum[2] = {0, 0};
        ok(weft_convolution_create(ctx, &p, NULL, &made));
        p.correlate = 1;
        ok(weft_convolution_create(ctx, &p, NULL, &adjoint));
        ok(weft_convolution_execute(made, f, kf));
        ok(weft_convolution_execute(adjoint, g, ktg));
        for (int i = 0; i < 108; i++) {
            sum[0] += kf[i] * g[i];
            sum[1] += f[i] * ktg[i];
        }
        assert_true(fabs(sum[0] - sum[1]) < 1e-12 * 108);
        weft_convolution_destroy(&adjoint);
        weft_convolution_destroy(&made);
    }
}

static void a_covariance_with_a_negative_eigenvalue_is_refused(void **state) {
    (void)state;
    static const struct {
        int rank, good;
        double c[9];
    } cases[] = {{2, 1, {1, 0.9, 0.9, 1}},
                 {2, 1, {1, 1, 1, 1}},
                 {2, 1, {0, 0, 0, 4}},
                 {2, 0, {1, 1.1, 1.1, 1}},
                 {2, 0, {0, 0.1, 0.1, 4}},
                 {3, 1, {0.01, 0.02, 0.03, 0.02, 0.04, 0.06, 0.03, 0.06, 0.09}},
                 {3, 0, {1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_convolution_problem p = {
            .rank = cases[i].rank,
            .n = {12, 8, 6},
            .kind = WEFT_R2C,
            .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = cases[i].c}};
        weft_convolution made = NULL;
        if (cases[i].good)
            ok(weft_convolution_create(ctx, &p, NULL, &made));
        else
            refused(&p, "problem.kernel.covariance has a negative eigenvalue");
        weft_convolution_destroy(&made);
    }
}

static void a_kernel_that_was_never_given_is_asked_for(void **state) {
    (void)state;
    const double kernel[3] = {1, 2, 3};
    double in[8] = {1, 0, 0, 0, 0, 0, 0, 0}, out[8];
    const weft_convolution_problem p = {
        .rank = 1, .n = {8}, .kind = WEFT_R2C, .kernel = {.n = {3}}};
    weft_convolution made = NULL;
    ok(weft_convolution_create(ctx, &p, NULL, &made));
    assert_int_equal(weft_convolution_execute(made, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "weft_convolution_set_kernel"));
    assert_int_equal(weft_plan_set_array(made, 0, kernel), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "use weft_convolution_set_kernel"));
    ok(weft_convolution_set_kernel(made, kernel));
    ok(weft_convolution_execute(made, in, out));
    for (int i = 0; i < 8; i++) assert_true(fabs(out[i] - (i < 3 ? i + 1 : 0)) < 1e-14);
    weft_convolution_destroy(&made);
}

/* The least product of 2, 3, 5 and 7 that is n or more, by looking at every number. */
static int64_t length_by_search(int64_t n) {
    for (;; n++) {
        int64_t rest = n;
        for (int prime = 2; prime <= 7; prime++)
            while (rest % prime == 0) rest /= prime;
        if (rest == 1) return n;
    }
}

static void padded_lengths_are_the_least_products_and_found_at_once(void **state) {
    (void)state;
    for (int64_t n = 1; n < 5000; n++)
        assert_int_equal(weft_convolved_length(n), length_by_search(n));
    for (int power = 30; power <= 60; power++) {
        const int64_t n = (int64_t)1 << power, length = weft_convolved_length(n - 1);
        assert_true(length == n || length == n - 1);
    }
    const double kernel[3] = {1, 2, 3};
    const weft_convolution_problem p = {.rank = 1,
                                        .n = {((int64_t)1 << 60) - 1},
                                        .kind = WEFT_R2C,
                                        .boundary = {WEFT_LINEAR},
                                        .kernel = {.array = kernel, .n = {3}}};
    refused(&p, "2^60 bytes");
}

static void boxes_of_free_space_may_have_any_unit_of_length_but_not_any_shape(void **state) {
    (void)state;
    weft_convolution_problem p = {.rank = 2,
                                  .n = {12, 10},
                                  .length = {1e200, 1e200},
                                  .kind = WEFT_R2C,
                                  .boundary = {WEFT_FREE_SPACE, WEFT_FREE_SPACE},
                                  .kernel = {.kind = WEFT_KERNEL_SCREENED_POISSON}};
    weft_convolution made = NULL;
    ok(weft_convolution_create(ctx, &p, NULL, &made));
    weft_convolution_destroy(&made);
    p.length[1] = 1e-200;
    refused(&p, "2^60 bytes");
}

/* ---- spectra that callers give ---- */

static void decaying(const double *k, int rank, double value[2], void *argument) {
    (void)argument;
    value[0] = 1;
    for (int a = 0; a < rank; a++) value[0] /= 1 + k[a] * k[a];
    value[1] = sin(k[0]) * value[0];
}

/* The values of the function above at the wavenumbers of a periodic field, times a factor. */
static void tabulate(const weft_convolution_problem *p, double factor, double *values) {
    const int64_t last = p->kind == WEFT_R2C ? p->n[1] / 2 + 1 : p->n[1];
    for (int64_t i = 0; i < p->n[0]; i++)
        for (int64_t j = 0; j < last; j++) {
            const double k[2] = {
                2 * pi * (double)(2 * i > p->n[0] ? i - p->n[0] : i) / (double)p->n[0],
                2 * pi * (double)(2 * j > p->n[1] ? j - p->n[1] : j) / (double)p->n[1]};
            double *value = values + 2 * (i * last + j);
            decaying(k, 2, value, NULL);
            value[0] *= factor;
            value[1] *= factor;
        }
}

static void a_spectrum_gives_what_its_function_gives_and_can_be_replaced(void **state) {
    enum { ROWS = 9, COLUMNS = 14, MOST = 2 * ROWS * COLUMNS };
    (void)state;
    for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++) {
        const size_t numbers = (kind == WEFT_C2C ? 2 : 1) * ROWS * COLUMNS;
        double in[MOST], expected[MOST], out[MOST], values[MOST];
        weft_convolution_problem p = {
            .rank = 2,
            .n = {ROWS, COLUMNS},
            .kind = (weft_kind)kind,
            .boundary = {WEFT_PERIODIC, WEFT_PERIODIC},
            .correlate = kind == WEFT_C2C,
            .kernel = {.kind = WEFT_KERNEL_FUNCTION, .function = decaying}};
        weft_convolution by_function = NULL, by_values = NULL;
        for (size_t i = 0; i < numbers; i++) in[i] = cos(1.0 + (double)(i * i % 37));
        ok(weft_convolution_create(ctx, &p, NULL, &by_function));
        ok(weft_convolution_execute(by_function, in, expected));
        p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_SPECTRUM};
        ok(weft_convolution_create(ctx, &p, NULL, &by_values));
        assert_int_not_equal(weft_convolution_execute(by_values, in, out), WEFT_SUCCESS);
        tabulate(&p, 1, values);
        ok(weft_convolution_set_kernel(by_values, values));
        ok(weft_convolution_execute(by_values, in, out));
        assert_memory_equal(out, expected, numbers * sizeof *out);
        tabulate(&p, 2, values);
        ok(weft_convolution_set_kernel(by_values, values));
        ok(weft_convolution_execute(by_values, in, out));
        for (size_t i = 0; i < numbers; i++) assert_true(out[i] == 2 * expected[i]);
        assert_int_equal(weft_convolution_set_kernel(by_values, NULL), WEFT_ERROR_INVALID_ARGUMENT);
        weft_convolution_destroy(&by_values);
        weft_convolution_destroy(&by_function);
    }
}

/* ---- fields ---- */

enum { FIELDS = 6, LONGEST = 40, APART = 3 };

/* The kernel on a run of points, whose fields are neighbours in memory or lie apart. */
static void map(const weft_convolved *c, weft_fields_run run, int64_t apart, const double *in,
                char *out) {
    const bool single = run.precision == WEFT_SINGLE;
    const int parts = run.complex_elements ? 2 : 1;
    const size_t element = (size_t)parts * (single ? sizeof(float) : sizeof(double));
    const void *from[FIELDS];
    void *to[FIELDS];
    for (int f = 0; f < FIELDS; f++) {
        char *field = out + (size_t)f * LONGEST * APART * element;
        from[f] = to[f] = field;
        for (int64_t i = 0; i < parts * run.count; i++) {
            const int64_t at = i / parts * apart * parts + i % parts;
            if (single)
                ((float *)(void *)field)[at] = (float)in[f * 2 * LONGEST + i];
            else
                ((double *)(void *)field)[at] = in[f * 2 * LONGEST + i];
        }
    }
    run.in = from;
    run.out = to;
    run.in_stride = run.out_stride = apart;
    weft_convolved_apply_fields(&run, (void *)(uintptr_t)c);
}

/* Neighbours are done several at a time where they lie, but for frequencies that are their own
 * negatives; others are gathered before. */
static void points_that_are_done_together_get_the_bits_of_single_ones(void **state) {
    (void)state;
    static double in[FIELDS * 2 * LONGEST];
    static char one[FIELDS * LONGEST * APART * 16], other[sizeof one];
    for (int i = 0; i < 100; i++) {
        weft_convolution_problem problem = {
            .rank = 2 + random_below(2),
            .n = {2 + random_below(9), 2 + random_below(9), 2 + random_below(LONGEST - 2)},
            .kind = random_below(2) ? WEFT_R2C : WEFT_C2C,
            .precision = random_below(2) ? WEFT_SINGLE : WEFT_DOUBLE,
            .kernel = {.kind = (weft_kernel_kind)(WEFT_KERNEL_GRADIENT + random_below(5)),
                       .lame = {1.3, 0.7}}};
        weft_convolution made = NULL;
        bool complex = problem.kind == WEFT_C2C;
        for (int a = 0; a < problem.rank; a++) {
            static const weft_boundary boundaries[] = {WEFT_PERIODIC, WEFT_DIRICHLET, WEFT_NEUMANN};
            if (i % 2 == 0) problem.boundary[a] = boundaries[random_below(3)];
            complex = complex || problem.boundary[a] == WEFT_PERIODIC;
        }
        ok(weft_convolution_create(ctx, &problem, NULL, &made));
        const weft_convolved *c = made->convolution;
        const int rank = problem.rank, out_fields = weft_convolved_fields(c, true);
        const size_t element =
            (complex ? 2 : 1) * (problem.precision == WEFT_SINGLE ? sizeof(float) : sizeof(double));
        for (int k = 0; k < 30; k++) {
            weft_fields_run run = {.in_fields = weft_convolved_fields(c, false),
                                   .out_fields = out_fields,
                                   .axis = random_below(rank),
                                   .precision = problem.precision,
                                   .complex_elements = complex};
            const bool beside_zero = random_below(3) == 0;
            for (int a = 0; a < rank; a++)
                run.index[a] = beside_zero && a != run.axis
                                   ? 0
                                   : random_below((int)weft_convolved_extent(c, a));
            run.count =
                1 + random_below((int)(weft_convolved_extent(c, run.axis) - run.index[run.axis]));
            for (int n = 0; n < FIELDS * 2 * LONGEST; n++) in[n] = random_number();
            map(c, run, 1, in, one);
            map(c, run, APART, in, other);
            for (int f = 0; f < out_fields; f++)
                for (int64_t n = 0; n < run.count; n++)
                    assert_memory_equal(one + ((size_t)f * LONGEST * APART + (size_t)n) * element,
                                        other + ((size_t)f * LONGEST + (size_t)n) * APART * element,
                                        element);
        }
        weft_convolution_destroy(&made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spectrum_gives_what_its_function_gives_and_can_be_replaced),
        cmocka_unit_test(free_space_gives_the_closed_form_in_one_two_and_three_dimensions),
        cmocka_unit_test(free_space_beside_an_axis_without_change_is_that_of_fewer_dimensions),
        cmocka_unit_test(sampled_greens_functions_are_of_second_order),
        cmocka_unit_test(a_uniform_ball_has_its_potential_inside_and_outside),
        cmocka_unit_test(a_correlation_is_the_adjoint_of_the_convolution),
        cmocka_unit_test(a_covariance_with_a_negative_eigenvalue_is_refused),
        cmocka_unit_test(a_kernel_that_was_never_given_is_asked_for),
        cmocka_unit_test(padded_lengths_are_the_least_products_and_found_at_once),
        cmocka_unit_test(boxes_of_free_space_may_have_any_unit_of_length_but_not_any_shape),
        cmocka_unit_test(points_that_are_done_together_get_the_bits_of_single_ones),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
