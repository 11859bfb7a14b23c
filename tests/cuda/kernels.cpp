/* The kernels of the device itself (src/kernels/copy.cl, scale.cl), compiled for the host. */
#include "host_kernel.hpp"

#include <cstring>

#define THREADS 256
#define PRECISION 1
#define HAS_DOUBLE 1
#include "kernels/dialect.h"

#include "kernels/copy_shape.h"
#define UNIT unsigned char
#define UNIT_BYTES 1
#include "kernels/copy.cl"
#define UNIT unsigned short
#define UNIT_BYTES 2
#include "kernels/copy.cl"
#define UNIT unsigned int
#define UNIT_BYTES 4
#include "kernels/copy.cl"
#define UNIT ulong64
#define UNIT_BYTES 8
#include "kernels/copy.cl"
#define UNIT uint4
#define UNIT_BYTES 16
#include "kernels/copy.cl"

#include "kernels/scale.cl"
#undef PRECISION
#define PRECISION 0
#define real double
#include "kernels/scale.cl"
#undef real

#define COPIES(bytes)                                                                              \
    HOST_KERNEL(weft_copy_rows_##bytes, true), HOST_KERNEL(weft_copy_tiles_##bytes, true)

host_kernel host_kernels[] = {COPIES(1),
                              COPIES(2),
                              COPIES(4),
                              COPIES(8),
                              COPIES(16),
                              HOST_KERNEL(weft_scale_single, false),
                              HOST_KERNEL(weft_scale_double, false),
                              {}};
