/* The all-to-all of the MPI transport: MPI_Alltoallv, or MPI_Alltoallw over datatypes. */
#include "transport/mpi/mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct weft_alltoall {
    bool by_type; /* MPI_Alltoallw */
    MPI_Datatype element;
    int members;
    int *send_counts, *send_offsets, *receive_counts, *receive_offsets;
    MPI_Datatype *send_types, *receive_types;
    bool types_owned;
};

void weft_mpi_alltoall_destroy(weft_transport *transport, weft_alltoall *a) {
    (void)transport;
    if (!a) return;
    for (int m = 0; m < a->members && a->types_owned; m++) {
        if (a->send_types[m] != MPI_BYTE) MPI_Type_free(&a->send_types[m]);
        if (a->receive_types[m] != MPI_BYTE) MPI_Type_free(&a->receive_types[m]);
    }
    if (a->element != MPI_DATATYPE_NULL) MPI_Type_free(&a->element);
    free(a->send_counts);
    free(a->send_types);
    free(a);
}

static weft_alltoall *alltoall_allocate(int members) {
    weft_alltoall *a = calloc(1, sizeof *a);
    int *integers = calloc(4 * (size_t)members, sizeof *integers);
    MPI_Datatype *types = calloc(2 * (size_t)members, sizeof *types);
    if (!a || !integers || !types) {
        free(a);
        free(integers);
        free(types);
        weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an all-to-all of %d ranks", members);
        return NULL;
    }
    *a = (weft_alltoall){.element = MPI_DATATYPE_NULL,
                         .members = members,
                         .send_counts = integers,
                         .send_offsets = integers + members,
                         .receive_counts = integers + 2 * members,
                         .receive_offsets = integers + 3 * members,
                         .send_types = types,
                         .receive_types = types + members};
    for (int m = 0; m < 2 * members; m++) types[m] = MPI_BYTE;
    return a;
}

static bool fits(const weft_run *runs, int members) {
    for (int m = 0; m < members; m++)
        if (runs[m].offset > INT_MAX || runs[m].count > INT_MAX) return false;
    return true;
}

/* Makes a datatype with displacements inside. The caller still owns `type`; *made is MPI_BYTE or
 * must be freed, also after a failure. */
static weft_status displaced_type(int count, const MPI_Aint *offset, MPI_Datatype type,
                                  MPI_Datatype *made) {
    int code = MPI_Type_create_hindexed_block(1, count, offset, type, made);
    if (code)
        *made = MPI_BYTE;
    else
        code = MPI_Type_commit(made);
    return code ? weft_mpi_failed("making a datatype", code) : WEFT_SUCCESS;
}

/* Makes the datatypes of runs whose lengths or displacements exceed int: one for each, with its
 * displacement inside. */
static weft_status types_of_runs(const weft_run *runs, int members, size_t element_bytes,
                                 MPI_Datatype *types, int *counts) {
    for (int m = 0; m < members; m++) {
        counts[m] = runs[m].count > 0;
        if (runs[m].count == 0) continue;
        MPI_Datatype run;
        MPI_Aint offset = (MPI_Aint)runs[m].offset * (MPI_Aint)element_bytes;
        MPI_TRY(weft_mpi_element_type(element_bytes, &run));
        MPI_TRY(weft_mpi_repeat(runs[m].count, (MPI_Aint)element_bytes, &run));
        weft_status status = displaced_type(1, &offset, run, &types[m]);
        MPI_Type_free(&run);
        WEFT_TRY(status);
    }
    return WEFT_SUCCESS;
}

weft_status weft_mpi_alltoall_create(weft_transport *transport, const weft_run *send,
                                     const weft_run *receive, size_t element_bytes,
                                     weft_alltoall **alltoall) {
    int members = transport->size;
    weft_alltoall *a = send && receive ? alltoall_allocate(members) : NULL;
    weft_status status = a || !send ? WEFT_SUCCESS : WEFT_ERROR_OUT_OF_MEMORY;
    int64_t too_long = a && (!fits(send, members) || !fits(receive, members));
    /* All ranks must choose the same function, so ranks that have failed take part in the
     * choice. */
    weft_keep(&status, transport->ops->maximum(transport, &too_long, 1));
    *alltoall = a;
    if (!a || status != WEFT_SUCCESS) return status;
    a->by_type = too_long != 0;
    if (a->by_type) {
        a->types_owned = true;
        WEFT_TRY(types_of_runs(send, members, element_bytes, a->send_types, a->send_counts));
        return types_of_runs(receive, members, element_bytes, a->receive_types, a->receive_counts);
    }
    MPI_TRY(weft_mpi_element_type(element_bytes, &a->element));
    MPI_TRY(MPI_Type_commit(&a->element));
    for (int m = 0; m < members; m++) {
        a->send_counts[m] = (int)send[m].count;
        a->send_offsets[m] = (int)send[m].offset;
        a->receive_counts[m] = (int)receive[m].count;
        a->receive_offsets[m] = (int)receive[m].offset;
    }
    return WEFT_SUCCESS;
}

/* One message's datatype with its displacement inside, since MPI_Alltoallw's are int bytes. */
static weft_status displaced(const weft_message *message, MPI_Datatype *type, int *count) {
    *count = message && message->count > 0;
    if (*count == 0) return WEFT_SUCCESS;
    return displaced_type(message->count, &message->offset, message->type, type);
}

weft_status weft_mpi_alltoall_create_typed(weft_transport *transport, weft_message *const *send,
                                           weft_message *const *receive, weft_alltoall **alltoall) {
    weft_alltoall *a = alltoall_allocate(transport->size);
    if (!a) return WEFT_ERROR_OUT_OF_MEMORY;
    *alltoall = a;
    a->by_type = a->types_owned = true;
    for (int m = 0; m < transport->size; m++) {
        WEFT_TRY(displaced(send[m], &a->send_types[m], &a->send_counts[m]));
        WEFT_TRY(displaced(receive[m], &a->receive_types[m], &a->receive_counts[m]));
    }
    return WEFT_SUCCESS;
}

weft_status weft_mpi_alltoall(weft_transport *transport, const weft_alltoall *a, const void *send,
                              void *receive) {
    MPI_Comm comm = weft_mpi_comm(transport);
    if (a->by_type)
        MPI_TRY(MPI_Alltoallw(send, a->send_counts, a->send_offsets, a->send_types, receive,
                              a->receive_counts, a->receive_offsets, a->receive_types, comm));
    else
        MPI_TRY(MPI_Alltoallv(send, a->send_counts, a->send_offsets, a->element, receive,
                              a->receive_counts, a->receive_offsets, a->element, comm));
    return WEFT_SUCCESS;
}
