/*
 * What WEFT_SIMULATE asks of the simulated device: comma-separated, for example
 * "seed=7,delay_us=200,memory=1048576,fail=copy:12,rank=1".
 *
 *   seed=N         of the random delays (default 1)
 *   delay_us=N     longest delay before a piece of work, at most 1000000 (default 50; 0: none)
 *   memory=BYTES   device memory of each opened device (default: no limit)
 *   fail=KIND:N    the N-th KIND since the device was opened fails, counted from 1; KIND is
 * allocate, queue, copy, run or scale; may be given once for each kind rank=R         failures only
 * in the process of that rank (OMPI_COMM_WORLD_RANK or PMI_RANK; 0 without them)
 */
#ifndef WEFT_DEVICE_SIMULATED_INJECTION_H
#define WEFT_DEVICE_SIMULATED_INJECTION_H

#include "device/device.h"

typedef enum weft_failure {
    WEFT_FAIL_ALLOCATE,
    WEFT_FAIL_QUEUE,
    WEFT_FAIL_COPY,
    WEFT_FAIL_RUN,
    WEFT_FAIL_SCALE,
    WEFT_FAILURES
} weft_failure;

typedef struct weft_injection {
    uint64_t seed;
    unsigned delay_us;
    size_t memory;                   /* 0: no limit */
    uint64_t fail_at[WEFT_FAILURES]; /* 0: never */
} weft_injection;

/* Reads WEFT_SIMULATE. WEFT_ERROR_INVALID_ARGUMENT where it is malformed. */
weft_status weft_injection_read(weft_injection *injection);

#endif
