/*
 * Interpolation from the lattices of an octree (tree.h): along each axis by the polynomial through
 * 2, 4 or 6 lattice points, half of them on either side (Lagrange's).
 */
#ifndef WEFT_SAMPLED_INTERPOLATE_H
#define WEFT_SAMPLED_INTERPOLATE_H

#include "sampled/tree.h"

/* Where lattice points lie in memory: [fields][n0][n1][n2] numbers, or pairs, of the points from lo
 * on; a point that lies a multiple of `period` farther is the same. */
typedef struct weft_lattice {
    int64_t lo[WEFT_TREE_AXES], n[WEFT_TREE_AXES], period[WEFT_TREE_AXES];
    const double *value;
} weft_lattice;

/* Memory for the interpolation of `fields` fields, of `parts` numbers each, at up to so many points
 * along each axis. The caller destroys *made also after a failure. */
typedef struct weft_interpolation weft_interpolation;
weft_status weft_interpolation_create(const int64_t *most, int parts, int fields,
                                      weft_interpolation **made);
void weft_interpolation_destroy(weft_interpolation *interpolation);

/* Adds what a tree around a box at lo tells of a box of points, every so many of the grid's along
 * each axis, to sum: [fields][n0][n1][n2] of the box. values[level] are those of the tree. */
void weft_interpolation_add(weft_interpolation *interpolation, const weft_tree *tree,
                            const int64_t *lo, double *const *values, const int64_t *step,
                            const weft_region *box, double *sum);
/* The same of one shell, of whose level the lattice has all nodes. */
void weft_interpolation_add_shell(weft_interpolation *interpolation, const weft_tree *tree,
                                  const weft_tree_shell *shell, const weft_lattice *lattice,
                                  const int64_t *step, const weft_region *box, double *sum);

#endif
