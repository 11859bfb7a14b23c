/* Bounds by volume fractions. */
#include "bounds.h"

#include "material.h"
#include "matrix.h"

#include <math.h>
#include <string.h>

/* Moduli of a phase: bulk and shear, or twice the conductivity. */
static bool find_moduli(const homogenize_case *c, int phase, double moduli[2]) {
    const double *m = c->phases[phase].matrix;
    if (c->physics == HOMOGENIZE_ELASTICITY) {
        material_closest(m, &moduli[0], &moduli[1]);
        return material_is_isotropic(m);
    }
    moduli[0] = moduli[1] = m[0];
    double off = fmax(fabs(m[4] - m[0]), fabs(m[8] - m[0]));
    for (int i = 0; i < 9; i++)
        if (i % 4 != 0) off = fmax(off, fabs(m[i]));
    return off <= 1e-12 * m[0];
}

static double voxels_of(const homogenize_case *c) {
    double voxels = 0;
    for (int p = 0; p < c->phase_count; p++) voxels += (double)c->phases[p].voxels;
    return voxels;
}

/* <1 / (x + shift)>^-1 - shift of modulus number `which`. */
static double shifted_mean(const homogenize_case *c, int which, double shift) {
    const double voxels = voxels_of(c);
    double sum = 0, moduli[2];
    for (int p = 0; p < c->phase_count; p++) {
        (void)find_moduli(c, p, moduli);
        sum += (double)c->phases[p].voxels / voxels / (moduli[which] + shift);
    }
    return 1 / sum - shift;
}

/* The least (0) and the largest (1) of each modulus among the phases that occur. */
static void find_range(const homogenize_case *c, homogenize_bounds *b, double range[2][2]) {
    bool first = true;
    double moduli[2];
    b->isotropic = true;
    for (int p = 0; p < c->phase_count; p++) {
        if (c->phases[p].voxels == 0) continue;
        b->isotropic = find_moduli(c, p, moduli) && b->isotropic;
        for (int m = 0; m < 2; m++) {
            range[m][0] = first ? moduli[m] : fmin(range[m][0], moduli[m]);
            range[m][1] = first ? moduli[m] : fmax(range[m][1], moduli[m]);
        }
        first = false;
    }
}

static void find_means(const homogenize_case *c, homogenize_bounds *b) {
    const int n = homogenize_components(c->physics);
    double compliance[36] = {0}, inverse[36];
    const double voxels = voxels_of(c);
    for (int p = 0; p < c->phase_count; p++) {
        const double fraction = (double)c->phases[p].voxels / voxels;
        if (!matrix_invert(n, c->phases[p].matrix, inverse)) continue;
        for (int i = 0; i < n * n; i++) {
            b->voigt[i] += fraction * c->phases[p].matrix[i];
            compliance[i] += fraction * inverse[i];
        }
    }
    (void)matrix_invert(n, compliance, b->reuss);
}

void homogenize_find_bounds(const homogenize_case *c, homogenize_bounds *b) {
    double range[2][2] = {{0}};
    memset(b, 0, sizeof *b);
    find_means(c, b);
    find_range(c, b, range);
    for (int side = 0; side < 2; side++) {
        const double k = range[0][side], g = range[1][side];
        b->bulk[side] = shifted_mean(c, 0, 4 * g / 3);
        b->shear[side] = shifted_mean(c, 1, g * (9 * k + 8 * g) / (6 * (k + 2 * g)));
        b->conductivity[side] = shifted_mean(c, 1, 2 * g);
    }
}
