/*
 * Conjugate gradients whose vectors are displacements (displacements.h), in the form with one sum
 * over all voxels for each iteration (Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989): with
 * the strain of the residual r in field[0], C r and both products are one pass over the voxels, and
 * Green's operator, which makes w of C r, changes the vectors on its way.
 *
 * x is the displacement whose strain, with the mean, is e; s = Gamma C p. In run->state, square is
 * <r, r> of the iteration before (0: begin anew with the direction r), and factor its length.
 *
 * Of hexahedra field[0] has displacements at nodes where it has strains elsewhere, and nodal forces
 * where it has stresses. Their means are with the elements: every rank knows them.
 */
#include "solve.h"

#include "support/error.h"

#include <string.h>

static weft_status apply(homogenize_run *run, displacement_step step) {
    homogenize_hexahedra *h = run->hexahedra;
    run->displacements.change.step = step;
    if (h) homogenize_green_mean(run->green, h->mean.stress, h->strain);
    WEFT_TRY(homogenize_green_apply(run->green, run->field[0]));
    return h ? homogenize_nodes_take(&h->nodes, run->field[0]) : WEFT_SUCCESS;
}

/* The nodal forces of what is at the nodes, which come into field[0], and means of all elements. */
static weft_status find_forces(homogenize_run *run) {
    homogenize_hexahedra *h = run->hexahedra;
    double sums[HEXAHEDRA_SUMS];
    homogenize_hexahedra_forces(&run->space, h, run->field[0], &h->mean);
    memcpy(sums, &h->mean, sizeof sums);
    WEFT_TRY(homogenize_add_up(run, sums, HEXAHEDRA_SUMS));
    for (int i = 0; i < HEXAHEDRA_SUMS; i++) sums[i] /= run->voxels;
    memcpy(&h->mean, sums, sizeof sums);
    return WEFT_SUCCESS;
}

/* r = Gamma (s - S) of the stress s in field[0], which becomes the strain of r. */
static weft_status take_residual(homogenize_run *run, displacement_step step) {
    memcpy(run->green->offset, run->stress, sizeof run->stress);
    WEFT_TRY(apply(run, step));
    memset(run->green->offset, 0, sizeof run->green->offset);
    return WEFT_SUCCESS;
}

/* The size of the stress of the strain in field[0], which goes to `stress` unless that is NULL; of
 * hexahedra it always goes to field[0]. */
static weft_status find_size(homogenize_run *run, void *stress) {
    homogenize_sums sums;
    if (run->hexahedra) {
        WEFT_TRY(find_forces(run));
        run->state.size = run->hexahedra->mean.size * run->voxels;
        return WEFT_SUCCESS;
    }
    homogenize_stress(&run->space, run->field[0], stress, false, &sums);
    run->state.size = sums.size;
    return homogenize_add_up(run, &run->state.size, 1);
}

/* The strain that a load begins with, at the nodes. */
static void begin_elements(homogenize_run *run) {
    homogenize_nodes_clear(&run->hexahedra->nodes);
    memcpy(run->hexahedra->strain, run->start, sizeof run->start);
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
    if (run->hexahedra) begin_elements(run);
    WEFT_TRY(find_size(run, run->field[0]));
    run->state.first = run->state.size;
    return take_residual(run, DISPLACEMENT_BEGIN);
}

/* The load's result, of x. Its stress, or its nodal forces, are in field[0] then. */
static weft_status evaluate(homogenize_run *run, homogenize_result *result) {
    const homogenize_hexahedra *h = run->hexahedra;
    double unused;
    if (h) homogenize_hexahedra_strain(&run->space, h, run->field[0]);
    WEFT_TRY(homogenize_evaluate(run, result, run->field[0], &unused));
    return h ? find_forces(run) : WEFT_SUCCESS;
}

/* The strain that has been found, and the residual anew. The size of the stress tells whether the
 * residual <r, r> is small, and then there is the load's result, too. */
static weft_status check(homogenize_run *run, homogenize_result *result, double square,
                         bool *evaluated) {
    WEFT_TRY(apply(run, DISPLACEMENT_SHOW_X));
    WEFT_TRY(find_size(run, NULL));
    *evaluated =
        !result->converged || homogenize_residual(square, run->state.size) <= run->c->tolerance;
    if (*evaluated)
        WEFT_TRY(evaluate(run, result));
    else
        WEFT_TRY(find_size(run, run->field[0]));
    return take_residual(run, DISPLACEMENT_REPLACE);
}

weft_status homogenize_show_displacements(homogenize_run *run) {
    WEFT_TRY(apply(run, DISPLACEMENT_SHOW_X));
    if (run->hexahedra) homogenize_hexahedra_strain(&run->space, run->hexahedra, run->field[0]);
    return WEFT_SUCCESS;
}

static weft_status respond_elements(homogenize_run *run, double products[2]) {
    WEFT_TRY(find_forces(run));
    products[0] = run->hexahedra->mean.square * run->voxels;
    products[1] = run->hexahedra->mean.energy * run->voxels;
    memcpy(run->state.mean, run->displacements.mean, sizeof run->state.mean);
    return WEFT_SUCCESS;
}

/* Field[0], the strain of r, becomes C r. products: <r, r> and r C r. All ranks learn the means. */
static weft_status respond(homogenize_run *run, double products[2]) {
    const homogenize_displacements *d = &run->displacements;
    enum { MEANS = sizeof d->mean / sizeof(double) };
    double sums[2 + MEANS] = {0};
    if (run->hexahedra) return respond_elements(run, products);
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
