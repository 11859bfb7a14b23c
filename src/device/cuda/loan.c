/* Device memory lent to, and borrowed from, other processes of the node: CUDA's IPC handles. */
#include "device/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/error.h"

/* What a loan holds. The handle stands for the driver's whole allocation. */
typedef struct cuda_loan {
    weft_cuda_ipc_handle handle;
    int64_t process, address, offset, bytes; /* bytes from the address on */
} cuda_loan;

_Static_assert(sizeof(cuda_loan) <= sizeof(weft_loan), "a loan holds a handle");

static weft_status lend_in_context(const weft_cuda_driver *driver, const void *memory,
                                   cuda_loan *loan) {
    weft_cuda_address base = 0, address = (uintptr_t)memory;
    size_t bytes;
    WEFT_TRY(weft_cuda_check(driver->address_range(&base, &bytes, address), "no memory to lend"));
    *loan = (cuda_loan){.process = getpid(),
                        .address = (int64_t)address,
                        .offset = (int64_t)(address - base),
                        .bytes = (int64_t)(base + bytes - address)};
    return weft_cuda_check(driver->ipc_handle(&loan->handle, base),
                           "device memory cannot be lent to other ranks; choose exchange p2p-sync");
}

weft_status weft_cuda_lend(weft_device_state *device, void *memory, weft_loan *loan) {
    cuda_loan made;
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status, lend_in_context(device->gpu->driver, memory, &made));
    if (status == WEFT_SUCCESS) memcpy(loan->content, &made, sizeof made);
    return status;
}

weft_status weft_cuda_borrow(weft_device_state *device, const weft_loan *loan,
                             const void **memory) {
    cuda_loan given;
    weft_cuda_address base = 0;
    weft_status status = WEFT_SUCCESS;
    weft_allocation *record = malloc(sizeof *record);
    if (!record) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a record");
    memcpy(&given, loan->content, sizeof given);
    const bool mine = given.process == getpid(); /* a process cannot open its own handles */
    if (!mine)
        WEFT_CUDA_IN_CONTEXT(
            device->gpu, status,
            weft_cuda_check(
                device->gpu->driver->ipc_open(&base, given.handle, WEFT_CUDA_IPC_PEER_ACCESS),
                "the memory that another rank lends cannot be read; choose "
                "exchange p2p-sync"));
    if (status != WEFT_SUCCESS) {
        free(record);
        return status;
    }
    char *storage = (char *)(uintptr_t)base;
    *record = (weft_allocation){.address = mine ? (char *)(uintptr_t)given.address
                                                : storage + given.offset,
                                .storage = storage,
                                .bytes = (size_t)given.bytes,
                                .kind = WEFT_MEMORY_DEVICE,
                                .borrowed = true};
    weft_allocations_add(&device->allocations, record);
    *memory = record->address;
    return WEFT_SUCCESS;
}

void weft_cuda_give_back(weft_device_state *device, const void *memory) {
    weft_allocation *record = weft_allocations_take(&device->allocations, memory);
    if (record) weft_cuda_free_record(device, record);
}
