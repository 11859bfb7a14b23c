/* Division by n without dividing, for kernels and numbers below 2^31: x / n = (high word of x *
 * multiplier + x) >> shift (Granlund, Montgomery 1994: Division by Invariant Integers using
 * Multiplication). */
#ifndef WEFT_SUPPORT_DIVISOR_H
#define WEFT_SUPPORT_DIVISOR_H

#include <stdint.h>

/* 1 <= n < 2^31 */
static inline void weft_divisor(uint32_t n, uint32_t *multiplier, uint32_t *shift) {
    *shift = 0;
    while ((UINT64_C(1) << *shift) < n) ++*shift;
    *multiplier = (uint32_t)(((UINT64_C(1) << *shift) - n) * (UINT64_C(1) << 32) / n + 1);
}

#endif
