/*
 * Vectors of conjugate gradients as displacements in the spectrum. A strain of a displacement has
 * three components there (a gradient one) where it has six (three) at the voxels, and Green's
 * operator makes it of one anyway: so the four vectors take half the memory and traffic, are
 * changed while the operator is at their frequency, and only one field of voxels is needed, the
 * strain of the residual.
 *
 * At each frequency the vectors lie side by side, in row-major order of this rank's frequencies; on
 * devices (kernels/green.cl) they follow each other instead. At
 * frequency 0, where a displacement has no strain, each has a mean strain instead.
 */
#ifndef WEFT_HOMOGENIZE_DISPLACEMENTS_H
#define WEFT_HOMOGENIZE_DISPLACEMENTS_H

#include "support/pair.h"

#include <weft/weft.h>

/* What is done to the vectors when Green's operator has made w of a stress, and which of them the
 * operator's strain is of. */
typedef enum displacement_step {
    DISPLACEMENT_BEGIN,   /* x = p = s = 0, r = w; of r */
    DISPLACEMENT_REPLACE, /* r = w; of r */
    DISPLACEMENT_ADVANCE, /* p = r + factor p, s = w + factor s, x -= length p, r -= length s; of r
                           */
    DISPLACEMENT_SHOW_X,  /* nothing; of x */
    DISPLACEMENT_SHOW_R   /* nothing; of r */
} displacement_step;

enum { DISPLACEMENT_X, DISPLACEMENT_R, DISPLACEMENT_P, DISPLACEMENT_S, DISPLACEMENT_VECTORS };

typedef struct displacement_change {
    displacement_step step;
    double factor, length;
} displacement_change;

typedef struct homogenize_displacements {
    void *memory;                         /* pairs: [frequency][vector][components] */
    int components;                       /* 3, of a temperature 1 */
    bool single;                          /* floats */
    weft_box box;                         /* of frequencies */
    displacement_change change;           /* in the next execution */
    double mean[DISPLACEMENT_VECTORS][6]; /* of the rank with frequency 0 */
} homogenize_displacements;

static inline bool homogenize_displacements_have_mean(const homogenize_displacements *d) {
    return d->box.lo[0] + d->box.lo[1] + d->box.lo[2] == 0 && d->box.n[0] > 0 && d->box.n[1] > 0 &&
           d->box.n[2] > 0;
}

/* Numbers, real or pairs, of the four vectors v at one place and w: v[X], v[R], v[P], v[S] change.
 */
#define DISPLACEMENT_CHANGE(how, v, w)                                                             \
    do {                                                                                           \
        if ((how).step == DISPLACEMENT_ADVANCE) {                                                  \
            (v)[DISPLACEMENT_P] = (v)[DISPLACEMENT_R] + (how).factor * (v)[DISPLACEMENT_P];        \
            (v)[DISPLACEMENT_S] = (w) + (how).factor * (v)[DISPLACEMENT_S];                        \
            (v)[DISPLACEMENT_X] -= (how).length * (v)[DISPLACEMENT_P];                             \
            (v)[DISPLACEMENT_R] -= (how).length * (v)[DISPLACEMENT_S];                             \
        } else if ((how).step <= DISPLACEMENT_REPLACE) {                                           \
            (v)[DISPLACEMENT_R] = (w);                                                             \
        }                                                                                          \
    } while (0)

/* Does the step at a frequency with the displacement w, which becomes the one whose strain is
 * wanted, as it is stored. The pairs' type and the number of components are given as constants. */
static inline void homogenize_displacements_do(homogenize_displacements *d, displacement_change how,
                                               bool single, int components, const int64_t index[3],
                                               weft_pair *w) {
    const weft_box *box = &d->box;
    const int64_t at = ((index[0] - box->lo[0]) * box->n[1] + index[1] - box->lo[1]) * box->n[2] +
                       index[2] - box->lo[2];
    const int64_t first = at * DISPLACEMENT_VECTORS * components;
    const int shown = how.step == DISPLACEMENT_SHOW_X ? DISPLACEMENT_X : DISPLACEMENT_R;
    void *memory = d->memory;
    for (int c = 0; c < components; c++) {
        weft_pair v[DISPLACEMENT_VECTORS] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
        for (int i = 0; i < DISPLACEMENT_VECTORS && how.step != DISPLACEMENT_BEGIN; i++)
            v[i] = weft_pair_at(memory, single, first + i * components + c);
        DISPLACEMENT_CHANGE(how, v, w[c]);
        for (int i = 0; i < DISPLACEMENT_VECTORS && how.step <= DISPLACEMENT_ADVANCE; i++)
            weft_pair_set(memory, single, first + i * components + c, v[i]);
        w[c] = single ? weft_pair_at(memory, single, first + shown * components + c) : v[shown];
    }
}

/* The same of the mean strain w of so many components. */
static inline void homogenize_displacements_do_mean(homogenize_displacements *d, int components,
                                                    double *w) {
    const displacement_change how = d->change;
    const int shown = how.step == DISPLACEMENT_SHOW_X ? DISPLACEMENT_X : DISPLACEMENT_R;
    for (int c = 0; c < components; c++) {
        double v[DISPLACEMENT_VECTORS];
        for (int i = 0; i < DISPLACEMENT_VECTORS; i++) v[i] = d->mean[i][c];
        DISPLACEMENT_CHANGE(how, v, w[c]);
        for (int i = 0; i < DISPLACEMENT_VECTORS; i++) d->mean[i][c] = v[i];
        w[c] = d->mean[shown][c];
    }
}

#endif
