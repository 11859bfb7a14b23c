/*
 * For all tests that want a device: whether it must be there. What is promised is not skipped:
 * WEFT_TEST_GPU promises a GPU, WEFT_TEST_HOST_CUDA the CUDA device of tests/cuda and
 * WEFT_TEST_OPENCL an OpenCL device.
 */
#ifndef WEFT_TESTS_PROMISED_DEVICE_H
#define WEFT_TESTS_PROMISED_DEVICE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

/* CTest shows as skipped what ends with this status. */
enum { STATUS_SKIPPED = 77 };

static inline bool device_is_promised(weft_device device) {
    if (device == WEFT_CUDA) return getenv("WEFT_TEST_GPU") || getenv("WEFT_TEST_HOST_CUDA");
    if (device == WEFT_OPENCL) return getenv("WEFT_TEST_OPENCL") != NULL;
    return true;
}

/* The device of this name; the host where there is none, or name is NULL. */
static inline weft_device device_named(const char *name) {
    for (int d = WEFT_HOST; name && d <= WEFT_SIMULATED; d++)
        if (strcmp(weft_device_name((weft_device)d), name) == 0) return (weft_device)d;
    return WEFT_HOST;
}

/* Whether a device compiles kernels when plans are made: code for it is text, and many cases take a
 * while. */
static inline bool device_compiles(weft_device device) {
    return device == WEFT_CUDA || device == WEFT_OPENCL;
}

/* Whether ranks can read each other's memory of a device: the exchange `peer`. */
static inline bool device_has_peer(weft_device device) {
    return device != WEFT_OPENCL && device != WEFT_OPENMP;
}

/* Finds the device that WEFT_TEST_DEVICE names, the host without it. False where it cannot be used.
 */
static inline bool find_device(weft_device *device) {
    *device = device_named(getenv("WEFT_TEST_DEVICE"));
    return weft_device_probe(*device, NULL) == WEFT_SUCCESS;
}

/* How a program ends that has not found its device. */
static inline int status_without(weft_device device) {
    return device_is_promised(device) ? 1 : STATUS_SKIPPED;
}

#endif
