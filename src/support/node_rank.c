/* Reads the rank on its node from what launchers put into the environment. */
#include "support/node_rank.h"

#include <stddef.h>
#include <stdlib.h>

enum { LAUNCHERS = 4 };

/* The value of the first of these variables that holds a number of at least `least`; otherwise
 * `least`. */
static int read_first(const char *const *variables, int least) {
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *text = getenv(variables[i]);
        int number = text && text[0] ? atoi(text) : -1;
        if (number >= least) return number;
    }
    return least;
}

int weft_node_rank(void) {
    static const char *const variables[LAUNCHERS] = {
        "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "SLURM_LOCALID"};
    return read_first(variables, 0);
}

int weft_node_ranks(void) {
    /* SLURM's begins with those of the step's first node: "4(x2),3". */
    static const char *const variables[LAUNCHERS] = {"OMPI_COMM_WORLD_LOCAL_SIZE",
                                                     "MPI_LOCALNRANKS", "PMIX_LOCAL_SIZE",
                                                     "SLURM_STEP_TASKS_PER_NODE"};
    return read_first(variables, 1);
}
