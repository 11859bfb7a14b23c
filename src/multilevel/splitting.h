/*
 * A kernel as a sum of short ones on coarser and coarser lattices. On the lattice of each level,
 *
 *     K = N + P K' R
 *
 * where N reaches `radius` points and no farther, K' is the kernel of the next level, on every
 * second point along each axis, R sums sources with the weights of a B-spline onto those points,
 * and P, its transpose, interpolates from them. On the last lattice the kernel is exact. This is
 * multilevel summation (Hardy and others, "Multilevel summation method for electrostatic force
 * evaluation", J. Chem. Theory Comput. 11, 2015) for kernels that are known by their symbols.
 *
 * With p the symbol of the B-spline, that of K' is (K - N) / p^2 up to its Nyquist frequency, which
 * makes the splitting exact but for what R and P take for one another: wavenumbers k and k + pi. So
 * N is the trigonometric polynomial that leaves least of K where p does not tell them apart.
 */
#ifndef WEFT_MULTILEVEL_SPLITTING_H
#define WEFT_MULTILEVEL_SPLITTING_H

#include "convolve/convolve.h"

enum {
    WEFT_LATTICE_AXES = 3,
    WEFT_LATTICE_LEVELS = 24,
    WEFT_NEAR_RADIUS = 10, /* at most */
    WEFT_SPLINE_SPAN = 7
};

/* Axes that the problem does not have come first, and are of one point. */
typedef struct weft_splitting {
    const weft_convolved *convolved;  /* not owned */
    bool active[WEFT_LATTICE_AXES];   /* axes of more than one point */
    int levels;                       /* lattices with a short kernel; the last one comes after */
    int radius;                       /* points that it reaches */
    int span;                         /* points that the B-spline reaches */
    double tap[WEFT_SPLINE_SPAN + 1]; /* its weights, of sum 1 with those of the other side */
    /* Symbols of the short kernels: the sum over m of near[level][m] times the product of cos(m[a]
     * k[a]), m up to the radius along each active axis. */
    double *near[WEFT_LATTICE_LEVELS];
    double error; /* of the whole, relative, as found from the symbols */
} weft_splitting;

/* Chooses the radius and the span by the tolerance (choose.c). `points` is that of the
 * interpolation, span + 1; 0: any. The caller releases *splitting also after a failure. */
weft_status weft_splitting_create(const weft_convolved *c, int levels, int points,
                                  weft_splitting *splitting);
void weft_splitting_release(weft_splitting *splitting);
size_t weft_splitting_bytes(const weft_splitting *splitting);

/* How often the lattice can be made coarser: as often as 2 divides all extents. */
int weft_splitting_most_levels(const weft_convolved *c);

/* The B-spline's taps and its symbol at an angle of its lattice (splitting.c). */
void weft_splitting_set_span(weft_splitting *splitting, int span);
double weft_spline_symbol(const weft_splitting *splitting, double angle);

/* Angles along each axis of a lattice, from point to point: a tensor grid. */
typedef struct weft_angles {
    const double *angle[WEFT_LATTICE_AXES];
    int64_t count[WEFT_LATTICE_AXES];
} weft_angles;

/* The symbol of a level's kernel, and that of its short part, at angles of its lattice. Angle 0
 * along all axes comes first if it is among them. */
weft_status weft_splitting_symbol(const weft_splitting *splitting, int level,
                                  const weft_angles *angles, double *value);
weft_status weft_splitting_near(const weft_splitting *splitting, int level,
                                const weft_angles *angles, double *value);

/* Finds near[level], the levels before it being there; *square gets the mean over the level's
 * wavenumbers of the squared error that is left, and *smooth the same where wavenumbers count with
 * 1 / |k|^4, as those of smooth sources do (fit.c). */
weft_status weft_splitting_fit(weft_splitting *splitting, int level, double *square,
                               double *smooth);

/* out[i][j][k] = the sum of matrix[0][i][a] matrix[1][j][b] matrix[2][k][c] in[a][b][c] (tensor.c).
 */
weft_status weft_tensor_apply(const double *const matrix[WEFT_LATTICE_AXES],
                              const int64_t rows[WEFT_LATTICE_AXES],
                              const int64_t columns[WEFT_LATTICE_AXES], const double *in,
                              double *out);
/* The same with cosines: cos(i angle) for i below `count`, at angles (`transposed` 0), or summed
 * over the angles with `value` (1). */
weft_status weft_tensor_cosines(const weft_angles *angles, const int64_t count[WEFT_LATTICE_AXES],
                                bool transposed, const double *in, double *out);

#endif
