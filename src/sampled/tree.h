/*
 * The octree on which a convolution with little communication keeps the result of a box of sources
 * (sampled.h): dense in the box and around it, and coarser the farther away. Grids have three axes
 * here and are periodic. A tree has a lattice for each level, every `stride`-th point of the grid
 * along each axis. Lattices lie alike whatever the box, so that the results of several boxes add
 * up. Of each the tree has what interpolation needs for the points that the level serves.
 */
#ifndef WEFT_SAMPLED_TREE_H
#define WEFT_SAMPLED_TREE_H

#include "layout/layout.h"

enum { WEFT_TREE_AXES = 3, WEFT_TREE_LEVELS = 24, WEFT_TREE_POINTS = 6, WEFT_TREE_PARTS = 6 };

/* Lattice point m along an axis is point m * stride of the grid. */
typedef struct weft_tree_level {
    int64_t stride[WEFT_TREE_AXES];
    int64_t reach; /* it serves the points of the grid that are nearer to the box than this (0: in
                      the box) and that no finer level serves. The last level serves all others */
    int64_t n[WEFT_TREE_AXES];      /* lattice points kept along each axis */
    int64_t period[WEFT_TREE_AXES]; /* those of the whole grid */
} weft_tree_level;

/* A tree around a box of `edge` points, wherever that lies. */
typedef struct weft_tree {
    int64_t period[WEFT_TREE_AXES]; /* points of the grid */
    int64_t edge[WEFT_TREE_AXES];
    int points; /* lattice points along each axis that a value is interpolated from: 2, 4 or 6 */
    int levels;
    weft_tree_level level[WEFT_TREE_LEVELS];
} weft_tree;

/* Strides are powers of two of which `opening` times the distance to the box is no less: the error,
 * relative to the field, is then much the same at any distance. opening is 2 / points or less. */
weft_tree weft_tree_graded(const int64_t *period, const int64_t *edge, int points, double opening);
/* Stride 2 up to half the box's edge away, 8 up to 4 edges and 16 beyond; dense in the box alone.
 */
weft_tree weft_tree_fixed(const int64_t *period, const int64_t *edge, int points);

/* Lattice points of all levels outside of the box. */
int64_t weft_tree_samples(const weft_tree *tree);

/* The first lattice point kept along an axis, for a box that begins at lo: they are consecutive,
 * modulo the level's period. */
int64_t weft_tree_first(const weft_tree *tree, int level, int axis, int64_t lo);

/* The points of the grid that a level, or a finer one, serves. Coordinates are those of the period
 * in whose middle the box lies. */
weft_region weft_tree_within(const weft_tree *tree, int level, const int64_t *lo);

/* Where `part` of a box of points, whose coordinates may be of any period, lies in the period of a
 * tree: parts are numbered from 0, false behind the last one. `offset` gets the part's first point
 * as counted from the box's. `step` divides the period: points are every so many of the grid's, and
 * boxes count those. */
bool weft_tree_wrapped(const weft_tree *tree, const int64_t *lo, const int64_t *step,
                       const weft_region *box, int part, weft_region *wrapped, int64_t *offset);

/* What a level serves of a box of points: those of `outer` that are not in `inner`, which finer
 * levels serve. offset is outer's first point as counted from the box's. */
typedef struct weft_tree_shell {
    int level;
    weft_region outer, inner;
    int64_t offset[WEFT_TREE_AXES];
} weft_tree_shell;

/* Shell i of a box, as above, for the tree of a box that begins at lo; false behind the last one.
 * Many are empty. */
bool weft_tree_find_shell(const weft_tree *tree, const int64_t *lo, const int64_t *step,
                          const weft_region *box, int i, weft_tree_shell *shell);

/* The parts of a box without another one; returns how many. */
int weft_tree_subtract(const weft_region *box, const weft_region *without,
                       weft_region parts[WEFT_TREE_PARTS]);

/* The lattice points that interpolation at a box of points of the grid needs. */
weft_region weft_tree_nodes(const weft_tree *tree, int level, const weft_region *box);
/* Those of them that no point needs but points in `inner`, a box in `box`. */
weft_region weft_tree_idle(const weft_tree *tree, int level, const weft_region *box,
                           const weft_region *inner);

static inline int64_t weft_floor_of(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}
static inline int64_t weft_modulo(int64_t a, int64_t b) {
    return a - b * weft_floor_of(a, b);
}

#endif
