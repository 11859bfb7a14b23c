/*
 * The MPI transport: groups are communicators, messages are derived datatypes.
 *
 * Counts above 2^31 - 1 never reach MPI's int arguments: long runs become a datatype of large
 * blocks, and an all-to-all whose counts or displacements do not fit turns into MPI_Alltoallw with
 * displacements inside the datatypes. MPI errors are returned, not fatal.
 */
#include "support/error.h"
#include "transport/transport.h"

#include "exec/context.h"

#include <weft/weft_mpi.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_TAG = 1 };

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

struct weft_alltoall {
    bool by_type; /* MPI_Alltoallw */
    MPI_Datatype element;
    int members;
    int *send_counts, *send_offsets, *receive_counts, *receive_offsets;
    MPI_Datatype *send_types, *receive_types;
    bool types_owned;
};

static weft_status failed(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return weft_fail(WEFT_ERROR_TRANSPORT, "%s failed: %s", what, text);
}

#define MPI_TRY(call)                                                                              \
    do {                                                                                           \
        int mpi_code = (call);                                                                     \
        if (mpi_code != MPI_SUCCESS) return failed(#call, mpi_code);                               \
    } while (0)

static MPI_Comm comm_of(weft_transport *transport) {
    return ((mpi_transport *)transport)->comm;
}

static weft_request from_mpi(MPI_Request request) {
    weft_request result = {0};
    memcpy(&result.opaque, &request, sizeof request);
    return result;
}

static MPI_Request to_mpi(weft_request request) {
    MPI_Request result;
    memcpy(&result, &request.opaque, sizeof result);
    return result;
}

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "an MPI_Request fits into a weft_request");

/* ------------------------------------------------------------------ groups */

static weft_status adopt(MPI_Comm comm, weft_transport **transport);

static weft_status mpi_split(weft_transport *transport, int color, int key,
                             weft_transport **group) {
    MPI_Comm comm;
    MPI_TRY(MPI_Comm_split(comm_of(transport), color, key, &comm));
    return adopt(comm, group);
}

static void mpi_release(weft_transport *transport) {
    mpi_transport *mpi = (mpi_transport *)transport;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&mpi->comm);
    free(mpi);
}

static weft_status mpi_maximum(weft_transport *transport, int64_t *values, int count) {
    MPI_TRY(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm_of(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_maximum_double(weft_transport *transport, double *values, int count) {
    MPI_TRY(MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, comm_of(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_gather_all(weft_transport *transport, const void *mine, size_t bytes,
                                  void *all) {
    MPI_TRY(
        MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_broadcast(weft_transport *transport, void *data, size_t bytes, int root) {
    MPI_TRY(MPI_Bcast(data, (int)bytes, MPI_BYTE, root, comm_of(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_barrier(weft_transport *transport) {
    MPI_TRY(MPI_Barrier(comm_of(transport)));
    return WEFT_SUCCESS;
}

static bool mpi_threads_allowed(weft_transport *transport) {
    return ((mpi_transport *)transport)->threads_allowed;
}

/* ---------------------------------------------------------------- messages */

/* The basic type of an element: its real numbers, so that MPI moves whole words. */
static int element_type(size_t bytes, MPI_Datatype *type) {
    switch (bytes) {
    case 4:
        return MPI_Type_contiguous(1, MPI_FLOAT, type);
    case 8:
        return MPI_Type_contiguous(1, MPI_DOUBLE, type);
    case 16:
        return MPI_Type_contiguous(2, MPI_DOUBLE, type);
    default:
        return MPI_Type_contiguous((int)bytes, MPI_BYTE, type);
    }
}

/* `count` copies of `type`, `stride` bytes apart; contiguous ones are told so, which MPI copies
 * faster. */
static int vector(int64_t count, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *result) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    if (extent == stride) return MPI_Type_contiguous((int)count, type, result);
    return MPI_Type_create_hvector((int)count, 1, stride, type, result);
}

/* `count` copies of *type, `stride` bytes apart, replace *type. Counts beyond int are split into
 * blocks. */
static int repeat(int64_t count, MPI_Aint stride, MPI_Datatype *type) {
    MPI_Datatype inner = *type, result = MPI_DATATYPE_NULL;
    const int64_t block = 1 << 30;
    int code;
    if (count <= block) {
        code = vector(count, stride, inner, &result);
    } else {
        MPI_Datatype piece, pieces = MPI_DATATYPE_NULL, rest = MPI_DATATYPE_NULL;
        int lengths[2] = {1, 1};
        MPI_Aint places[2] = {0, (MPI_Aint)(count / block) * block * stride};
        if ((code = vector(block, stride, inner, &piece))) return code;
        code = vector(count / block, block * stride, piece, &pieces);
        if (!code) code = vector(count % block, stride, inner, &rest);
        MPI_Datatype parts[2] = {pieces, rest};
        if (!code) code = MPI_Type_create_struct(2, lengths, places, parts, &result);
        MPI_Type_free(&piece);
        if (pieces != MPI_DATATYPE_NULL) MPI_Type_free(&pieces);
        if (rest != MPI_DATATYPE_NULL) MPI_Type_free(&rest);
    }
    MPI_Type_free(&inner);
    *type = result;
    return code;
}

/* Loops of a view from contiguous to slowest, neighbours merged where one continues the other. */
static int merged_loops(const weft_view *view, const int *order, int64_t *n, int64_t *stride) {
    int loops = 0;
    for (int i = view->axes - 1; i >= 0; i--) {
        int a = order[i];
        if (view->n[a] == 1) continue;
        if (loops > 0 && view->stride[a] == n[loops - 1] * stride[loops - 1]) {
            n[loops - 1] *= view->n[a];
        } else {
            n[loops] = view->n[a];
            stride[loops++] = view->stride[a];
        }
    }
    return loops;
}

static bool view_is_empty(const weft_view *view) {
    for (int a = 0; a < view->axes; a++)
        if (view->n[a] == 0) return true;
    return false;
}

static weft_status message_create(weft_transport *transport, const weft_view *view,
                                  const int *order, size_t element_bytes, weft_message **message) {
    (void)transport;
    weft_message *m = calloc(1, sizeof *m);
    if (!m) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a message");
    m->type = MPI_BYTE;
    m->offset = (MPI_Aint)view->offset * (MPI_Aint)element_bytes;
    *message = m;
    if (view_is_empty(view)) {
        m->offset = 0;
        return WEFT_SUCCESS;
    }
    int64_t n[WEFT_AXES], stride[WEFT_AXES];
    int loops = merged_loops(view, order, n, stride);
    bool contiguous = loops == 0 || (loops == 1 && stride[0] == 1);
    int64_t bytes = (loops == 0 ? 1 : n[0]) * (int64_t)element_bytes;
    if (contiguous && bytes <= INT_MAX) {
        m->count = (int)bytes;
        return WEFT_SUCCESS;
    }
    int code = element_type(element_bytes, &m->type);
    for (int i = 0; i < loops && !code; i++)
        code = repeat(n[i], (MPI_Aint)stride[i] * (MPI_Aint)element_bytes, &m->type);
    if (!code) code = MPI_Type_commit(&m->type);
    m->owned = true;
    m->count = 1;
    return code ? failed("making a datatype", code) : WEFT_SUCCESS;
}

static void message_destroy(weft_transport *transport, weft_message *message) {
    (void)transport;
    if (!message) return;
    if (message->owned) MPI_Type_free(&message->type);
    free(message);
}

static weft_status mpi_send(weft_transport *transport, const void *base,
                            const weft_message *message, int partner, weft_request *request) {
    MPI_Request r;
    MPI_TRY(MPI_Isend((const char *)base + message->offset, message->count, message->type, partner,
                      MESSAGE_TAG, comm_of(transport), &r));
    *request = from_mpi(r);
    return WEFT_SUCCESS;
}

static weft_status mpi_receive(weft_transport *transport, void *base, const weft_message *message,
                               int partner, weft_request *request) {
    MPI_Request r;
    MPI_TRY(MPI_Irecv((char *)base + message->offset, message->count, message->type, partner,
                      MESSAGE_TAG, comm_of(transport), &r));
    *request = from_mpi(r);
    return WEFT_SUCCESS;
}

static weft_request mpi_no_request(void) {
    return from_mpi(MPI_REQUEST_NULL);
}

/* Requests are handles stored in 64 bits; where MPI's are as wide, the array is MPI's own. */
static MPI_Request *as_mpi(weft_request *requests) {
    return (MPI_Request *)(void *)requests;
}

static weft_status any(weft_request *requests, int count, int *index, bool wait) {
    int done = 1, which = MPI_UNDEFINED;
    if (sizeof(MPI_Request) == sizeof(weft_request)) {
        if (wait)
            MPI_TRY(MPI_Waitany(count, as_mpi(requests), &which, MPI_STATUS_IGNORE));
        else
            MPI_TRY(MPI_Testany(count, as_mpi(requests), &which, &done, MPI_STATUS_IGNORE));
        *index = !done ? -2 : which == MPI_UNDEFINED ? -1 : which;
        return WEFT_SUCCESS;
    }
    bool live;
    do { /* narrow handles: look at each in turn */
        live = false;
        for (int i = 0; i < count; i++) {
            MPI_Request r = to_mpi(requests[i]);
            if (r == MPI_REQUEST_NULL) continue;
            live = true;
            MPI_TRY(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
            if (!done) continue;
            requests[i] = from_mpi(r);
            *index = i;
            return WEFT_SUCCESS;
        }
    } while (wait && live);
    *index = live ? -2 : -1;
    return WEFT_SUCCESS;
}

static weft_status mpi_wait_any(weft_transport *transport, weft_request *requests, int count,
                                int *index) {
    (void)transport;
    return any(requests, count, index, true);
}

static weft_status mpi_test_any(weft_transport *transport, weft_request *requests, int count,
                                int *index) {
    (void)transport;
    return any(requests, count, index, false);
}

static weft_status mpi_wait_all(weft_transport *transport, weft_request *requests, int count) {
    (void)transport;
    for (int i = 0; i < count; i++) {
        MPI_Request r = to_mpi(requests[i]);
        MPI_TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
        requests[i] = from_mpi(r);
    }
    return WEFT_SUCCESS;
}

/* -------------------------------------------------------------- all-to-all */

static void alltoall_destroy(weft_transport *transport, weft_alltoall *a) {
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

/* Runs too long or too far for int: one datatype for each, with its displacement inside. */
static weft_status types_of_runs(const weft_run *runs, int members, size_t element_bytes,
                                 MPI_Datatype *types, int *counts) {
    for (int m = 0; m < members; m++) {
        counts[m] = runs[m].count > 0;
        if (runs[m].count == 0) continue;
        MPI_Datatype run;
        MPI_Aint offset = (MPI_Aint)runs[m].offset * (MPI_Aint)element_bytes;
        MPI_TRY(element_type(element_bytes, &run));
        MPI_TRY(repeat(runs[m].count, (MPI_Aint)element_bytes, &run));
        int code = MPI_Type_create_hindexed_block(1, 1, &offset, run, &types[m]);
        MPI_Type_free(&run);
        if (code) {
            types[m] = MPI_BYTE;
            return failed("making a datatype", code);
        }
        MPI_TRY(MPI_Type_commit(&types[m]));
    }
    return WEFT_SUCCESS;
}

static weft_status alltoall_create(weft_transport *transport, const weft_run *send,
                                   const weft_run *receive, size_t element_bytes,
                                   weft_alltoall **alltoall) {
    int members = transport->size;
    weft_alltoall *a = alltoall_allocate(members);
    if (!a) return WEFT_ERROR_OUT_OF_MEMORY;
    *alltoall = a;
    int64_t too_long = !fits(send, members) || !fits(receive, members);
    WEFT_TRY(mpi_maximum(transport, &too_long, 1)); /* every rank takes the same road */
    a->by_type = too_long != 0;
    if (a->by_type) {
        a->types_owned = true;
        WEFT_TRY(types_of_runs(send, members, element_bytes, a->send_types, a->send_counts));
        return types_of_runs(receive, members, element_bytes, a->receive_types, a->receive_counts);
    }
    MPI_TRY(element_type(element_bytes, &a->element));
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
    MPI_TRY(
        MPI_Type_create_hindexed_block(1, message->count, &message->offset, message->type, type));
    MPI_TRY(MPI_Type_commit(type));
    return WEFT_SUCCESS;
}

static weft_status alltoall_create_typed(weft_transport *transport, weft_message *const *send,
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

static weft_status mpi_alltoall(weft_transport *transport, const weft_alltoall *a, const void *send,
                                void *receive) {
    MPI_Comm comm = comm_of(transport);
    if (a->by_type)
        MPI_TRY(MPI_Alltoallw(send, a->send_counts, a->send_offsets, a->send_types, receive,
                              a->receive_counts, a->receive_offsets, a->receive_types, comm));
    else
        MPI_TRY(MPI_Alltoallv(send, a->send_counts, a->send_offsets, a->element, receive,
                              a->receive_counts, a->receive_offsets, a->element, comm));
    return WEFT_SUCCESS;
}

static const weft_transport_ops mpi_ops = {
    .name = "mpi",
    .split = mpi_split,
    .release = mpi_release,
    .maximum = mpi_maximum,
    .maximum_double = mpi_maximum_double,
    .gather_all = mpi_gather_all,
    .broadcast = mpi_broadcast,
    .barrier = mpi_barrier,
    .threads_allowed = mpi_threads_allowed,
    .message_create = message_create,
    .message_destroy = message_destroy,
    .send = mpi_send,
    .receive = mpi_receive,
    .wait_any = mpi_wait_any,
    .test_any = mpi_test_any,
    .wait_all = mpi_wait_all,
    .no_request = mpi_no_request,
    .alltoall_create = alltoall_create,
    .alltoall_create_typed = alltoall_create_typed,
    .alltoall_destroy = alltoall_destroy,
    .alltoall = mpi_alltoall,
};

/* Takes comm over, also when it fails. */
static weft_status adopt(MPI_Comm comm, weft_transport **transport) {
    int level = MPI_THREAD_SINGLE;
    mpi_transport *mpi = calloc(1, sizeof *mpi);
    if (!mpi) {
        MPI_Comm_free(&comm);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a group");
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Query_thread(&level);
    mpi->base.ops = &mpi_ops;
    mpi->comm = comm;
    mpi->threads_allowed = level == MPI_THREAD_MULTIPLE;
    MPI_Comm_size(comm, &mpi->base.size);
    MPI_Comm_rank(comm, &mpi->base.rank);
    *transport = &mpi->base;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_mpi_context_create(MPI_Comm comm, const weft_context_options *opt,
                                             weft_context *ctx) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!initialized || finalized)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_mpi_context_create outside of MPI_Init and MPI_Finalize");
    if (comm == MPI_COMM_NULL)
        return weft_fail(
            WEFT_ERROR_INVALID_ARGUMENT,
            "weft_mpi_context_create: comm is MPI_COMM_NULL; pass the ranks' communicator");
    int is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_mpi_context_create: comm is an intercommunicator; merge it first");
    MPI_Comm copy;
    weft_transport *transport = NULL;
    MPI_TRY(MPI_Comm_dup(comm, &copy));
    WEFT_TRY(adopt(copy, &transport));
    return weft_context_over_transport(transport, opt, ctx);
}
