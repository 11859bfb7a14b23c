/* The material law at one voxel. Part of sweeps.c, where the loops around it are. */
#ifndef WEFT_HOMOGENIZE_VOXEL_LAW_H
#define WEFT_HOMOGENIZE_VOXEL_LAW_H

#include "sweeps.h"

/* A row of voxels along the last axis: where it begins in the fields and among the phases, and how
 * far the lower neighbours along each axis are there. */
typedef struct voxel_row {
    int64_t first, count;
    const uint16_t *phase;
    int64_t down[3];
} voxel_row;

static inline voxel_row row_at(const homogenize_volume *v, int64_t row) {
    const int64_t *n = v->box.n, halo = v->halo;
    const int64_t x = row / n[1], y = row % n[1], width = n[2] + halo, height = n[1] + halo;
    return (voxel_row){.first = row * n[2],
                       .count = n[2],
                       .phase = v->phase + ((x + halo) * height + y + halo) * width + halo,
                       .down = {height * width, width, 1}};
}

/* Of shifted component i: 1 over the mean over the voxels around of `inverse`. */
static inline double series_modulus(const homogenize_medium *m, const voxel_row *row, int64_t z,
                                    int i) {
    const uint16_t *at = row->phase + z;
    const double *inverse = m->inverse + i;
    if (m->components == 3) {
        const int64_t a = row->down[i];
        if (at[0] == at[-a]) return 1 / inverse[3 * at[0]];
        return 2 / (inverse[3 * at[0]] + inverse[3 * at[-a]]);
    }
    const int64_t a = row->down[(i + 1) % 3], b = row->down[(i + 2) % 3];
    return 4 / (inverse[3 * at[0]] + inverse[3 * at[-a]] + inverse[3 * at[-b]] +
                inverse[3 * at[-a - b]]);
}

static inline void multiply_all(int n, const double *matrix, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += matrix[i * n + j] * x[j];
        y[i] = sum;
    }
}

/* The part in the middle of a voxel on a staggered grid: of a strain the normal components. */
static inline void multiply_middle(int n, const double *matrix, const double *x, double *y) {
    for (int i = 0; n == 6 && i < 3; i++)
        y[i] = matrix[6 * i] * x[0] + matrix[6 * i + 1] * x[1] + matrix[6 * i + 2] * x[2];
}

/* s = C e */
static inline void law_at(const homogenize_medium *m, const voxel_row *row, int64_t z,
                          const double *e, double *s) {
    const int n = m->components;
    const double *law = m->law + (int64_t)row->phase[z] * n * n;
    if (m->staggered) {
        multiply_middle(n, law, e, s);
        for (int i = 0; i < 3; i++) s[n - 3 + i] = series_modulus(m, row, z, i) * e[n - 3 + i];
    } else if (m->isotropic) {
        const double trace = law[1] * (e[0] + e[1] + e[2]), twice = law[21];
        for (int i = 0; i < 3; i++) s[i] = trace + twice * e[i];
        for (int i = 3; i < 6; i++) s[i] = twice * e[i];
    } else {
        multiply_all(n, law, e, s);
    }
}

/* s = 2 (C + C0)^-1 C0 e */
static inline void relax_at(const homogenize_medium *m, const voxel_row *row, int64_t z,
                            const double *e, double *s) {
    const int n = m->components;
    const double *relax = m->relax + (int64_t)row->phase[z] * n * n;
    const double twice = m->reference.twice;
    if (!m->staggered) {
        multiply_all(n, relax, e, s);
        return;
    }
    multiply_middle(n, relax, e, s);
    for (int i = n - 3; i < n; i++)
        s[i] = 2 * twice / (series_modulus(m, row, z, i - n + 3) + twice) * e[i];
}

/* x C0 y */
static inline double product_at(const homogenize_medium *m, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < m->components; i++) sum += x[i] * y[i];
    return m->reference.twice * sum +
           m->reference.trace * (x[0] + x[1] + x[2]) * (y[0] + y[1] + y[2]);
}

/* s C0^-1 s */
static inline double size_at(const homogenize_medium *m, const double *s) {
    const double twice = m->reference.twice, trace = m->reference.trace;
    const double volume = s[0] + s[1] + s[2];
    double sum = 0;
    for (int i = 0; i < m->components; i++) sum += s[i] * s[i];
    return sum / twice - trace / (twice * (twice + 3 * trace)) * volume * volume;
}

#endif
