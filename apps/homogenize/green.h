/*
 * Green's operator of the reference medium: what strain a stress causes, Gamma = D (D* C0 D)^-1 D*,
 * in the spectrum, in displacement form, without a table of matrices.
 *
 * D is the symmetric gradient of a discretization. In those here but hexahedra it is that of a real
 * wave vector w, but for phases of the staggered grid, which are taken off on the way in and put
 * back on the way out. With t = s w: u = (t - (lambda + mu) / (lambda + 2 mu) w (w.t) / |w|^2) /
 * (mu |w|^2), and the strain is the symmetric part of w u (Moulinec and Suquet, Comput. Methods
 * Appl. Mech. Engrg. 157, 1998). With k = 2 pi j / length, h = length / n, and half angles k h / 2:
 *   fourier    w = k
 *   willot     w_a = (2 / h_a) sin(k_a h_a / 2) cos(k_b h_b / 2) cos(k_c h_c / 2): the rotated
 *              scheme, which is that of 8-node elements with one Gauss point (Willot, C. R.
 *              Mecanique 343, 2015)
 *   staggered  w_a = (2 / h_a) sin(k_a h_a / 2), with phases exp(i k h / 2) (Schneider, Ospald,
 *              Kabel 2016)
 *   hexahedra  no wave vector: elements of 8 nodes with full integration have more strains than
 *              one. The operator stands between nodal forces f and displacements, K0^-1, and what
 *              lies beyond is that of elements (hexahedra.h). K0 is a product of what elements of
 *              one dimension do along each axis, over h: with w_a of staggered and c = cos(k h / 2)
 *              stiffness S = w^2, mass M = (1 + 2 c^2) / 3, derivative G = w c, so that
 *              K0_aa = (lambda + 2 mu) S_a M_b M_c + mu M_a (S_b M_c + M_b S_c) and
 *              K0_ab = (lambda + mu) G_a G_b M_c; with M = c^2 it would be willot's
 * A frequency n/2 of an even axis is its own negative. There the staggered grid has one value, and
 * so has willot (0 where two axes are there: no displacement has a strain). Of fourier the
 * derivative along such an axis is 0, that of cos(pi j) at the points j, unless w were 0 then: then
 * it is along the first such axis. So Gamma C0 is a projection at every frequency, and a structure
 * of layers, or any with one shear modulus, has its exact stiffness on even grids too.
 */
#ifndef WEFT_HOMOGENIZE_GREEN_H
#define WEFT_HOMOGENIZE_GREEN_H

#include "case.h"
#include "displacements.h"

#include <mpi.h>

typedef struct homogenize_green {
    homogenize_scheme scheme;
    int components;
    int64_t n[3];
    double *wave[3];   /* of each index along an axis */
    double *cosine[3]; /* willot, hexahedra */
    double *phase[3];  /* staggered: pairs */
    homogenize_reference reference;
    /* The mean: `zero` times what the field's mean is more than `offset`. Both change between
     * executions only. */
    double zero[36], offset[6];
    homogenize_displacements *displacements; /* what is done to them on the way, or NULL */
    weft_plan plan;
    bool samples, single; /* the plan is a convolution by samples; its numbers are floats */
    /* The plan has the transforms alone, and the operator is applied to these frequencies between
     * them: by the host, where only the transforms are a device's, or where the fields are. */
    bool apart;
    struct homogenize_device *device; /* where fields are, once that is made; NULL: the host */
    weft_box frequencies;
    double
        step[3]; /* along each axis: wave vectors are this times a sine or, of fourier, a number */
    int threads;
    MPI_Comm comm;  /* of samples */
    int64_t voxels; /* of this rank; of samples */
    double seconds; /* in homogenize_green_apply so far */
} homogenize_green;

/* What a plan is made of. */
typedef struct homogenize_grid {
    int64_t n[3];
    double length[3];
    int components;
    homogenize_scheme scheme;
    weft_precision precision;
    homogenize_samples samples;
    int rank; /* of this process */
} homogenize_grid;

/* Whether fields are in host memory and pass a device while they are transformed. */
static inline bool homogenize_streams(const weft_options *options) {
    return options->stream == WEFT_STREAM_ON || options->stream == WEFT_STREAM_SYNC;
}

/* Makes the plan; `reference` may be set later. The plan lives as long as *green, which must not
 * move. The caller releases it, also after a failure. Collective. */
weft_status homogenize_green_create(weft_context ctx, const homogenize_grid *grid,
                                    const weft_options *options, homogenize_green *green);
/* Replaces the plan by a convolution by samples with that reference medium, which then stays; of
 * elasticity on the staggered grid. Boxes do not change (samples.c). Collective. */
weft_status homogenize_green_sample(weft_context ctx, const homogenize_grid *grid,
                                    const weft_options *options, MPI_Comm comm,
                                    const homogenize_reference *reference, homogenize_green *green);
void homogenize_green_release(homogenize_green *green);

/* Sets the reference medium, and for which components of the mean the stress is given. */
void homogenize_green_set(homogenize_green *green, const homogenize_reference *reference,
                          const bool stress[6]);

/* The mean strain that a mean stress causes, once the displacements' means have changed, too. For
 * hexahedra, whose ranks all know means; else the plan does it. Not collective. */
void homogenize_green_mean(const homogenize_green *green, const double stress[6], double strain[6]);

/* Replaces a stress (components fields of this rank's box, one after the other) by its strain; of
 * hexahedra nodal forces by displacements, or temperatures. Collective. */
weft_status homogenize_green_apply(homogenize_green *green, void *field);
/* The same by samples. */
weft_status homogenize_green_apply_samples(homogenize_green *green, void *field);

#endif
