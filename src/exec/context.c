/* Contexts. */
#include "exec/context.h"

#include "support/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WEFT_API weft_status weft_context_over_transport(weft_transport *transport,
                                                 const weft_context_options *opt,
                                                 weft_context *ctx) {
    weft_status status = WEFT_SUCCESS;
    weft_context context = NULL;
    if (!ctx)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "the pointer for the new context is NULL");
    else if (opt && opt->struct_size != 0 && opt->struct_size != sizeof *opt)
        status =
            weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                      "weft_context_options.struct_size is %zu; set it to 0 or sizeof the struct",
                      opt->struct_size);
    else if (opt && opt->simulated_ranks < 0)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "weft_context_options.simulated_ranks is %d; it must be 0 or more",
                           opt->simulated_ranks);
    else if (opt && opt->simulated_ranks > 0 && !transport->simulated)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                           "simulated_ranks is for weft_context_create, not for a communicator");
    else if (!(context = calloc(1, sizeof *context)))
        status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a context");
    if (status != WEFT_SUCCESS) {
        transport->ops->release(transport);
        return status;
    }
    context->transport = transport;
    *ctx = context;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_context_create(const weft_context_options *opt, weft_context *ctx) {
    weft_transport *transport;
    int simulated = opt && opt->simulated_ranks > 0 ? opt->simulated_ranks : 0;
    WEFT_TRY(weft_transport_self_create(simulated, &transport));
    return weft_context_over_transport(transport, opt, ctx);
}

WEFT_API void weft_context_destroy(weft_context *ctx) {
    if (!ctx || !*ctx) return;
    (*ctx)->transport->ops->release((*ctx)->transport);
    free(*ctx);
    *ctx = NULL;
}

weft_status weft_context_keep(weft_context ctx, weft_status status) {
    if (ctx && status != WEFT_SUCCESS)
        snprintf(ctx->error, sizeof ctx->error, "%s", weft_thread_error());
    return status;
}

WEFT_API const char *weft_last_error(weft_context ctx) {
    return ctx ? ctx->error : weft_thread_error();
}
