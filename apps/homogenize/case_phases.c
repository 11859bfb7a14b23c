/* Phases of a case: a label, and a material in one of the ways that people give it. */
#include "case_members.h"

#include "material.h"
#include "matrix.h"
#include "support/error.h"

#include <math.h>
#include <string.h>

static bool has(const json_t *object, const char *key) {
    return json_object_get(object, key) != NULL;
}

/* Two moduli, both given. */
static weft_status read_pair(const case_place *at, const json_t *object, const char *const key[2],
                             double value[2]) {
    for (int i = 0; i < 2; i++) {
        if (!has(object, key[i]))
            return case_wrong(at, key[i], "it is missing beside %s", key[1 - i]);
        WEFT_TRY(case_number(at, object, key[i], &value[i]));
    }
    return WEFT_SUCCESS;
}

static weft_status read_young(const case_place *at, const json_t *object, double *mandel) {
    double m[2];
    WEFT_TRY(read_pair(at, object, (const char *const[2]){"E", "nu"}, m));
    if (!(m[0] > 0)) return case_wrong(at, "E", "Young's modulus %g is not above 0", m[0]);
    if (!(m[1] > -1 && m[1] < 0.5))
        return case_wrong(at, "nu", "Poisson's ratio %g is not between -1 and 0.5", m[1]);
    material_isotropic(m[0] / (3 * (1 - 2 * m[1])), m[0] / (2 * (1 + m[1])), mandel);
    return WEFT_SUCCESS;
}

static weft_status read_lame(const case_place *at, const json_t *object, double *mandel) {
    double m[2];
    WEFT_TRY(read_pair(at, object, (const char *const[2]){"lambda", "mu"}, m));
    if (!(m[1] > 0)) return case_wrong(at, "mu", "the shear modulus %g is not above 0", m[1]);
    if (!(3 * m[0] + 2 * m[1] > 0))
        return case_wrong(at, "lambda",
                          "with mu %g the bulk modulus lambda + 2 mu / 3 is %g, "
                          "which is not above 0",
                          m[1], m[0] + 2 * m[1] / 3);
    material_isotropic(m[0] + 2 * m[1] / 3, m[1], mandel);
    return WEFT_SUCCESS;
}

static weft_status read_bulk(const case_place *at, const json_t *object, double *mandel) {
    double m[2];
    WEFT_TRY(read_pair(at, object, (const char *const[2]){"K", "G"}, m));
    if (!(m[0] > 0)) return case_wrong(at, "K", "the bulk modulus %g is not above 0", m[0]);
    if (!(m[1] > 0)) return case_wrong(at, "G", "the shear modulus %g is not above 0", m[1]);
    material_isotropic(m[0], m[1], mandel);
    return WEFT_SUCCESS;
}

/* What a symmetric matrix must be to be a material. */
static weft_status check_definite(const case_place *at, const char *key, int n, double *matrix) {
    double inverse[36], values[MATRIX_MOST];
    if (matrix_asymmetry(n, matrix) > 1e-6)
        return case_wrong(at, key, "the matrix is not symmetric");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i] = (matrix[i * n + j] + matrix[j * n + i]) / 2;
    if (matrix_invert(n, matrix, inverse)) return WEFT_SUCCESS;
    matrix_eigenvalues(n, matrix, values);
    return case_wrong(at, key, "the matrix is not positive definite: it has the eigenvalue %g",
                      values[0]);
}

static weft_status read_stiffness(const case_place *at, const json_t *object, double *mandel) {
    static const char *const notations[] = {"voigt", "mandel", NULL};
    int notation;
    if (!has(object, "notation"))
        return case_wrong(at, "notation", "say which notation the stiffness has: voigt or mandel");
    WEFT_TRY(case_choice(at, object, "notation", notations, &notation));
    WEFT_TRY(case_matrix(at, object, "stiffness", 6, mandel));
    if (notation == 0) material_mandel_of_voigt(mandel, mandel);
    return check_definite(at, "stiffness", 6, mandel);
}

static weft_status read_elastic(const case_place *at, const json_t *object, double *mandel) {
    static const struct {
        const char *key[2];
        weft_status (*read)(const case_place *, const json_t *, double *);
    } ways[] = {{{"E", "nu"}, read_young},
                {{"lambda", "mu"}, read_lame},
                {{"K", "G"}, read_bulk},
                {{"stiffness", "stiffness"}, read_stiffness}};
    int chosen = -1, first = -1;
    for (int w = 0; w < 4; w++)
        for (int k = 0; k < 2; k++) {
            if (!has(object, ways[w].key[k]) || w == chosen) continue;
            if (chosen >= 0)
                return case_wrong(at, ways[w].key[k],
                                  "the phase has %s already; give one of "
                                  "E and nu, lambda and mu, K and G, stiffness",
                                  ways[chosen].key[first]);
            chosen = w;
            first = k;
        }
    if (chosen < 0)
        return case_wrong(at, "E",
                          "the phase has no material; give E and nu, lambda and mu, K and "
                          "G, or stiffness");
    if (chosen != 3 && has(object, "notation"))
        return case_wrong(at, "notation", "it belongs to stiffness, which the phase does not have");
    return ways[chosen].read(at, object, mandel);
}

/* A number, or a symmetric matrix. */
static weft_status read_conductivity(const case_place *at, const json_t *object, double *matrix) {
    const json_t *given = json_object_get(object, "conductivity");
    if (!given) return case_wrong(at, "conductivity", "it is missing");
    memset(matrix, 0, 9 * sizeof *matrix);
    if (json_is_array(given)) {
        WEFT_TRY(case_matrix(at, object, "conductivity", 3, matrix));
        return check_definite(at, "conductivity", 3, matrix);
    }
    WEFT_TRY(case_number(at, object, "conductivity", matrix));
    matrix[4] = matrix[8] = matrix[0];
    if (matrix[0] > 0) return WEFT_SUCCESS;
    return case_wrong(at, "conductivity", "%g is not above 0", matrix[0]);
}

/* Three Euler angles, or a rotation matrix. */
static weft_status read_rotation(const case_place *at, const json_t *object, double r[9]) {
    const json_t *given = json_object_get(object, "rotation");
    double angles[3], off = 0;
    if (json_array_size(given) == 3 && !json_is_array(json_array_get(given, 0))) {
        WEFT_TRY(case_numbers(at, object, "rotation", 3, angles, NULL));
        material_rotation(angles, r);
        return WEFT_SUCCESS;
    }
    if (json_array_size(given) != 3)
        return case_wrong(at, "rotation", "give three Euler angles in degrees, or a 3 x 3 matrix");
    WEFT_TRY(case_matrix(at, object, "rotation", 3, r));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double product = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++) product += r[3 * i + k] * r[3 * j + k];
            off = fmax(off, fabs(product));
        }
    const double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                               r[1] * (r[3] * r[8] - r[5] * r[6]) +
                               r[2] * (r[3] * r[7] - r[4] * r[6]);
    if (off <= 1e-6 && determinant > 0) return WEFT_SUCCESS;
    return case_wrong(at, "rotation", "the matrix is no rotation");
}

weft_status case_phase(const case_place *top, const json_t *object, size_t number,
                       homogenize_physics physics, homogenize_phase *phase) {
    static const char *const elastic[] = {"label", "E",         "nu",       "lambda",   "mu", "K",
                                          "G",     "stiffness", "notation", "rotation", NULL};
    static const char *const conducting[] = {"label", "conductivity", "rotation", NULL};
    const bool elasticity = physics == HOMOGENIZE_ELASTICITY;
    case_place at = {.file = top->file};
    double rotation[9];
    if (!json_is_object(object)) return case_wrong(top, "phases", "give a list of objects");
    snprintf(at.path, sizeof at.path, "phases[%zu].", number);
    WEFT_TRY(case_check_keys(&at, object, elasticity ? elastic : conducting));
    if (!json_is_integer(json_object_get(object, "label")))
        return case_wrong(&at, "label", "give a whole number");
    phase->label = json_integer_value(json_object_get(object, "label"));
    if (elasticity)
        WEFT_TRY(read_elastic(&at, object, phase->matrix));
    else
        WEFT_TRY(read_conductivity(&at, object, phase->matrix));
    if (!has(object, "rotation")) return WEFT_SUCCESS;
    WEFT_TRY(read_rotation(&at, object, rotation));
    if (elasticity)
        material_turn_stiffness(rotation, phase->matrix);
    else
        material_turn_conductivity(rotation, phase->matrix);
    return WEFT_SUCCESS;
}
