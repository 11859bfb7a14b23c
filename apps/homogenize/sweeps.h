/*
 * Passes over the voxels of this rank: the material law, and what the solvers do to whole fields.
 * A field is `components` arrays of this rank's voxels, one after the other, in double or single
 * precision; sums are in double precision and of this rank alone. With space->device fields lie on
 * that device; functions that say so take fields of the host only.
 *
 * <a, b> is the sum over voxels of a C0 b, with the reference medium's C0: the energy of strains.
 */
#ifndef WEFT_HOMOGENIZE_SWEEPS_H
#define WEFT_HOMOGENIZE_SWEEPS_H

#include "medium.h"
#include "volume.h"

/* What all passes need. */
typedef struct homogenize_space {
    const homogenize_volume *volume;
    const homogenize_medium *medium;
    int64_t voxels; /* of this rank */
    weft_precision precision;
    int threads;
    struct homogenize_device *device; /* where fields are (device.h); NULL: the host */
} homogenize_space;

/* Sums of a pass over strain e and stress s. */
typedef struct homogenize_sums {
    double strain[6], stress[6];
    double energy; /* e s */
    double size;   /* s C0^-1 s: the square of the stress in the norm of <,> */
} homogenize_sums;

/* e = value everywhere. */
void homogenize_fill(const homogenize_space *space, void *e, const double value[6]);

/* s = C e, stored unless s is NULL; with `polarize` s = C e - C0 e, while sums are of C e. */
void homogenize_stress(const homogenize_space *space, const void *e, void *s, bool polarize,
                       homogenize_sums *sums);

/* Returns <g, g>. On the host only. */
double homogenize_square(const homogenize_space *space, const void *g);

/* products: <g, g> and <g, last>. */
void homogenize_products(const homogenize_space *space, const void *g, const void *last,
                         double products[2]);

/* e -= factor g. Returns <g, g>. */
double homogenize_descend(const homogenize_space *space, void *e, const void *g, double factor);

/* p = r + factor p, q = C p. Returns the sum of p q. On the host only. */
double homogenize_direction(const homogenize_space *space, const void *r, void *p, void *q,
                            double factor);

/* e becomes C e. products: before, <e, e> and the sum of e C e. */
void homogenize_respond(const homogenize_space *space, void *e, double products[2]);

/* e -= factor p, r -= factor q. Returns <r, r>. On the host only. */
double homogenize_advance(const homogenize_space *space, void *e, void *r, const void *p,
                          const void *q, double factor);

/* With d = mean - t - e: e += 2 (C + C0)^-1 C0 d, or e += d with `whole`. Returns <d, d>. */
double homogenize_reflect(const homogenize_space *space, void *e, const void *t,
                          const double mean[6], bool whole);

/* From Mandel's notation to tensor components, in place. On the host only. */
void homogenize_take_tensor(const homogenize_space *space, void *field);

/* Adds to sums[phase * 2 * components + ...] the strain, then the stress, of voxels of each phase.
 * On a staggered grid each voxel has its share of the edges or faces around it. Fails where memory
 * lacks; not collective. */
weft_status homogenize_phase_sums(const homogenize_space *space, const void *e, double *sums);

/* Voxels of a part of a row, which passes work on at a time, and how many such parts there are. */
enum { HOMOGENIZE_BLOCK = 64 };
int64_t homogenize_blocks(const homogenize_space *space);
/* Norms of the deviators of tensors in Mandel's notation, or of vectors, at the voxels of block
 * `number`, and their phases. Returns their count. On the host only. */
int homogenize_deviators(const homogenize_space *space, const void *field, int64_t number,
                         double value[HOMOGENIZE_BLOCK], const uint16_t **phase);

#endif
