/* The microstructure: which phase each voxel of this rank's box has. */
#ifndef WEFT_HOMOGENIZE_VOLUME_H
#define WEFT_HOMOGENIZE_VOLUME_H

#include "case.h"
#include "io/array.h"

typedef struct homogenize_volume {
    weft_box box; /* this rank's; may be empty */
    int64_t n[3]; /* of the whole volume */
    int halo;     /* 1: the planes below the box along each axis are there too, periodically */
    /* Number of the phase in the case's list: (box.n[0] + halo) x (box.n[1] + halo) x (box.n[2] +
     * halo), the halo at index 0. */
    uint16_t *phase;
} homogenize_volume;

/* Checks that a file is a label volume. Not collective. */
weft_status homogenize_volume_check(const homogenize_case *c, const weft_array_info *info);

/* Voxels of a box. */
int64_t homogenize_box_voxels(const weft_box *box);

/* Reads this rank's box of the label volume, and counts the voxels of each phase over all ranks.
 * Fails where a label has no phase. The caller releases the volume, also after a failure.
 * Collective. */
weft_status homogenize_volume_read(MPI_Comm comm, weft_array *file, homogenize_case *c,
                                   const weft_box *box, int halo, homogenize_volume *volume);
void homogenize_volume_release(homogenize_volume *volume);

#endif
