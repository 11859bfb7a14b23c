/*
 * The solvers, each one function. field[0] is the strain e, the others are the solver's. What they
 * need from one iteration to the next is in run->state and in the first fields, so that a run that
 * is stopped goes on from there to the same bits.
 *
 * basic             e <- e - Gamma C e (Moulinec and Suquet 1998); iterations ~ contrast
 * barzilai-borwein  the same with a step made of the last two residuals (Schneider, Int. J. Numer.
 *                   Meth. Engng 118, 2019)
 * cg                conjugate gradients for Gamma C e = 0 in the product <,>, in which Gamma C is
 *                   self-adjoint on strains of displacements (Zeman, Vondrejc, Novak, Marek, J.
 *                   Comput. Phys. 229, 2010; Brisard and Dormieux, Comput. Mater. Sci. 49, 2010);
 *                   ~ sqrt(contrast)
 * eyre-milton       e <- e + 2 (C + C0)^-1 C0 (E - Gamma (C - C0) e - e) (Eyre and Milton, Eur.
 *                   Phys. J. AP 6, 1999); ~ sqrt(contrast)
 */
#include "solve.h"

#include "support/error.h"

#include <string.h>

/* g = Gamma (C e - S); size: that of C e, of all ranks. */
static weft_status imbalance(homogenize_run *run, void *g, double *size) {
    homogenize_sums sums;
    memcpy(run->green->offset, run->stress, sizeof run->stress);
    homogenize_stress(&run->space, run->field[0], g, false, &sums);
    *size = sums.size;
    WEFT_TRY(homogenize_add_up(run, size, 1));
    return homogenize_green_apply(run->green, g);
}

weft_status homogenize_solve_basic(homogenize_run *run, homogenize_result *result) {
    bool done = false;
    double size;
    while (!done) {
        WEFT_TRY(homogenize_rest(run, result));
        WEFT_TRY(imbalance(run, run->field[1], &size));
        double square = homogenize_descend(&run->space, run->field[0], run->field[1], 1);
        WEFT_TRY(homogenize_add_up(run, &square, 1));
        WEFT_TRY(homogenize_note(run, result, square, size, &done));
    }
    return WEFT_SUCCESS;
}

/* state.square is <last, last> of the last residual, in field[1], and factor the last step. */
weft_status homogenize_solve_barzilai_borwein(homogenize_run *run, homogenize_result *result) {
    homogenize_state *state = &run->state;
    double size, products[2];
    bool done = false;
    while (!done) {
        void *last = run->field[1], *g = run->field[2];
        const bool first = result->noted == 0;
        WEFT_TRY(homogenize_rest(run, result));
        WEFT_TRY(imbalance(run, g, &size));
        homogenize_products(&run->space, g, first ? g : last, products);
        WEFT_TRY(homogenize_add_up(run, products, 2));
        const double change = state->square - products[1];
        const bool falls = !first && change > 0;
        state->factor = falls ? state->factor * state->square / change : 1;
        state->square = products[0];
        WEFT_TRY(homogenize_note(run, result, products[0], size, &done));
        (void)homogenize_descend(&run->space, run->field[0], g, state->factor);
        run->field[1] = g;
        run->field[2] = last;
    }
    return WEFT_SUCCESS;
}

/* Iterations until the residual of the recursion is small, or *done. */
static weft_status iterate_cg(homogenize_run *run, homogenize_result *result, bool *done) {
    void *e = run->field[0], *r = run->field[1], *p = run->field[2], *q = run->field[3];
    homogenize_state *state = &run->state;
    memset(run->green->offset, 0, sizeof run->green->offset);
    while (!*done) {
        WEFT_TRY(homogenize_rest(run, result));
        double energy = homogenize_direction(&run->space, r, p, q, state->factor);
        WEFT_TRY(homogenize_add_up(run, &energy, 1));
        WEFT_TRY(homogenize_green_apply(run->green, q));
        double next = homogenize_advance(&run->space, e, r, p, q, state->square / energy);
        WEFT_TRY(homogenize_add_up(run, &next, 1));
        WEFT_TRY(homogenize_note(run, result, next, state->size, done));
        state->factor = next / state->square;
        state->square = next;
    }
    return WEFT_SUCCESS;
}

/* The residual itself, with which the recursion begins, or goes on: with the same directions,
 * unless its own residual had become another. */
static weft_status begin_cg(homogenize_run *run, homogenize_result *result, bool *done) {
    homogenize_state *state = &run->state;
    const double recursive = state->square;
    WEFT_TRY(imbalance(run, run->field[1], &state->size));
    state->square = homogenize_square(&run->space, run->field[1]);
    WEFT_TRY(homogenize_add_up(run, &state->square, 1));
    const bool alike = state->square < 2 * recursive && recursive < 2 * state->square;
    if (result->noted == 0 || !alike) state->factor = 0;
    if (result->noted > 0) result->noted--; /* it replaces the recursion's */
    return homogenize_note(run, result, state->square, state->size, done);
}

/* The recursion's residual drifts from the true one by rounding, so the last word is the true
 * one's. */
weft_status homogenize_solve_cg(homogenize_run *run, homogenize_result *result) {
    for (bool done = false;; run->state.begun = false) {
        if (!run->state.begun) WEFT_TRY(begin_cg(run, result, &done));
        if (done) return WEFT_SUCCESS;
        WEFT_TRY(iterate_cg(run, result, &done));
    }
}

weft_status homogenize_solve_eyre_milton(homogenize_run *run, homogenize_result *result) {
    const homogenize_reference *r = &run->green->reference;
    void *e = run->field[0], *t = run->field[1];
    const double volume = r->trace * (run->base[0] + run->base[1] + run->base[2]);
    homogenize_sums sums;
    bool done = false;
    for (int i = 0; i < run->green->components; i++)
        run->green->offset[i] = run->stress[i] - r->twice * run->base[i] - (i < 3 ? volume : 0);
    while (!done) {
        WEFT_TRY(homogenize_rest(run, result));
        homogenize_stress(&run->space, e, t, true, &sums);
        WEFT_TRY(homogenize_green_apply(run->green, t));
        double squares[2] = {homogenize_reflect(&run->space, e, t, run->base, false), sums.size};
        WEFT_TRY(homogenize_add_up(run, squares, 2));
        WEFT_TRY(homogenize_note(run, result, squares[0], squares[1], &done));
    }
    /* Of the two strains that have become one, that of a displacement. */
    (void)homogenize_reflect(&run->space, e, t, run->base, true);
    return WEFT_SUCCESS;
}
