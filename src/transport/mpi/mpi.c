/* The MPI transport: groups are communicators. */
#include "transport/mpi/mpi.h"

#include "exec/context.h"
#include "plan/agreement.h"

#include <stdlib.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

weft_status weft_mpi_failed(const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return weft_fail(WEFT_ERROR_TRANSPORT, "%s failed: %s", what, text);
}

static weft_status adopt(MPI_Comm comm, weft_transport **transport);

static weft_status mpi_split(weft_transport *transport, int color, int key,
                             weft_transport **group) {
    MPI_Comm comm;
    MPI_TRY(MPI_Comm_split(weft_mpi_comm(transport), color, key, &comm));
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
    MPI_TRY(
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, weft_mpi_comm(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_maximum_double(weft_transport *transport, double *values, int count) {
    MPI_TRY(
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, weft_mpi_comm(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_gather_all(weft_transport *transport, const void *mine, size_t bytes,
                                  void *all) {
    MPI_TRY(MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                          weft_mpi_comm(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_broadcast(weft_transport *transport, void *data, size_t bytes, int root) {
    MPI_TRY(MPI_Bcast(data, (int)bytes, MPI_BYTE, root, weft_mpi_comm(transport)));
    return WEFT_SUCCESS;
}

static weft_status mpi_barrier(weft_transport *transport) {
    MPI_TRY(MPI_Barrier(weft_mpi_comm(transport)));
    return WEFT_SUCCESS;
}

static bool mpi_threads_allowed(weft_transport *transport) {
    return ((mpi_transport *)transport)->threads_allowed;
}

/* Open MPI tells through an extension whose header may not be there, MPICH since 4.0. */
#if defined(MPIX_CUDA_AWARE_SUPPORT) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000)
/* Whether the library, if it was built for CUDA, uses it here. The query of Open MPI 4 tells how it
 * was built; a variable tells that there is no driver, or that the user wants none of it. */
static bool uses_cuda(void) {
    int provided, variable, count;
    MPI_T_cvar_handle handle;
    union {
        bool on;
        long long room;
    } value = {.on = true};
    if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return true;
    if (MPI_T_cvar_get_index("opal_cuda_support", &variable) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(variable, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value.on;
}

static bool mpi_reads_device(weft_transport *transport, weft_device device) {
    (void)transport;
    return device == WEFT_CUDA && MPIX_Query_cuda_support() == 1 && uses_cuda();
}
#else
static bool mpi_reads_device(weft_transport *transport, weft_device device) {
    (void)transport, (void)device;
    return false;
}
#endif

/* "Open MPI v4.1.4": the first line or sentence of what the library says of itself. */
static const char *mpi_library(void) {
    static _Thread_local char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "mpi";
    text[strcspn(text, ",\n")] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\t') *c = ' ';
    return text;
}

static const weft_transport_ops mpi_ops = {
    .name = "mpi",
    .library = mpi_library,
    .split = mpi_split,
    .release = mpi_release,
    .maximum = mpi_maximum,
    .maximum_double = mpi_maximum_double,
    .gather_all = mpi_gather_all,
    .broadcast = mpi_broadcast,
    .barrier = mpi_barrier,
    .threads_allowed = mpi_threads_allowed,
    .reads_device = mpi_reads_device,
    .message_create = weft_mpi_message_create,
    .message_destroy = weft_mpi_message_destroy,
    .send = weft_mpi_send,
    .receive = weft_mpi_receive,
    .wait_any = weft_mpi_wait_any,
    .test_any = weft_mpi_test_any,
    .wait_all = weft_mpi_wait_all,
    .no_request = weft_mpi_no_request,
    .alltoall_create = weft_mpi_alltoall_create,
    .alltoall_create_typed = weft_mpi_alltoall_create_typed,
    .alltoall_destroy = weft_mpi_alltoall_destroy,
    .alltoall = weft_mpi_alltoall,
    .nodes = weft_mpi_nodes,
    .share = weft_mpi_share,
    .shared_part = weft_mpi_shared_part,
    .unshare = weft_mpi_unshare,
    .progress = weft_mpi_progress,
};

/* Makes a transport that owns comm, which is freed if this fails. */
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

static weft_status create_over_copy(MPI_Comm comm, const weft_context_options *opt,
                                    weft_context *ctx) {
    MPI_Comm copy;
    weft_transport *transport = NULL;
    MPI_TRY(MPI_Comm_dup(comm, &copy));
    WEFT_TRY(adopt(copy, &transport));
    return weft_context_over_transport(transport, opt, ctx);
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
    /* There may be no duplicate communicator on some rank, so ranks agree over the caller's. */
    mpi_transport callers = {.base = {.ops = &mpi_ops}, .comm = comm};
    weft_context made = NULL;
    MPI_Comm_size(comm, &callers.base.size);
    MPI_Comm_rank(comm, &callers.base.rank);
    weft_status status = weft_agree(&callers.base, create_over_copy(comm, opt, ctx ? &made : NULL));
    if (status != WEFT_SUCCESS) {
        weft_context_destroy(&made);
        return status;
    }
    weft_owe_elsewhere(&callers.base, made->transport);
    weft_context_find_machine(made);
    *ctx = made;
    return WEFT_SUCCESS;
}
