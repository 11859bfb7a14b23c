/*
 * Materials: stiffness in Mandel's notation, and what users give instead of it.
 *
 * A symmetric tensor is the vector of its components xx, yy, zz, yz, xz, xy. In Mandel's notation
 * the last three are multiplied by sqrt(2), for strain and stress alike, so that products of
 * tensors are products of vectors and a rotation is an orthogonal matrix. In Voigt's notation
 * stresses are taken as they are and shear strains twice (the engineering shear). The stiffness
 * in Mandel's is that in Voigt's with rows and columns 4 to 6 multiplied by sqrt(2).
 */
#ifndef WEFT_HOMOGENIZE_MATERIAL_H
#define WEFT_HOMOGENIZE_MATERIAL_H

#include <stdbool.h>

/* Stiffness of an isotropic material of bulk modulus K and shear modulus G. */
void material_isotropic(double bulk, double shear, double *mandel);

/* Between the notations; both may be the same matrix. */
void material_mandel_of_voigt(const double *voigt, double *mandel);
void material_voigt_of_mandel(const double *mandel, double *voigt);

/* The isotropic stiffness closest to a stiffness by the sum of squares of tensor components: its
 * bulk and shear modulus. They are K = C_iijj / 9 and G = (C_ijij - 3 K) / 10 in Mandel's. */
void material_closest(const double *mandel, double *bulk, double *shear);

/* Whether a stiffness is isotropic but for rounding. */
bool material_is_isotropic(const double *mandel);

/* Whether normal and shear strains do not mix, nor shear strains among each other: an orthotropic
 * material whose axes are those of the grid. */
bool material_is_aligned(const double *mandel);

/* The rotation by Bunge's Euler angles (degrees), z x' z'', from the crystal's axes to the
 * sample's: R = Rz(phi1) Rx(Phi) Rz(phi2). */
void material_rotation(const double angles[3], double rotation[9]);

/* Turns a stiffness, or a conductivity (3 x 3), of the crystal's axes into the sample's. */
void material_turn_stiffness(const double rotation[9], double *mandel);
void material_turn_conductivity(const double rotation[9], double *conductivity);

/* Tensor components (as users give them) to and from a vector in Mandel's notation. */
void material_mandel_of_tensor(const double *tensor, double *mandel);
void material_tensor_of_mandel(const double *mandel, double *tensor);

#endif
