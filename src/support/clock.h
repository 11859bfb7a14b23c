/*
 * Wall-clock time for the timings of phases, in two forms. weft_clock() tells seconds from an
 * arbitrary start, for whatever takes a microsecond or more. Ticks are for a call as a whole, which
 * may take less than two readings of the system's clock: they are read in a few ns where the
 * processor has a steady counter, and become seconds only when somebody asks for them.
 */
#ifndef WEFT_SUPPORT_CLOCK_H
#define WEFT_SUPPORT_CLOCK_H

#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline double weft_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What counts the ticks: the system's clock nanoseconds, or the processor's counter. */
typedef enum weft_ticker { WEFT_TICKER_SYSTEM, WEFT_TICKER_PROCESSOR } weft_ticker;

/* The processor's counter where it runs at one rate, alike on all cores, which is so where the
 * operating system takes its own time from it; else the system's clock. The first call in a process
 * finds out, and reads the first pair of what the counter's rate is found from. Any thread. */
weft_ticker weft_ticker_find(void);

/* The ticks now. The processor reads its counter without waiting for the instructions before, so
 * that a reading may be early by what they still take, as a rule a few ns. */
static inline uint64_t weft_ticks(weft_ticker ticker) {
#if defined(__x86_64__)
    if (ticker == WEFT_TICKER_PROCESSOR) return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    if (ticker == WEFT_TICKER_PROCESSOR) {
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    (void)ticker;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Seconds of so many ticks, a difference of two readings; exact to 1e-4 of them. The first call in
 * a process waits where the ticker was first found less than about a millisecond ago. Any thread.
 */
double weft_ticks_seconds(weft_ticker ticker, uint64_t ticks);

#endif
