/* Scratch memory that grows with what is reserved. */
#include "engine/scratch.h"

#include "device/allocations.h"
#include "support/error.h"

#include <stdlib.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20, CACHE_LINE = 64 };

static size_t rounded(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* No two threads share a huge page, so that each page lies near the thread that uses it. The bytes
 * of a smaller stride are no power of two, lest the memory of threads that share a cache competes
 * for the same sets of it. */
static size_t stride_of(size_t bytes) {
    if (bytes >= 2 * (size_t)HUGE_PAGE) return rounded(bytes, HUGE_PAGE);
    return bytes > 0 ? rounded(bytes, PAGE) + 5 * (size_t)CACHE_LINE : 0;
}

weft_status weft_scratch_reserve(weft_scratch *s, weft_room_size size, int threads) {
    const size_t shared = rounded(size.shared, size.shared >= HUGE_PAGE ? HUGE_PAGE : PAGE);
    const size_t stride = stride_of(size.own);
    if (shared > s->shared) s->shared = shared;
    if (stride > s->stride) s->stride = stride;
    if (threads > s->threads) s->threads = threads;
    const size_t bytes = s->shared + s->stride * (size_t)s->threads;
    if (bytes <= s->bytes) return WEFT_SUCCESS;
    free(s->memory);
    s->bytes = 0;
    s->aligned = weft_storage_allocate_zero(bytes, &s->memory);
    if (!s->aligned)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a workspace of %zu bytes", bytes);
    s->bytes = bytes;
    return WEFT_SUCCESS;
}

/* What was there goes first, so that both need not fit. Where there is no more room it comes back,
 * for the transforms that reserved it. */
weft_status weft_scratch_reserve_on(weft_scratch *s, const weft_device_handle *device,
                                    size_t bytes) {
    const weft_device_ops *ops = device->ops;
    const size_t before = s->shared, wanted = bytes > before ? bytes : before;
    if (wanted <= s->bytes) return WEFT_SUCCESS;
    s->device = *device;
    if (s->memory) ops->free(device->state, WEFT_MEMORY_DEVICE, s->memory);
    s->bytes = 0;
    s->memory = NULL;
    weft_status status = ops->allocate(device->state, WEFT_MEMORY_DEVICE, wanted, &s->memory);
    if (status == WEFT_SUCCESS)
        s->shared = s->bytes = wanted;
    else if (before > 0 &&
             ops->allocate(device->state, WEFT_MEMORY_DEVICE, before, &s->memory) == WEFT_SUCCESS)
        s->bytes = before;
    return status;
}

void weft_scratch_release(weft_scratch *s) {
    if (!s->device.ops)
        free(s->memory);
    else if (s->memory)
        s->device.ops->free(s->device.state, WEFT_MEMORY_DEVICE, s->memory);
    *s = (weft_scratch){0};
}
