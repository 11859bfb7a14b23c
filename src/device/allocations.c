/* The list of a device's allocations, and host memory aligned for vectors and huge pages. */
#include "device/allocations.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "support/error.h"

enum { VECTOR = 64, PAGE = 4096, HUGE_PAGE = 2 << 20 };

void weft_allocations_open(weft_allocations *list, size_t limit) {
    *list = (weft_allocations){.limit = limit};
    pthread_mutex_init(&list->lock, NULL);
}

void weft_allocations_close(weft_allocations *list) {
    pthread_mutex_destroy(&list->lock);
}

weft_status weft_allocations_reserve(weft_allocations *list, weft_memory_kind kind, size_t bytes) {
    if (kind != WEFT_MEMORY_DEVICE) return WEFT_SUCCESS;
    pthread_mutex_lock(&list->lock);
    size_t held = list->held;
    bool fits = list->limit == 0 || (held <= list->limit && bytes <= list->limit - held);
    if (fits) list->held += bytes;
    pthread_mutex_unlock(&list->lock);
    if (fits) return WEFT_SUCCESS;
    return weft_fail(
        WEFT_ERROR_OUT_OF_MEMORY,
        "device memory: %zu bytes do not fit the limit of %zu bytes, of which %zu are taken; raise "
        "the limit or use more ranks",
        bytes, list->limit, held);
}

size_t weft_allocations_left(weft_allocations *list) {
    pthread_mutex_lock(&list->lock);
    const size_t limit = list->limit, held = list->held;
    pthread_mutex_unlock(&list->lock);
    return limit == 0 ? SIZE_MAX : limit > held ? limit - held : 0;
}

void weft_allocations_release(weft_allocations *list, weft_memory_kind kind, size_t bytes) {
    if (kind != WEFT_MEMORY_DEVICE) return;
    pthread_mutex_lock(&list->lock);
    list->held -= bytes;
    pthread_mutex_unlock(&list->lock);
}

void weft_allocations_add(weft_allocations *list, weft_allocation *allocation) {
    pthread_mutex_lock(&list->lock);
    allocation->next = list->first;
    list->first = allocation;
    pthread_mutex_unlock(&list->lock);
}

weft_allocation *weft_allocations_take(weft_allocations *list, const void *address) {
    pthread_mutex_lock(&list->lock);
    weft_allocation **link = &list->first;
    while (*link && address && (*link)->address != address) link = &(*link)->next;
    weft_allocation *taken = *link;
    if (taken) {
        *link = taken->next;
        if (taken->kind == WEFT_MEMORY_DEVICE && !taken->imported) list->held -= taken->bytes;
    }
    pthread_mutex_unlock(&list->lock);
    return taken;
}

bool weft_allocations_find(weft_allocations *list, const void *address, weft_allocation *found) {
    pthread_mutex_lock(&list->lock);
    const weft_allocation *at = list->first;
    while (at && (uintptr_t)address - (uintptr_t)at->address >= at->bytes) at = at->next;
    if (at) *found = *at;
    pthread_mutex_unlock(&list->lock);
    return at != NULL;
}

void weft_storage_advise(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    size_t ahead = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (bytes < ahead + HUGE_PAGE) return;
    /* If the operating system declines, the memory has ordinary pages. */
    (void)madvise((char *)memory + ahead, (bytes - ahead) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

void *weft_storage_allocate(size_t bytes) {
    void *memory = NULL;
    bool large = bytes >= 2 * (size_t)HUGE_PAGE;
    if (posix_memalign(&memory, large ? HUGE_PAGE : VECTOR, bytes) != 0) return NULL;
    if (large) weft_storage_advise(memory, bytes);
    return memory;
}

void *weft_storage_allocate_zero(size_t bytes, void **whole) {
    const bool large = bytes >= 2 * (size_t)HUGE_PAGE;
    const size_t alignment = large ? HUGE_PAGE : PAGE;
    char *memory = bytes <= SIZE_MAX - alignment ? calloc(1, bytes + alignment) : NULL;
    *whole = memory;
    if (!memory) return NULL;
    memory += (alignment - (uintptr_t)memory % alignment) % alignment;
    if (large) weft_storage_advise(memory, bytes);
    return memory;
}
