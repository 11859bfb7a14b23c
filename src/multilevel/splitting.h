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
    WEFT_SPLINE_SPAN = 7,
    WEFT_SPLIT_FIELDS = 6 /* of a symmetric tensor */
};

/* Axes that the problem does not have come first, and are of one point. */
typedef struct weft_splitting {
    const weft_convolved *convolved; /* not owned */
    bool active[WEFT_LATTICE_AXES];  /* axes of more than one point */
    int levels;                      /* lattices with a short kernel; the last one comes after */
    int radius;                      /* points that it reaches */
    int span;                        /* points that the B-spline reaches */
    /* Weights of points 2 m - span to 2 m + span for point m of the next lattice, of sum 1. Along
     * axes where a field lies half a point lower, [1], those of the B-spline of one degree less. */
    double weight[2][2 * WEFT_SPLINE_SPAN + 1];
    int fields; /* of a point: 1, or those of a symmetric tensor, which the kernel makes from one
                   another, by a symmetric matrix but for `twice` */
    bool half[WEFT_SPLIT_FIELDS][WEFT_LATTICE_AXES]; /* where fields lie half a point lower */
    int twice[WEFT_SPLIT_FIELDS];                    /* how often a field is in the tensor */
    /* Symbols of the short kernels, for each pair of fields: the sum over m of near[level][m] times
     * the product of cos(m[a] k[a]), m up to the radius along each active axis; sin((m[a] + 1/2)
     * k[a]), m less than that, where one of them lies half a point lower. */
    double *near[WEFT_LATTICE_LEVELS];
    double error; /* of the whole, relative, as found from the symbols */
} weft_splitting;

/* What the kernel makes of field `from` in field `to`, with their places taken into account: then
 * symbols are real. */
typedef struct weft_field_pair {
    int number, to, from; /* to <= from */
    bool half[WEFT_LATTICE_AXES];
} weft_field_pair;

/* Pair `number`; false behind the last one. */
bool weft_splitting_pair(const weft_splitting *splitting, int number, weft_field_pair *pair);

/* Chooses the radius and the span by the tolerance (choose.c). `points` is that of the
 * interpolation, span + 1; 0: any. The caller releases *splitting also after a failure. */
weft_status weft_splitting_create(const weft_convolved *c, int levels, int points,
                                  weft_splitting *splitting);
void weft_splitting_release(weft_splitting *splitting);
size_t weft_splitting_bytes(const weft_splitting *splitting);

/* How often the lattice can be made coarser: as often as 2 divides all extents. */
int weft_splitting_most_levels(const weft_convolved *c);

/* Its fields, and where they lie, from the kernel; the active axes are set. */
void weft_splitting_set_fields(weft_splitting *splitting);

/* The B-splines' weights, and the symbol of one at an angle of its lattice (splitting.c). */
void weft_splitting_set_span(weft_splitting *splitting, int span);
double weft_spline_symbol(const weft_splitting *splitting, bool half, double angle);

/* Angles along each axis of a lattice, from point to point: a tensor grid. */
typedef struct weft_angles {
    const double *angle[WEFT_LATTICE_AXES];
    int64_t count[WEFT_LATTICE_AXES];
} weft_angles;

/* The symbol of a level's kernel, and that of its short part, at angles of its lattice. Angle 0
 * along all axes comes first if it is among them. */
weft_status weft_splitting_symbol(const weft_splitting *splitting, const weft_field_pair *pair,
                                  int level, const weft_angles *angles, double *value);
weft_status weft_splitting_near(const weft_splitting *splitting, const weft_field_pair *pair,
                                int level, const weft_angles *angles, double *value);
/* Terms of the short kernel of a pair along each axis; returns those of the pairs before it in
 * near[level]. */
int64_t weft_splitting_terms(const weft_splitting *splitting, const weft_field_pair *pair,
                             int64_t terms[WEFT_LATTICE_AXES]);

/* Finds a pair's part of near[level], which is allocated, the levels before it being there; *square
 * gets the mean over the level's wavenumbers of the squared error that is left, and *smooth the
 * same where wavenumbers count with 1 / |k|^4, as those of smooth sources do (fit.c). */
weft_status weft_splitting_fit(weft_splitting *splitting, const weft_field_pair *pair, int level,
                               double *square, double *smooth);

/* out[i][j][k] = the sum of matrix[0][i][a] matrix[1][j][b] matrix[2][k][c] in[a][b][c] (tensor.c).
 */
weft_status weft_tensor_apply(const double *const matrix[WEFT_LATTICE_AXES],
                              const int64_t rows[WEFT_LATTICE_AXES],
                              const int64_t columns[WEFT_LATTICE_AXES], const double *in,
                              double *out);
/* The same with waves: cos(i angle), or sin((i + 1/2) angle) along axes that are half, for i below
 * `count`, at the angles or, transposed, summed over them. */
weft_status weft_tensor_waves(const weft_angles *angles, const int64_t count[WEFT_LATTICE_AXES],
                              const bool half[WEFT_LATTICE_AXES], bool transposed, const double *in,
                              double *out);

#endif
