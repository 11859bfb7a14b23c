/* Smooth lengths: products of the codelets' radices. */
#ifndef WEFT_ENGINE_SMOOTH_H
#define WEFT_ENGINE_SMOOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether n has no prime factor above 13. */
static inline bool weft_is_smooth(int64_t n) {
    static const int primes[] = {2, 3, 5, 7, 11, 13};
    for (size_t i = 0; i < sizeof primes / sizeof primes[0]; i++)
        while (n % primes[i] == 0) n /= primes[i];
    return n == 1;
}

#endif
