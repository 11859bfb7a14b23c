/* Where ranks wait for each other and compare how a step went. */
#ifndef WEFT_BENCH_MEETING_H
#define WEFT_BENCH_MEETING_H

#include <mpi.h>
#include <stdbool.h>
#include <weft/weft.h>

/* Returns when all ranks have come: WEFT_SUCCESS where all passed it, else on all ranks the status
 * of the lowest one that failed, with its sentence. Where `quiet`, ranks sleep while they wait, so
 * that other processes get their cores. Collective. */
weft_status bench_meet(MPI_Comm comm, bool quiet, weft_status mine);

#endif
