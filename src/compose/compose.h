/*
 * Compositions: stages one after the other. lower.c turns them into legs, each of which is a plan
 * executed in one direction, or the copy of a box; composition.c makes the plans, and the arrays
 * between the legs, and executes them; tell.c and explain.c tell of them.
 */
#ifndef WEFT_COMPOSE_H
#define WEFT_COMPOSE_H

#include "exec/plan.h"

/* The copy of a box: of two arrays, the smaller one is every so many points of the larger one, or
 * lies in it with zeros around; or it is the spectrum of fewer points. */
typedef struct weft_leg_copy {
    bool embeds;                 /* from the smaller one to the larger one; else back */
    bool real;                   /* their numbers, which are complex otherwise */
    bool frequencies;            /* they are spectra */
    int64_t lo[WEFT_MAX_RANK];   /* of the smaller array's first point in the larger one */
    int64_t step[WEFT_MAX_RANK]; /* from one of its points to the next */
    int64_t n[WEFT_MAX_RANK];    /* extents of the smaller array */
    int64_t most[WEFT_MAX_RANK]; /* extents of the larger array */
    int64_t low[WEFT_MAX_RANK];  /* indices from here on are negative frequencies, which count from
                                    the end: they lie most - n further. n: there are none */
} weft_leg_copy;

typedef struct weft_leg {
    int first, last;      /* the stages that it does */
    int forward, inverse; /* those behind which the array is a spectrum, and in real space again,
                             in this order or the other. INT_MAX: none */
    bool copies;          /* a box, as `copy` says; otherwise `plan` is executed */
    weft_leg_copy copy;
    weft_problem problem; /* of the plan; of a copy what its two arrays have in common */
    weft_purpose purpose;
    weft_plan plan;
    int output, kept; /* the caller's arrays of the result, and of the spectrum that is kept. -1:
                         none, so the result lies in `between` */
    size_t bytes;     /* of the result's array, which the next leg finds there */
    void *between;    /* on the host with WEFT_LOCATION_HOST, else where plans compute */
    bool lent;        /* by the leg before the one before, which owns it */
} weft_leg;

struct weft_composition_private {
    weft_leg *leg; /* [legs] */
    int legs;
    int outputs;      /* arrays of the caller's, the result included */
    weft_plan handle; /* the first plan, which owns the others */
    bool on_host;     /* the arrays */
    weft_span *spans; /* of all plans, where options.trace is 1 and there are several legs */
};
typedef struct weft_composition_private weft_composed;

/* What one plan can do. */
typedef struct weft_leg_abilities {
    bool keep;    /* store the spectrum of a convolution in an array of the caller's */
    bool go_back; /* an inverse transform and a forward one behind it */
} weft_leg_abilities;

/* The stages as legs. The caller frees *legs, also after a failure. Not collective. */
weft_status weft_compose_lower(const weft_composition_problem *problem, weft_leg_abilities can,
                               weft_leg **legs, int *count, int *outputs);

/* weft_composition_create without a note in the context. Of the purpose its plans get `scatters`
 * and `parity`; NULL: the composition is a caller's. Collective. */
weft_status weft_compose(weft_context ctx, const weft_composition_problem *problem,
                         const weft_purpose *purpose, const weft_options *opt, weft_plan *handle);

/* ---- boxes.c ---- */

/* The boxes of the array that a leg begins with, and of its result. */
weft_box weft_leg_entry(const weft_composed *c, int leg, int rank);
weft_box weft_leg_exit(const weft_composed *c, int leg, int rank);
/* Of the arrays of a copy: bytes of an element; elements of all fields and members in a box; and
 * part 0, 1, ... of the copy between this rank's boxes of the two, false behind the last one. */
size_t weft_leg_element(const weft_leg *leg);
int64_t weft_leg_elements(const weft_leg *leg, const weft_box *box);
bool weft_leg_copying(const weft_leg *leg, const weft_box *from, const weft_box *to, int part,
                      weft_copy *copy);
/* Bytes of the array that a leg begins with, and of its result; and of the caller's arrays, by
 * number, of which -1 is the one that the composition begins with. */
size_t weft_leg_entry_bytes(const weft_composed *c, int leg);
size_t weft_leg_exit_bytes(const weft_composed *c, int leg);
size_t weft_composed_bytes(const weft_composed *c, int number);

/* ---- tell.c ---- */

/* Fails where a handle is NULL, or that of a plan of transforms. */
weft_status weft_composition_check(weft_composition composition, const char *function);

#endif
