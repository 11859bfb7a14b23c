/* The tests that weft validate runs on one plan; each has an answer that is known. */
#ifndef WEFT_TOOLS_VALIDATE_CASE_H
#define WEFT_TOOLS_VALIDATE_CASE_H

#include "launch.h"

#include <stdbool.h>
#include <weft/weft.h>

typedef struct case_result {
    double seconds;    /* one forward transform, of the slowest rank */
    double gflops;     /* 5 N log2 N / t, half of it for real data */
    double round_trip; /* relative L2 errors */
    double laplacian;  /* of sums of sines; -1 of r2r, and where the shape is too small for one */
    double placement;  /* of the plane wave that an impulse becomes: each element names its own
                          index;  of r2r, of a product of random lines against the definition */
    double bound;      /* above which round_trip and placement are wrong */
    double laplacian_bound; /* and laplacian */
    uint64_t checksum;      /* of this rank's bits of the spectrum of the random input */
    const char *failed;     /* the first test that missed its bound, or NULL */
} case_result;

/* Runs all tests of the plan. Collective; on failure all ranks return the same status. */
weft_status case_run(weft_plan plan, const weft_problem *problem, const command_world *world,
                     case_result *result);

/* Index redistribution: the redistributions of a case alone move the indices of its complex array,
 * and every element must arrive at the place that it names, both ways. Collective. */
weft_status case_run_redistribution(weft_context context, const weft_problem *problem,
                                    const weft_options *options, const command_world *world,
                                    bool *right);

#endif
