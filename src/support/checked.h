/*
 * Checked arithmetic on sizes: each returns false and leaves *out alone when the result would
 * overflow.
 */
#ifndef WEFT_SUPPORT_CHECKED_H
#define WEFT_SUPPORT_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool weft_checked_multiply(int64_t a, int64_t b, int64_t *out) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

static inline bool weft_checked_add(int64_t a, int64_t b, int64_t *out) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

#endif
