/*
 * The material law at each voxel, made of the phases, and the reference medium of the solvers.
 *
 * On the staggered grid normal strains lie in the middles of voxels, and each shear strain on the
 * edges where four voxels meet: component ab of voxel i on the edge between it and its lower
 * neighbours along a and b. The shear modulus there is the harmonic mean of the four (Schneider,
 * Ospald, Kabel, Int. J. Numer. Meth. Engng 105, 2016), as of four elements in series: each has
 * the edge's stress. In conduction component a lies on the face towards the lower neighbour along
 * a, and the conductivity there is the harmonic mean of two.
 */
#ifndef WEFT_HOMOGENIZE_MEDIUM_H
#define WEFT_HOMOGENIZE_MEDIUM_H

#include "case.h"

typedef struct homogenize_medium {
    int components, phases;
    bool staggered;
    bool isotropic; /* all phases */
    homogenize_reference reference;
    double *law;     /* [phases] matrices of components^2 */
    double *inverse; /* staggered: [phases][3], 1 over what multiplies a shear strain or gradient */
    double *relax;   /* Eyre-Milton: [phases] matrices 2 (C + C0)^-1 C0, else NULL */
} homogenize_medium;

/* The scheme that the case means, with AUTO replaced; fails where the phases do not allow it. */
weft_status homogenize_choose_scheme(const homogenize_case *c, homogenize_scheme *scheme);

/* Makes laws and reference medium from the phases that occur. The caller releases the medium, also
 * after a failure. Not collective. */
weft_status homogenize_medium_create(const homogenize_case *c, homogenize_scheme scheme,
                                     homogenize_medium *medium);
void homogenize_medium_release(homogenize_medium *medium);

/* The matrix of the reference medium, components^2. */
void homogenize_reference_matrix(const homogenize_reference *r, int components, double *matrix);

#endif
