/* Bounds of effective properties that need volume fractions alone. */
#ifndef WEFT_HOMOGENIZE_BOUNDS_H
#define WEFT_HOMOGENIZE_BOUNDS_H

#include "case.h"

/* Stiffness in Mandel's notation (6 x 6), or conductivity (3 x 3). */
typedef struct homogenize_bounds {
    double voigt[36]; /* mean of the stiffness: no strain needs more */
    double reuss[36]; /* inverse of the mean of the inverse: no stress bears less */
    /* Of isotropic composites of isotropic phases: Hashin and Shtrikman, J. Mech. Phys. Solids 11,
     * 1963, in Walpole's form for any number of phases (J. Mech. Phys. Solids 14, 1966); of the
     * conductivity J. Appl. Phys. 33, 1962. Least and most. */
    bool isotropic; /* whether all phases are, so that these are there */
    double bulk[2], shear[2], conductivity[2];
} homogenize_bounds;

/* From the phases and their voxels. Not collective. */
void homogenize_find_bounds(const homogenize_case *c, homogenize_bounds *bounds);

#endif
