/* Wall-clock time in seconds from an arbitrary start, for phase timings. */
#ifndef WEFT_SUPPORT_CLOCK_H
#define WEFT_SUPPORT_CLOCK_H

#include <time.h>

static inline double weft_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
