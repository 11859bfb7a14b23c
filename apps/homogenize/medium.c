/* Laws and reference media. */
#include "medium.h"

#include "material.h"
#include "matrix.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which scheme ---- */

static bool is_diagonal(const double *conductivity) {
    double largest = 0, off = 0;
    for (int i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(conductivity[i]));
        if (i % 4 != 0) off = fmax(off, fabs(conductivity[i]));
    }
    return off <= 1e-12 * largest;
}

/* The phase that cannot be on a staggered grid, or NULL. */
static const homogenize_phase *tilted_phase(const homogenize_case *c) {
    for (int p = 0; p < c->phase_count; p++) {
        const homogenize_phase *phase = &c->phases[p];
        if (!(c->physics == HOMOGENIZE_ELASTICITY ? material_is_aligned(phase->matrix)
                                                  : is_diagonal(phase->matrix)))
            return phase;
    }
    return NULL;
}

weft_status homogenize_choose_scheme(const homogenize_case *c, homogenize_scheme *scheme) {
    const homogenize_phase *tilted = tilted_phase(c);
    *scheme = c->scheme;
    if (c->scheme == HOMOGENIZE_AUTO) *scheme = tilted ? HOMOGENIZE_WILLOT : HOMOGENIZE_STAGGERED;
    if (c->scheme != HOMOGENIZE_STAGGERED || !tilted) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "discretization: the staggered grid is for phases that are isotropic, or "
                     "orthotropic along the axes, and that of label %lld is not; give willot or "
                     "fourier",
                     (long long)tilted->label);
}

/* ---- the reference medium ---- */

/* Least and largest factor of volume changes (3 K) and of shears (2 G) among the phases that occur;
 * of conduction both the conductivity's. */
typedef struct extremes {
    double volume[2], shear[2];
} extremes;

static void widen(double range[2], double low, double high) {
    range[0] = range[0] == 0 ? low : fmin(range[0], low);
    range[1] = fmax(range[1], high);
}

/* Bounds of a stiffness between two isotropic ones. With h the unit vector of the hydrostatic
 * strain, C is a on h, D on the rest, and couples them by b: 2 |b| x y <= |b| (x^2 + y^2). */
static void widen_elastic(const double *mandel, extremes *e) {
    const double third = 1 / sqrt(3.0), h[6] = {third, third, third, 0, 0, 0};
    double image[6], a = 0, coupling = 0, deviator[36], values[6], all[6];
    for (int i = 0; i < 6; i++) {
        image[i] = 0;
        for (int j = 0; j < 6; j++) image[i] += mandel[6 * i + j] * h[j];
        a += image[i] * h[i];
    }
    for (int i = 0; i < 6; i++) coupling += (image[i] - a * h[i]) * (image[i] - a * h[i]);
    coupling = sqrt(coupling);
    if (coupling < 1e-12 * a) coupling = 0;
    matrix_eigenvalues(6, mandel, all);
    /* The part on the rest, and a number within its range on h, so that it adds no eigenvalue. */
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            deviator[6 * i + j] =
                mandel[6 * i + j] - image[i] * h[j] - h[i] * image[j] + a * h[i] * h[j];
    double within = 0;
    for (int i = 0; i < 6; i++) within += deviator[7 * i] / 5;
    for (int i = 0; i < 36; i++) deviator[i] += within * h[i / 6] * h[i % 6];
    matrix_eigenvalues(6, deviator, values);
    widen(e->volume, fmax(a - coupling, all[0]), a + coupling);
    widen(e->shear, fmax(values[0] - coupling, all[0]), values[5] + coupling);
}

static double middle_of(const double range[2], homogenize_solver solver) {
    return solver == HOMOGENIZE_EYRE_MILTON ? sqrt(range[0] * range[1]) : (range[0] + range[1]) / 2;
}

static homogenize_reference choose_reference(const homogenize_case *c) {
    extremes e = {{0, 0}, {0, 0}};
    homogenize_reference r = c->reference;
    if (r.twice > 0) return r;
    for (int p = 0; p < c->phase_count; p++) {
        double values[3];
        if (c->phases[p].voxels == 0) continue;
        if (c->physics == HOMOGENIZE_ELASTICITY) {
            widen_elastic(c->phases[p].matrix, &e);
            continue;
        }
        matrix_eigenvalues(3, c->phases[p].matrix, values);
        widen(e.shear, values[0], values[2]);
    }
    r.twice = middle_of(e.shear, c->solver);
    if (c->physics == HOMOGENIZE_ELASTICITY)
        r.trace = (middle_of(e.volume, c->solver) - r.twice) / 3;
    return r;
}

void homogenize_reference_matrix(const homogenize_reference *r, int components, double *matrix) {
    for (int i = 0; i < components; i++)
        for (int j = 0; j < components; j++)
            matrix[i * components + j] = (i == j ? r->twice : 0) + (i < 3 && j < 3 ? r->trace : 0);
}

/* ---- laws ---- */

/* Of the staggered grid only what lies in the middles of voxels: the normal components. */
static void keep_middle(int components, double *matrix) {
    for (int i = 0; i < components; i++)
        for (int j = 0; j < components; j++)
            if (components != 6 || i >= 3 || j >= 3) matrix[i * components + j] = 0;
}

/* 2 (C + C0)^-1 C0 */
static weft_status make_relaxation(const homogenize_medium *m, const double *law, double *relax) {
    const int n = m->components;
    double reference[36], sum[36] = {0}, inverse[36];
    homogenize_reference_matrix(&m->reference, n, reference);
    for (int i = 0; i < n * n; i++) sum[i] = law[i] + reference[i];
    if (!matrix_invert(n, sum, inverse))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "reference: its sum with a phase is not positive definite");
    matrix_multiply(n, inverse, reference, relax);
    for (int i = 0; i < n * n; i++) relax[i] *= 2;
    return WEFT_SUCCESS;
}

static weft_status make_laws(const homogenize_case *c, homogenize_medium *m) {
    const int n = m->components, size = n * n;
    for (int p = 0; p < m->phases; p++) {
        const double *matrix = c->phases[p].matrix;
        double *law = m->law + p * size;
        memcpy(law, matrix, (size_t)size * sizeof *law);
        for (int i = 0; i < 3; i++) m->inverse[3 * p + i] = 1 / matrix[(n + 1) * (n - 3 + i)];
        if (m->relax) WEFT_TRY(make_relaxation(m, matrix, m->relax + p * size));
        if (m->staggered) keep_middle(n, law);
        if (m->staggered && m->relax) keep_middle(n, m->relax + p * size);
        m->isotropic = m->isotropic && n == 6 && material_is_isotropic(matrix);
    }
    return WEFT_SUCCESS;
}

weft_status homogenize_medium_create(const homogenize_case *c, homogenize_scheme scheme,
                                     homogenize_medium *m) {
    const int n = homogenize_components(c->physics);
    const size_t phases = (size_t)c->phase_count, size = (size_t)(n * n);
    *m = (homogenize_medium){.components = n,
                             .phases = c->phase_count,
                             .staggered = scheme == HOMOGENIZE_STAGGERED,
                             .isotropic = true,
                             .reference = choose_reference(c)};
    m->law = calloc(phases * size, sizeof *m->law);
    m->inverse = calloc(phases * 3, sizeof *m->inverse);
    const bool relaxed = c->solver == HOMOGENIZE_EYRE_MILTON;
    if (relaxed) m->relax = calloc(phases * size, sizeof *m->relax);
    if (!m->law || !m->inverse || (relaxed && !m->relax))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the laws of %d phases",
                         c->phase_count);
    return make_laws(c, m);
}

void homogenize_medium_release(homogenize_medium *m) {
    free(m->law);
    free(m->inverse);
    free(m->relax);
    memset(m, 0, sizeof *m);
}
