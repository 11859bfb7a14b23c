/*
 * Trilinear hexahedra, one for each voxel, fully integrated (Schneider, Merkert, Kabel, Int. J.
 * Numer. Meth. Engng 109, 2017; Leuschner and Fritzen, Comput. Mech. 62, 2018).
 *
 * In an element with coordinates -1 to 1 a displacement is a sum of 8 modes, the products of some
 * of the three coordinates; the coefficient of each is a product of averages and differences along
 * the axes. The strain is a sum of 7 modes, those but the product of all three: the derivative
 * along axis a has in mode m (2 / h_a) times the displacement's coefficient of m times coordinate
 * a. These modes are orthogonal, with the squares 1, 1/3 and 1/9 for none, one and two coordinates,
 * so that the energy is the sum of each one's own: exactly that of 2 x 2 x 2 Gauss points. The mode
 * without a coordinate is the mean of the strain, as in Willot's scheme, which has no other; what
 * the others add is the energy of hourglasses. It does not couple coefficients of products of two
 * coordinates with those of all three: a phase has a matrix for each.
 *
 * Nodal forces are per volume of a voxel, so that sums over voxels are what they are elsewhere.
 */
#ifndef WEFT_HOMOGENIZE_HEXAHEDRA_H
#define WEFT_HOMOGENIZE_HEXAHEDRA_H

#include "nodes.h"
#include "sweeps.h"

/* Sums over elements, of the strain e and its stress s. */
typedef struct hexahedra_sums {
    double stress[6]; /* the mean in each element */
    double square;    /* e C0 e */
    double energy;    /* e s */
    double size;      /* s C0^-1 s of the means in the elements */
} hexahedra_sums;

enum { HEXAHEDRA_SUMS = sizeof(hexahedra_sums) / sizeof(double) };

typedef struct homogenize_hexahedra {
    homogenize_nodes nodes; /* a displacement without its mean strain */
    double strain[6];       /* this mean strain */
    double over[3];         /* 2 / h */
    double *hourglass;   /* [phases + 1], the last of the reference medium: two matrices, of 3 and
                            of 1 times the components of a displacement */
    hexahedra_sums mean; /* of the whole volume, over its voxels, when forces were found last */
} homogenize_hexahedra;

/* Makes the elements of the plan's boxes, for a box of these lengths; all displacements are 0. The
 * caller releases them, also after a failure. Not collective. */
weft_status homogenize_hexahedra_create(MPI_Comm comm, weft_plan plan,
                                        const homogenize_space *space, const double length[3],
                                        homogenize_hexahedra *h);
void homogenize_hexahedra_release(homogenize_hexahedra *h);

/* Finds the nodal forces of the stress that the strain at the nodes causes, components arrays of
 * this rank's nodes, and the sums of this rank's elements. Not collective. */
void homogenize_hexahedra_forces(const homogenize_space *space, const homogenize_hexahedra *h,
                                 void *forces, hexahedra_sums *sums);

/* The mean strain of each element, as a field of strains or gradients. Not collective. */
void homogenize_hexahedra_strain(const homogenize_space *space, const homogenize_hexahedra *h,
                                 void *strain);

#endif
