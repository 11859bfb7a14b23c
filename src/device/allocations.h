/*
 * What a device has handed out: a list of allocations with a limit on device memory, shared by the
 * devices whose memory comes from this process. Thread safe.
 */
#ifndef WEFT_DEVICE_ALLOCATIONS_H
#define WEFT_DEVICE_ALLOCATIONS_H

#include <pthread.h>

#include "device/device.h"
#include "support/memory_file.h"

typedef struct weft_allocation {
    char *address; /* what the caller holds */
    char *storage; /* where the bytes are; the address itself on devices that the CPU can address */
    size_t bytes;
    weft_memory_kind kind;
    bool imported;             /* from another process: it does not count */
    weft_memory_file file;     /* that storage is mapped from; address NULL: none */
    weft_memory_ticket ticket; /* for others to map it */
    struct weft_allocation *next;
} weft_allocation;

typedef struct weft_allocations {
    pthread_mutex_t lock;
    weft_allocation *first;
    size_t held, limit; /* device bytes; limit 0 is none */
} weft_allocations;

void weft_allocations_open(weft_allocations *list, size_t limit);
void weft_allocations_close(weft_allocations *list); /* the list must be empty */

/* Takes `bytes` from the limit, or fails with WEFT_ERROR_OUT_OF_MEMORY. Page-locked memory has no
 * limit. */
weft_status weft_allocations_reserve(weft_allocations *list, weft_memory_kind kind, size_t bytes);
void weft_allocations_release(weft_allocations *list, weft_memory_kind kind, size_t bytes);

/* Enters an allocation (its bytes reserved before). The record is the list's until it is taken out
 * again. */
void weft_allocations_add(weft_allocations *list, weft_allocation *allocation);

/* Takes out the allocation that starts at `address`, gives its bytes back to the limit, and hands
 * the record to the caller to free; NULL where there is none. With address NULL: any that is left.
 */
weft_allocation *weft_allocations_take(weft_allocations *list, const void *address);

/* Finds the allocation that holds `address`; false where there is none. */
bool weft_allocations_find(weft_allocations *list, const void *address, weft_allocation *found);

/* Memory for `bytes` > 0: 64-byte aligned; from 4 MiB on aligned to 2 MiB, on huge pages where the
 * system has them. NULL if out of memory. Freed with free(). */
void *weft_storage_allocate(size_t bytes);

/* The same, but zero and not touched yet, so that it lies where the threads that first use it are;
 * aligned to at least 4 KiB. *whole gets what is freed with free(). NULL if out of memory. */
void *weft_storage_allocate_zero(size_t bytes, void **whole);

/* Asks for huge pages wherever a whole one fits into this memory, whoever allocated it (MPI's
 * windows too). Best before its first use. It takes no more memory than it has. */
void weft_storage_advise(void *memory, size_t bytes);

#endif
