/*
 * Scratch memory that transforms of one plan share, since only one of them runs at a time: as much
 * as the largest of them needs. Transforms reserve it when they are planned and ask where it lies
 * when they run, since it moves as it grows.
 */
#ifndef WEFT_ENGINE_SCRATCH_H
#define WEFT_ENGINE_SCRATCH_H

#include <stddef.h>

#include <weft/weft.h>

#include "device/device.h"

/* Bytes that all threads share, and bytes for each of them. */
typedef struct weft_room_size {
    size_t shared, own;
} weft_room_size;

/* Memory of a team of threads, aligned to pages. */
typedef struct weft_room {
    char *shared; /* for all of them */
    char *own;    /* for the first thread; the next one's is `stride` bytes further */
    size_t stride;
    int threads;
} weft_room;

static inline char *weft_room_of(const weft_room *room, int thread) {
    return room->own + (size_t)thread * room->stride;
}

/* All zero: nothing is reserved. On a device only `shared` bytes are. */
typedef struct weft_scratch {
    size_t shared, stride;
    int threads;
    size_t bytes;              /* allocated */
    void *memory;              /* to be freed */
    char *aligned;             /* its beginning */
    weft_device_handle device; /* whose memory it is; without ops: the host's */
} weft_scratch;

/* Makes sure that there is as much room for as many threads. What was reserved before stays
 * reserved, and what lay in the memory is lost. */
weft_status weft_scratch_reserve(weft_scratch *scratch, weft_room_size size, int threads);
/* The same in the memory of a device, which must outlive it. */
weft_status weft_scratch_reserve_on(weft_scratch *scratch, const weft_device_handle *device,
                                    size_t bytes);
void weft_scratch_release(weft_scratch *scratch);

/* The room for `threads` threads, no more than were reserved. */
static inline weft_room weft_scratch_room(const weft_scratch *scratch, int threads) {
    return (weft_room){scratch->aligned, scratch->aligned + scratch->shared, scratch->stride,
                       threads};
}

#endif
