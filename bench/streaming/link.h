/* What programs that time streamed plans share: the rate of the link between host and device, and
 * limits of device memory. */
#ifndef WEFT_BENCH_LINK_H
#define WEFT_BENCH_LINK_H

#include "device/device.h"
#include "measuring.h"
#include "support/error.h"

/* Of a flag: a number, or one that ends in K, M or G. */
static inline int64_t bytes_of(const char *text) {
    char *end;
    const int64_t value = strtoll(text, &end, 10);
    return value << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

enum { LINK_RUNS = 5 };

/* Bytes per second of copies to the device and from it at once, on two queues, each way; of ranks
 * the slowest. `must` ends the program after a failure; `largest` gives the largest value of any
 * rank, and waits for all. */
static inline double link_rate(weft_device id, void (*must)(weft_status),
                               double (*largest)(double)) {
    const weft_device_ops *ops = weft_device_find(id);
    const weft_device_settings settings = {.threads = 1};
    const int64_t bytes = INT64_C(256) << 20;
    const weft_copy copy = weft_copy_of_run(bytes, 1);
    weft_device_state *device = NULL;
    weft_queue *queue[2];
    void *there[2], *here[2];
    double seconds[LINK_RUNS];
    if (!ops) must(weft_fail(WEFT_ERROR_UNSUPPORTED, "this device is not in this build"));
    must(ops->probe(NULL));
    must(ops->open(&settings, &device));
    for (int i = 0; i < 2; i++) {
        must(ops->queue_create(device, false, &queue[i]));
        must(ops->allocate(device, WEFT_MEMORY_DEVICE, (size_t)bytes, &there[i]));
        must(ops->allocate(device, WEFT_MEMORY_PAGE_LOCKED, (size_t)bytes, &here[i]));
        memset(here[i], 0, (size_t)bytes);
    }
    for (int k = 0; k < LINK_RUNS; k++) {
        largest(0);
        const double start = seconds_now();
        must(ops->copy(device, queue[0], &copy, here[0], there[0], WEFT_HOST_TO_DEVICE));
        must(ops->copy(device, queue[1], &copy, there[1], here[1], WEFT_DEVICE_TO_HOST));
        for (int i = 0; i < 2; i++) must(ops->queue_wait(device, queue[i]));
        seconds[k] = largest(seconds_now() - start);
    }
    for (int i = 0; i < 2; i++) {
        ops->queue_destroy(device, queue[i]);
        ops->free(device, WEFT_MEMORY_DEVICE, there[i]);
        ops->free(device, WEFT_MEMORY_PAGE_LOCKED, here[i]);
    }
    ops->close(device);
    return (double)bytes / median_of(seconds, LINK_RUNS);
}

#endif
