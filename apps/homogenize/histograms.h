/* How strain and stress are spread over each phase. */
#ifndef WEFT_HOMOGENIZE_HISTOGRAMS_H
#define WEFT_HOMOGENIZE_HISTOGRAMS_H

#include "sweeps.h"

#include <mpi.h>

enum { HOMOGENIZE_BINS = 32 };

/* The voxels of a phase by von Mises' equivalent strain sqrt(2/3 e':e') or stress sqrt(3/2 s':s')
 * (primes: deviators), or by the magnitude of a gradient or flux: bins of equal width from 0 to the
 * largest value that occurs. */
typedef struct homogenize_histogram {
    double most; /* the upper end of the last bin; 0: all values are 0, and in the last bin */
    int64_t voxels[HOMOGENIZE_BINS];
} homogenize_histogram;

/* Fills histograms of all ranks' voxels, by the strain (which = 0) or the stress (1) in `field`:
 * that of phase p is histograms[2 p + which]. Components count where they lie: on the staggered
 * grid a voxel has the shear components of its lower edges, as files of fields do. Collective. */
weft_status homogenize_fill_histograms(const homogenize_space *space, MPI_Comm comm, int which,
                                       const void *field, homogenize_histogram *histograms);

#endif
