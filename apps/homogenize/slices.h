/* Sums over many items whose bits do not depend on the number of threads. */
#ifndef WEFT_HOMOGENIZE_SLICES_H
#define WEFT_HOMOGENIZE_SLICES_H

#include <string.h>

enum { SLICES = 64 };

/* For each number below `items` does what is given last, which adds to part[0] to part[count - 1],
 * and adds that to the sums: slice by slice, which threads share, so that bits do not depend on how
 * many there are. */
#define ADD_UP(space, items, count, sums, number, ...)                                             \
    do {                                                                                           \
        double slices[SLICES][count];                                                              \
        _Pragma(                                                                                   \
            "omp parallel for schedule(static) num_threads(space->threads)") for (int slice = 0;   \
                                                                                  slice < SLICES;  \
                                                                                  slice++) {       \
            double part[count] = {0};                                                              \
            const int64_t end = (items) * (slice + 1) / SLICES;                                    \
            for (int64_t number = (items)*slice / SLICES; number < end; number++) __VA_ARGS__;     \
            memcpy(slices[slice], part, sizeof part);                                              \
        }                                                                                          \
        for (int slice = 0; slice < SLICES; slice++)                                               \
            for (int i = 0; i < (count); i++) (sums)[i] += slices[slice][i];                       \
    } while (0)

#endif
