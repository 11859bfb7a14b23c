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

/* Where results are added: [fields], of each at points first + i * step of the grid, which lie
 * stride[a] numbers apart along axis a. */
typedef struct weft_targets {
    int64_t first[WEFT_TREE_AXES], step[WEFT_TREE_AXES], n[WEFT_TREE_AXES];
    int64_t stride[WEFT_TREE_AXES], field_stride;
    double *sum;
} weft_targets;

/* Memory for the interpolation at up to so many points along each axis. The caller destroys *made
 * also after a failure. */
typedef struct weft_interpolation weft_interpolation;
weft_status weft_interpolation_create(const int64_t *most, int parts, weft_interpolation **made);
void weft_interpolation_destroy(weft_interpolation *interpolation);

/* Adds a level's values, interpolated, to all targets, whose nodes the lattice has. */
void weft_interpolation_add(weft_interpolation *interpolation, const weft_tree *tree, int level,
                            const weft_lattice *lattice, const weft_targets *targets, int fields);

#endif
