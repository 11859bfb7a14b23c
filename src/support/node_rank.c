/* Reads the rank on its node from what launchers put into the environment. */
#include "support/node_rank.h"

#include <stddef.h>
#include <stdlib.h>

int weft_node_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "PMIX_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i]);
        int rank = text && text[0] ? atoi(text) : -1;
        if (rank >= 0) return rank;
    }
    return 0;
}
