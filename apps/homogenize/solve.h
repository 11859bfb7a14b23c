/*
 * Solvers: from a load to the strain of each voxel, and what is told of it.
 *
 * The strain is E + v, where v belongs to the strains of displacements and, for each component of
 * the mean whose stress is given, to the constant ones. Each iteration applies Green's operator
 * once. The residual is ||Gamma (C e - S)|| / ||C e||, with ||e||^2 = <e C0 e> of strains and
 * <s C0^-1 s> of stresses: the share of the stress that is out of equilibrium, between 0 and 1,
 * whatever the units. It does not depend on whether the strain has converged slowly or not.
 */
#ifndef WEFT_HOMOGENIZE_SOLVE_H
#define WEFT_HOMOGENIZE_SOLVE_H

#include "green.h"
#include "hexahedra.h"
#include "histograms.h"
#include "sweeps.h"

#include <mpi.h>

/* More residuals than anybody looks at are not kept. */
enum { HOMOGENIZE_MOST_FIELDS = 4, HOMOGENIZE_MOST_RESIDUALS = 65536 };

/* What one load leads to. Vectors are in Mandel's notation. */
typedef struct homogenize_result {
    double strain[6], stress[6];      /* means */
    double energy;                    /* mean of strain times stress */
    double *phase_sums;               /* [phases]: strain, then stress, summed over its voxels */
    homogenize_histogram *histograms; /* [2 phases]: of strain and stress in each */
    double *history;                  /* residuals before each iteration, and the last one */
    int noted;                        /* residuals so far */
    int iterations;
    double residual; /* the last one */
    bool converged;
    double settled; /* size of the stress in the end over that in the beginning; 0: unknown */
    double seconds, green_seconds; /* all of it, and Green's operator alone */
} homogenize_result;

/* Who is told of a run; each may be NULL. */
typedef struct homogenize_listener {
    void (*begins)(void *argument, int load);
    void (*noted)(void *argument, const homogenize_result *result); /* of each residual */
    /* Between two iterations: what homogenize_run.state says stands. `last`: the run fails behind
     * it, for want of iterations. Collective. */
    weft_status (*rests)(void *argument, bool last);
    /* homogenize_show is possible; fields may be changed. Collective. */
    weft_status (*ended)(void *argument, int load);
    void *argument;
} homogenize_listener;

/* With the residuals of its result, and the first fields of a run (homogenize_kept_fields) or its
 * displacements, all that a solver goes on from. */
typedef struct homogenize_state {
    bool begun;                           /* between two iterations; else there is nothing */
    double square, size, factor;          /* the solver's */
    double first;                         /* size of the stress when the load began */
    double mean[DISPLACEMENT_VECTORS][6]; /* of the displacements' vectors */
} homogenize_state;

/* A run: all that a rank holds. */
typedef struct homogenize_run {
    MPI_Comm comm;
    const homogenize_case *c;
    homogenize_space space;
    homogenize_green *green;
    void *field[HOMOGENIZE_MOST_FIELDS];    /* the strain, and what the solver needs */
    homogenize_displacements displacements; /* in field[1], of the solver that has them */
    homogenize_hexahedra *hexahedra;        /* the elements, where the case has them, or NULL */
    void *mirror[HOMOGENIZE_MOST_FIELDS];   /* where fields are on a device: host memory for some */
    size_t field_bytes, vector_bytes;       /* of a field; of the displacements' vectors */
    double voxels;                          /* of the whole volume */
    double base[6], stress[6];              /* given means of strain and stress; 0 elsewhere */
    double start[6];                        /* the mean strain that a load begins with */
    double settled;                         /* result.settled of the load before; 0: unknown */
    homogenize_state state;
    double begun; /* the clock when the load began, less what it had taken before */
    const homogenize_listener *listener;
} homogenize_run;

/* How the case's solver holds its vectors: as fields, of which the first ones are needed from one
 * iteration to the next, or as displacements (then nothing is kept as a field). */
int homogenize_solver_fields(const homogenize_case *c);
int homogenize_kept_fields(const homogenize_case *c);
bool homogenize_has_displacements(const homogenize_case *c);
int homogenize_displacement_components(const homogenize_case *c);

/* Fields in host memory, for what is done there: the fields themselves or, where those are on a
 * device, their mirrors, which are copies: fetched from the device, or sent there. */
void *homogenize_host_field(const homogenize_run *run, int field);
weft_status homogenize_fetch(homogenize_run *run, int field);
weft_status homogenize_send(homogenize_run *run, int field);

/* Room for a result of so many phases, without a residual yet. Fails where memory lacks; the caller
 * releases it, also then. Not collective. */
weft_status homogenize_result_create(homogenize_result *result, int phases);

/* Solves one load, from where run->state says: where that has not begun, a new result is made.
 * Fails where it does not converge, unless the case accepts that, and where a residual is not a
 * number. The caller releases the result, also after a failure. Collective. */
weft_status homogenize_solve(homogenize_run *run, const homogenize_load *load,
                             homogenize_result *result);
void homogenize_result_release(homogenize_result *result);

/* Behind a load: sees to it that strain and stress are in the first two fields of the run, in host
 * memory. Once for each load. Collective. */
weft_status homogenize_show(homogenize_run *run);
/* Residuals in its history: the first ones, where there were more. */
int homogenize_residuals_kept(const homogenize_result *result);

/* For solvers.c: adds up numbers of all ranks. */
weft_status homogenize_add_up(const homogenize_run *run, double *values, int count);

/* The residual, from its square and that of the stress. */
double homogenize_residual(double square, double size);

/* For solvers.c: remembers the square of a residual, and of the stress; *done tells that it is
 * the last one: converged, or as far as the case accepts. */
weft_status homogenize_note(homogenize_run *run, homogenize_result *result, double square,
                            double size, bool *done);

/* For solvers: what is told in the end, of the strain in field[0]; its stress comes into `stress`,
 * which may be field[0] itself. *size: that of the stress, of all ranks. Collective. */
weft_status homogenize_evaluate(homogenize_run *run, homogenize_result *result, void *stress,
                                double *size);

/* For solvers.c: before each iteration, with run->state. Fails where there may be no further one.
 */
weft_status homogenize_rest(homogenize_run *run, homogenize_result *result);

/* solvers.c */
weft_status homogenize_solve_basic(homogenize_run *run, homogenize_result *result);
weft_status homogenize_solve_barzilai_borwein(homogenize_run *run, homogenize_result *result);
weft_status homogenize_solve_cg(homogenize_run *run, homogenize_result *result);
/* displacement_cg.c. It evaluates the result itself; the strain comes into field[0] with the second
 * one. */
weft_status homogenize_show_displacements(homogenize_run *run);
weft_status homogenize_solve_displacements(homogenize_run *run, homogenize_result *result);
weft_status homogenize_solve_eyre_milton(homogenize_run *run, homogenize_result *result);

#endif
