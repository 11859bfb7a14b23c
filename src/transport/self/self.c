/*
 * The transport of one process: every collective is trivial, and there is nobody to send to. With
 * simulated ranks it stands for rank 0 of a group that does not exist, so that plans can be made
 * for it and explained.
 */
#include "support/error.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

static weft_status self_split(weft_transport *transport, int color, int key,
                              weft_transport **group) {
    (void)color;
    (void)key;
    WEFT_TRY(weft_transport_self_create(transport->simulated ? transport->size : 0, group));
    (*group)->rank = transport->rank;
    return WEFT_SUCCESS;
}

static void self_release(weft_transport *transport) {
    free(transport);
}

static weft_status self_maximum(weft_transport *transport, int64_t *values, int count) {
    (void)transport, (void)values, (void)count;
    return WEFT_SUCCESS;
}

static weft_status self_maximum_double(weft_transport *transport, double *values, int count) {
    (void)transport, (void)values, (void)count;
    return WEFT_SUCCESS;
}

static weft_status self_gather_all(weft_transport *transport, const void *mine, size_t bytes,
                                   void *all) {
    if (transport->simulated)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "boxes of simulated ranks cannot be gathered; plan bricks on real ranks");
    memcpy(all, mine, bytes);
    return WEFT_SUCCESS;
}

static weft_status self_broadcast(weft_transport *transport, void *data, size_t bytes, int root) {
    (void)transport, (void)data, (void)bytes, (void)root;
    return WEFT_SUCCESS;
}

static weft_status self_barrier(weft_transport *transport) {
    (void)transport;
    return WEFT_SUCCESS;
}

static bool self_threads_allowed(weft_transport *transport) {
    (void)transport;
    return true;
}

static weft_status self_nodes(weft_transport *transport, int *node) {
    for (int r = 0; r < transport->size; r++) node[r] = 0;
    return WEFT_SUCCESS;
}

struct weft_shared {
    void *part;
};

static weft_status self_share(weft_transport *transport, const int *node, size_t bytes,
                              weft_shared **shared) {
    (void)transport, (void)node;
    weft_shared *made = malloc(sizeof *made);
    void *part = calloc(1, bytes + 1);
    if (!made || !part) {
        free(made);
        free(part);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for %zu bytes", bytes);
    }
    made->part = part;
    *shared = made;
    return WEFT_SUCCESS;
}

static void *self_shared_part(const weft_shared *shared, int rank) {
    return rank == 0 ? shared->part : NULL;
}

static void self_unshare(weft_transport *transport, weft_shared *shared) {
    (void)transport;
    if (shared) free(shared->part);
    free(shared);
}

static void self_progress(weft_transport *transport) {
    (void)transport;
}

static const weft_transport_ops self_ops = {
    .name = "self",
    .split = self_split,
    .release = self_release,
    .maximum = self_maximum,
    .maximum_double = self_maximum_double,
    .gather_all = self_gather_all,
    .broadcast = self_broadcast,
    .barrier = self_barrier,
    .threads_allowed = self_threads_allowed,
    .nodes = self_nodes,
    .share = self_share,
    .shared_part = self_shared_part,
    .unshare = self_unshare,
    .progress = self_progress,
};

weft_status weft_transport_self_create(int simulated_ranks, weft_transport **transport) {
    weft_transport *self = calloc(1, sizeof *self);
    if (!self) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a context");
    self->ops = &self_ops;
    self->size = simulated_ranks > 0 ? simulated_ranks : 1;
    self->simulated = simulated_ranks > 0;
    *transport = self;
    return WEFT_SUCCESS;
}
