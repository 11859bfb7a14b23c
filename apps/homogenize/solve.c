/* What all solvers share: the load, the residual, and what is told in the end. */
#include "solve.h"

#include "device.h"
#include "io/agreement.h"
#include "matrix.h"
#include "support/clock.h"
#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct method {
    int fields, kept;
    bool displacements;
    weft_status (*solve)(homogenize_run *run, homogenize_result *result);
} method;

static const method methods[] = {
    [HOMOGENIZE_CG] = {2, 0, true, homogenize_solve_displacements},
    [HOMOGENIZE_BASIC] = {2, 1, false, homogenize_solve_basic},
    [HOMOGENIZE_EYRE_MILTON] = {2, 1, false, homogenize_solve_eyre_milton},
    [HOMOGENIZE_BARZILAI_BORWEIN] = {3, 2, false, homogenize_solve_barzilai_borwein},
};
/* Samples know no spectrum, so that the vectors are fields. */
static const method cg_of_fields = {4, 3, false, homogenize_solve_cg};

static const method *method_of(const homogenize_case *c) {
    return c->solver == HOMOGENIZE_CG && c->samples.used ? &cg_of_fields : &methods[c->solver];
}

int homogenize_solver_fields(const homogenize_case *c) {
    return method_of(c)->fields;
}

int homogenize_kept_fields(const homogenize_case *c) {
    return method_of(c)->kept;
}

bool homogenize_has_displacements(const homogenize_case *c) {
    return method_of(c)->displacements;
}

int homogenize_displacement_components(const homogenize_case *c) {
    return c->physics == HOMOGENIZE_ELASTICITY ? 3 : 1;
}

/* All ranks get the same bits, which MPI_Allreduce does not promise, so that they decide alike. */
weft_status homogenize_add_up(const homogenize_run *run, double *values, int count) {
    int rank;
    if (run->space.device)
        WEFT_TRY(weft_array_agree(run->comm, homogenize_device_status(run->space.device)));
    MPI_Comm_rank(run->comm, &rank);
    int result = rank == 0
                     ? MPI_Reduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, 0, run->comm)
                     : MPI_Reduce(values, NULL, count, MPI_DOUBLE, MPI_SUM, 0, run->comm);
    if (result == MPI_SUCCESS) result = MPI_Bcast(values, count, MPI_DOUBLE, 0, run->comm);
    if (result == MPI_SUCCESS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_TRANSPORT, "MPI failed while the ranks added up their sums");
}

/* ---- fields in host memory ---- */

void *homogenize_host_field(const homogenize_run *run, int field) {
    return run->space.device ? run->mirror[field] : run->field[field];
}

static size_t bytes_of(const homogenize_run *run, int field) {
    return field == 1 && run->vector_bytes > 0 ? run->vector_bytes : run->field_bytes;
}

static weft_status fetch(const homogenize_run *run, int field, size_t bytes) {
    return weft_buffer_download(run->green->plan, run->mirror[field], run->field[field], bytes);
}

weft_status homogenize_fetch(homogenize_run *run, int field) {
    return run->space.device ? fetch(run, field, bytes_of(run, field)) : WEFT_SUCCESS;
}

weft_status homogenize_send(homogenize_run *run, int field) {
    if (!run->space.device) return WEFT_SUCCESS;
    return weft_buffer_upload(run->green->plan, run->field[field], run->mirror[field],
                              bytes_of(run, field));
}

/* ---- residuals ---- */

int homogenize_residuals_kept(const homogenize_result *result) {
    return result->noted < HOMOGENIZE_MOST_RESIDUALS ? result->noted : HOMOGENIZE_MOST_RESIDUALS;
}

double homogenize_residual(double square, double size) {
    return square == 0 ? 0 : sqrt(square / size);
}

weft_status homogenize_note(homogenize_run *run, homogenize_result *result, double square,
                            double size, bool *done) {
    const double residual = homogenize_residual(square, size);
    if (result->noted < HOMOGENIZE_MOST_RESIDUALS) result->history[result->noted] = residual;
    result->residual = residual;
    result->iterations = result->noted++;
    /* Numbers that grow end as infinities, of which either alone would make a residual. */
    if (!isfinite(square) || !isfinite(size) || !isfinite(residual))
        return weft_fail(WEFT_ERROR_ENGINE,
                         "the residual is not a number at iteration %d: the iteration diverges; "
                         "drop reference, or give solver cg",
                         result->iterations);
    result->converged = residual <= run->c->tolerance;
    *done = result->converged ||
            (run->c->accept_unconverged && result->iterations >= run->c->max_iterations);
    if (run->listener->noted) run->listener->noted(run->listener->argument, result);
    return WEFT_SUCCESS;
}

weft_status homogenize_rest(homogenize_run *run, homogenize_result *result) {
    const homogenize_listener *l = run->listener;
    const bool last = result->noted > 0 && result->iterations >= run->c->max_iterations;
    run->state.begun = true;
    result->seconds = weft_clock() - run->begun;
    result->green_seconds = run->green->seconds;
    if (l->rests) WEFT_TRY(l->rests(l->argument, last));
    if (!last) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_ENGINE,
                     "the residual is %.2e after %d iterations, above the tolerance %g; raise "
                     "max_iterations, give another solver, or \"unconverged\": \"accept\"",
                     result->residual, result->iterations, run->c->tolerance);
}

/* ---- the load ---- */

/* The strain that all solvers begin with: of components whose stress is given, what the reference
 * medium would have. */
static void begin(homogenize_run *run, const homogenize_load *load) {
    const int n = run->green->components;
    double medium[36], rest[6], start[6] = {0};
    homogenize_green_set(run->green, &run->space.medium->reference, load->stress);
    homogenize_reference_matrix(&run->green->reference, n, medium);
    memset(run->base, 0, sizeof run->base);
    memset(run->stress, 0, sizeof run->stress);
    for (int i = 0; i < n; i++)
        *(load->stress[i] ? &run->stress[i] : &run->base[i]) = load->value[i];
    for (int i = 0; i < n; i++) {
        rest[i] = run->stress[i];
        for (int j = 0; j < n; j++) rest[i] -= medium[i * n + j] * run->base[j];
    }
    for (int i = 0; i < n; i++) {
        start[i] = run->base[i];
        for (int j = 0; j < n; j++) start[i] += run->green->zero[i * n + j] * rest[j];
    }
    memcpy(run->start, start, sizeof run->start);
    if (!run->state.begun) homogenize_fill(&run->space, run->field[0], start);
}

/* ---- the end ---- */

weft_status homogenize_evaluate(homogenize_run *run, homogenize_result *result, void *stress,
                                double *size) {
    const int n = run->green->components, phases = run->space.medium->phases;
    const homogenize_space *space = &run->space;
    const void *strain = run->field[0];
    double sums[14];
    homogenize_sums mine;
    memset(result->phase_sums, 0, (size_t)phases * 12 * sizeof *result->phase_sums);
    WEFT_TRY(weft_array_agree(run->comm, homogenize_phase_sums(space, strain, result->phase_sums)));
    WEFT_TRY(homogenize_add_up(run, result->phase_sums, phases * 2 * n));
    WEFT_TRY(homogenize_fill_histograms(space, run->comm, 0, strain, result->histograms));
    homogenize_stress(space, strain, stress, false, &mine);
    WEFT_TRY(homogenize_fill_histograms(space, run->comm, 1, stress, result->histograms));
    memcpy(sums, mine.strain, sizeof mine.strain);
    memcpy(sums + 6, mine.stress, sizeof mine.stress);
    sums[12] = mine.energy;
    sums[13] = mine.size;
    WEFT_TRY(homogenize_add_up(run, sums, 14));
    for (int i = 0; i < 6; i++) {
        result->strain[i] = i < n ? sums[i] / run->voxels : 0;
        result->stress[i] = i < n ? sums[6 + i] / run->voxels : 0;
    }
    result->energy = run->hexahedra ? run->hexahedra->mean.energy : sums[12] / run->voxels;
    *size = sums[13];
    return WEFT_SUCCESS;
}

weft_status homogenize_show(homogenize_run *run) {
    homogenize_sums unused;
    if (homogenize_has_displacements(run->c)) {
        WEFT_TRY(homogenize_show_displacements(run));
        homogenize_stress(&run->space, run->field[0], run->field[1], false, &unused);
    }
    if (!run->space.device) return WEFT_SUCCESS;
    weft_status status = homogenize_device_status(run->space.device);
    /* Fields, and not all of the memory in which vectors lie. */
    for (int f = 0; f < 2 && status == WEFT_SUCCESS; f++) status = fetch(run, f, run->field_bytes);
    return weft_array_agree(run->comm, status);
}

weft_status homogenize_result_create(homogenize_result *result, int phases) {
    memset(result, 0, sizeof *result);
    result->phase_sums = calloc((size_t)phases * 12, sizeof *result->phase_sums);
    result->history = calloc(HOMOGENIZE_MOST_RESIDUALS, sizeof *result->history);
    result->histograms = calloc(2 * (size_t)phases, sizeof *result->histograms);
    if (result->phase_sums && result->history && result->histograms) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for residuals and means");
}

weft_status homogenize_solve(homogenize_run *run, const homogenize_load *load,
                             homogenize_result *result) {
    double size;
    if (!run->state.begun)
        WEFT_TRY(weft_array_agree(run->comm,
                                  homogenize_result_create(result, run->space.medium->phases)));
    run->begun = weft_clock() - result->seconds;
    run->green->seconds = result->green_seconds;
    begin(run, load);
    WEFT_TRY(method_of(run->c)->solve(run, result));
    run->state = (homogenize_state){.begun = false};
    result->seconds = weft_clock() - run->begun;
    result->green_seconds = run->green->seconds;
    if (homogenize_has_displacements(run->c)) return WEFT_SUCCESS;
    return homogenize_evaluate(run, result, run->field[1], &size);
}

void homogenize_result_release(homogenize_result *result) {
    free(result->phase_sums);
    free(result->histograms);
    free(result->history);
    memset(result, 0, sizeof *result);
}
