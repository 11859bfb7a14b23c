/* Half precision of whole numbers, for tests of files. */
#ifndef WEFT_TESTS_IO_HALF_NUMBER_H
#define WEFT_TESTS_IO_HALF_NUMBER_H

#include <math.h>
#include <stdint.h>

/* A whole number from 0 to 2048 as an IEEE 754 binary16; valid until the next call. */
static inline const void *half_number(double value) {
    static uint16_t bits;
    int exponent;
    const double fraction = frexp(value, &exponent); /* 0.5 to 1 */
    const int number = (exponent + 14) * 1024 + (int)(fraction * 2048 - 1024);
    bits = (uint16_t)(value > 0 ? number : 0);
    return &bits;
}

#endif
