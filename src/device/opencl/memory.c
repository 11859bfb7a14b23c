/* Memory of the OpenCL device: buffers behind reserved addresses, and page-locked memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/opencl/opencl.h"
#include "support/error.h"

/* Bytes of the pages that stand for a buffer: one more than it fills, so that neighbours never
 * touch. */
static size_t reserved_bytes(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes / page + 2) * page;
}

void weft_cl_free_record(weft_device_state *device, weft_allocation *record) {
    const weft_cl *cl = device->processor->cl;
    weft_cl_memory buffer = (weft_cl_memory)(void *)record->storage;
    if (record->storage == record->address) {
        free(record->storage); /* host memory */
    } else if (record->kind == WEFT_MEMORY_DEVICE) {
        munmap(record->address, reserved_bytes(record->bytes));
        cl->memory_release(buffer);
    } else {
        cl->unmap(device->queue->queue, buffer, record->address, 0, NULL, NULL);
        cl->finish(device->queue->queue);
        cl->memory_release(buffer);
    }
    free(record);
}

static weft_status create_buffer(const weft_cl_processor *p, uint64_t flags, size_t bytes,
                                 const char *failure, weft_cl_memory *buffer) {
    int result = 0;
    *buffer = p->cl->buffer_create(p->context, WEFT_CL_READ_WRITE | flags, bytes, NULL, &result);
    return weft_cl_check(result, failure);
}

/* Makes a buffer and its memory. Drivers would put off the allocation to the first use, where a
 * failure would come too late. */
static weft_status create_device_memory(weft_device_state *device, weft_allocation *record,
                                        const char *failure) {
    const weft_cl_processor *p = device->processor;
    weft_cl_memory buffer;
    void *pages = mmap(NULL, reserved_bytes(record->bytes), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "OpenCL: %s: no addresses are left", failure);
    weft_status status = create_buffer(p, 0, record->bytes, failure, &buffer);
    if (status == WEFT_SUCCESS) {
        int result = p->cl->migrate(device->queue->queue, 1, &buffer, WEFT_CL_CONTENT_UNDEFINED, 0,
                                    NULL, NULL);
        if (result == 0) result = p->cl->finish(device->queue->queue);
        if (result == WEFT_CL_OUT_OF_RESOURCES) result = WEFT_CL_MEMORY_ALLOCATION_FAILURE;
        status = weft_cl_check(result, failure);
        if (status != WEFT_SUCCESS) p->cl->memory_release(buffer);
    }
    if (status != WEFT_SUCCESS) {
        munmap(pages, reserved_bytes(record->bytes));
        return status;
    }
    record->address = pages;
    record->storage = (char *)(void *)buffer;
    return WEFT_SUCCESS;
}

/* Makes page-locked memory: for GPUs a mapped buffer, which they can copy to and from
 * asynchronously; for CPUs ordinary memory. */
static weft_status create_page_locked(weft_device_state *device, weft_allocation *record,
                                      const char *failure) {
    const weft_cl_processor *p = device->processor;
    weft_cl_memory buffer;
    int result = 0;
    if (p->is_cpu) {
        record->address = record->storage = weft_storage_allocate(record->bytes);
        if (record->address) return WEFT_SUCCESS;
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "OpenCL: %s: out of host memory", failure);
    }
    WEFT_TRY(create_buffer(p, WEFT_CL_ALLOCATE_HOST, record->bytes, failure, &buffer));
    void *mapped = p->cl->map(device->queue->queue, buffer, 1, WEFT_CL_MAP_READ | WEFT_CL_MAP_WRITE,
                              0, record->bytes, 0, NULL, NULL, &result);
    if (result != 0) {
        p->cl->memory_release(buffer);
        return weft_cl_check(result, failure);
    }
    record->address = mapped;
    record->storage = (char *)(void *)buffer;
    return WEFT_SUCCESS;
}

weft_status weft_cl_allocate(weft_device_state *device, weft_memory_kind kind, size_t bytes,
                             void **memory) {
    char failure[160];
    if (bytes == 0) {
        *memory = NULL;
        return WEFT_SUCCESS;
    }
    snprintf(failure, sizeof failure, "no %zu bytes of %s memory (buffers have at most %zu)", bytes,
             kind == WEFT_MEMORY_DEVICE ? "device" : "page-locked",
             device->processor->largest_buffer);
    WEFT_TRY(weft_allocations_reserve(&device->allocations, kind, bytes));
    weft_allocation *record = calloc(1, sizeof *record);
    weft_status status =
        record ? WEFT_SUCCESS : weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a record");
    if (record) {
        record->bytes = bytes;
        record->kind = kind;
        status = kind == WEFT_MEMORY_DEVICE ? create_device_memory(device, record, failure)
                                            : create_page_locked(device, record, failure);
    }
    if (status != WEFT_SUCCESS) {
        weft_allocations_release(&device->allocations, kind, bytes);
        free(record);
        return status;
    }
    *memory = record->address;
    weft_allocations_add(&device->allocations, record);
    return WEFT_SUCCESS;
}

/* The caller has waited for the work that uses the memory. */
void weft_cl_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    (void)kind;
    if (!memory) return;
    weft_allocation *record = weft_allocations_take(&device->allocations, memory);
    if (record) weft_cl_free_record(device, record);
}

weft_status weft_cl_locate(weft_device_state *device, const void *address, weft_cl_memory *memory,
                           size_t *offset) {
    weft_allocation in;
    if (!weft_allocations_find(&device->allocations, address, &in) || in.kind != WEFT_MEMORY_DEVICE)
        return weft_fail(WEFT_ERROR_DEVICE, "OpenCL device: %p is not in device memory", address);
    *memory = (weft_cl_memory)(void *)in.storage;
    *offset = (size_t)((const char *)address - in.address);
    return WEFT_SUCCESS;
}
