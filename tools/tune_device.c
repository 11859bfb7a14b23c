/* Rates of a device: copies of its own memory, the link to the host, and what a launch takes. */
#include "tune.h"

#include "device/device.h"
#include "support/error.h"

#include <string.h>

enum { MEMORY_BYTES = 256 << 20, LINK_BYTES = 64 << 20, LAUNCHES = 200 };

/* Copies of `bytes`, so many times, and the wait for them. */
typedef struct device_copies {
    weft_device_handle device;
    void *near[2], *far; /* memory of the device; page-locked memory of the host */
    weft_transfer transfer;
    size_t bytes;
    int times;
} device_copies;

static weft_status run_copies(void *argument) {
    const device_copies *d = argument;
    const weft_device_ops *ops = d->device.ops;
    const weft_copy copy = weft_copy_of_run((int64_t)(d->bytes / 8), 8);
    const void *from = d->transfer == WEFT_HOST_TO_DEVICE ? d->far : d->near[0];
    void *to = d->transfer == WEFT_DEVICE_TO_HOST ? d->far : d->near[1];
    for (int i = 0; i < d->times; i++)
        WEFT_TRY(ops->copy(d->device.state, NULL, &copy, from, to, d->transfer));
    return ops->queue_wait(d->device.state, NULL);
}

static weft_status time_copies(const tuning *t, device_copies *d, weft_transfer transfer,
                               size_t bytes, int times, double *seconds) {
    d->transfer = transfer;
    d->bytes = bytes;
    d->times = times;
    WEFT_TRY(tune_best(t, run_copies, d, seconds));
    *seconds /= times;
    return WEFT_SUCCESS;
}

static weft_status measure(tuning *t, device_copies *d) {
    weft_machine_device *found = &t->machine.device;
    double seconds;
    WEFT_TRY(time_copies(t, d, WEFT_DEVICE_TO_DEVICE, 8, LAUNCHES, &found->launch));
    WEFT_TRY(time_copies(t, d, WEFT_DEVICE_TO_DEVICE, MEMORY_BYTES, 4, &seconds));
    found->memory = 2.0 * MEMORY_BYTES / seconds;
    WEFT_TRY(time_copies(t, d, WEFT_HOST_TO_DEVICE, LINK_BYTES, 4, &seconds));
    found->to_device = LINK_BYTES / seconds;
    WEFT_TRY(time_copies(t, d, WEFT_DEVICE_TO_HOST, LINK_BYTES, 4, &seconds));
    found->from_device = LINK_BYTES / seconds;
    return WEFT_SUCCESS;
}

weft_status tune_device(tuning *t, weft_device device) {
    device_copies d = {.device.ops = weft_device_find(device)};
    const weft_device_ops *ops = d.device.ops;
    const weft_device_settings settings = {.threads = 1};
    WEFT_TRY(ops->probe(NULL));
    WEFT_TRY(ops->open(&settings, &d.device.state));
    weft_status status = WEFT_SUCCESS;
    for (int i = 0; i < 2 && status == WEFT_SUCCESS; i++)
        status = ops->allocate(d.device.state, WEFT_MEMORY_DEVICE, MEMORY_BYTES, &d.near[i]);
    if (status == WEFT_SUCCESS)
        status = ops->allocate(d.device.state, WEFT_MEMORY_PAGE_LOCKED, LINK_BYTES, &d.far);
    if (status == WEFT_SUCCESS) {
        memset(d.far, 0, LINK_BYTES);
        status = measure(t, &d);
    }
    if (d.far) ops->free(d.device.state, WEFT_MEMORY_PAGE_LOCKED, d.far);
    for (int i = 0; i < 2; i++)
        if (d.near[i]) ops->free(d.device.state, WEFT_MEMORY_DEVICE, d.near[i]);
    ops->close(d.device.state);
    return status;
}
