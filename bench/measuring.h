/* What programs that time plans on devices share: random arrays there, devices and engines by
 * name, a clock, and medians. */
#ifndef WEFT_BENCH_MEASURING_H
#define WEFT_BENCH_MEASURING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

/* Numbers between -1 and 1, others with another seed. */
static inline weft_status upload_random(weft_plan plan, void *buffer, size_t bytes,
                                        weft_precision precision, uint64_t seed) {
    const size_t size = precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    char *host = malloc(bytes > 0 ? bytes : 1);
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (!host) return WEFT_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < bytes / size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double number = (double)(state >> 11) * 0x1p-52 - 1;
        if (precision == WEFT_SINGLE)
            ((float *)(void *)host)[i] = (float)number;
        else
            ((double *)(void *)host)[i] = number;
    }
    const weft_status status = weft_buffer_upload(plan, buffer, host, bytes);
    free(host);
    return status;
}

/* Sets the device of this name; false where there is none. */
static inline bool find_device(const char *name, weft_device *device) {
    for (int d = WEFT_HOST; d <= WEFT_SIMULATED; d++) {
        *device = (weft_device)d;
        if (strcmp(weft_device_name(*device), name) == 0) return true;
    }
    return false;
}

/* The engine of this name; where there is none, the program ends. */
static inline weft_engine engine_named(const char *name) {
    for (int e = WEFT_ENGINE_AUTO; strcmp(weft_engine_name((weft_engine)e), "?") != 0; e++)
        if (strcmp(weft_engine_name((weft_engine)e), name) == 0) return (weft_engine)e;
    fprintf(stderr, "no engine is called %s\n", name);
    exit(2);
}

/* Seconds of a clock that is never set. */
static inline double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the times. */
static inline double median_of(double *seconds, int count) {
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    return seconds[count / 2];
}

#endif
