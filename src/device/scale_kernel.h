/* Scaling as devices with kernels do it: the kernel of src/kernels/scale.cl, and its arguments. */
#ifndef WEFT_DEVICE_SCALE_KERNEL_H
#define WEFT_DEVICE_SCALE_KERNEL_H

#include "device/device.h"

/* The source of the kernel for double or single precision. */
weft_kernel_source weft_scale_source(weft_precision precision);

enum { WEFT_SCALE_ARGUMENTS = 4 };

/* What the arguments of a launch point to. */
typedef struct weft_scale_launch {
    unsigned groups[3];
    long long count;
    double factor, none;
    float high, low; /* of the factor, for devices without double precision */
    weft_kernel_argument argument[WEFT_SCALE_ARGUMENTS];
} weft_scale_launch;

/* `launch` must stay where it is while it is used. count > 0, and so small that the groups can be
 * counted with 32 bits. */
void weft_scale_prepare(weft_scale_launch *launch, void *data, int64_t count, double factor,
                        bool has_double);

#endif
