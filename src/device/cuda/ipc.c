/* Device memory exported to, and imported from, other processes of the node, by CUDA's IPC
 * handles. */
#include "device/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/error.h"

/* The content of a weft_memory_handle. CUDA's handle stands for the driver's whole allocation. */
typedef struct ipc_memory {
    weft_cuda_ipc_handle handle;
    int64_t process, address, offset, bytes; /* bytes from the address on */
} ipc_memory;

_Static_assert(sizeof(ipc_memory) <= sizeof(weft_memory_handle), "the content fits");

static weft_status export_in_context(const weft_cuda_driver *driver, const void *memory,
                                     ipc_memory *exported) {
    weft_cuda_address base = 0, address = (uintptr_t)memory;
    size_t bytes;
    WEFT_TRY(weft_cuda_check(driver->address_range(&base, &bytes, address), "no memory to lend"));
    *exported = (ipc_memory){.process = getpid(),
                             .address = (int64_t)address,
                             .offset = (int64_t)(address - base),
                             .bytes = (int64_t)(base + bytes - address)};
    return weft_cuda_check(driver->ipc_handle(&exported->handle, base),
                           "device memory cannot be lent to other ranks; choose exchange p2p-sync");
}

weft_status weft_cuda_memory_export(weft_device_state *device, void *memory,
                                    weft_memory_handle *handle) {
    ipc_memory exported;
    weft_status status;
    WEFT_CUDA_IN_CONTEXT(device->gpu, status,
                         export_in_context(device->gpu->driver, memory, &exported));
    if (status == WEFT_SUCCESS) memcpy(handle->content, &exported, sizeof exported);
    return status;
}

weft_status weft_cuda_memory_import(weft_device_state *device, const weft_memory_handle *handle,
                                    const void **memory) {
    ipc_memory given;
    weft_cuda_address base = 0;
    weft_status status = WEFT_SUCCESS;
    weft_allocation *record = malloc(sizeof *record);
    if (!record) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a record");
    memcpy(&given, handle->content, sizeof given);
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
                                .imported = true};
    weft_allocations_add(&device->allocations, record);
    *memory = record->address;
    return WEFT_SUCCESS;
}

void weft_cuda_memory_close(weft_device_state *device, const void *memory) {
    weft_allocation *record = weft_allocations_take(&device->allocations, memory);
    if (record) weft_cuda_free_record(device, record);
}
