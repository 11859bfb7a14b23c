/* Materials, their matrices, and bounds: known values, and identities that hold for any. */
#include "homogenize/bounds.h"
#include "homogenize/material.h"
#include "homogenize/matrix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

static void assert_matrices(int n, const double *a, const double *b, double tolerance) {
    for (int i = 0; i < n * n; i++) assert_near(a[i], b[i], tolerance);
}

/* Copper: C11, C12, C44 in GPa. */
static void cubic(double *mandel) {
    double voigt[36] = {0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) voigt[6 * i + j] = i == j ? 168.4 : 121.4;
        voigt[7 * (i + 3)] = 75.4;
    }
    material_mandel_of_voigt(voigt, mandel);
}

static void isotropic_stiffness_has_its_moduli(void **state) {
    (void)state;
    double mandel[36], voigt[36], bulk, shear;
    material_isotropic(5, 3, mandel);
    material_voigt_of_mandel(mandel, voigt);
    assert_near(voigt[0], 9, 1e-14); /* lambda + 2 mu, with lambda = 5 - 2 */
    assert_near(voigt[1], 3, 1e-14);
    assert_near(voigt[21], 3, 1e-14); /* mu */
    assert_near(mandel[21], 6, 1e-14);
    material_closest(mandel, &bulk, &shear);
    assert_near(bulk, 5, 1e-14);
    assert_near(shear, 3, 1e-14);
    assert_true(material_is_isotropic(mandel));
    assert_true(material_is_aligned(mandel));
}

static void inverse_and_eigenvalues_of_a_known_matrix(void **state) {
    (void)state;
    double mandel[36], inverse[36], product[36], identity[36] = {0}, values[6];
    for (int i = 0; i < 6; i++) identity[7 * i] = 1;
    cubic(mandel);
    assert_true(matrix_invert(6, mandel, inverse));
    matrix_multiply(6, mandel, inverse, product);
    assert_matrices(6, product, identity, 1e-13);
    /* C11 - C12 twice, 2 C44 three times, C11 + 2 C12 */
    const double expected[6] = {47, 47, 150.8, 150.8, 150.8, 411.2};
    matrix_eigenvalues(6, mandel, values);
    for (int i = 0; i < 6; i++) assert_near(values[i], expected[i], 1e-11);
    mandel[0] = -1;
    assert_false(matrix_invert(6, mandel, inverse));
}

static void quarter_turns_keep_a_cubic_crystal(void **state) {
    (void)state;
    const double turns[3][3] = {{90, 0, 0}, {0, 90, 0}, {90, 90, 270}};
    double r[9], mandel[36], turned[36];
    cubic(mandel);
    for (int t = 0; t < 3; t++) {
        memcpy(turned, mandel, sizeof turned);
        material_rotation(turns[t], r);
        material_turn_stiffness(r, turned);
        assert_matrices(6, turned, mandel, 1e-12);
    }
}

/* Turning a tensor and its stiffness gives the turned stress; moduli do not turn. */
static void rotations_turn_stiffness_as_tensors(void **state) {
    (void)state;
    const double angles[3] = {31, 67, 112};
    double r[9], mandel[36], turned[36], bulk[2], shear[2], values[2][6];
    cubic(mandel);
    mandel[3] = mandel[18] = 7; /* any symmetric matrix will do */
    memcpy(turned, mandel, sizeof turned);
    material_rotation(angles, r);
    material_turn_stiffness(r, turned);
    material_closest(mandel, &bulk[0], &shear[0]);
    material_closest(turned, &bulk[1], &shear[1]);
    assert_near(bulk[0], bulk[1], 1e-12);
    assert_near(shear[0], shear[1], 1e-12);
    matrix_eigenvalues(6, mandel, values[0]);
    matrix_eigenvalues(6, turned, values[1]);
    for (int i = 0; i < 6; i++) assert_near(values[0][i], values[1][i], 1e-11);
    assert_false(material_is_aligned(turned));
}

/* Young's modulus along the body's diagonal of a cubic crystal: 1 / E = S11 - 2 (S11 - S12 - S44 /
 * 2) / 3. Euler angles that bring it along z: the crystal is turned by 45 degrees about its own z,
 * then tilted. */
static void euler_angles_bring_the_diagonal_along_z(void **state) {
    (void)state;
    const double angles[3] = {0, acos(1 / sqrt(3.0)) * 57.29577951308232, 45};
    double r[9], mandel[36], compliance[36];
    cubic(mandel);
    assert_true(matrix_invert(6, mandel, compliance));
    const double s11 = compliance[0], s12 = compliance[1], s44 = 2 * compliance[21];
    const double expected = 1 / (s11 - 2 * (s11 - s12 - s44 / 2) / 3);
    material_rotation(angles, r);
    for (int i = 0; i < 3; i++) /* R (1, 1, 1) / sqrt(3) is z */
        assert_near(r[3 * i] + r[3 * i + 1] + r[3 * i + 2], i == 2 ? sqrt(3.0) : 0, 1e-13);
    material_turn_stiffness(r, mandel);
    assert_true(matrix_invert(6, mandel, compliance));
    assert_near(1 / compliance[14], expected, 1e-10);
}

static void bounds_of_two_phases(void **state) {
    (void)state;
    homogenize_phase phases[2] = {{.label = 0, .voxels = 9}, {.label = 1, .voxels = 1}};
    homogenize_case c = {.phases = phases, .phase_count = 2};
    homogenize_bounds b;
    double bulk, shear;
    material_isotropic(62.5, 28.8462, phases[0].matrix);
    material_isotropic(222.222, 166.6667, phases[1].matrix);
    homogenize_find_bounds(&c, &b);
    material_closest(b.voigt, &bulk, &shear);
    assert_near(bulk, 0.9 * 62.5 + 0.1 * 222.222, 1e-10);
    material_closest(b.reuss, &bulk, &shear);
    assert_near(shear, 1 / (0.9 / 28.8462 + 0.1 / 166.6667), 1e-10);
    /* The two-phase formula: K1 + f2 / (1 / (K2 - K1) + 3 f1 / (3 K1 + 4 G1)) */
    assert_true(b.isotropic);
    const double k = 62.5 + 0.1 / (1 / (222.222 - 62.5) + 2.7 / (3 * 62.5 + 4 * 28.8462));
    const double g =
        28.8462 + 0.1 / (1 / (166.6667 - 28.8462) +
                         5.4 * (62.5 + 2 * 28.8462) / (5 * 28.8462 * (3 * 62.5 + 4 * 28.8462)));
    assert_near(b.bulk[0], k, 1e-10);
    assert_near(b.shear[0], g, 1e-10);
    assert_true(b.bulk[1] > b.bulk[0] && b.shear[1] > b.shear[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isotropic_stiffness_has_its_moduli),
        cmocka_unit_test(inverse_and_eigenvalues_of_a_known_matrix),
        cmocka_unit_test(quarter_turns_keep_a_cubic_crystal),
        cmocka_unit_test(rotations_turn_stiffness_as_tensors),
        cmocka_unit_test(euler_angles_bring_the_diagonal_along_z),
        cmocka_unit_test(bounds_of_two_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
