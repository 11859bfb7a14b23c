/*
 * Transports: ranks, groups, messages, all-to-all, agreement. A transport knows nothing of arrays
 * beyond strided views of elements. `self` is one process; `mpi` lives in libweft_mpi.
 */
#ifndef WEFT_TRANSPORT_H
#define WEFT_TRANSPORT_H

#include "layout/layout.h"

typedef struct weft_transport weft_transport;

/* A request in flight; the transport keeps its own handle in it. */
typedef struct weft_request {
    uint64_t opaque;
} weft_request;

/* The layout of a message: a contiguous run or a strided view, relative to a base address. It is
 * made once and used by any number of sends and receives. */
typedef struct weft_message weft_message;

/* A prepared all-to-all over contiguous runs (element offsets) or over messages. */
typedef struct weft_alltoall weft_alltoall;

/* Memory that ranks of one node read in each other. */
typedef struct weft_shared weft_shared;

/* A contiguous run for, or from, one partner of an all-to-all, in elements. */
typedef struct weft_run {
    int64_t offset, count;
} weft_run;

typedef struct weft_transport_ops {
    const char *name;
    const char *(*library)(void); /* which is used, with its version; NULL: none */

    /* Splits the group into new ones, each with its own message space. Collective over the
     * transport. */
    weft_status (*split)(weft_transport *transport, int color, int key, weft_transport **group);
    void (*release)(weft_transport *transport); /* collective */

    /* Collective reductions and gathers over few values; used while planning and to agree on
     * failures. */
    weft_status (*maximum)(weft_transport *transport, int64_t *values, int count);
    weft_status (*maximum_double)(weft_transport *transport, double *values, int count);
    weft_status (*gather_all)(weft_transport *transport, const void *mine, size_t bytes, void *all);
    weft_status (*broadcast)(weft_transport *transport, void *data, size_t bytes, int root);
    weft_status (*barrier)(weft_transport *transport);

    bool (*threads_allowed)(weft_transport *transport); /* any thread may communicate at any time */
    /* Whether messages may be sent from, and received into, memory of this device. NULL: host
     * memory only. */
    bool (*reads_device)(weft_transport *transport, weft_device device);

    /* Makes the message of a strided view. `order` lists the axes of the view in the order in which
     * elements are sent, the slowest first; both sides of a message must visit elements in the same
     * order. */
    weft_status (*message_create)(weft_transport *transport, const weft_view *view,
                                  const int *order, size_t element_bytes, weft_message **message);
    void (*message_destroy)(weft_transport *transport, weft_message *message);

    weft_status (*send)(weft_transport *transport, const void *base, const weft_message *message,
                        int partner, weft_request *request);
    weft_status (*receive)(weft_transport *transport, void *base, const weft_message *message,
                           int partner, weft_request *request);
    /* Waits for one of the requests, which may be those of any groups of these ranks; *index gets
     * its number, or -1 when all are done. *index is also set if that request failed, so that the
     * others can still be awaited. */
    weft_status (*wait_any)(weft_transport *transport, weft_request *requests, int count,
                            int *index);
    /* Tests like wait_any, but returns at once: *index is -2 if none is done yet. */
    weft_status (*test_any)(weft_transport *transport, weft_request *requests, int count,
                            int *index);
    weft_status (*wait_all)(weft_transport *transport, weft_request *requests, int count);
    weft_request (*no_request)(void);

    /* alltoall_create is collective: ranks that have failed before take part with `send` and
     * `receive` NULL. */
    weft_status (*alltoall_create)(weft_transport *transport, const weft_run *send,
                                   const weft_run *receive, size_t element_bytes,
                                   weft_alltoall **alltoall);
    /* The messages may be destroyed afterwards. */
    weft_status (*alltoall_create_typed)(weft_transport *transport, weft_message *const *send,
                                         weft_message *const *receive, weft_alltoall **alltoall);
    void (*alltoall_destroy)(weft_transport *transport, weft_alltoall *alltoall);
    weft_status (*alltoall)(weft_transport *transport, const weft_alltoall *alltoall,
                            const void *send, void *receive);

    /* node[r] gets the lowest rank that can read what rank r shares: r itself where nobody can.
     * Collective; ranks that fail have taken part. */
    weft_status (*nodes)(weft_transport *transport, int *node);
    /* Makes memory of `bytes` for this rank, zeroed, on pages of its own. Only this rank writes
     * it, and the ranks with the same node[] can read it. Collective; ranks that fail have taken
     * part. */
    weft_status (*share)(weft_transport *transport, const int *node, size_t bytes,
                         weft_shared **shared);
    /* The address of a rank's memory in this process; NULL if it is not mapped here. */
    void *(*shared_part)(const weft_shared *shared, int rank);
    /* Collective once all ranks have shared. */
    void (*unshare)(weft_transport *transport, weft_shared *shared);
    /* Lets messages progress while the caller waits for something other than the transport. */
    void (*progress)(weft_transport *transport);
} weft_transport_ops;

/* The head of every transport object. */
struct weft_transport {
    const weft_transport_ops *ops;
    int size, rank;
    bool simulated; /* ranks that do not exist: plans can be made and explained, not executed */
    /* A failure on this rank alone, with its message, of which the next agreement tells the other
     * ranks (plan/agreement.h). */
    weft_status owed;
    char owed_sentence[512];
};

/* Makes the transport of one process or, with simulated_ranks > 0, that of rank 0 of so many ranks
 * that do not exist. */
weft_status weft_transport_self_create(int simulated_ranks, weft_transport **transport);

#endif
