/* Communicators as Fortran numbers them. */
#include "support/error.h"

#include <weft/weft_mpi.h>

WEFT_API weft_status weft_mpi_context_create_f(MPI_Fint comm, const weft_context_options *opt,
                                               weft_context *ctx) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized) /* a number cannot be looked up then */
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_mpi_context_create_f outside of MPI_Init and MPI_Finalize");
    return weft_mpi_context_create(MPI_Comm_f2c(comm), opt, ctx);
}
