/*
 * What an MPI library that reads device memory (Open MPI 4.1 built for CUDA) calls of the driver of
 * host_cuda.h besides what weft calls. It finds this driver where LD_LIBRARY_PATH names its folder.
 * Memory of other processes by IPC is refused to it: OMPI_MCA_btl_smcuda_use_cuda_ipc=0.
 */
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "device/cuda/driver.h"
#include "device/thread_queue.h"
#include "driver_results.h"
#include "host_cuda.h"

enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE = 2,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE = 9 /* for arrays of Python's libraries */
};
enum { MEMORY_DEVICE = 2 };

#define NEEDS_CONTEXT                                                                              \
    if (!host_context_is_current()) return INVALID_CONTEXT

/* ---- what a pointer points to: all zero where that is not device memory ---- */

EXPORTED int cuPointerGetAttribute(void *value, int attribute, unsigned long long memory) {
    const void *address = (const void *)(uintptr_t)memory;
    const bool device = host_is_device(address, 1);
    void *context = device ? host_context_of(address) : NULL;
    const unsigned type = device ? MEMORY_DEVICE : 0, managed = 0;
    switch (attribute) {
    case POINTER_CONTEXT:
        memcpy(value, &context, sizeof context);
        return SUCCESS;
    case POINTER_MEMORY_TYPE:
        memcpy(value, &type, sizeof type);
        return SUCCESS;
    case POINTER_IS_MANAGED:
        memcpy(value, &managed, sizeof managed);
        return SUCCESS;
    case POINTER_DEVICE: {
        const int number = host_device_of(address);
        memcpy(value, &number, sizeof number);
        return device ? SUCCESS : INVALID_VALUE;
    }
    default:
        return INVALID_VALUE;
    }
}

EXPORTED int cuPointerGetAttributes(unsigned count, const int *attributes, void **values,
                                    unsigned long long memory) {
    for (unsigned i = 0; i < count; i++)
        if (cuPointerGetAttribute(values[i], attributes[i], memory) != SUCCESS)
            return INVALID_VALUE;
    return SUCCESS;
}

EXPORTED int cuPointerSetAttribute(const void *value, int attribute, unsigned long long memory) {
    (void)value, (void)attribute;
    return host_is_device((const void *)(uintptr_t)memory, 1) ? SUCCESS : INVALID_VALUE;
}

/* ---- its own memory, and copies ---- */

EXPORTED int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
    (void)to, (void)from, (void)bytes;
    return NOT_SUPPORTED; /* it copies on streams */
}

EXPORTED int cuEventSynchronize(weft_event *event) {
    NEEDS_CONTEXT;
    while (!weft_thread_event_done(event)) sched_yield();
    return SUCCESS;
}

/* ---- other processes' memory ---- */

EXPORTED int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = device != peer;
    return SUCCESS;
}

EXPORTED int cuIpcGetEventHandle(void *handle, weft_event *event) {
    (void)handle, (void)event;
    return NOT_SUPPORTED;
}

EXPORTED int cuIpcOpenEventHandle(weft_event **event, weft_cuda_ipc_handle handle) {
    (void)event, (void)handle;
    return NOT_SUPPORTED;
}
