/*
 * A device made of threads, with its own address space: for tests of staging and ordering without a
 * GPU.
 *
 * The addresses it hands out lie in pages that nobody may touch; the bytes are elsewhere, and every
 * address is translated, and every extent checked, when work is enqueued. So a host pointer used as
 * a device address, a copy past the end of an allocation, or device memory touched by the CPU shows
 * at once. Queues are threads that run late and out of step, so that a missing wait or event shows
 * too. New memory is all NaN, at every precision. WEFT_SIMULATE (injection.h) sets delays, the size
 * of the memory, and failures.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/allocations.h"
#include "device/device.h"
#include "device/simulated/injection.h"
#include "device/thread_queue.h"
#include "support/error.h"

enum { POISON = 0xff }; /* a NaN in half, single and double precision */

struct weft_device_state {
    int threads;
    weft_allocations allocations;
    weft_injection injection;
    atomic_uint_fast64_t done[WEFT_FAILURES]; /* how many of each kind there were */
    atomic_uint_fast64_t queues;
    weft_queue *default_queue;
};

static weft_status simulated_probe(const char **description) {
    if (description) *description = "threads with their own address space, for tests";
    return WEFT_SUCCESS;
}

/* Whether this operation is the one that WEFT_SIMULATE makes fail. */
static bool fails_now(weft_device_state *device, weft_failure kind) {
    uint64_t number = atomic_fetch_add(&device->done[kind], 1) + 1;
    return number == device->injection.fail_at[kind];
}

static weft_status start_queue(weft_device_state *device, weft_queue **queue) {
    /* Every queue has random delays of its own; multiples of the golden ratio make the seeds
     * different. */
    uint64_t number = atomic_fetch_add(&device->queues, 1) + 1;
    uint64_t seed = (device->injection.seed + number) * UINT64_C(0x9e3779b97f4a7c15);
    return weft_thread_queue_create((weft_random_delay){seed, device->injection.delay_us}, queue);
}

static weft_status simulated_open(const weft_device_settings *settings,
                                  weft_device_state **device) {
    weft_injection injection;
    WEFT_TRY(weft_injection_read(&injection));
    weft_device_state *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a device");
    made->threads = settings->threads > 0 ? settings->threads : 1;
    made->injection = injection;
    size_t limit = settings->memory_limit;
    if (limit == 0 || (injection.memory != 0 && injection.memory < limit)) limit = injection.memory;
    weft_allocations_open(&made->allocations, limit);
    weft_status status = start_queue(made, &made->default_queue);
    if (status != WEFT_SUCCESS) {
        weft_allocations_close(&made->allocations);
        free(made);
        return status;
    }
    *device = made;
    return WEFT_SUCCESS;
}

/* Bytes of the pages that stand for an allocation: one more than it fills, so that neighbours never
 * touch. */
static size_t reserved_bytes(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes / page + 2) * page;
}

static void free_record(weft_allocation *allocation) {
    if (allocation->kind == WEFT_MEMORY_DEVICE && allocation->address)
        munmap(allocation->address, reserved_bytes(allocation->bytes));
    if (allocation->kind == WEFT_MEMORY_DEVICE)
        weft_memory_file_close(&allocation->file);
    else
        free(allocation->storage);
    free(allocation);
}

static void simulated_close(weft_device_state *device) {
    if (!device) return;
    weft_thread_queue_destroy(device->default_queue);
    weft_allocation *left;
    while ((left = weft_allocations_take(&device->allocations, NULL)) != NULL) free_record(left);
    weft_allocations_close(&device->allocations);
    free(device);
}

/* Pages that nobody may touch, to stand for device memory; NULL if out of memory. */
static void *reserve_pages(size_t bytes) {
    void *pages = mmap(NULL, reserved_bytes(bytes), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* Makes the record of an allocation; NULL if out of memory. The bytes of device memory lie in a
 * memory file, so that other processes can import them. */
static weft_allocation *make_record(weft_memory_kind kind, size_t bytes) {
    weft_allocation *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->kind = kind;
    made->bytes = bytes;
    if (kind == WEFT_MEMORY_DEVICE) {
        if (weft_memory_file_create(bytes, &made->file, &made->ticket) == WEFT_SUCCESS)
            made->storage = made->file.address;
        made->address = reserve_pages(bytes);
    } else {
        made->address = made->storage = weft_storage_allocate(bytes);
    }
    if (!made->storage || !made->address) {
        free_record(made);
        return NULL;
    }
    memset(made->storage, POISON, bytes);
    return made;
}

static weft_status simulated_allocate(weft_device_state *device, weft_memory_kind kind,
                                      size_t bytes, void **memory) {
    if (fails_now(device, WEFT_FAIL_ALLOCATE))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "simulated device: this allocation fails, as WEFT_SIMULATE asks");
    if (bytes == 0) {
        *memory = NULL;
        return WEFT_SUCCESS;
    }
    WEFT_TRY(weft_allocations_reserve(&device->allocations, kind, bytes));
    weft_allocation *made = make_record(kind, bytes);
    if (!made) {
        weft_allocations_release(&device->allocations, kind, bytes);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "no host memory for %zu bytes of the simulated device", bytes);
    }
    *memory = made->address;
    weft_allocations_add(&device->allocations, made);
    return WEFT_SUCCESS;
}

/* The caller has waited for the work that uses the memory. */
static void simulated_free(weft_device_state *device, weft_memory_kind kind, void *memory) {
    (void)kind;
    if (!memory) return;
    weft_allocation *taken = weft_allocations_take(&device->allocations, memory);
    if (taken) free_record(taken);
}

static weft_status simulated_memory_free(weft_device_state *device, size_t *bytes) {
    *bytes = weft_allocations_left(&device->allocations);
    return WEFT_SUCCESS;
}

_Static_assert(sizeof(weft_memory_ticket) <= sizeof(weft_memory_handle), "a handle holds a ticket");

static weft_status simulated_memory_export(weft_device_state *device, void *memory,
                                           weft_memory_handle *handle) {
    weft_allocation found;
    if (!weft_allocations_find(&device->allocations, memory, &found) || found.imported ||
        found.kind != WEFT_MEMORY_DEVICE || found.address != memory)
        return weft_fail(WEFT_ERROR_DEVICE, "simulated device: %p is no device memory to lend",
                         memory);
    memcpy(handle->content, &found.ticket, sizeof found.ticket);
    return WEFT_SUCCESS;
}

static weft_status simulated_memory_import(weft_device_state *device,
                                           const weft_memory_handle *handle, const void **memory) {
    weft_allocation *made = calloc(1, sizeof *made);
    if (!made) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no host memory for a record");
    *made = (weft_allocation){.kind = WEFT_MEMORY_DEVICE, .imported = true};
    memcpy(&made->ticket, handle->content, sizeof made->ticket);
    made->bytes = (size_t)made->ticket.bytes;
    if (weft_memory_file_open(&made->ticket, &made->file)) made->storage = made->file.address;
    made->address = made->storage ? reserve_pages(made->bytes) : NULL;
    if (!made->address) {
        free_record(made);
        return weft_fail(WEFT_ERROR_DEVICE,
                         "simulated device: the memory that another rank lends cannot be read");
    }
    *memory = made->address;
    weft_allocations_add(&device->allocations, made);
    return WEFT_SUCCESS;
}

static void simulated_memory_close(weft_device_state *device, const void *memory) {
    weft_allocation *taken = weft_allocations_take(&device->allocations, memory);
    if (taken) free_record(taken);
}

static weft_status simulated_queue_create(weft_device_state *device, bool low_priority,
                                          weft_queue **queue) {
    (void)low_priority;
    if (fails_now(device, WEFT_FAIL_QUEUE))
        return weft_fail(WEFT_ERROR_DEVICE,
                         "simulated device: this queue fails, as WEFT_SIMULATE asks");
    return start_queue(device, queue);
}

static void simulated_queue_destroy(weft_device_state *device, weft_queue *queue) {
    (void)device;
    weft_thread_queue_destroy(queue);
}

static weft_queue *queue_or_default(weft_device_state *device, weft_queue *queue) {
    return queue ? queue : device->default_queue;
}

static weft_status simulated_queue_wait(weft_device_state *device, weft_queue *queue) {
    return weft_thread_queue_wait(queue_or_default(device, queue));
}

static weft_status simulated_event_create(weft_device_state *device, weft_event **event) {
    (void)device;
    return weft_thread_event_create(event);
}

static void simulated_event_destroy(weft_device_state *device, weft_event *event) {
    (void)device;
    weft_thread_event_destroy(event);
}

static bool simulated_event_done(weft_device_state *device, weft_event *event) {
    (void)device;
    return weft_thread_event_done(event);
}

static weft_status put(weft_device_state *device, weft_queue *queue, const weft_work *work) {
    weft_thread_queue_put(queue_or_default(device, queue), work);
    return WEFT_SUCCESS;
}

static weft_status simulated_event_record(weft_device_state *device, weft_queue *queue,
                                          weft_event *event) {
    weft_work work = weft_thread_event_record(event);
    return put(device, queue, &work);
}

static weft_status simulated_event_await(weft_device_state *device, weft_queue *queue,
                                         weft_event *event) {
    weft_work work = weft_thread_event_await(event);
    return put(device, queue, &work);
}

/* Where the bytes from `address` + low to `address` + high are, as an address to which `low` may be
 * added; fails unless all of them lie in one device allocation. */
static weft_status translate(weft_device_state *device, const char *what, const void *address,
                             int64_t low, int64_t high, bool written, char **storage) {
    uintptr_t first = (uintptr_t)address + (uintptr_t)low;
    weft_allocation in;
    if (!weft_allocations_find(&device->allocations, (const void *)first, &in) ||
        in.kind != WEFT_MEMORY_DEVICE)
        return weft_fail(WEFT_ERROR_DEVICE, "simulated device: the %s, %p, is not in device memory",
                         what, (const void *)first);
    if (in.imported && written)
        return weft_fail(WEFT_ERROR_DEVICE, "simulated device: the %s, %p, is another rank's", what,
                         (const void *)first);
    uint64_t offset = first - (uintptr_t)in.address, bytes = (uint64_t)(high - low);
    if (bytes > in.bytes - offset)
        return weft_fail(
            WEFT_ERROR_DEVICE,
            "simulated device: the %s needs bytes %llu to %llu of an allocation of %zu bytes", what,
            (unsigned long long)offset, (unsigned long long)(offset + bytes), in.bytes);
    *storage = (char *)((uintptr_t)in.storage + offset - (uintptr_t)low);
    return WEFT_SUCCESS;
}

/* Host memory may be any, but not a device address, and a page-locked block must hold all of the
 * copy. */
static weft_status check_host(weft_device_state *device, const char *what, const void *address,
                              int64_t low, int64_t high) {
    uintptr_t first = (uintptr_t)address + (uintptr_t)low;
    weft_allocation in;
    if (!weft_allocations_find(&device->allocations, (const void *)first, &in)) return WEFT_SUCCESS;
    if (in.kind == WEFT_MEMORY_DEVICE)
        return weft_fail(WEFT_ERROR_DEVICE,
                         "simulated device: the %s, %p, is in device memory, not on the host", what,
                         (const void *)first);
    uint64_t room = in.bytes - (first - (uintptr_t)in.address), bytes = (uint64_t)(high - low);
    if (bytes > room)
        return weft_fail(WEFT_ERROR_DEVICE,
                         "simulated device: the %s needs %llu bytes where %llu bytes of "
                         "page-locked memory are left",
                         what, (unsigned long long)bytes, (unsigned long long)room);
    return WEFT_SUCCESS;
}

/* The bytes, from the base address, that one side of a copy touches. */
static void extent_of(const weft_copy *copy, int64_t offset, const int64_t *stride, int64_t *low,
                      int64_t *high) {
    int64_t first = offset, last = offset, bytes = (int64_t)copy->element_bytes;
    for (int a = 0; a < copy->axes; ++a) {
        int64_t reach = (copy->n[a] - 1) * stride[a];
        if (reach < 0)
            first += reach;
        else
            last += reach;
    }
    *low = first * bytes;
    *high = (last + 1) * bytes;
}

static weft_status simulated_copy(weft_device_state *device, weft_queue *queue,
                                  const weft_copy *copy, const void *src, void *dst,
                                  weft_transfer transfer) {
    if (copy->elements == 0) return WEFT_SUCCESS;
    weft_work work = {.kind = WEFT_WORK_COPY, .src = src, .dst = dst, .threads = device->threads};
    work.as.copy = *copy;
    int64_t low, high;
    char *storage = NULL;
    extent_of(copy, copy->src_offset, copy->src_stride, &low, &high);
    if (transfer == WEFT_HOST_TO_DEVICE) {
        WEFT_TRY(check_host(device, "source of a copy", src, low, high));
    } else {
        WEFT_TRY(translate(device, "source of a copy", src, low, high, false, &storage));
        work.src = storage;
    }
    extent_of(copy, copy->dst_offset, copy->dst_stride, &low, &high);
    if (transfer == WEFT_DEVICE_TO_HOST) {
        WEFT_TRY(check_host(device, "destination of a copy", dst, low, high));
    } else {
        WEFT_TRY(translate(device, "destination of a copy", dst, low, high, true, &storage));
        work.dst = storage;
    }
    if (fails_now(device, WEFT_FAIL_COPY))
        work.injected = "simulated device: this copy fails, as WEFT_SIMULATE asks";
    return put(device, queue, &work);
}

static weft_status simulated_callback(weft_device_state *device, weft_queue *queue,
                                      void (*function)(void *), void *argument) {
    weft_work work = {.kind = WEFT_WORK_CALLBACK, .as.callback = {function, argument}};
    return put(device, queue, &work);
}

static weft_status simulated_run(weft_device_state *device, weft_queue *queue,
                                 weft_device_function function, void *argument, const void *in,
                                 void *out) {
    weft_work work = {.kind = WEFT_WORK_RUN, .as.run = {function, argument}};
    char *storage = NULL;
    if (in) {
        WEFT_TRY(translate(device, "input of a function", in, 0, 1, false, &storage));
        work.src = storage;
    }
    if (out) {
        WEFT_TRY(translate(device, "output of a function", out, 0, 1, true, &storage));
        work.dst = storage;
    }
    if (fails_now(device, WEFT_FAIL_RUN))
        work.injected = "simulated device: this run fails, as WEFT_SIMULATE asks";
    return put(device, queue, &work);
}

static weft_status simulated_run_address(weft_device_state *device, const void *memory,
                                         const void **there) {
    weft_allocation in;
    char *storage = NULL;
    *there = memory;
    if (weft_allocations_find(&device->allocations, memory, &in) &&
        in.kind == WEFT_MEMORY_PAGE_LOCKED)
        return WEFT_SUCCESS;
    WEFT_TRY(translate(device, "array of a function", memory, 0, 1, false, &storage));
    *there = storage;
    return WEFT_SUCCESS;
}

static weft_status simulated_scale(weft_device_state *device, weft_queue *queue,
                                   weft_precision precision, void *data, int64_t count,
                                   double factor) {
    if (precision != WEFT_DOUBLE && precision != WEFT_SINGLE)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "the simulated device scales double and single precision only");
    if (count == 0) return WEFT_SUCCESS;
    weft_work work = {.kind = WEFT_WORK_SCALE,
                      .threads = device->threads,
                      .as.scale = {precision, count, factor}};
    int64_t size = precision == WEFT_DOUBLE ? 8 : 4;
    char *storage = NULL;
    WEFT_TRY(translate(device, "data to scale", data, 0, count * size, true, &storage));
    work.dst = storage;
    if (fails_now(device, WEFT_FAIL_SCALE))
        work.injected = "simulated device: this scaling fails, as WEFT_SIMULATE asks";
    return put(device, queue, &work);
}

const weft_device_ops weft_device_simulated = {
    .name = "simulated",
    .id = WEFT_SIMULATED,
    .host_addressable = false,
    .can_fail = true,
    .transport_aware = false, /* no transport can read its addresses */
    .reads_page_locked = true,
    .probe = simulated_probe,
    .open = simulated_open,
    .close = simulated_close,
    .allocate = simulated_allocate,
    .free = simulated_free,
    .memory_free = simulated_memory_free,
    .memory_export = simulated_memory_export,
    .memory_import = simulated_memory_import,
    .memory_close = simulated_memory_close,
    .queue_create = simulated_queue_create,
    .queue_destroy = simulated_queue_destroy,
    .queue_wait = simulated_queue_wait,
    .event_create = simulated_event_create,
    .event_destroy = simulated_event_destroy,
    .event_record = simulated_event_record,
    .event_await = simulated_event_await,
    .event_done = simulated_event_done,
    .copy = simulated_copy,
    .callback = simulated_callback,
    .run = simulated_run,
    .run_address = simulated_run_address,
    .scale = simulated_scale,
};
