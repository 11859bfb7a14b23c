/* Half precision (IEEE 754 binary16) as a number that the CPU computes with. */
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

#endif
