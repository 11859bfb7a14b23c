/* Passes over voxels, for both precisions. */
#include "sweeps.h"

#include "device.h"
#include "slices.h"
#include "voxel_law.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t homogenize_blocks(const homogenize_space *space) {
    const int64_t *n = space->volume->box.n;
    return n[0] * n[1] * blocks_of_row(space->volume);
}

/* Blocks of this rank's voxels where rows do not matter, and how many voxels are in the block that
 * begins at one. */
static int64_t blocks_of(const homogenize_space *space) {
    return (space->voxels + BLOCK - 1) / BLOCK;
}

static int count_from(const homogenize_space *space, int64_t first) {
    return space->voxels - first < BLOCK ? (int)(space->voxels - first) : BLOCK;
}

/* A shifted component is shared by the voxels around it, as elements in series: each has its
 * stress, and the strain that this causes in its own material. */
static void add_shifted(const homogenize_medium *m, const voxel_run *run, int k, int i,
                        double stress, double *sums) {
    const int n = m->components, c = n - 3 + i;
    const int64_t a = run->down[n == 6 ? (i + 1) % 3 : i], b = n == 6 ? run->down[(i + 2) % 3] : 0;
    const int64_t around[4] = {0, -a, -b, -a - b};
    const int count = n == 6 ? 4 : 2;
    for (int v = 0; v < count; v++) {
        const int phase = run->phase[k + around[v]];
        double *own = sums + (int64_t)phase * 2 * n;
        own[c] += stress * m->inverse[3 * phase + i] / count;
        own[n + c] += stress / count;
    }
}

static void add_to_phases(const homogenize_medium *m, const voxel_run *run, int k, block strain,
                          block stress, double *sums) {
    const int n = m->components, middle = m->staggered ? n - 3 : n;
    double *own = sums + (int64_t)run->phase[k] * 2 * n;
    for (int i = 0; i < middle; i++) {
        own[i] += strain[i][k];
        own[n + i] += stress[i][k];
    }
    for (int i = 0; m->staggered && i < 3; i++)
        add_shifted(m, run, k, i, stress[middle + i][k], sums);
}

enum { PHASE_SLICES = 16 };

#define REAL double
#define NAME(function) function##_double
#include "sweeps.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(function) function##_single
#include "sweeps.inc"

#define BY_PRECISION(space, function, ...)                                                         \
    ((space)->precision == WEFT_SINGLE ? function##_single(space, __VA_ARGS__)                     \
                                       : function##_double(space, __VA_ARGS__))

void homogenize_fill(const homogenize_space *space, void *e, const double value[6]) {
    if (space->device)
        homogenize_device_fill(space->device, e, value);
    else
        BY_PRECISION(space, fill, e, value);
}

void homogenize_take_tensor(const homogenize_space *space, void *field) {
    if (space->precision == WEFT_SINGLE)
        take_tensor_single(space, field);
    else
        take_tensor_double(space, field);
}

void homogenize_stress(const homogenize_space *space, const void *e, void *s, bool polarize,
                       homogenize_sums *sums) {
    double all[14] = {0};
    if (space->device)
        homogenize_device_stress(space->device, e, s, polarize, all);
    else
        BY_PRECISION(space, stress, e, s, polarize, all);
    memcpy(sums->strain, all, sizeof sums->strain);
    memcpy(sums->stress, all + 6, sizeof sums->stress);
    sums->energy = all[12];
    sums->size = all[13];
}

double homogenize_square(const homogenize_space *space, const void *g) {
    return BY_PRECISION(space, advance, NULL, NULL, g, NULL, 0);
}

void homogenize_products(const homogenize_space *space, const void *g, const void *last,
                         double products[2]) {
    products[0] = products[1] = 0;
    if (space->device)
        homogenize_device_products(space->device, g, last, products);
    else
        BY_PRECISION(space, products, g, last, products);
}

double homogenize_descend(const homogenize_space *space, void *e, const void *g, double factor) {
    return space->device ? homogenize_device_descend(space->device, e, g, factor)
                         : BY_PRECISION(space, advance, e, NULL, g, NULL, factor);
}

double homogenize_direction(const homogenize_space *space, const void *r, void *p, void *q,
                            double factor) {
    return BY_PRECISION(space, direction, r, p, q, factor);
}

void homogenize_respond(const homogenize_space *space, void *e, double products[2]) {
    products[0] = products[1] = 0;
    if (space->device)
        homogenize_device_respond(space->device, e, products);
    else
        BY_PRECISION(space, respond, e, products);
}

double homogenize_advance(const homogenize_space *space, void *e, void *r, const void *p,
                          const void *q, double factor) {
    return BY_PRECISION(space, advance, e, r, p, q, factor);
}

double homogenize_reflect(const homogenize_space *space, void *e, const void *t,
                          const double mean[6], bool whole) {
    return space->device ? homogenize_device_reflect(space->device, e, t, mean, whole)
                         : BY_PRECISION(space, reflect, e, t, mean, whole);
}

weft_status homogenize_phase_sums(const homogenize_space *space, const void *e, double *sums) {
    const int64_t runs = homogenize_blocks(space);
    const size_t count = (size_t)space->medium->phases * 2 * (size_t)space->medium->components;
    if (space->device) {
        homogenize_device_phase_sums(space->device, e, sums);
        return WEFT_SUCCESS;
    }
    double *slices = calloc(PHASE_SLICES * count, sizeof *slices);
    if (!slices) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for sums of phases");
#pragma omp parallel for schedule(static) num_threads(space->threads)
    for (int slice = 0; slice < PHASE_SLICES; slice++)
        for (int64_t number = runs * slice / PHASE_SLICES;
             number < runs * (slice + 1) / PHASE_SLICES; number++)
            BY_PRECISION(space, phase_sums_run, number, e, slices + (size_t)slice * count);
    for (size_t i = 0; i < PHASE_SLICES * count; i++) sums[i % count] += slices[i];
    free(slices);
    return WEFT_SUCCESS;
}

int homogenize_deviators(const homogenize_space *space, const void *field, int64_t number,
                         double value[HOMOGENIZE_BLOCK], const uint16_t **phase) {
    const voxel_run run = run_at(space->volume, number);
    block x;
    BY_PRECISION(space, load, field, run.first, run.count, x);
    const bool elastic = space->medium->components == 6;
    for (int k = 0; k < run.count; k++) {
        const double trace = x[0][k] + x[1][k] + x[2][k];
        value[k] = x[0][k] * x[0][k] + x[1][k] * x[1][k] + x[2][k] * x[2][k];
        value[k] -= elastic ? trace * trace / 3 : 0;
    }
    for (int i = 3; elastic && i < 6; i++)
        for (int k = 0; k < run.count; k++) value[k] += x[i][k] * x[i][k];
    for (int k = 0; k < run.count; k++) value[k] = value[k] > 0 ? sqrt(value[k]) : 0;
    *phase = run.phase;
    return run.count;
}
