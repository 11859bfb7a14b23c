/* For the tests of devices that have kernels: opens the one that WEFT_TEST_DEVICE names, cuda
 * without it, or ends the program where there is none. */
#ifndef WEFT_TESTS_DEVICE_TEST_H
#define WEFT_TESTS_DEVICE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "promised_device.h"
#include "support/error.h"

static inline void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

static inline weft_device tested_id(void) {
    const char *name = getenv("WEFT_TEST_DEVICE");
    return name ? device_named(name) : WEFT_CUDA;
}

/* The device to test; the test is skipped if it is neither present nor promised. */
static inline const weft_device_ops *tested_ops(void) {
    const weft_device_ops *ops = weft_device_find(tested_id());
    if (ops && ops->probe(NULL) == WEFT_SUCCESS) return ops;
    print_error("%s\n", weft_thread_error());
    exit(status_without(tested_id()));
}

static inline weft_device_state *open_device(const weft_device_ops *ops, size_t limit) {
    const weft_device_settings settings = {.threads = 1, .memory_limit = limit};
    weft_device_state *device = NULL;
    if (ops->open(&settings, &device) == WEFT_SUCCESS) return device;
    print_error("%s\n", weft_thread_error());
    exit(1);
}

#endif
