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
    run->displacements.change.step = step;
    return homogenize_green_apply(run->green, run->field[0]);
}

/* r = Gamma (s - S) of the stress s in field[0], which becomes the strain of r. */
static weft_status take_residual(homogenize_run *run, displacement_step step) {
    memcpy(run->green->offset, run->stress, sizeof run->stress);
    WEFT_TRY(apply(run, step));
    memset(run->green->offset, 0, sizeof run->green->offset);
    return WEFT_SUCCESS;
}

/* The size of the stress of the strain in field[0], which goes to `stress` unless that is NULL. */
static weft_status find_size(homogenize_run *run, void *stress) {
    homogenize_sums sums;
    homogenize_stress(&run->space, run->field[0], stress, false, &sums);
    run->state.size = sums.size;
    return homogenize_add_up(run, &run->state.size, 1);
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
    WEFT_TRY(find_size(run, run->field[0]));
    run->state.first = run->state.size;
    return take_residual(run, DISPLACEMENT_BEGIN);
}

/* The strain that has been found, and the residual anew. The size of the stress tells whether the
 * residual <r, r> is small, and then there is the load's result, too. */
static weft_status check(homogenize_run *run, homogenize_result *result, double square,
                         bool *evaluated) {
    double unused;
    WEFT_TRY(apply(run, DISPLACEMENT_SHOW_X));
    WEFT_TRY(find_size(run, NULL));
    *evaluated =
        !result->converged || homogenize_residual(square, run->state.size) <= run->c->tolerance;
    if (*evaluated)
        WEFT_TRY(homogenize_evaluate(run, result, run->field[0], &unused));
    else
        WEFT_TRY(find_size(run, run->field[0]));
    return take_residual(run, DISPLACEMENT_REPLACE);
}

weft_status homogenize_show_displacements(homogenize_run *run) {
    return apply(run, DISPLACEMENT_SHOW_X);
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
    displacement_change *change = &run->displacements.change;
    homogenize_state *state = &run->state;
    const bool first = state->square == 0;
    change->factor = first ? 0 : products[0] / state->square;
    change->length =
        products[0] / (products[1] - (first ? 0 : change->factor * products[0] / state->factor));
    state->square = products[0];
    state->factor = change->length;
    return apply(run, DISPLACEMENT_ADVANCE);
}

/* Until the residual is computed anew, the size of the stress is what it was at the beginning, or
 * what has become of that under the load before. */
static void expect_size(homogenize_run *run) {
    if (run->settled > 0) run->state.size = run->state.first * run->settled;
}

/* The residual of the recursion drifts from the true one by rounding, so the last word is the true
 * one's. Where they are alike the directions stay. */
weft_status homogenize_solve_displacements(homogenize_run *run, homogenize_result *result) {
    homogenize_state *state = &run->state;
    double products[2], claimed = 0;
    bool checked = false, evaluated = false, again = state->begun; /* noted before it was stopped */
    run->green->displacements = &run->displacements;
    WEFT_TRY(enter(run));
    for (;;) {
        const bool first = result->noted == 0;
        bool done;
        WEFT_TRY(respond(run, products));
        if (!first && (checked || again)) result->noted--;
        WEFT_TRY(homogenize_note(run, result, products[0], state->size, &done));
        if (done && checked && evaluated) break;
        if (done) {
            claimed = products[0];
            checked = true;
            WEFT_TRY(check(run, result, claimed, &evaluated));
            continue;
        }
        if (first) expect_size(run);
        const bool alike = products[0] < 2 * claimed && claimed < 2 * products[0];
        if (checked && !alike) state->square = 0;
        WEFT_TRY(homogenize_rest(run, result));
        WEFT_TRY(advance(run, products));
        checked = again = false;
    }
    result->settled = state->first > 0 ? state->size / state->first : 0;
    return WEFT_SUCCESS;
}
