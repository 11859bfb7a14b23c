/* The lesser of two sizes. */
#ifndef WEFT_SUPPORT_LEAST_H
#define WEFT_SUPPORT_LEAST_H

#include <stdint.h>

static inline int64_t weft_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
