/*
 * Convolutions by levels on one process: what is refused, and told; where the method is the exact
 * one; that they are linear, and commute with moves by points of the last lattice; errors of noise
 * and of smooth fields; and the parts of a kernel, on which a lattice and the next one agree.
 */
#include "multilevel/multilevel.h"

#include "convolutions.h"

#include <math.h>

enum { N = 32, POINTS = N * N * N };
static const double zero[2] = {0, 0};
static const double pi = 3.14159265358979323846;

static weft_convolution_problem poisson(double tolerance) {
    return (weft_convolution_problem){
        .rank = 3,
        .n = {N, N, N},
        .kind = WEFT_R2C,
        .method = WEFT_MULTILEVEL,
        .tolerance = tolerance,
        .kernel = {.kind = WEFT_KERNEL_POISSON, .zero = zero, .discretization = WEFT_STAGGERED}};
}

static void what_cannot_be_split_is_refused(void **state) {
    (void)state;
    const weft_options plain = {.threads = 1};
    weft_options o = plain;
    weft_convolution_problem p = poisson(1e-3);
    p.boundary[1] = WEFT_DIRICHLET;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "an axis is not periodic");
    p = poisson(1e-3);
    p.kernel.kind = WEFT_KERNEL_GAUSSIAN;
    p.kernel.discretization = WEFT_SPECTRAL;
    p.kernel.covariance = (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1};
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "no real function of |k|^2");
    p = poisson(1e-3);
    p.deconvolve = 1;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "no real function of |k|^2");
    p = poisson(1e-3);
    p.rank = 4;
    p.n[3] = 4;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "more than 3");
    o.device = WEFT_SIMULATED;
    refused(poisson(1e-3), o, WEFT_ERROR_UNSUPPORTED, "is not the host");
    p = poisson(1e-3);
    p.interpolation = 5;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.interpolation is 5");
    refused(poisson(-1), plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.tolerance is -1");
    refused(poisson(1e-9), plain, WEFT_ERROR_UNSUPPORTED, "choose a larger tolerance");
    p = poisson(1e-4);
    p.kernel.discretization = WEFT_SPECTRAL;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "WEFT_STAGGERED");
    p = poisson(1e-5);
    p.interpolation = 2;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "choose a larger tolerance");
}

static void plans_tell_of_levels(void **state) {
    (void)state;
    weft_convolution plan = made_of(poisson(1e-3), 2);
    weft_memory memory;
    weft_timings timings;
    double *in = noise(POINTS), *out;
    assert_true(explanation_has(plan, WEFT_TEXT, "multilevel: "));
    assert_true(explanation_has(plan, WEFT_TEXT, "lattice of 16 x 16 x 16"));
    assert_true(explanation_has(plan, WEFT_JSON, "\"exact_bytes_sent\": 0"));
    assert_int_equal(weft_plan_memory(plan, &memory), WEFT_SUCCESS);
    assert_true(memory.workspace > 3 * POINTS * sizeof(double) &&
                memory.workspace < 20 * POINTS * sizeof(double));
    out = convolved(plan, in, POINTS);
    assert_int_equal(weft_plan_timings(plan, &timings), WEFT_SUCCESS);
    assert_true(timings.total > 0 && timings.fft > 0 && timings.fft < timings.total);
    assert_true(timings.bytes_sent == 0 && timings.messages_sent == 0);
    assert_int_equal(weft_convolution_execute(plan, NULL, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "in is NULL"));
    assert_int_equal(weft_convolution_execute(plan, in, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "out is NULL"));
    assert_int_equal(weft_convolution_set_kernel(plan, in), WEFT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(weft_convolution_method_name(WEFT_MULTILEVEL), "multilevel");
    weft_convolution_destroy(&plan);
    free(in);
    free(out);
}

/* An odd extent has no lattice of every second point: the result is the exact method's. */
static void odd_grids_are_convolved_exactly(void **state) {
    (void)state;
    weft_convolution_problem p = poisson(1e-3);
    p.n[1] = 2 * N + 1;
    p.n[0] = 1;
    p.n[2] = N / 2;
    weft_convolution plan = made_of(p, 1);
    p.method = WEFT_WHOLE;
    weft_convolution whole = made_of(p, 1);
    double *in = noise(POINTS), *first = calloc(POINTS, sizeof *in),
           *second = calloc(POINTS, sizeof *in);
    assert_true(explanation_has(plan, WEFT_TEXT, "2 does not divide"));
    assert_int_equal(weft_convolution_execute(plan, in, first), WEFT_SUCCESS);
    assert_int_equal(weft_convolution_execute(whole, in, second), WEFT_SUCCESS);
    assert_memory_equal(first, second, POINTS * sizeof *first);
    weft_convolution_destroy(&plan);
    weft_convolution_destroy(&whole);
    free(in);
    free(first);
    free(second);
}

static void threads_and_places_give_the_same_bits(void **state) {
    (void)state;
    double *in = noise(POINTS);
    give_the_same_bits(made_of(poisson(1e-3), 1), made_of(poisson(1e-3), 3), in, POINTS);
    free(in);
}

static double field_at(int kind, int64_t i) {
    const double x = (double)(i / N / N) / N, y = (double)(i / N % N) / N, z = (double)(i % N) / N;
    return kind == 0   ? random_number()
           : kind == 1 ? sin(2 * pi * x) * cos(4 * pi * y) + sin(2 * pi * (z - y))
                       : (double)((x - .4) * (x - .4) + (y - .5) * (y - .5) + z * z < .1);
}

/* Noise, a few waves, and a field that jumps, whole and in sub-domains. */
static void errors_are_below_the_tolerance(void **state) {
    (void)state;
    double *in = malloc(POINTS * sizeof *in);
    weft_convolution_problem p = poisson(0);
    p.method = WEFT_WHOLE;
    weft_convolution whole = made_of(p, 1);
    for (int i = 0; i < 15; i++) {
        p = poisson(pow(10, -1 - i / 3));
        p.subdomain = i % 2 ? 8 : 0;
        for (int64_t k = 0; k < POINTS; k++) in[k] = field_at(i % 3, k);
        weft_convolution plan = made_of(p, 1);
        double *right = convolved(whole, in, POINTS), *found = convolved(plan, in, POINTS);
        const double error = relative(found, right, POINTS);
        assert_true(error <= p.tolerance && error > 0);
        weft_convolution_destroy(&plan);
        free(found);
        free(right);
    }
    weft_convolution_destroy(&whole);
    free(in);
}

/* Field b moved by 8 points, which all lattices here have, along each axis. */
static void results_are_linear_and_move_with_the_field(void **state) {
    (void)state;
    weft_convolution plan = made_of(poisson(1e-2), 1);
    double *a = noise(POINTS), *b = noise(POINTS), *sum = malloc(POINTS * sizeof *sum);
    double *expected = malloc(POINTS * sizeof *expected);
    double *of_a = convolved(plan, a, POINTS), *of_b = convolved(plan, b, POINTS);
    for (int64_t i = 0; i < POINTS; i++) {
        const int64_t x = (i / N / N + 8) % N, y = (i / N % N + 8) % N, z = (i + 8) % N;
        const int64_t moved = (x * N + y) * N + z;
        sum[i] = 2 * a[i] - 3 * b[moved];
        expected[i] = 2 * of_a[i] - 3 * of_b[moved];
    }
    double *found = convolved(plan, sum, POINTS);
    assert_true(relative(found, expected, POINTS) < 1e-12);
    weft_convolution_destroy(&plan);
    free(a);
    free(b);
    free(sum);
    free(expected);
    free(of_a);
    free(of_b);
    free(found);
}

/* At any wavenumber within the next Nyquist frequency K = N + p^2 K'. */
static void kernels_are_the_sum_of_their_parts(void **state) {
    (void)state;
    weft_convolved *c = calloc(1, sizeof *c);
    const weft_convolution_problem p = poisson(1e-4);
    weft_splitting s;
    assert_int_equal(weft_convolved_read(&p, c), WEFT_SUCCESS);
    assert_int_equal(weft_splitting_most_levels(c), 5);
    assert_int_equal(weft_splitting_create(c, 2, 0, &s), WEFT_SUCCESS);
    weft_field_pair pair;
    assert_true(weft_splitting_pair(&s, 0, &pair) && !weft_splitting_pair(&s, 1, &pair));
    for (int half = 0; half < 2; half++) {
        double sum = 0;
        for (int i = 0; i <= 2 * s.span; i++) sum += s.weight[half][i];
        assert_true(fabs(sum - 1) < 1e-14);
    }
    for (int level = 0; level < 2; level++) {
        const double k[3] = {0.3 + random_number() / 4, 1.1, 0.2}, twice[3] = {2 * k[0], 2.2, 0.4};
        const weft_angles here = {{&k[0], &k[1], &k[2]}, {1, 1, 1}};
        const weft_angles next = {{&twice[0], &twice[1], &twice[2]}, {1, 1, 1}};
        double whole, part, rest, spline = 1;
        assert_int_equal(weft_splitting_symbol(&s, &pair, level, &here, &whole), WEFT_SUCCESS);
        assert_int_equal(weft_splitting_near(&s, &pair, level, &here, &part), WEFT_SUCCESS);
        assert_int_equal(weft_splitting_symbol(&s, &pair, level + 1, &next, &rest), WEFT_SUCCESS);
        for (int a = 0; a < 3; a++) spline *= weft_spline_symbol(&s, false, k[a]);
        assert_true(fabs(part + spline * spline * rest - whole) < 1e-12 * fabs(whole));
    }
    weft_splitting_release(&s);
    weft_convolved_release(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_split_is_refused),
                                       cmocka_unit_test(plans_tell_of_levels),
                                       cmocka_unit_test(odd_grids_are_convolved_exactly),
                                       cmocka_unit_test(threads_and_places_give_the_same_bits),
                                       cmocka_unit_test(errors_are_below_the_tolerance),
                                       cmocka_unit_test(results_are_linear_and_move_with_the_field),
                                       cmocka_unit_test(kernels_are_the_sum_of_their_parts)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
