/*
 * The processor's counter as a clock. Its rate is found from two pairs of readings, each of the
 * counter and of the system's clock: the first is read when the ticker is first found, the second
 * when ticks are first made seconds, which is later by far more than the pairs are inexact.
 */
#include "support/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The counter and the system's clock at one moment. */
typedef struct reading {
    uint64_t ticks;    /* of the counter, in the middle of the interval */
    uint64_t interval; /* ticks in which the system's clock was read */
    double seconds;
    double asleep; /* seconds that the machine has slept so far, as the system counts them */
} reading;

/* Written once each, by pthread_once. */
static weft_ticker found;
static reading first;
static double tick; /* seconds */

static double asleep(double now) {
#ifdef CLOCK_BOOTTIME
    struct timespec all;
    if (clock_gettime(CLOCK_BOOTTIME, &all) == 0)
        return (double)all.tv_sec + 1e-9 * (double)all.tv_nsec - now;
#endif
    (void)now;
    return 0;
}

/* The most exact of some readings: between the two of the counter others may have had the core. */
static reading read_both(void) {
    enum { TRIES = 8 };
    reading best = {.interval = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = weft_ticks(WEFT_TICKER_PROCESSOR);
        const double seconds = weft_clock();
        const uint64_t interval = weft_ticks(WEFT_TICKER_PROCESSOR) - before;
        if (interval < best.interval) best = (reading){before + interval / 2, interval, seconds, 0};
    }
    best.asleep = asleep(best.seconds);
    return best;
}

/* Whether the counter runs on at one rate whatever the core's clock does; and its name where the
 * operating system takes its own time from it. */
#if defined(__x86_64__)
static const char counter[] = "tsc\n";
static bool is_steady(void) {
    const unsigned power_management = 0x80000007, invariant = 1u << 8;
    unsigned a, b, c, d = 0;
    return __get_cpuid(power_management, &a, &b, &c, &d) && (d & invariant);
}
#elif defined(__aarch64__)
static const char counter[] = "arch_sys_counter\n";
static bool is_steady(void) {
    return true; /* by the architecture */
}
#else
static const char counter[] = "";
static bool is_steady(void) {
    return false;
}
#endif

/* Whether the operating system, which watches the counter, takes its time from it. Hypervisors
 * whose guests should not read it give them another clock. */
static bool is_trusted(void) {
    char source[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!file) return false;
    if (!fgets(source, sizeof source, file)) source[0] = '\0';
    fclose(file);
    return strcmp(source, counter) == 0;
}

static void find(void) {
    found = is_steady() && is_trusted() ? WEFT_TICKER_PROCESSOR : WEFT_TICKER_SYSTEM;
    if (found == WEFT_TICKER_PROCESSOR) first = read_both();
}

weft_ticker weft_ticker_find(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return found;
}

/* Waits until the readings are apart by so many times what they are inexact by. A machine that has
 * slept has stopped the system's clock, and maybe the counter, so that its rate is found anew. */
static void find_tick(void) {
    const double exact = 1e-4, nap = 1e-3;
    (void)weft_ticker_find();
    for (reading from = first;;) {
        const reading now = read_both();
        const double passed = (double)(now.ticks - from.ticks);
        if (now.asleep - from.asleep > nap || now.ticks < from.ticks) {
            from = now;
        } else if ((double)(from.interval + now.interval + 2) < exact * passed) {
            tick = (now.seconds - from.seconds) / passed;
            return;
        }
    }
}

double weft_ticks_seconds(weft_ticker ticker, uint64_t ticks) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (ticker == WEFT_TICKER_SYSTEM) return 1e-9 * (double)ticks;
    pthread_once(&once, find_tick);
    return tick * (double)ticks;
}
