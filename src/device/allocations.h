/*
 * The memory that a device has allocated for callers: a list of allocations with a limit on device
 * memory. Thread-safe.
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
    bool callers;              /* the caller's own memory, which is only page-locked */
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

/* Counts `bytes` against the limit, or fails with WEFT_ERROR_OUT_OF_MEMORY. Page-locked memory has
 * no limit. */
weft_status weft_allocations_reserve(weft_allocations *list, weft_memory_kind kind, size_t bytes);
/* Bytes that the limit leaves; SIZE_MAX where there is none. */
size_t weft_allocations_left(weft_allocations *list);
void weft_allocations_release(weft_allocations *list, weft_memory_kind kind, size_t bytes);

/* Adds an allocation whose bytes have been reserved. The list owns the record until it is taken out
 * again. */
void weft_allocations_add(weft_allocations *list, weft_allocation *allocation);

/* Removes the allocation that starts at `address` (any, if `address` is NULL), no longer counts its
 * bytes against the limit, and returns the record for the caller to free; NULL if there is none. */
weft_allocation *weft_allocations_take(weft_allocations *list, const void *address);

/* Copies the record of the allocation that contains `address`; false if there is none. */
bool weft_allocations_find(weft_allocations *list, const void *address, weft_allocation *found);

/* Allocates `bytes` > 0 of host memory, aligned to 64 bytes; from 4 MiB on, aligned to 2 MiB and on
 * huge pages where the system has them. NULL if out of memory. Freed with free(). */
void *weft_storage_allocate(size_t bytes);

/* Allocates host memory like weft_storage_allocate, aligned to at least 4 KiB, that is zero and has
 * not been touched, so each page is placed near the thread that first uses it. *whole gets the
 * address to pass to free(). NULL if out of memory. */
void *weft_storage_allocate_zero(size_t bytes, void **whole);

/* Asks for huge pages wherever a whole one fits into this memory, whoever allocated it (MPI
 * windows, for example). Best called before the first use of the memory, of which it allocates no
 * more. */
void weft_storage_advise(void *memory, size_t bytes);

#endif
