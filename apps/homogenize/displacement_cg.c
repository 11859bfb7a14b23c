/*
 * Conjugate gradients whose vectors are displacements (displacements.h), in the form with one sum
 * over all voxels for each iteration (Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989): with
 * the strain of the residual r in field[0], C r and both products are one pass over the voxels, and
 * Green's operator, which makes w of C r, changes the vectors on its way.
 *
 * x is the displacement whose strain, with the mean, is e; s = Gamma C p. In run->state, square is
 * <r, r> of the iteration before (0: begin anew with the direction r), and factor its length.
 */
#include "solve.h"

#include "support/error.h"

#include <string.h>

static weft_status apply(homogenize_run *run, displacement_step step) {
    run->displacements.step = step;
    return homogenize_green_apply(run->green, run->field[0]);
}

/* r = Gamma (C e - S) of the strain e in field[0], which becomes that of r. */
static weft_status compute_residual(homogenize_run *run, displacement_step step) {
    homogenize_sums sums;
    homogenize_stress(&run->space, run->field[0], run->field[0], false, &sums);
    run->state.size = sums.size;
    WEFT_TRY(homogenize_add_up(run, &run->state.size, 1));
    memcpy(run->green->offset, run->stress, sizeof run->stress);
    WEFT_TRY(apply(run, step));
    memset(run->green->offset, 0, sizeof run->green->offset);
    return WEFT_SUCCESS;
}

/* Where the strain that a load begins with is in field[0], or vectors are to be gone on with. */
static weft_status enter(homogenize_run *run) {
    homogenize_displacements *d = &run->displacements;
    memset(run->green->offset, 0, sizeof run->green->offset);
    if (run->state.begun) {
        memcpy(d->mean, run->state.mean, sizeof d->mean);
        return apply(run, DISPLACEMENT_SHOW_R);
    }
    memset(d->mean, 0, sizeof d->mean);
    memcpy(d->mean[DISPLACEMENT_X], run->start, sizeof run->start);
    return compute_residual(run, DISPLACEMENT_BEGIN);
}

/* Field[0], the strain of r, becomes C r. products: <r, r> and r C r. All ranks learn the means. */
static weft_status respond(homogenize_run *run, double products[2]) {
    const homogenize_displacements *d = &run->displacements;
    enum { MEANS = sizeof d->mean / sizeof(double) };
    double sums[2 + MEANS] = {0};
    homogenize_respond(&run->space, run->field[0], sums);
    if (homogenize_displacements_have_mean(d)) memcpy(sums + 2, d->mean, sizeof d->mean);
    WEFT_TRY(homogenize_add_up(run, sums, 2 + MEANS));
    memcpy(products, sums, 2 * sizeof *products);
    memcpy(run->state.mean, sums + 2, sizeof run->state.mean);
    return WEFT_SUCCESS;
}

static weft_status advance(homogenize_run *run, const double products[2]) {
    homogenize_displacements *d = &run->displacements;
    homogenize_state *state = &run->state;
    const bool first = state->square == 0;
    d->factor = first ? 0 : products[0] / state->square;
    d->length = products[0] / (products[1] - (first ? 0 : d->factor * products[0] / state->factor));
    state->square = products[0];
    state->factor = d->length;
    return apply(run, DISPLACEMENT_ADVANCE);
}

/* The residual of the recursion drifts from the true one by rounding, so the last word is the true
 * one's. Where they are alike the directions stay. */
weft_status homogenize_solve_displacements(homogenize_run *run, homogenize_result *result) {
    double products[2], claimed = 0;
    bool exact = !run->state.begun, again = run->state.begun; /* noted before it was stopped */
    run->green->displacements = &run->displacements;
    WEFT_TRY(enter(run));
    for (;;) {
        bool done;
        WEFT_TRY(respond(run, products));
        if (result->noted > 0 && (exact || again)) result->noted--;
        WEFT_TRY(homogenize_note(run, result, products[0], run->state.size, &done));
        if (done && exact) break;
        if (done) {
            claimed = products[0];
            exact = true;
            again = false;
            WEFT_TRY(apply(run, DISPLACEMENT_SHOW_X));
            WEFT_TRY(compute_residual(run, DISPLACEMENT_REPLACE));
            continue;
        }
        if (exact && !(products[0] < 2 * claimed && claimed < 2 * products[0]))
            run->state.square = 0;
        WEFT_TRY(homogenize_rest(run, result));
        WEFT_TRY(advance(run, products));
        exact = again = false;
    }
    return apply(run, DISPLACEMENT_SHOW_X);
}
