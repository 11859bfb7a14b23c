/* For the tests of the CUDA device: opens it, or ends the program as skipped where there is none.
 */
#ifndef WEFT_TESTS_CUDA_TEST_H
#define WEFT_TESTS_CUDA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "support/error.h"

static inline void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

/* Ends the program with a status other than that of a skipped test: who runs these wants a GPU. */
static inline const weft_device_ops *cuda_ops(void) {
    const weft_device_ops *ops = weft_device_find(WEFT_CUDA);
    if (ops && ops->probe(NULL) == WEFT_SUCCESS) return ops;
    print_error("%s\n", weft_thread_error());
    exit(1);
}

static inline weft_device_state *cuda_device(const weft_device_ops *ops, size_t limit) {
    const weft_device_settings settings = {.threads = 1, .memory_limit = limit};
    weft_device_state *device = NULL;
    if (ops->open(&settings, &device) == WEFT_SUCCESS) return device;
    print_error("%s\n", weft_thread_error());
    exit(1);
}

#endif
