/* A case from its file to its results, and what is told of them. */
#ifndef WEFT_HOMOGENIZE_JOB_H
#define WEFT_HOMOGENIZE_JOB_H

#include "bounds.h"
#include "solve.h"

#include <jansson.h>

/* A text that rank 0 reads from a file and sends to all; the caller frees it. Collective. */
weft_status homogenize_share_text(MPI_Comm comm, const char *name, char **text);

/* All that a rank holds, so that one place releases it. */
typedef struct homogenize_job {
    MPI_Comm comm;
    int rank, ranks;
    const char *name;     /* of the case's file */
    weft_options options; /* how transforms are computed, and where fields are */
    homogenize_case c;
    homogenize_scheme scheme; /* the case's, or what was chosen for it */
    weft_array *labels;       /* while it is read */
    weft_array_info info;     /* of the labels */
    weft_context context;
    homogenize_green green;
    homogenize_medium medium;
    homogenize_volume volume;
    homogenize_hexahedra hexahedra; /* where the discretization has them */
    homogenize_run run;
    homogenize_result result[6];
    int results;       /* loads that are solved, and the one that is being solved */
    double bytes;      /* that all ranks hold, where fields are on a device but for mirrors */
    double host_bytes; /* of mirrors */
} homogenize_job;

/* Reads the case, opens its label volume, and chooses the discretization. comm, rank, ranks,
 * name and options are set by the caller, who releases the job, also after a failure. Collective.
 */
weft_status homogenize_job_open(homogenize_job *job);

/* Bytes of host memory that each rank will need, before any is taken. Not collective. */
double homogenize_job_estimate(const homogenize_job *job);

/* Makes the plan, reads the labels. Collective. */
weft_status homogenize_job_prepare(homogenize_job *job);

/* Solves all loads of the case, from the last one in job->result on where run.state has begun, else
 * from the one behind it. The listener must outlive this. Collective. */
weft_status homogenize_job_solve(homogenize_job *job, const homogenize_listener *listener);

/* Loads of the case. */
int homogenize_job_loads(const homogenize_job *job);

/* The effective stiffness in Mandel's notation, or conductivity; false where the case has one load
 * only. Not collective. */
bool homogenize_job_effective(const homogenize_job *job, double *matrix);

/* report.c: the whole report as JSON, or NULL where memory lacks; the summary on stdout. */
json_t *homogenize_job_report(const homogenize_job *job);
void homogenize_job_print(const homogenize_job *job, const char *plan);

void homogenize_job_release(homogenize_job *job);

#endif
