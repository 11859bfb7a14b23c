/* Small dense matrices, row-major: the stiffness of a material is one of 6 x 6, a conductivity one
 * of 3 x 3. */
#ifndef WEFT_HOMOGENIZE_MATRIX_H
#define WEFT_HOMOGENIZE_MATRIX_H

#include <stdbool.h>

enum { MATRIX_MOST = 6 };

/* c = a b, all of n x n; c is neither a nor b. */
void matrix_multiply(int n, const double *a, const double *b, double *c);

/* c = q a q^T, all of n x n. */
void matrix_turn(int n, const double *q, const double *a, double *c);

/* The inverse of a symmetric positive definite matrix by its Cholesky factor; false, and nothing
 * written, where it is not positive definite. */
bool matrix_invert(int n, const double *a, double *inverse);

/* The eigenvalues of a symmetric matrix in ascending order, by Jacobi's rotations. */
void matrix_eigenvalues(int n, const double *a, double *values);

/* The largest |a_ij - a_ji| over the largest |a_ij|; 0 for the matrix 0. */
double matrix_asymmetry(int n, const double *a);

#endif
