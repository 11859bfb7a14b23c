/* Agreement of ranks on whether a step succeeded, so that all go on or all fail with the same
 * sentence. */
#ifndef WEFT_IO_AGREEMENT_H
#define WEFT_IO_AGREEMENT_H

#include <mpi.h>
#include <weft/weft.h>

/* Returns WEFT_SUCCESS when every rank passed it; otherwise the status of the lowest rank that
 * failed, whose sentence becomes the last error of all. Collective. */
weft_status weft_array_agree(MPI_Comm comm, weft_status mine);

#endif
