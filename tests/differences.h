/* How far two arrays of numbers are apart: for tests whose results are close rather than equal. */
#ifndef WEFT_TESTS_DIFFERENCES_H
#define WEFT_TESTS_DIFFERENCES_H

#include <stddef.h>
#include <weft/weft.h>

static inline double number_at(const void *array, size_t i, weft_precision precision) {
    return precision == WEFT_SINGLE ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
}

/* Adds the squares of the differences to sums[0], and those of the numbers of b to sums[1]. */
static inline void add_squares(const void *a, const void *b, size_t bytes, weft_precision precision,
                               double sums[2]) {
    for (size_t i = 0; i < bytes / (precision == WEFT_SINGLE ? 4 : 8); i++) {
        const double x = number_at(a, i, precision), y = number_at(b, i, precision);
        sums[0] += (x - y) * (x - y);
        sums[1] += y * y;
    }
}

#endif
