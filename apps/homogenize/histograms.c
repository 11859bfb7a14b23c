/* Two passes over the fields: how far the values of each phase reach, and how many are in each bin.
 */
#include "histograms.h"

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

static void find_most(const homogenize_space *space, const void *field, double *most) {
    double value[HOMOGENIZE_BLOCK];
    for (int64_t b = 0; b < homogenize_blocks(space); b++) {
        const uint16_t *phase;
        const int count = homogenize_deviators(space, field, b, value, &phase);
        for (int k = 0; k < count; k++)
            if (value[k] > most[phase[k]]) most[phase[k]] = value[k];
    }
}

static void count(const homogenize_space *space, const void *field, const double *most,
                  int64_t *counts) {
    double value[HOMOGENIZE_BLOCK];
    for (int64_t b = 0; b < homogenize_blocks(space); b++) {
        const uint16_t *phase;
        const int voxels = homogenize_deviators(space, field, b, value, &phase);
        for (int k = 0; k < voxels; k++) {
            const double end = most[phase[k]];
            const bool last = value[k] >= end; /* also where both are 0 */
            const int bin = last ? HOMOGENIZE_BINS - 1 : (int)(value[k] / end * HOMOGENIZE_BINS);
            counts[(int64_t)phase[k] * HOMOGENIZE_BINS + bin]++;
        }
    }
}

static weft_status fill(const homogenize_space *space, MPI_Comm comm, const void *field,
                        double *most, int64_t *counts) {
    const int phases = space->medium->phases;
    find_most(space, field, most);
    int result = MPI_Allreduce(MPI_IN_PLACE, most, phases, MPI_DOUBLE, MPI_MAX, comm);
    count(space, field, most, counts);
    if (result == MPI_SUCCESS)
        result = MPI_Allreduce(MPI_IN_PLACE, counts, phases * HOMOGENIZE_BINS, MPI_INT64_T, MPI_SUM,
                               comm);
    if (result == MPI_SUCCESS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks added up their histograms");
}

weft_status homogenize_fill_histograms(const homogenize_space *space, MPI_Comm comm, int which,
                                       const void *field, homogenize_histogram *histograms) {
    const size_t phases = (size_t)space->medium->phases;
    double *most = calloc(phases, sizeof *most);
    int64_t *counts = calloc(phases * HOMOGENIZE_BINS, sizeof *counts);
    weft_status status = WEFT_SUCCESS;
    if (!most || !counts)
        status =
            weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for histograms of %zu phases", phases);
    status = weft_array_agree(comm, status);
    if (status == WEFT_SUCCESS) status = fill(space, comm, field, most, counts);
    for (size_t p = 0; status == WEFT_SUCCESS && p < phases; p++) {
        homogenize_histogram *h = &histograms[2 * p + (size_t)which];
        h->most = factor_of(space, which) * most[p];
        memcpy(h->voxels, counts + p * HOMOGENIZE_BINS, sizeof h->voxels);
    }
    free(most);
    free(counts);
    return status;
}
