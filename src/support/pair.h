/* Complex numbers as pairs of doubles that a processor works on at once, and in arrays of either
 * precision. */
#ifndef WEFT_SUPPORT_PAIR_H
#define WEFT_SUPPORT_PAIR_H

#include <stdbool.h>
#include <stdint.h>

typedef double weft_pair __attribute__((vector_size(16)));

static inline weft_pair weft_pair_times(weft_pair a, weft_pair b) {
    return (weft_pair){a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
}

static inline weft_pair weft_pair_times_i(weft_pair a) {
    return (weft_pair){-a[1], a[0]};
}

static inline weft_pair weft_pair_conjugate(weft_pair a) {
    return (weft_pair){a[0], -a[1]};
}

/* Element i of an array of pairs of doubles, or floats. */
static inline weft_pair weft_pair_at(const void *array, bool single, int64_t i) {
    const float *floats = (const float *)array + 2 * i;
    const double *doubles = (const double *)array + 2 * i;
    return single ? (weft_pair){(double)floats[0], (double)floats[1]}
                  : (weft_pair){doubles[0], doubles[1]};
}

static inline void weft_pair_set(void *array, bool single, int64_t i, weft_pair value) {
    for (int part = 0; part < 2; part++)
        if (single)
            ((float *)array)[2 * i + part] = (float)value[part];
        else
            ((double *)array)[2 * i + part] = value[part];
}

#endif
