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

static void find_most(const homogenize_space *space, const void *field, int which, double *most) {
    double value[HOMOGENIZE_BLOCK];
    const double factor = factor_of(space, which);
    for (int64_t b = 0; b < homogenize_blocks(space); b++) {
        const uint16_t *phase;
        const int count = homogenize_deviators(space, field, b, value, &phase);
        for (int k = 0; k < count; k++) {
            double *of_phase = &most[2 * phase[k] + which];
            *of_phase = fmax(*of_phase, factor * value[k]);
        }
    }
}

static void count(const homogenize_space *space, const void *field, int which, const double *most,
                  int64_t *counts) {
    double value[HOMOGENIZE_BLOCK];
    const double factor = factor_of(space, which);
    for (int64_t b = 0; b < homogenize_blocks(space); b++) {
        const uint16_t *phase;
        const int voxels = homogenize_deviators(space, field, b, value, &phase);
        for (int k = 0; k < voxels; k++) {
            const int64_t number = 2 * phase[k] + which;
            const double share = most[number] > 0 ? factor * value[k] / most[number] : 1;
            const int bin = share < 1 ? (int)(share * HOMOGENIZE_BINS) : HOMOGENIZE_BINS - 1;
            counts[number * HOMOGENIZE_BINS + bin]++;
        }
    }
}

static weft_status fill(const homogenize_space *space, MPI_Comm comm, const void *const field[2],
                        double *most, int64_t *counts) {
    const int number = 2 * space->medium->phases;
    for (int which = 0; which < 2; which++) find_most(space, field[which], which, most);
    int result = MPI_Allreduce(MPI_IN_PLACE, most, number, MPI_DOUBLE, MPI_MAX, comm);
    for (int which = 0; which < 2; which++) count(space, field[which], which, most, counts);
    if (result == MPI_SUCCESS)
        result = MPI_Allreduce(MPI_IN_PLACE, counts, number * HOMOGENIZE_BINS, MPI_INT64_T, MPI_SUM,
                               comm);
    if (result == MPI_SUCCESS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks added up their histograms");
}

weft_status homogenize_fill_histograms(const homogenize_space *space, MPI_Comm comm,
                                       const void *strain, const void *stress,
                                       homogenize_histogram *histograms) {
    const size_t number = 2 * (size_t)space->medium->phases;
    const void *const field[2] = {strain, stress};
    double *most = calloc(number, sizeof *most);
    int64_t *counts = calloc(number * HOMOGENIZE_BINS, sizeof *counts);
    weft_status status = WEFT_SUCCESS;
    if (!most || !counts)
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for histograms of %d phases",
                           space->medium->phases);
    status = weft_array_agree(comm, status);
    if (status == WEFT_SUCCESS) status = fill(space, comm, field, most, counts);
    for (size_t i = 0; status == WEFT_SUCCESS && i < number; i++) {
        histograms[i].most = most[i];
        memcpy(histograms[i].voxels, counts + i * HOMOGENIZE_BINS, sizeof histograms[i].voxels);
    }
    free(most);
    free(counts);
    return status;
}
