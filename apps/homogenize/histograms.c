/* Two passes over the fields: how far the values of each phase reach, and how many are in each bin.
 */
#include "histograms.h"

#include "device.h"
#include "io/agreement.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the norm of a deviator to von Mises' strain (0) and stress (1). */
static double factor_of(const homogenize_space *space, int which) {
    if (space->medium->components == 3) return 1;
    return sqrt(which == 0 ? 2.0 / 3 : 1.5);
}

/* The blocks of voxels are shared out to slices, which have numbers of their own, so that threads
 * need not wait for each other; with very many phases there is one slice. */
enum { SLICES = 16, MOST_BYTES = 64 << 20 };

static int slices_of(const homogenize_space *space) {
    const size_t bytes = (size_t)space->medium->phases * HOMOGENIZE_BINS * sizeof(int64_t);
    return space->device || bytes * SLICES > MOST_BYTES ? 1 : SLICES;
}

typedef struct counting {
    const homogenize_space *space;
    const void *field;
    const double *most; /* of all ranks */
    int slices;
} counting;

static int64_t first_block(const counting *c, int slice) {
    return homogenize_blocks(c->space) * slice / c->slices;
}

static void find_most(const counting *c, int slice, double *most) {
    double value[HOMOGENIZE_BLOCK];
    for (int64_t b = first_block(c, slice); b < first_block(c, slice + 1); b++) {
        const uint16_t *phase;
        const int count = homogenize_deviators(c->space, c->field, b, value, &phase);
        for (int k = 0; k < count; k++)
            if (value[k] > most[phase[k]]) most[phase[k]] = value[k];
    }
}

static void count(const counting *c, int slice, int64_t *counts) {
    double value[HOMOGENIZE_BLOCK];
    for (int64_t b = first_block(c, slice); b < first_block(c, slice + 1); b++) {
        const uint16_t *phase;
        const int voxels = homogenize_deviators(c->space, c->field, b, value, &phase);
        for (int k = 0; k < voxels; k++) {
            const double end = c->most[phase[k]];
            const bool last = value[k] >= end; /* also where both are 0 */
            const int bin = last ? HOMOGENIZE_BINS - 1 : (int)(value[k] / end * HOMOGENIZE_BINS);
            counts[(int64_t)phase[k] * HOMOGENIZE_BINS + bin]++;
        }
    }
}

/* Where fields are on a device there is one slice. */
static void find_all_most(const counting *c, double *most) {
    const int phases = c->space->medium->phases;
    if (c->space->device) {
        homogenize_device_find_most(c->space->device, c->field, most);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(c->space->threads)
    for (int slice = 0; slice < c->slices; slice++) find_most(c, slice, most + slice * phases);
    for (int i = phases; i < c->slices * phases; i++)
        if (most[i] > most[i % phases]) most[i % phases] = most[i];
}

static void count_all(const counting *c, int64_t *counts) {
    const int bins = c->space->medium->phases * HOMOGENIZE_BINS;
    if (c->space->device) {
        homogenize_device_count(c->space->device, c->field, c->most, counts);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(c->space->threads)
    for (int slice = 0; slice < c->slices; slice++) count(c, slice, counts + slice * bins);
    for (int i = bins; i < c->slices * bins; i++) counts[i % bins] += counts[i];
}

/* The numbers of slice 0 become those of all. most[slice][phase], counts[slice][phase][bin]. */
static weft_status fill(counting c, MPI_Comm comm, double *most, int64_t *counts) {
    const int phases = c.space->medium->phases, bins = phases * HOMOGENIZE_BINS;
    find_all_most(&c, most);
    int result = MPI_Allreduce(MPI_IN_PLACE, most, phases, MPI_DOUBLE, MPI_MAX, comm);
    c.most = most;
    count_all(&c, counts);
    if (result == MPI_SUCCESS)
        result = MPI_Allreduce(MPI_IN_PLACE, counts, bins, MPI_INT64_T, MPI_SUM, comm);
    if (result == MPI_SUCCESS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks added up their histograms");
}

weft_status homogenize_fill_histograms(const homogenize_space *space, MPI_Comm comm, int which,
                                       const void *field, homogenize_histogram *histograms) {
    const size_t phases = (size_t)space->medium->phases;
    const counting c = {.space = space, .field = field, .slices = slices_of(space)};
    const size_t all = (size_t)c.slices * phases;
    double *most = calloc(all, sizeof *most);
    int64_t *counts = calloc(all * HOMOGENIZE_BINS, sizeof *counts);
    weft_status status = WEFT_SUCCESS;
    if (!most || !counts)
        status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for histograms of %zu phases", phases);
    status = weft_array_agree(comm, status);
    if (status == WEFT_SUCCESS) status = fill(c, comm, most, counts);
    for (size_t p = 0; status == WEFT_SUCCESS && p < phases; p++) {
        homogenize_histogram *h = &histograms[2 * p + (size_t)which];
        h->most = factor_of(space, which) * most[p];
        memcpy(h->voxels, counts + p * HOMOGENIZE_BINS, sizeof h->voxels);
    }
    free(most);
    free(counts);
    return status;
}
