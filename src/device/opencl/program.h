/*
 * Kernels of an OpenCL device: sources compiled when they are first asked for, kept in the process,
 * and as the device's binaries in the cache folder.
 */
#ifndef WEFT_DEVICE_OPENCL_PROGRAM_H
#define WEFT_DEVICE_OPENCL_PROGRAM_H

#include "device/opencl/processor.h"

/* Compiles, or finds, a kernel. Thread-safe. */
weft_status weft_cl_kernel_make(weft_cl_processor *processor, const weft_kernel_source *source,
                                weft_kernel **kernel);
void weft_cl_kernel_free(const weft_cl_processor *processor, weft_kernel *kernel);

/* Operations of the device (kernel.c). */
weft_status weft_cl_kernel_limits(weft_device_state *device, weft_kernel_limits *limits);
weft_status weft_cl_kernel_create(weft_device_state *device, const weft_kernel_source *source,
                                  weft_kernel **kernel);
void weft_cl_kernel_destroy(weft_device_state *device, weft_kernel *kernel);
weft_status weft_cl_kernel_launch(weft_device_state *device, weft_queue *queue, weft_kernel *kernel,
                                  const unsigned groups[3], const weft_kernel_argument *argument,
                                  int arguments);

#endif
