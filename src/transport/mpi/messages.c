/* Messages of the MPI transport: views as derived datatypes, sends, receives, waiting. */
#include "transport/mpi/mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_TAG = 1 };

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

/* The basic type of an element: its real numbers, so that MPI moves whole words. */
int weft_mpi_element_type(size_t bytes, MPI_Datatype *type) {
    *type = MPI_DATATYPE_NULL;
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

/* Frees a datatype if it was made. */
static void free_type(MPI_Datatype *type) {
    if (*type != MPI_DATATYPE_NULL) MPI_Type_free(type);
}

/* Makes a datatype of `count` copies of `type` at a stride in bytes. Contiguous copies use
 * MPI_Type_contiguous, which MPI copies faster. */
static int vector(int64_t count, MPI_Aint stride, MPI_Datatype type, MPI_Datatype *result) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    if (extent == stride) return MPI_Type_contiguous((int)count, type, result);
    return MPI_Type_create_hvector((int)count, 1, stride, type, result);
}

/* Replaces *type by `count` copies of it at a stride in bytes, or by MPI_DATATYPE_NULL on failure.
 * Counts beyond int are split into blocks. */
int weft_mpi_repeat(int64_t count, MPI_Aint stride, MPI_Datatype *type) {
    MPI_Datatype inner = *type, result = MPI_DATATYPE_NULL;
    const int64_t block = 1 << 30;
    int code;
    if (count <= block) {
        code = vector(count, stride, inner, &result);
    } else {
        MPI_Datatype piece = MPI_DATATYPE_NULL, pieces = MPI_DATATYPE_NULL;
        MPI_Datatype rest = MPI_DATATYPE_NULL;
        int lengths[2] = {1, 1};
        MPI_Aint places[2] = {0, (MPI_Aint)(count / block) * block * stride};
        code = vector(block, stride, inner, &piece);
        if (!code) code = vector(count / block, block * stride, piece, &pieces);
        if (!code) code = vector(count % block, stride, inner, &rest);
        MPI_Datatype parts[2] = {pieces, rest};
        if (!code) code = MPI_Type_create_struct(2, lengths, places, parts, &result);
        free_type(&piece);
        free_type(&pieces);
        free_type(&rest);
    }
    free_type(&inner);
    *type = code ? MPI_DATATYPE_NULL : result;
    return code;
}

/* Lists the loops of a view, the contiguous one first; loops that one stride covers are merged. */
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

weft_status weft_mpi_message_create(weft_transport *transport, const weft_view *view,
                                    const int *order, size_t element_bytes,
                                    weft_message **message) {
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
    int code = weft_mpi_element_type(element_bytes, &m->type);
    for (int i = 0; i < loops && !code; i++)
        code = weft_mpi_repeat(n[i], (MPI_Aint)stride[i] * (MPI_Aint)element_bytes, &m->type);
    if (!code) code = MPI_Type_commit(&m->type);
    m->owned = m->type != MPI_DATATYPE_NULL;
    m->count = 1;
    return code ? weft_mpi_failed("making a datatype", code) : WEFT_SUCCESS;
}

void weft_mpi_message_destroy(weft_transport *transport, weft_message *message) {
    (void)transport;
    if (!message) return;
    if (message->owned) MPI_Type_free(&message->type);
    free(message);
}

weft_status weft_mpi_send(weft_transport *transport, const void *base, const weft_message *message,
                          int partner, weft_request *request) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code = MPI_Isend((const char *)base + message->offset, message->count, message->type,
                         partner, MESSAGE_TAG, weft_mpi_comm(transport), &r);
    *request = from_mpi(r);
    return code ? weft_mpi_failed("MPI_Isend", code) : WEFT_SUCCESS;
}

weft_status weft_mpi_receive(weft_transport *transport, void *base, const weft_message *message,
                             int partner, weft_request *request) {
    MPI_Request r = MPI_REQUEST_NULL;
    int code = MPI_Irecv((char *)base + message->offset, message->count, message->type, partner,
                         MESSAGE_TAG, weft_mpi_comm(transport), &r);
    *request = from_mpi(r);
    return code ? weft_mpi_failed("MPI_Irecv", code) : WEFT_SUCCESS;
}

weft_request weft_mpi_no_request(void) {
    return from_mpi(MPI_REQUEST_NULL);
}

/* Requests are handles stored in 64 bits; where MPI's are as wide, the array is MPI's own. */
static MPI_Request *as_mpi(weft_request *requests) {
    return (MPI_Request *)(void *)requests;
}

static weft_status any(weft_request *requests, int count, int *index, bool wait) {
    int done = 1, which = MPI_UNDEFINED;
    if (sizeof(MPI_Request) == sizeof(weft_request)) {
        int code = wait ? MPI_Waitany(count, as_mpi(requests), &which, MPI_STATUS_IGNORE)
                        : MPI_Testany(count, as_mpi(requests), &which, &done, MPI_STATUS_IGNORE);
        *index = !done ? -2 : which == MPI_UNDEFINED ? -1 : which;
        return code ? weft_mpi_failed("waiting for a message", code) : WEFT_SUCCESS;
    }
    bool live;
    do { /* narrow handles: look at each in turn */
        live = false;
        for (int i = 0; i < count; i++) {
            MPI_Request r = to_mpi(requests[i]);
            if (r == MPI_REQUEST_NULL) continue;
            live = true;
            int code = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
            if (!done && !code) continue;
            requests[i] = from_mpi(code && !done ? MPI_REQUEST_NULL : r);
            *index = i;
            return code ? weft_mpi_failed("waiting for a message", code) : WEFT_SUCCESS;
        }
    } while (wait && live);
    *index = live ? -2 : -1;
    return WEFT_SUCCESS;
}

weft_status weft_mpi_wait_any(weft_transport *transport, weft_request *requests, int count,
                              int *index) {
    (void)transport;
    return any(requests, count, index, true);
}

weft_status weft_mpi_test_any(weft_transport *transport, weft_request *requests, int count,
                              int *index) {
    (void)transport;
    return any(requests, count, index, false);
}

weft_status weft_mpi_wait_all(weft_transport *transport, weft_request *requests, int count) {
    (void)transport;
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < count; i++) {
        MPI_Request r = to_mpi(requests[i]);
        int code = MPI_Wait(&r, MPI_STATUS_IGNORE);
        requests[i] = from_mpi(r);
        if (code) weft_keep(&status, weft_mpi_failed("waiting for a message", code));
    }
    return status;
}
