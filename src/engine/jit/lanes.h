/*
 * Queues on which the parts of a batch run side by side, so that the first kernel of a part fills
 * the device while the last groups of another part's end. Lane 0 is the caller's queue, which the
 * others begin after and end on.
 */
#ifndef WEFT_ENGINE_JIT_LANES_H
#define WEFT_ENGINE_JIT_LANES_H

#include "device/device.h"

enum { WEFT_JIT_LANES = 4 };

typedef struct weft_jit_lanes {
    int count;                         /* 0 or 1: the caller's queue alone */
    weft_queue *queue[WEFT_JIT_LANES]; /* of lanes 1, 2, ... */
    weft_event *event[WEFT_JIT_LANES]; /* where lane 0 forks, where the others join it */
} weft_jit_lanes;

/* At least so many. */
weft_status weft_jit_lanes_extend(weft_jit_lanes *lanes, const weft_device_handle *device,
                                  int count);
void weft_jit_lanes_release(weft_jit_lanes *lanes, const weft_device_handle *device);

/* The first `count` lanes begin after what is on `queue`. */
weft_status weft_jit_lanes_fork(const weft_jit_lanes *lanes, const weft_device_handle *device,
                                weft_queue *queue, int count);
weft_queue *weft_jit_lanes_queue(const weft_jit_lanes *lanes, weft_queue *queue, int lane);
/* What is put on `queue` afterwards begins after what is on them. */
weft_status weft_jit_lanes_join(const weft_jit_lanes *lanes, const weft_device_handle *device,
                                weft_queue *queue, int count);

#endif
