/*
 * Convolutions by samples on one process: what is refused, and told; the study's pattern; threads
 * give the same bits. And the staggered kernels against differences of neighbours, Nyquist
 * frequencies included.
 */
#include "convolutions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 32, POINTS = N * N * N };
static const double zero[2] = {0, 0};

static weft_convolution_problem poisson(void) {
    return (weft_convolution_problem){
        .rank = 3,
        .n = {N, N, N},
        .kind = WEFT_R2C,
        .method = WEFT_SAMPLES,
        .subdomain = 8,
        .kernel = {.kind = WEFT_KERNEL_POISSON, .zero = zero, .discretization = WEFT_STAGGERED}};
}

static void what_cannot_be_sampled_is_refused(void **state) {
    (void)state;
    const weft_options plain = {.threads = 1};
    weft_options o = plain;
    weft_convolution_problem p = poisson();
    p.boundary[1] = WEFT_DIRICHLET;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "an axis is not periodic");
    p = poisson();
    p.kernel.kind = WEFT_KERNEL_ARRAY;
    p.kernel.n[0] = p.kernel.n[1] = p.kernel.n[2] = 3;
    p.kernel.discretization = WEFT_SPECTRAL;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "the kernel is an array");
    p = poisson();
    p.rank = 4;
    p.n[3] = 4;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "more than 3");
    o.device = WEFT_SIMULATED;
    refused(poisson(), o, WEFT_ERROR_UNSUPPORTED, "has no kernels");
    p = poisson();
    p.interpolation = 3;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.interpolation is 3");
    p = poisson();
    p.opening = 1.5;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.opening is 1.5");
    p = poisson();
    p.tolerance = NAN;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.tolerance is nan");
    p = poisson();
    p.subdomain = -1;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.subdomain is -1");
    p = poisson();
    p.pattern = 2;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.pattern");
    p = poisson();
    p.kernel.discretization = 2;
    refused(p, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.kernel.discretization is 2");
    p = poisson();
    p.kernel.kind = WEFT_KERNEL_GRADIENT;
    refused(p, plain, WEFT_ERROR_UNSUPPORTED, "leave it 0");
}

/* Moulinec and Suquet's frequencies are cut at the Nyquist frequency, so their kernel has ripples
 * that samples cannot follow: the sentence says which one has none. */
static void kernels_with_ripples_are_recognized(void **state) {
    (void)state;
    weft_convolution_problem p = poisson();
    for (int axis = 0; axis < 3; axis++) p.n[axis] = 16;
    p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_ELASTIC, .lame = {1, 1}};
    refused(p, (weft_options){.threads = 1}, WEFT_ERROR_UNSUPPORTED, "WEFT_STAGGERED");
    p.kernel.discretization = WEFT_STAGGERED;
    weft_convolution plan = made_of(p, 1);
    weft_convolution_destroy(&plan);
    p.tolerance = 1e-12;
    refused(p, (weft_options){.threads = 1}, WEFT_ERROR_UNSUPPORTED, "a larger tolerance");
    p.opening = 0.5;
    p.interpolation = 2;
    p.tolerance = 1e-6;
    refused(p, (weft_options){.threads = 1}, WEFT_ERROR_UNSUPPORTED, "a larger tolerance");
}

static void plans_tell_of_samples(void **state) {
    (void)state;
    weft_convolution_problem p = poisson();
    p.tolerance = 1e-3;
    weft_convolution plan = made_of(p, 2);
    weft_memory memory;
    weft_timings timings;
    double *in = noise(POINTS), *out;
    assert_true(explanation_has(plan, WEFT_TEXT,
                                "samples: 4 x 4 x 4 sub-domains of 8 x 8 x 8, graded by 0.25 of "
                                "the distance, interpolated from 4 points along each axis; error"));
    assert_true(explanation_has(plan, WEFT_JSON, "\"exact_bytes_sent\": 0"));
    assert_int_equal(weft_plan_memory(plan, &memory), WEFT_SUCCESS);
    assert_true(memory.workspace > POINTS * sizeof(double));
    out = convolved(plan, in, POINTS);
    assert_int_equal(weft_plan_timings(plan, &timings), WEFT_SUCCESS);
    assert_true(timings.total > 0 && timings.fft > 0 && timings.fft < timings.total);
    assert_true(timings.bytes_sent == 0 && timings.messages_sent == 0);
    assert_int_equal(weft_convolution_execute(plan, NULL, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "in is NULL"));
    assert_int_equal(weft_convolution_execute(plan, in, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_convolution_set_kernel(plan, in), WEFT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(weft_convolution_method_name(WEFT_SAMPLES), "samples");
    weft_convolution_destroy(&plan);
    free(in);
    free(out);
}

/* The study's pattern around a sub-domain of 8^3 in a grid of 32^3, whose strides divide 32. */
static void convolutions_tell_their_cells(void **state) {
    (void)state;
    weft_convolution_problem p = poisson();
    const weft_octree_cell *cells, *kept;
    int64_t count = 0, points = 0, dense = 0;
    p.pattern = WEFT_FIXED;
    weft_convolution plan = made_of(p, 1);
    assert_int_equal(weft_convolution_cells(plan, 0, 21, &cells, &count),
                     WEFT_SUCCESS); /* the one from (8, 8, 8) on */
    for (int64_t i = 0; i < count; i++) {
        const int64_t all = cells[i].edge * cells[i].edge * cells[i].edge;
        bool within = true;
        for (int a = 0; a < 3; a++)
            within = within && cells[i].lo[a] >= 8 && cells[i].lo[a] + cells[i].edge <= 16;
        assert_true(within == (cells[i].step == 1));
        assert_true(cells[i].step == 1 || cells[i].step == 2 || cells[i].step == 8);
        points += all;
        if (cells[i].step == 1) dense += all;
    }
    assert_int_equal(points, POINTS);
    assert_int_equal(dense, 8 * 8 * 8);
    assert_int_equal(weft_convolution_cells(plan, 0, -1, &cells, &count),
                     WEFT_SUCCESS); /* all points are in the box */
    assert_true(count == 1 && cells->edge == N && cells->step == 1);
    kept = cells;
    assert_int_equal(weft_convolution_cells(plan, 0, 64, &cells, &count),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "subdomain is 64; the sub-domains of rank 0 are "
                                                 "0 to 63"));
    assert_int_equal(weft_convolution_cells(plan, 0, -2, &cells, &count),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_convolution_cells(plan, 1, 0, &cells, &count),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "rank is 1"));
    assert_int_equal(weft_convolution_cells(plan, 0, 0, NULL, &count), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_convolution_cells(plan, 0, 0, &cells, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_true(cells == kept && count == 1);
    weft_convolution_destroy(&plan);
    p.method = WEFT_WHOLE;
    plan = made_of(p, 1);
    assert_int_equal(weft_convolution_cells(plan, 0, 0, &cells, &count), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "WEFT_SAMPLES"));
    weft_convolution_destroy(&plan);
}

/* Axes that a field lacks are the last ones of a cell, and a rank's memory has the cells. */
static void cells_of_planes_are_squares(void **state) {
    (void)state;
    const weft_octree_cell *cells;
    int64_t count, points = 0;
    weft_memory before, after;
    weft_convolution_problem p = poisson();
    p.rank = 2;
    p.n[0] = 24; /* strides of 8 at most */
    p.n[1] = 64;
    p.opening = 0.5;
    weft_convolution plan = made_of(p, 1);
    assert_int_equal(weft_plan_memory(plan, &before), WEFT_SUCCESS);
    assert_int_equal(weft_convolution_cells(plan, 0, 0, &cells, &count), WEFT_SUCCESS);
    assert_int_equal(weft_plan_memory(plan, &after), WEFT_SUCCESS);
    assert_int_equal(after.workspace - before.workspace, (size_t)count * sizeof *cells);
    for (int64_t i = 0; i < count; i++) {
        const int64_t rest = 24 - cells[i].lo[0];
        assert_true(cells[i].lo[2] == 0 && cells[i].lo[1] + cells[i].edge <= 64);
        points += cells[i].edge * (cells[i].edge < rest ? cells[i].edge : rest);
    }
    assert_int_equal(points, 24 * 64);
    weft_convolution_destroy(&plan);
}

static void threads_give_the_same_bits(void **state) {
    (void)state;
    double *in = noise(POINTS);
    give_the_same_bits(made_of(poisson(), 1), made_of(poisson(), 3), in, POINTS);
    free(in);
}

/* Graded trees keep to their tolerance; the study's pattern, without points around the box, is an
 * order of magnitude off that. */
static void errors_are_those_of_the_pattern(void **state) {
    (void)state;
    double *in = noise(POINTS);
    weft_convolution_problem p = poisson();
    p.method = WEFT_WHOLE;
    weft_convolution whole = made_of(p, 1);
    double *right = convolved(whole, in, POINTS);
    for (int i = 0; i < 4; i++) {
        p = poisson();
        p.tolerance = i < 3 ? pow(10, -2 - i) : 0;
        p.pattern = i < 3 ? WEFT_GRADED : WEFT_FIXED;
        weft_convolution plan = made_of(p, 1);
        double *found = convolved(plan, in, POINTS);
        const double error = relative(found, right, POINTS);
        if (i < 3)
            assert_true(error <= p.tolerance && error > 0);
        else
            assert_true(error > 0.01 && error < 0.2);
        weft_convolution_destroy(&plan);
        free(found);
    }
    weft_convolution_destroy(&whole);
    free(in);
    free(right);
}

/* ---- staggered kernels ---- */

static int wrapped(int i, int n) {
    return (i % n + n) % n;
}

/* n0 x n1 x n2 points, one of whose extents is odd. */
enum { A = 6, B = 5, C = 8, CELLS = A * B * C };
static const int extents[3] = {A, B, C};
static const double spacing[3] = {0.5, 1, 0.8};

static int cell(const int *x) {
    return (wrapped(x[0], A) * B + wrapped(x[1], B)) * C + wrapped(x[2], C);
}

static int neighbour(int i, int axis, int step) {
    int x[3] = {i / C / B, i / C % B, i % C};
    x[axis] += step;
    return cell(x);
}

static void poisson_of_neighbours(void **state) {
    (void)state;
    double *f = noise(CELLS), sum = 0;
    for (int i = 1; i < CELLS; i++) sum += f[i];
    f[0] = -sum; /* of mean 0 */
    weft_convolution_problem p = {
        .rank = 3, .n = {A, B, C}, .kind = WEFT_R2C, .kernel = poisson().kernel};
    for (int a = 0; a < 3; a++) p.length[a] = spacing[a] * extents[a];
    weft_convolution plan = made_of(p, 1);
    double *u = convolved(plan, f, CELLS);
    for (int i = 0; i < CELLS; i++) {
        double laplacian = 0;
        for (int a = 0; a < 3; a++)
            laplacian += (u[neighbour(i, a, 1)] - 2 * u[i] + u[neighbour(i, a, -1)]) /
                         (spacing[a] * spacing[a]);
        assert_true(fabs(laplacian + f[i]) < 1e-11 * CELLS);
    }
    weft_convolution_destroy(&plan);
    free(f);
    free(u);
}

/* The strain of displacements on the lower faces of cells: normal strains in the middles, the
 * others on the lower edges. */
static void find_strain(const double *u, double *strain) {
    for (int i = 0; i < CELLS; i++)
        for (int a = 0; a < 3; a++) {
            strain[a * CELLS + i] =
                (u[a * CELLS + neighbour(i, a, 1)] - u[a * CELLS + i]) / spacing[a];
            for (int b = a + 1; b < 3; b++)
                strain[(6 - a - b) * CELLS + i] =
                    ((u[a * CELLS + i] - u[a * CELLS + neighbour(i, b, -1)]) / spacing[b] +
                     (u[b * CELLS + i] - u[b * CELLS + neighbour(i, a, -1)]) / spacing[a]) /
                    2;
        }
}

/* Gamma : C : e = e for the strain e of a displacement, in the medium of Gamma. */
static void strains_come_back_from_their_stress(void **state) {
    (void)state;
    double *u = noise(3 * CELLS), *strain = malloc(6 * CELLS * sizeof *strain),
           *stress = malloc(6 * CELLS * sizeof *stress);
    const double lambda = 1.3, mu = 0.6;
    weft_convolution_problem p = {.rank = 3,
                                  .n = {A, B, C},
                                  .kind = WEFT_R2C,
                                  .kernel = {.kind = WEFT_KERNEL_ELASTIC,
                                             .lame = {lambda, mu},
                                             .discretization = WEFT_STAGGERED}};
    for (int a = 0; a < 3; a++) p.length[a] = spacing[a] * extents[a];
    find_strain(u, strain);
    for (int i = 0; i < CELLS; i++)
        for (int f = 0; f < 6; f++) {
            const double trace = strain[i] + strain[CELLS + i] + strain[2 * CELLS + i];
            stress[f * CELLS + i] = 2 * mu * strain[f * CELLS + i] + (f < 3 ? lambda * trace : 0);
        }
    weft_convolution plan = made_of(p, 1);
    double *back = convolved(plan, stress, 6 * CELLS);
    assert_true(relative(back, strain, 6 * CELLS) < 1e-13);
    weft_convolution_destroy(&plan);
    free(u);
    free(strain);
    free(stress);
    free(back);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_sampled_is_refused),
                                       cmocka_unit_test(kernels_with_ripples_are_recognized),
                                       cmocka_unit_test(plans_tell_of_samples),
                                       cmocka_unit_test(convolutions_tell_their_cells),
                                       cmocka_unit_test(cells_of_planes_are_squares),
                                       cmocka_unit_test(threads_give_the_same_bits),
                                       cmocka_unit_test(errors_are_those_of_the_pattern),
                                       cmocka_unit_test(poisson_of_neighbours),
                                       cmocka_unit_test(strains_come_back_from_their_stress)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
