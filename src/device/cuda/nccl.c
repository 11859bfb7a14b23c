/* Opens libnccl at run time and looks up the functions that the device uses. */
#include "device/cuda/nccl.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/error.h"
#include "support/shared_library.h"

/* The library is opened once in the process. */
static weft_library opened = {.once = PTHREAD_ONCE_INIT};
static weft_nccl library;

#define SYMBOL(name, member) WEFT_LIBRARY_SYMBOL(weft_nccl, name, member)

static const weft_library_symbol symbols[] = {
    SYMBOL("ncclGetVersion", version),
    SYMBOL("ncclGetUniqueId", unique_id),
    SYMBOL("ncclCommInitRankConfig", init),
    SYMBOL("ncclCommSplit", split),
    SYMBOL("ncclCommFinalize", finalize),
    SYMBOL("ncclCommDestroy", destroy),
    SYMBOL("ncclCommAbort", abort),
    SYMBOL("ncclCommGetAsyncError", async_error),
    SYMBOL("ncclGroupStart", group_start),
    SYMBOL("ncclGroupEnd", group_end),
    SYMBOL("ncclSend", send),
    SYMBOL("ncclRecv", receive),
    SYMBOL("ncclGetErrorString", error_string),
};

static void open_library(void) {
    const weft_library_files files = {
        .what = "exchange nccl",
        .file = {"libnccl.so.2", "libnccl.so"},
        .folders = getenv("WEFT_CUDA_LIBRARY_PATH"),
        .loader_too = true,
        .advice = "install NCCL 2.18 or later, name its folder in WEFT_CUDA_LIBRARY_PATH, or "
                  "choose exchange peer"};
    int version = 0;
    if (!weft_library_load(&files, symbols, sizeof symbols / sizeof symbols[0], &library,
                           opened.reason))
        return;
    library.version(&version);
    snprintf(library.description, sizeof library.description, "NCCL %d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
    opened.usable = true;
}

const weft_nccl *weft_nccl_open(void) {
    return weft_library_once(&opened, open_library) ? &library : NULL;
}

weft_status weft_nccl_check(int result, const char *failure) {
    if (result == WEFT_NCCL_SUCCESS || result == WEFT_NCCL_IN_PROGRESS) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_DEVICE,
                     "NCCL: %s: %s (ncclResult %d); NCCL_DEBUG=WARN in the environment tells more",
                     failure, library.error_string(result), result);
}
