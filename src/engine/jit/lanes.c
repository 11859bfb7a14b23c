/* Forks and joins lanes by events. */
#include "engine/jit/lanes.h"

#include "support/error.h"

weft_status weft_jit_lanes_extend(weft_jit_lanes *lanes, const weft_device_handle *device,
                                  int count) {
    const weft_device_ops *ops = device->ops;
    for (; count > 1 && lanes->count < count; lanes->count++) {
        const int lane = lanes->count;
        WEFT_TRY(ops->event_create(device->state, &lanes->event[lane]));
        if (lane > 0) WEFT_TRY(ops->queue_create(device->state, &lanes->queue[lane]));
    }
    return WEFT_SUCCESS;
}

void weft_jit_lanes_release(weft_jit_lanes *lanes, const weft_device_handle *device) {
    for (int lane = 0; lane < WEFT_JIT_LANES; lane++) {
        if (lanes->queue[lane]) device->ops->queue_destroy(device->state, lanes->queue[lane]);
        if (lanes->event[lane]) device->ops->event_destroy(device->state, lanes->event[lane]);
    }
    *lanes = (weft_jit_lanes){.count = 0};
}

weft_queue *weft_jit_lanes_queue(const weft_jit_lanes *lanes, weft_queue *queue, int lane) {
    return lane == 0 ? queue : lanes->queue[lane];
}

weft_status weft_jit_lanes_fork(const weft_jit_lanes *lanes, const weft_device_handle *device,
                                weft_queue *queue, int count) {
    const weft_device_ops *ops = device->ops;
    if (count > 1) WEFT_TRY(ops->event_record(device->state, queue, lanes->event[0]));
    for (int lane = 1; lane < count; lane++)
        WEFT_TRY(ops->event_await(device->state, lanes->queue[lane], lanes->event[0]));
    return WEFT_SUCCESS;
}

weft_status weft_jit_lanes_join(const weft_jit_lanes *lanes, const weft_device_handle *device,
                                weft_queue *queue, int count) {
    const weft_device_ops *ops = device->ops;
    weft_status status = WEFT_SUCCESS;
    for (int lane = 1; lane < count; lane++) { /* all of them, whatever fails */
        weft_event *event = lanes->event[lane];
        weft_status joined = ops->event_record(device->state, lanes->queue[lane], event);
        if (joined == WEFT_SUCCESS) joined = ops->event_await(device->state, queue, event);
        if (status == WEFT_SUCCESS) status = joined;
    }
    return status;
}
