/*
 * Processes: starting them with mpirun, joining those that were started, and ending all alike.
 */
#ifndef WEFT_TOOLS_LAUNCH_H
#define WEFT_TOOLS_LAUNCH_H

#include <mpi.h>
#include <stdbool.h>
#include <weft/weft.h>

/* This process among its fellows. Alone (rank 0 of 1) until world_join. */
typedef struct command_world {
    bool joined;
    int rank, ranks;
    MPI_Comm comm;
} command_world;

/* The rank that a launcher gave this process, read from the environment before MPI is there; -1
 * without launcher. */
int launch_rank_hint(void);

/* How many processes a launcher started, read likewise; 1 where nothing tells. */
int launch_ranks_hint(void);

/* Whether stderr ends at a terminal, perhaps by way of the mpirun that --ranks started. */
bool launch_on_terminal(void);

/* This executable's path, or "" where the system does not tell; cut at capacity. */
void launch_self(char *path, size_t capacity);

/* Where ranks > 1 and no launcher runs yet: starts mpirun, which starts `ranks` copies of this
 * process with the same arguments, and leaves with their exit status once they ended. Returns
 * WEFT_SUCCESS where there is nothing to start. */
weft_status launch_ranks(int ranks, int threads, char **arguments);

/* Initializes MPI. ranks is what --ranks asked for (0: nothing), which must then be true.
 * Collective. */
weft_status world_join(command_world *world, int ranks, bool threads_send);

/* Prints the last error where status is not WEFT_SUCCESS, on one rank; finalizes MPI; returns the
 * exit status: 0, 2 where the user must change something, else 1. Collective; every rank passes the
 * same status. */
int world_leave(command_world *world, weft_status status);

/* The arguments of this process, which main hands over for launch_ranks. */
extern char **launch_arguments;

#endif
