/*
 * The material law at a block of voxels. Part of sweeps.c, where the loops around it are.
 *
 * Passes work on blocks of a few voxels of a row, whose components are copied to and from arrays
 * of their own: so that each field is read in runs, which caches and prefetchers like, and not all
 * fields at once, whose addresses collide in caches where extents are powers of two; and so that
 * compilers vectorize what is done to them.
 */
#ifndef WEFT_HOMOGENIZE_VOXEL_LAW_H
#define WEFT_HOMOGENIZE_VOXEL_LAW_H

#include "sweeps.h"

enum { BLOCK = HOMOGENIZE_BLOCK };

/* Components of the voxels of a block: block[component][voxel]. */
typedef double block[6][BLOCK];

/* Voxels of one row, one behind the other: where they begin in the fields and among the phases, and
 * how far the lower neighbours along each axis are there. */
typedef struct voxel_run {
    int64_t first;
    int count;
    const uint16_t *phase;
    int64_t down[3];
} voxel_run;

/* Blocks that a row has. */
static inline int64_t blocks_of_row(const homogenize_volume *v) {
    return (v->box.n[2] + BLOCK - 1) / BLOCK;
}

static inline voxel_run run_at(const homogenize_volume *v, int64_t number) {
    const int64_t *n = v->box.n, halo = v->halo, blocks = blocks_of_row(v);
    const int64_t row = number / blocks, z = number % blocks * BLOCK;
    const int64_t x = row / n[1], y = row % n[1], width = n[2] + halo, height = n[1] + halo;
    return (voxel_run){.first = row * n[2] + z,
                       .count = n[2] - z < BLOCK ? (int)(n[2] - z) : BLOCK,
                       .phase = v->phase + ((x + halo) * height + y + halo) * width + halo + z,
                       .down = {height * width, width, 1}};
}

/* Of shifted component i: 1 over the mean over the voxels around of `inverse`. */
static inline void series_moduli(const homogenize_medium *m, const voxel_run *run, int i,
                                 double *modulus) {
    const double *inverse = m->inverse + i;
    const uint16_t *at = run->phase;
    if (m->components == 3) {
        const uint16_t *below = at - run->down[i];
        for (int k = 0; k < run->count; k++)
            modulus[k] = 2 / (inverse[3 * at[k]] + inverse[3 * below[k]]);
        return;
    }
    const uint16_t *a = at - run->down[(i + 1) % 3], *b = at - run->down[(i + 2) % 3];
    const uint16_t *both = a - run->down[(i + 2) % 3];
    for (int k = 0; k < run->count; k++)
        modulus[k] =
            4 / (inverse[3 * at[k]] + inverse[3 * a[k]] + inverse[3 * b[k]] + inverse[3 * both[k]]);
}

/* y = x times the matrix of each voxel, in its first `size` rows and columns. */
static inline void multiply_matrices(const voxel_run *run, const double *matrices, int n, int size,
                                     block x, block y) {
    for (int k = 0; k < run->count; k++) {
        const double *matrix = matrices + (int64_t)run->phase[k] * n * n;
        for (int i = 0; i < size; i++) {
            double sum = 0;
            for (int j = 0; j < size; j++) sum += matrix[i * n + j] * x[j][k];
            y[i][k] = sum;
        }
    }
}

/* Normal components, and with `shear` the others: twice x + trace tr(x) 1. */
static inline void multiply_isotropic(const homogenize_medium *m, const voxel_run *run, bool shear,
                                      block x, block y) {
    double twice[BLOCK], volume[BLOCK];
    for (int k = 0; k < run->count; k++) {
        const double *law = m->law + (int64_t)run->phase[k] * 36;
        twice[k] = law[0] - law[1];
        volume[k] = law[1] * (x[0][k] + x[1][k] + x[2][k]);
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < run->count; k++) y[i][k] = volume[k] + twice[k] * x[i][k];
    for (int i = 3; shear && i < 6; i++)
        for (int k = 0; k < run->count; k++) y[i][k] = twice[k] * x[i][k];
}

/* Whether all voxels of the run, and with `around` all that share a shear modulus with them, are of
 * one phase: most runs of large inclusions are. */
static inline bool is_uniform(const voxel_run *run, bool around) {
    const int64_t *d = run->down;
    const int64_t below[7] = {0, d[0], d[1], d[2], d[0] + d[1], d[0] + d[2], d[1] + d[2]};
    unsigned differs = 0;
    for (int i = 0; i < (around ? 7 : 1); i++)
        for (int k = 0; k < run->count; k++)
            differs |= (unsigned)(run->phase[k - below[i]] ^ run->phase[0]);
    return differs == 0;
}

/* Of one isotropic phase; bits are those of the other ways. */
static inline void multiply_uniform(const homogenize_medium *m, const voxel_run *run, block e,
                                    block s) {
    const double *law = m->law + (int64_t)run->phase[0] * 36;
    const double twice = law[0] - law[1], trace = law[1];
    for (int k = 0; k < run->count; k++) {
        const double volume = trace * (e[0][k] + e[1][k] + e[2][k]);
        for (int i = 0; i < 3; i++) s[i][k] = volume + twice * e[i][k];
    }
    for (int i = 0; i < 3; i++) {
        const double over = m->inverse[3 * run->phase[0] + i];
        const double modulus = m->staggered ? 4 / (over + over + over + over) : twice;
        for (int k = 0; k < run->count; k++) s[3 + i][k] = modulus * e[3 + i][k];
    }
}

/* s = C e */
static inline void apply_law(const homogenize_medium *m, const voxel_run *run, block e, block s) {
    const int n = m->components, middle = m->staggered ? n - 3 : n;
    double modulus[BLOCK];
    if (m->isotropic && is_uniform(run, m->staggered)) {
        multiply_uniform(m, run, e, s);
        return;
    }
    if (m->isotropic)
        multiply_isotropic(m, run, !m->staggered, e, s);
    else
        multiply_matrices(run, m->law, n, middle, e, s);
    for (int i = 0; m->staggered && i < 3; i++) {
        series_moduli(m, run, i, modulus);
        for (int k = 0; k < run->count; k++) s[middle + i][k] = modulus[k] * e[middle + i][k];
    }
}

/* s = 2 (C + C0)^-1 C0 e */
static inline void apply_relaxation(const homogenize_medium *m, const voxel_run *run, block e,
                                    block s) {
    const int n = m->components, middle = m->staggered ? n - 3 : n;
    const double twice = m->reference.twice;
    double modulus[BLOCK];
    multiply_matrices(run, m->relax, n, middle, e, s);
    for (int i = 0; m->staggered && i < 3; i++) {
        series_moduli(m, run, i, modulus);
        for (int k = 0; k < run->count; k++)
            s[middle + i][k] = 2 * twice / (modulus[k] + twice) * e[middle + i][k];
    }
}

/* The sum of numbers of a block, in four parts, so that no addition waits for the one before. */
static inline double sum_of(int count, const double *values) {
    double part[4] = {0};
    int k = 0;
    for (; k + 4 <= count; k += 4)
        for (int i = 0; i < 4; i++) part[i] += values[k + i];
    for (; k < count; k++) part[0] += values[k];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The sum of a x y + b tr(x) tr(y). */
static inline double product_of(const homogenize_medium *m, int count, double a, double b, block x,
                                block y) {
    double density[BLOCK];
    for (int k = 0; k < count; k++)
        density[k] = b * (x[0][k] + x[1][k] + x[2][k]) * (y[0][k] + y[1][k] + y[2][k]) +
                     a * (x[0][k] * y[0][k] + x[1][k] * y[1][k] + x[2][k] * y[2][k]);
    for (int k = 0; m->components == 6 && k < count; k++)
        density[k] += a * (x[3][k] * y[3][k] + x[4][k] * y[4][k] + x[5][k] * y[5][k]);
    return sum_of(count, density);
}

/* The sum of x y. */
static inline double inner_product(const homogenize_medium *m, int count, block x, block y) {
    return product_of(m, count, 1, 0, x, y);
}

/* The sum of x C0 y. */
static inline double energy_product(const homogenize_medium *m, int count, block x, block y) {
    return product_of(m, count, m->reference.twice, m->reference.trace, x, y);
}

/* The sum of s C0^-1 s. */
static inline double stress_size(const homogenize_medium *m, int count, block s) {
    const double twice = m->reference.twice, trace = m->reference.trace;
    return product_of(m, count, 1 / twice, -trace / (twice * (twice + 3 * trace)), s, s);
}

#endif
