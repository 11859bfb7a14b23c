/*
 * Numbers of callers' arrays from and to those that are computed with: half precision (IEEE 754
 * binary16), and rounding to integers. Without calls of the mathematical library, so that vectors
 * and OpenMP's devices do it, too.
 */
#ifndef WEFT_SUPPORT_HALF_H
#define WEFT_SUPPORT_HALF_H

#include <stdint.h>
#include <string.h>

static inline float weft_float_of_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    uint32_t bits = sign | (rest << 13);
    float value;
    if (rest >= 0x7c00)
        bits |= 0x7f800000; /* infinity and NaN */
    else if (rest >= 0x0400)
        bits += (127 - 15) << 23;
    else
        return (sign ? -1.0f : 1.0f) * (float)rest * 0x1p-24f;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to the nearest integer, ties to even. Beyond 2^52 there are only integers, so adding that
 * rounds as nearbyint does. */
static inline double weft_nearest(double x) {
    const double shift = 0x1.8p52;
    return x + shift - shift;
}

/* Rounds to an integer from `least` to `most`; NaN gives `least`. */
static inline double weft_rounded(double value, double least, double most) {
    return weft_nearest(value > least ? value < most ? value : most : least);
}

/* Rounds to the nearest half-precision number, ties to even, from single or double precision in one
 * step. */
static inline uint16_t weft_half_of_double(double x) {
    uint64_t bits, rest;
    double a;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    bits &= UINT64_MAX >> 1;
    memcpy(&a, &bits, sizeof a);
    if (a != a) return 0x7e00;
    if (a < 0x1p-14) return (uint16_t)(sign | (uint16_t)weft_nearest(a * 0x1p24));
    if (a >= 65520) return sign | 0x7c00;
    const int exponent = (int)(bits >> 52) - 1023;
    rest = (bits & (UINT64_MAX >> 12)) | (uint64_t)1023 << 52;
    memcpy(&a, &rest, sizeof a); /* 1 to 2 */
    const int mantissa = (int)weft_nearest(a * 1024) - 1024;
    return (uint16_t)(sign | (((exponent + 15) << 10) + mantissa));
}

#endif
