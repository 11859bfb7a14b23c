/*
 * weft over MPI: the entry point of libweft_mpi. Includes <mpi.h> and the rest of the interface.
 */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#include <mpi.h>
#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a context over the ranks of comm. MPI is initialized by the caller and outlives the
 * context; the communicator is duplicated, so the caller may free its own. WEFT_P2P_STREAMS sends
 * from its own thread where MPI was initialized with MPI_THREAD_MULTIPLE and from the calling
 * thread otherwise. opt may be NULL. Collective over comm. */
WEFT_API weft_status weft_mpi_context_create(MPI_Comm comm, const weft_context_options *opt,
                                             weft_context *ctx);

/* The same for callers in Fortran: comm is the communicator's number there, comm%MPI_VAL with the
 * module mpi_f08. Collective over comm. */
WEFT_API weft_status weft_mpi_context_create_f(MPI_Fint comm, const weft_context_options *opt,
                                               weft_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
