/*
 * Inside the MPI transport: a communicator behind the transport object, messages as datatypes.
 * mpi.c holds groups and reductions, messages.c sends and receives, alltoall.c the all-to-all,
 * shared.c the memory that ranks of a node read in each other.
 *
 * Counts above 2^31 - 1 never reach MPI's int arguments: long runs become a datatype of large
 * blocks, and an all-to-all whose counts or displacements do not fit turns into MPI_Alltoallw with
 * displacements inside the datatypes. MPI errors are returned, not fatal.
 */
#ifndef WEFT_TRANSPORT_MPI_H
#define WEFT_TRANSPORT_MPI_H

#include "support/error.h"
#include "transport/transport.h"

#include <weft/weft_mpi.h>

typedef struct mpi_transport {
    weft_transport base;
    MPI_Comm comm;
    bool threads_allowed;
} mpi_transport;

struct weft_message {
    MPI_Datatype type;
    int count;  /* of type */
    bool owned; /* type is ours to free */
    MPI_Aint offset;
};

static inline MPI_Comm weft_mpi_comm(weft_transport *transport) {
    return ((mpi_transport *)transport)->comm;
}

/* Fails with MPI's message for an error code. */
weft_status weft_mpi_failed(const char *what, int code);

#define MPI_TRY(call)                                                                              \
    do {                                                                                           \
        int mpi_code = (call);                                                                     \
        if (mpi_code != MPI_SUCCESS) return weft_mpi_failed(#call, mpi_code);                      \
    } while (0)

/* The MPI type of an element, and a run of elements of any length as one type. */
int weft_mpi_element_type(size_t bytes, MPI_Datatype *type);
int weft_mpi_repeat(int64_t count, MPI_Aint stride, MPI_Datatype *type);

/* The entries of the operations table that lie in the other files. */
weft_status weft_mpi_message_create(weft_transport *transport, const weft_view *view,
                                    const int *order, size_t element_bytes, weft_message **message);
void weft_mpi_message_destroy(weft_transport *transport, weft_message *message);
weft_status weft_mpi_send(weft_transport *transport, const void *base, const weft_message *message,
                          int partner, weft_request *request);
weft_status weft_mpi_receive(weft_transport *transport, void *base, const weft_message *message,
                             int partner, weft_request *request);
weft_status weft_mpi_wait_any(weft_transport *transport, weft_request *requests, int count,
                              int *index);
weft_status weft_mpi_test_any(weft_transport *transport, weft_request *requests, int count,
                              int *index);
weft_status weft_mpi_wait_all(weft_transport *transport, weft_request *requests, int count);
weft_request weft_mpi_no_request(void);
weft_status weft_mpi_alltoall_create(weft_transport *transport, const weft_run *send,
                                     const weft_run *receive, size_t element_bytes,
                                     weft_alltoall **alltoall);
weft_status weft_mpi_alltoall_create_typed(weft_transport *transport, weft_message *const *send,
                                           weft_message *const *receive, weft_alltoall **alltoall);
void weft_mpi_alltoall_destroy(weft_transport *transport, weft_alltoall *alltoall);
weft_status weft_mpi_alltoall(weft_transport *transport, const weft_alltoall *alltoall,
                              const void *send, void *receive);
weft_status weft_mpi_nodes(weft_transport *transport, int *node);
weft_status weft_mpi_share(weft_transport *transport, const int *node, size_t bytes,
                           weft_shared **shared);
void *weft_mpi_shared_part(const weft_shared *shared, int rank);
void weft_mpi_unshare(weft_transport *transport, weft_shared *shared);
void weft_mpi_progress(weft_transport *transport);

#endif
