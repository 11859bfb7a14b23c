/* How much memory tests let a device have, of the plans that are made from then on. */
#ifndef WEFT_TESTS_DEVICE_MEMORY_H
#define WEFT_TESTS_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

/* 0: as much as it likes. False where the device is a real one, whose memory is what it is. */
static inline bool set_device_memory(weft_device device, size_t bytes) {
    char text[48];
    if (device != WEFT_SIMULATED && !getenv("WEFT_TEST_HOST_CUDA")) return false;
    const char *name = device == WEFT_SIMULATED ? "WEFT_SIMULATE" : "WEFT_TEST_CUDA_MEMORY";
    snprintf(text, sizeof text, device == WEFT_SIMULATED ? "delay_us=0,memory=%zu" : "%zu", bytes);
    return (bytes > 0 ? setenv(name, text, 1) : unsetenv(name)) == 0;
}

#endif
