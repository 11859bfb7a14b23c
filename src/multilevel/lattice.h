/*
 * The lattices of a convolution by levels over the ranks: of each level, which points are whose,
 * and which sources a rank needs. Level l has every 2^l-th point of the grid along axes of more
 * than one point; a rank owns those in its box.
 */
#ifndef WEFT_MULTILEVEL_LATTICE_H
#define WEFT_MULTILEVEL_LATTICE_H

#include "multilevel/splitting.h"

/* Boxes of one rank on one level. Coordinates may lie beyond the period, for it repeats; a box that
 * has all of an axis begins at 0. */
typedef struct weft_lattice_boxes {
    weft_region own;    /* its sources */
    weft_region made;   /* points in which it needs the result */
    weft_region around; /* sources that it needs: for the result, and for its own on the next level
                         */
} weft_lattice_boxes;

/* Those of level `level`, the last one being splitting->levels, for a rank whose boxes of the
 * field and of the result are given. */
weft_lattice_boxes weft_lattice_find(const weft_splitting *splitting, int level,
                                     const weft_region *source, const weft_region *target);

/* Points of a level along an axis. */
int64_t weft_lattice_period(const weft_splitting *splitting, int level, int axis);

/* Copies the points of `box` from an array of the region `from`, which repeats with a period, to
 * one of the region `to`, which does with its own (INT64_MAX: never): both hold elements of `parts`
 * numbers, and have the points, in some period where they have all of an axis. */
void weft_lattice_copy(const int64_t *from_period, const int64_t *to_period, int parts,
                       const weft_region *box, const weft_region *from, const double *in,
                       const weft_region *to, double *out);

/* A coordinate's place in an array of n points from lo on, which has all of the axis if that is
 * its period. */
static inline int64_t weft_lattice_place(int64_t at, int64_t lo, int64_t n, int64_t period) {
    int64_t place = at - lo;
    if (n < period) return place;
    place %= period;
    return place < 0 ? place + period : place;
}

/* From one lattice to the next (transfer.c): sources that lie around `coarse`, down to it, and what
 * is added in `fine`, from it. Arrays are of one field; coarse and fine ones are of the regions.
 * scratch: room for weft_transfer_scratch numbers. */
int64_t weft_transfer_scratch(const weft_region *around, const weft_region *coarse, int parts);
void weft_transfer_down(const weft_splitting *splitting, int field, const int64_t *period,
                        int parts, const weft_region *around, const double *sources,
                        const weft_region *coarse, double *sums, double *scratch);
void weft_transfer_up(const weft_splitting *splitting, int field, const int64_t *period, int parts,
                      const weft_region *coarse, const double *values, const weft_region *fine,
                      double *result, double *scratch);

#endif
