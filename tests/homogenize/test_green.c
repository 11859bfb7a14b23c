/*
 * Green's operator on every discretization, on even and odd grids, of strains and of gradients: it
 * is the projection that it should be, and for hexahedra the inverse of their stiffness.
 */
#include "homogenize/green.h"
#include "homogenize/medium.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

static const homogenize_reference medium = {.twice = 2.6, .trace = 0.7}, conductor = {.twice = 1.7};

static const int64_t grids[][3] = {{6, 7, 8}, {5, 4, 9}, {4, 4, 4},
                                   {3, 5, 7}, {2, 1, 6}, {8, 6, 1}};
enum { GRIDS = sizeof grids / sizeof *grids };
static const double lengths[3] = {1, 1.3, 0.8}; /* of the box */

/* One operator, and fields to try it on. */
typedef struct fixture {
    weft_context ctx;
    homogenize_green green;
    const homogenize_reference *reference;
    int components;
    int64_t voxels;
    size_t bytes;
} fixture;

static void begin(fixture *f, int grid, homogenize_scheme scheme, int components,
                  const bool stress[6]) {
    homogenize_grid g = {
        .components = components, .scheme = scheme, .length = {lengths[0], lengths[1], lengths[2]}};
    const weft_options options = {.threads = 1};
    memset(f, 0, sizeof *f);
    memcpy(g.n, grids[grid], sizeof g.n);
    f->reference = components == 6 ? &medium : &conductor;
    f->components = components;
    f->voxels = g.n[0] * g.n[1] * g.n[2];
    assert_int_equal(weft_context_create(NULL, &f->ctx), WEFT_SUCCESS);
    assert_int_equal(homogenize_green_create(f->ctx, &g, &options, &f->green), WEFT_SUCCESS);
    assert_int_equal(weft_plan_bytes(f->green.plan, WEFT_INPUT, &f->bytes), WEFT_SUCCESS);
    homogenize_green_set(&f->green, f->reference, stress);
}

static void end(fixture *f) {
    homogenize_green_release(&f->green);
    weft_context_destroy(&f->ctx);
}

static double *random_field(const fixture *f) {
    double *field = calloc(f->bytes, 1);
    assert_non_null(field);
    for (int64_t i = 0; i < f->components * f->voxels; i++)
        field[i] = rand() / (double)RAND_MAX - 0.5;
    return field;
}

static void apply(fixture *f, double *field) {
    assert_int_equal(homogenize_green_apply(&f->green, field), WEFT_SUCCESS);
}

/* C0 e */
static double *reference_stress(const fixture *f, const double *e) {
    double *s = calloc(f->bytes, 1);
    assert_non_null(s);
    for (int64_t v = 0; v < f->voxels; v++) {
        const double volume = e[v] + e[v + f->voxels] + e[v + 2 * f->voxels];
        for (int i = 0; i < f->components; i++)
            s[v + i * f->voxels] = f->reference->twice * e[v + i * f->voxels] +
                                   (i < 3 ? f->reference->trace * volume : 0);
    }
    return s;
}

static double product(const fixture *f, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < f->components * f->voxels; i++) sum += a[i] * b[i];
    return sum;
}

static void assert_fields(const fixture *f, const double *a, const double *b) {
    for (int64_t i = 0; i < f->components * f->voxels; i++) assert_near(a[i], b[i], 1e-13);
}

static void for_all(void (*check)(fixture *f), const bool stress[6]) {
    for (int grid = 0; grid < GRIDS; grid++)
        for (int scheme = HOMOGENIZE_FOURIER; scheme <= HOMOGENIZE_STAGGERED; scheme++)
            for (int components = 3; components <= 6; components += 3) {
                fixture f;
                begin(&f, grid, (homogenize_scheme)scheme, components, stress);
                check(&f);
                end(&f);
            }
}

/* A strain of displacements is what Gamma makes of any stress: Gamma C0 e = e - <e>. */
static void check_projection(fixture *f) {
    double *e = random_field(f);
    apply(f, e);
    double *again = reference_stress(f, e);
    apply(f, again);
    assert_fields(f, again, e);
    free(e);
    free(again);
}

/* What is left of a stress without its part C0 Gamma s is in equilibrium. */
static void check_equilibrium(fixture *f) {
    double *s = random_field(f), *e = calloc(f->bytes, 1);
    memcpy(e, s, f->bytes);
    apply(f, e);
    double *part = reference_stress(f, e), *zero = calloc(f->bytes, 1);
    for (int64_t i = 0; i < f->components * f->voxels; i++) s[i] -= part[i];
    apply(f, s);
    assert_fields(f, s, zero);
    free(s);
    free(e);
    free(part);
    free(zero);
}

/* a Gamma b = b Gamma a, and a Gamma a >= 0 */
static void check_symmetry(fixture *f) {
    double *a = random_field(f), *b = random_field(f);
    double *of_a = calloc(f->bytes, 1), *of_b = calloc(f->bytes, 1);
    memcpy(of_a, a, f->bytes);
    memcpy(of_b, b, f->bytes);
    apply(f, of_a);
    apply(f, of_b);
    assert_near(product(f, b, of_a), product(f, a, of_b), 1e-11);
    assert_true(product(f, a, of_a) > -1e-12);
    free(a);
    free(b);
    free(of_a);
    free(of_b);
}

static const bool strains_alone[6] = {0}, mixed[6] = {1, 0, 1, 1, 0, 0};

static void gamma_is_a_projection(void **state) {
    (void)state;
    for_all(check_projection, strains_alone);
}

static void gamma_is_a_projection_with_means_of_stress(void **state) {
    (void)state;
    for_all(check_projection, mixed);
}

static void gamma_leaves_a_stress_in_equilibrium(void **state) {
    (void)state;
    for_all(check_equilibrium, strains_alone);
    for_all(check_equilibrium, mixed);
}

static void gamma_is_symmetric(void **state) {
    (void)state;
    for_all(check_symmetry, strains_alone);
    for_all(check_symmetry, mixed);
}

/* A pressure p causes the change of volume p / (lambda + 2 mu) at every frequency but 0: what makes
 * Hill's test exact. Willot's scheme has frequencies without strain on even grids. */
static void gamma_answers_pressure(void **state) {
    (void)state;
    for (int grid = 0; grid < GRIDS; grid++)
        for (int scheme = HOMOGENIZE_FOURIER; scheme <= HOMOGENIZE_STAGGERED; scheme++) {
            fixture f;
            double mean = 0;
            if (scheme == HOMOGENIZE_WILLOT && grid != 3) continue;
            begin(&f, grid, (homogenize_scheme)scheme, 6, strains_alone);
            double *s = calloc(f.bytes, 1), *pressure = random_field(&f);
            for (int64_t v = 0; v < f.voxels; v++) mean += pressure[v] / (double)f.voxels;
            for (int i = 0; i < 3; i++)
                memcpy(s + i * f.voxels, pressure, (size_t)f.voxels * sizeof *s);
            apply(&f, s);
            for (int64_t v = 0; v < f.voxels; v++)
                assert_near(s[v] + s[v + f.voxels] + s[v + 2 * f.voxels],
                            (pressure[v] - mean) / (medium.trace + medium.twice), 1e-13);
            free(s);
            free(pressure);
            end(&f);
        }
}

/* ---- hexahedra ---- */

/* Gradients of the eight shape functions at a point of an element with edges h. */
static void find_gradients(const double h[3], const double at[3], double gradient[8][3]) {
    for (int corner = 0; corner < 8; corner++)
        for (int a = 0; a < 3; a++) {
            gradient[corner][a] = (corner >> a & 1 ? 1 : -1) / h[a];
            for (int b = 0; b < 3; b++)
                if (b != a) gradient[corner][a] *= (1 + (corner >> b & 1 ? 1 : -1) * at[b]) / 2;
        }
}

/* The number of the node at a corner of an element, periodically. */
static int64_t node_of(const int64_t n[3], const int64_t element[3], int corner) {
    int64_t node = 0;
    for (int a = 0; a < 3; a++) node = node * n[a] + (element[a] + (corner >> a & 1)) % n[a];
    return node;
}

/* Adds the forces of one element, over its volume, by 2 x 2 x 2 Gauss points: of the medium's
 * stress lambda tr(g) + mu (g + g^T) of the gradient g, or of the conductor's flux. */
static void add_element(const fixture *f, const int64_t element[3], const double *u,
                        double *force) {
    const int64_t *n = f->green.n;
    const int d = f->components == 6 ? 3 : 1;
    const double h[3] = {lengths[0] / (double)n[0], lengths[1] / (double)n[1],
                         lengths[2] / (double)n[2]};
    for (int point = 0; point < 8; point++) {
        double at[3], gradient[8][3], g[3][3] = {{0}}, stress[3][3];
        for (int a = 0; a < 3; a++) at[a] = (point >> a & 1 ? 1 : -1) / sqrt(3.0);
        find_gradients(h, at, gradient);
        for (int i = 0; i < 24 * d; i++)
            g[i / 8 % d][i / 8 / d] += gradient[i % 8][i / 8 / d] *
                                       u[f->voxels * (i / 8 % d) + node_of(n, element, i % 8)];
        for (int c = 0; c < d; c++)
            for (int a = 0; a < 3; a++)
                stress[c][a] =
                    d == 1 ? conductor.twice * g[0][a]
                           : medium.twice / 2 * (g[c][a] + g[a][c]) +
                                 (a == c ? medium.trace : 0) * (g[0][0] + g[1][1] + g[2][2]);
        for (int i = 0; i < 24 * d; i++)
            force[f->voxels * (i / 8 % d) + node_of(n, element, i % 8)] +=
                stress[i / 8 % d][i / 8 / d] * gradient[i % 8][i / 8 / d] / 8;
    }
}

/* Of any displacement whose mean is 0 it makes of its forces that displacement. */
static void hexahedra_invert_their_stiffness(void **state) {
    (void)state;
    for (int i = 0; i < 2 * GRIDS; i++) {
        fixture f;
        begin(&f, i / 2, HOMOGENIZE_HEXAHEDRA, i % 2 ? 3 : 6, strains_alone);
        const int64_t *n = f.green.n, voxels = f.voxels;
        const int d = i % 2 ? 1 : 3;
        double *u = calloc((size_t)(d * voxels), sizeof *u), *force = calloc(f.bytes, 1);
        for (int64_t k = 0; k < d * voxels; k++) u[k] = rand() / (double)RAND_MAX;
        for (int c = 0; c < d; c++) {
            double mean = 0;
            for (int64_t k = 0; k < voxels; k++) mean += u[c * voxels + k] / (double)voxels;
            for (int64_t k = 0; k < voxels; k++) u[c * voxels + k] -= mean;
        }
        for (int64_t k = 0; k < voxels; k++)
            add_element(&f, (int64_t[3]){k / (n[1] * n[2]), k / n[2] % n[1], k % n[2]}, u, force);
        apply(&f, force);
        for (int64_t k = 0; k < d * voxels; k++) assert_near(force[k], u[k], 1e-12);
        free(u);
        free(force);
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_is_a_projection),
        cmocka_unit_test(gamma_is_a_projection_with_means_of_stress),
        cmocka_unit_test(gamma_leaves_a_stress_in_equilibrium),
        cmocka_unit_test(gamma_is_symmetric),
        cmocka_unit_test(gamma_answers_pressure),
        cmocka_unit_test(hexahedra_invert_their_stiffness),
    };
    srand(27);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
