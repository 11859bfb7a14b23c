/*
 * The vocabulary of the codelets pair_N.inc: a complex number in one vector of 16 bytes, the real
 * part first. In single precision the second half of the vector is of no use. Included by files
 * that set REAL, and PAIRS to 1 where two numbers are a vector.
 */
#ifndef WEFT_ENGINE_NATIVE_PAIR_H
#define WEFT_ENGINE_NATIVE_PAIR_H

#include "engine/native/scaling.h"

#include <string.h>

typedef REAL pair __attribute__((vector_size(16)));

#if PAIRS
#define BOTH(c) ((pair){(REAL)(c), (REAL)(c)})
#define TURNED(c) ((pair){(REAL)(c), -(REAL)(c)})
#define SWAPPED(v) __builtin_shufflevector(v, v, 1, 0)
#else
#define BOTH(c) ((pair){(REAL)(c), (REAL)(c), (REAL)(c), (REAL)(c)})
#define TURNED(c) ((pair){(REAL)(c), -(REAL)(c), (REAL)(c), -(REAL)(c)})
#define SWAPPED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2)
#endif

static inline __attribute__((always_inline)) pair load_pair(const REAL *p) {
#if PAIRS
    pair v;
    memcpy(&v, p, sizeof v);
    return v;
#else
    /* As one number of 8 bytes, which compilers load without a shuffle. */
    typedef double halves __attribute__((vector_size(16)));
    double first;
    memcpy(&first, p, sizeof first);
    return (pair)(halves){first, 0};
#endif
}

/* As scaling.h says. */
static inline __attribute__((always_inline)) void store_pair(REAL *p, pair v, scaling by,
                                                             double scale) {
    if (by == IN_DOUBLE) {
        p[0] = (REAL)((double)v[0] * scale);
        p[1] = (REAL)((double)v[1] * scale);
        return;
    }
    if (by == SCALED) v = v * BOTH(scale);
    memcpy(p, &v, 2 * sizeof *p);
}

#endif
