/* Contexts: a transport and the last error. */
#ifndef WEFT_EXEC_CONTEXT_H
#define WEFT_EXEC_CONTEXT_H

#include "plan/machine_file.h"
#include "support/error.h"
#include "transport/transport.h"

#include <pthread.h>

struct weft_context_private {
    weft_transport *transport;  /* owned */
    weft_machine_source source; /* by which plans predict; the same on all ranks */
    bool leaves_on_host;        /* weft_context_leave_on_host (hook.h) was called */
    uint64_t number;      /* unlike its address, never that of another context of the process */
    pthread_mutex_t lock; /* of `error`: plans of one context run in several threads */
    char error[WEFT_ERROR_BYTES];
};

/* A context over `transport`, which it takes over (also on failure). Exported to libweft_mpi only.
 * Collective over the transport. */
weft_status weft_context_over_transport(weft_transport *transport, const weft_context_options *opt,
                                        weft_context *ctx);

/* Reads rank 0's machine record for all ranks; without it the context has the default one. Exported
 * to libweft_mpi only. Collective. */
void weft_context_find_machine(weft_context ctx);

/* Public functions end with it: stores the sentence of a failure where weft_last_error(ctx) finds
 * it.
 */
weft_status weft_context_note_failure(weft_context ctx, weft_status status);
static inline weft_status weft_context_note(weft_context ctx, weft_status status) {
    return status == WEFT_SUCCESS ? status : weft_context_note_failure(ctx, status);
}

#endif
