/*
 * The parts of bench_ceilings, and what they share: who measures together, and the clock for work
 * that all ranks of a node do at once.
 */
#ifndef WEFT_BENCH_CEILINGS_PARTS_H
#define WEFT_BENCH_CEILINGS_PARTS_H

#include "bench/ceilings_team.h"
#include "launch.h"

#include <jansson.h>

typedef struct ceilings_group {
    const command_world *world;
    MPI_Comm node; /* the ranks that share this node's memory */
    int node_ranks;
    int far_rank; /* whom rank 0 exchanges messages with: the first rank of another node, else 1 */
    bool one_node;
    ceilings_team *team; /* the threads of this rank */
} ceilings_group;

/* Each makes a JSON object on rank 0, and NULL on the others; what is made belongs to the caller
 * also after a failure. Collective. */
weft_status ceilings_memory(const ceilings_group *group, json_t **memory);
weft_status ceilings_compute(const ceilings_group *group, json_t **compute);
weft_status ceilings_network(const ceilings_group *group, json_t **network); /* two ranks or more */
/* NULL where rank 0 has no CUDA device. */
weft_status ceilings_host_link(const ceilings_group *group, json_t **host_link);

/* Runs function(argument, thread) on every thread of every rank at once, three times at least and
 * until `budget` seconds have passed; the best time from the first start to the last end on a node,
 * of the slowest node. Collective. */
weft_status ceilings_best_time(const ceilings_group *group, ceilings_work function, void *argument,
                               double budget, double *seconds);

/* A barrier in which ranks that wait sleep, so that others are not disturbed. Collective. */
weft_status ceilings_wait(const ceilings_group *group);

weft_status ceilings_mpi_failed(const char *call, int code);

#define CEILINGS_MPI(call)                                                                         \
    do {                                                                                           \
        int ceilings_code = (call);                                                                \
        if (ceilings_code != MPI_SUCCESS) return ceilings_mpi_failed(#call, ceilings_code);        \
    } while (0)

#endif
