/*
 * The convolution of one box of sources, whose result is computed on the lattices of an octree
 * (tree.h) alone: nowhere are there all N^3 points. With U the spectrum of the result along an
 * axis,
 *
 *     u[r m] = IDFT over N/r points of sum over j < r of U[q + j N/r],
 *
 * so a lattice of stride r costs the inverse transform of N/r points, and is exact. Lines along the
 * first axis are transformed before anything else; then, for one wavenumber kx after the other,
 * those along y and z of the plane, which are multiplied by the kernel and go back to the lattices'
 * z and y; and at the end, the lattices' x.
 */
#ifndef WEFT_SAMPLED_LOCAL_H
#define WEFT_SAMPLED_LOCAL_H

#include "convolve/convolve.h"
#include "sampled/tree.h"

typedef struct weft_local weft_local;

/* For boxes and trees of these shapes, whose kernel is that of c; both outlive it. Of the options
 * the device (device_local.h) and the threads matter. The caller destroys *made also after a
 * failure. Not collective. */
weft_status weft_local_create(const weft_convolved *c, const weft_tree *tree,
                              const weft_options *options, weft_local **made);
void weft_local_destroy(weft_local *local);
size_t weft_local_bytes(const weft_local *local);

/* Convolves the sources in the box that begins at lo, [fields][edge0][edge1][edge2] numbers, pairs
 * if they are complex. values[level] gets [fields][n0][n1][n2] numbers of the same kind. Not
 * collective. */
weft_status weft_local_run(weft_local *local, const int64_t *lo, const double *sources,
                           double *const *values);

#endif
