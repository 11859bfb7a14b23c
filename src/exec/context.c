/* Contexts. */
#include "exec/context.h"

#include "plan/agreement.h"
#include "support/versioned.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const weft_versioned options_versions = WEFT_VERSIONED(weft_context_options, reserved);

static _Thread_local struct {
    uint64_t context;              /* the number of the context that this thread last failed in */
    char own[WEFT_ERROR_BYTES];    /* that failure's sentence */
    char others[WEFT_ERROR_BYTES]; /* what weft_last_error last returned of another thread's */
} failed;

static weft_status read_options(const weft_context_options *given, bool simulates,
                                weft_context_options *opt) {
    *opt = (weft_context_options){0};
    if (given) WEFT_TRY(weft_versioned_read(options_versions, given, opt, "weft_context_options"));
    if (opt->simulated_ranks < 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "weft_context_options.simulated_ranks is %d; it must be 0 or more",
                         opt->simulated_ranks);
    if (opt->simulated_ranks > 0 && !simulates)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "simulated_ranks is for weft_context_create, not for a communicator");
    return WEFT_SUCCESS;
}

static weft_status make_context(weft_transport *transport, weft_context *ctx) {
    static atomic_uint_least64_t contexts;
    weft_context context = calloc(1, sizeof *context);
    if (!context) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a context");
    if (pthread_mutex_init(&context->lock, NULL) != 0) {
        free(context);
        return weft_fail(WEFT_ERROR_SYSTEM, "no lock for a context");
    }
    context->transport = transport;
    context->source.machine = weft_machine_default;
    context->number = atomic_fetch_add(&contexts, 1) + 1;
    *ctx = context;
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_context_over_transport(weft_transport *transport,
                                                 const weft_context_options *opt,
                                                 weft_context *ctx) {
    weft_context_options unused;
    weft_status status = read_options(opt, transport->simulated, &unused);
    if (status == WEFT_SUCCESS && !ctx)
        status = weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "the pointer for the new context is NULL");
    if (status == WEFT_SUCCESS) status = make_context(transport, ctx);
    if (status != WEFT_SUCCESS) transport->ops->release(transport);
    return status;
}

WEFT_API weft_status weft_context_create(const weft_context_options *opt, weft_context *ctx) {
    weft_transport *transport;
    weft_context_options mine;
    WEFT_TRY(read_options(opt, true, &mine));
    WEFT_TRY(weft_transport_self_create(mine.simulated_ranks, &transport));
    WEFT_TRY(weft_context_over_transport(transport, opt, ctx));
    weft_context_find_machine(*ctx);
    return WEFT_SUCCESS;
}

WEFT_API void weft_context_find_machine(weft_context ctx) {
    weft_transport *t = ctx->transport;
    if (t->rank == 0) weft_machine_find(&ctx->source);
    if (t->size == 1 || t->simulated) return;
    const weft_status status = t->ops->broadcast(t, &ctx->source, sizeof ctx->source, 0);
    if (status != WEFT_SUCCESS) ctx->source = (weft_machine_source){weft_machine_default, "", ""};
    weft_owe(t, status);
}

WEFT_API void weft_context_destroy(weft_context *ctx) {
    if (!ctx || !*ctx) return;
    (*ctx)->transport->ops->release((*ctx)->transport);
    pthread_mutex_destroy(&(*ctx)->lock);
    free(*ctx);
    *ctx = NULL;
}

weft_status weft_context_note_failure(weft_context ctx, weft_status status) {
    failed.context = ctx->number;
    snprintf(failed.own, sizeof failed.own, "%s", weft_thread_error());
    pthread_mutex_lock(&ctx->lock);
    snprintf(ctx->error, sizeof ctx->error, "%s", failed.own);
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

WEFT_API const char *weft_last_error(weft_context ctx) {
    if (!ctx) return weft_thread_error();
    if (failed.context == ctx->number) return failed.own;
    pthread_mutex_lock(&ctx->lock);
    snprintf(failed.others, sizeof failed.others, "%s", ctx->error);
    pthread_mutex_unlock(&ctx->lock);
    return failed.others;
}
