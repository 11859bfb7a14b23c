/*
 * OpenCL devices of this machine, called processors here, since a weft device is something else:
 * the list of them, which one this process uses, and its context with the kernels for copies and
 * scaling. Opened when first asked for and kept for the life of the process, since every plan opens
 * a device.
 */
#ifndef WEFT_DEVICE_OPENCL_PROCESSOR_H
#define WEFT_DEVICE_OPENCL_PROCESSOR_H

#include "device/device.h"
#include "device/opencl/library.h"
#include "device/strided_copy.h"

/* Bytes of a group's local memory that are left to compilers: NVIDIA's takes one for each kernel.
 */
enum { WEFT_CL_COMPILERS_BYTES = 64 };

typedef struct weft_cl_processor {
    const weft_cl *cl;
    weft_cl_device device;
    bool is_cpu;
    char version[128];     /* of OpenCL and of the driver */
    char description[448]; /* platform and name, number in the list, versions */
    char name[256];        /* "platform: name" */
    char versions[512];    /* of everything that compiles for it */
    /* The fields from here on are set once it is open. */
    weft_cl_context context;
    weft_kernel_limits limits;
    unsigned
        registers; /* of a group, of 32 bits, where the compiler takes a limit for a thread; 0 */
    size_t largest_buffer;                                 /* bytes */
    size_t parameter_bytes;                                /* of a kernel, at most */
    weft_kernel *copy[WEFT_COPY_KERNELS][WEFT_COPY_UNITS]; /* by weft_copy_kernel and unit */
    weft_kernel *scale[WEFT_SINGLE + 1]; /* by precision; NULL: cannot be computed */
} weft_cl_processor;

/* The processor of this process: the one that WEFT_OPENCL_DEVICE names by number in the list or by
 * a part of its name; else a GPU, by the rank on this node that the launcher tells, modulo their
 * number; else the first of the list. Thread-safe. */
weft_status weft_cl_processor_choose(weft_cl_processor **processor);

/* Chooses that processor and opens it. */
weft_status weft_cl_processor_open(weft_cl_processor **processor);

#endif
