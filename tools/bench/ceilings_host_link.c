/*
 * Host link: how fast rank 0 copies between page-locked memory and its first CUDA device, in each
 * direction and in both at once, and from the device to itself. Rates of the link are bytes per
 * second in one direction; the copy on the device counts bytes read and written.
 */
#include "bench/ceilings_parts.h"

#include "bench/cuda_libraries.h"
#include "io/agreement.h"
#include "support/clock.h"
#include "support/error.h"

#include <stdbool.h>

enum { REPETITIONS = 8, COPIES = 4, DEVICE_COPIES = 32 };
static const size_t bytes = (size_t)256 << 20; /* of a buffer; no device's cache holds two */

typedef struct host_link {
    const cuda_runtime *cuda;
    void *host[2], *device[2];
    void *stream[2];
} host_link;

static weft_status open_link(host_link *l) {
    const cuda_runtime *cuda = l->cuda;
    WEFT_TRY(cuda_check(cuda, cuda->set_device(0), "device 0 is not usable"));
    for (int i = 0; i < 2; i++) {
        WEFT_TRY(cuda_check(cuda, cuda->allocate_page_locked(&l->host[i], bytes),
                            "no page-locked memory"));
        WEFT_TRY(cuda_check(cuda, cuda->allocate(&l->device[i], bytes), "no device memory"));
        WEFT_TRY(cuda_check(cuda, cuda->stream_create(&l->stream[i]), "no stream"));
    }
    return WEFT_SUCCESS;
}

static void close_link(host_link *l) {
    for (int i = 0; i < 2; i++) {
        if (l->host[i]) l->cuda->release_page_locked(l->host[i]);
        if (l->device[i]) l->cuda->release(l->device[i]);
        if (l->stream[i]) l->cuda->stream_destroy(l->stream[i]);
    }
}

static weft_status copy(const host_link *l, int direction, int stream) {
    void *to = direction == CUDA_COPY_TO_HOST ? l->host[1] : l->device[0];
    const void *from = direction == CUDA_COPY_TO_DEVICE ? l->host[0] : l->device[1];
    return cuda_check(l->cuda, l->cuda->copy_later(to, from, bytes, direction, l->stream[stream]),
                      "a copy failed");
}

/* Bytes per second of one copy: the best of several times that some run one after the other, on
 * one stream or, in both directions at once, on two. */
static weft_status time_copies(const host_link *l, int direction, bool both, double *rate) {
    int copies = direction == CUDA_COPY_ON_DEVICE ? DEVICE_COPIES : COPIES;
    *rate = 0;
    for (int r = 0; r < REPETITIONS; r++) {
        double start = weft_clock();
        for (int k = 0; k < copies; k++) {
            WEFT_TRY(copy(l, direction, 0));
            if (both) WEFT_TRY(copy(l, CUDA_COPY_TO_HOST, 1));
        }
        WEFT_TRY(cuda_check(l->cuda, l->cuda->stream_synchronize(l->stream[0]), "a copy failed"));
        WEFT_TRY(cuda_check(l->cuda, l->cuda->stream_synchronize(l->stream[1]), "a copy failed"));
        double now = copies * (double)bytes / (weft_clock() - start);
        if (now > *rate) *rate = now;
    }
    return WEFT_SUCCESS;
}

static weft_status measure(host_link *l, json_t **result) {
    double there = 0, back = 0, both = 0, device = 0;
    WEFT_TRY(open_link(l));
    WEFT_TRY(time_copies(l, CUDA_COPY_TO_DEVICE, false, &there));
    WEFT_TRY(time_copies(l, CUDA_COPY_TO_HOST, false, &back));
    WEFT_TRY(time_copies(l, CUDA_COPY_TO_DEVICE, true, &both));
    WEFT_TRY(time_copies(l, CUDA_COPY_ON_DEVICE, false, &device));
    *result = json_pack("{s:s, s:f, s:f, s:f, s:f}", "device", l->cuda->device_name, "to_device",
                        there, "to_host", back, "both_ways", both, "device_copy", 2 * device);
    return WEFT_SUCCESS;
}

weft_status ceilings_host_link(const ceilings_group *group, json_t **result) {
    weft_status status = WEFT_SUCCESS;
    *result = NULL;
    host_link l = {.cuda = group->world->rank == 0 ? cuda_runtime_open() : NULL};
    if (l.cuda) {
        status = measure(&l, result);
        close_link(&l);
    }
    WEFT_TRY(ceilings_wait(group));
    return weft_array_agree(group->world->comm, status);
}
