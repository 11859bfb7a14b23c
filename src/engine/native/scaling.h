/*
 * Multiplying results by one factor as they are stored: a norm costs no pass over memory. Each
 * product has the bits that a later multiplication of the stored result would give, which in single
 * precision is done in double precision, so that each value is rounded once. Where the factor
 * itself is a number of single precision, as a power of two is, single precision gives the same.
 * Included by files that set REAL.
 */
#ifndef WEFT_ENGINE_NATIVE_SCALING_H
#define WEFT_ENGINE_NATIVE_SCALING_H

typedef enum scaling { NOT_SCALED, SCALED, IN_DOUBLE } scaling;

/* Calls an inlined function, whose last arguments are the scaling, which is a constant, and the
 * factor `scale`, which is the caller's. */
#define WITH_SCALING(function, ...)                                                                \
    do {                                                                                           \
        if (scale == 1)                                                                            \
            function(__VA_ARGS__, NOT_SCALED, 1);                                                  \
        else if (sizeof(REAL) == sizeof(double) || (double)(REAL)scale == scale)                   \
            function(__VA_ARGS__, SCALED, scale);                                                  \
        else                                                                                       \
            function(__VA_ARGS__, IN_DOUBLE, scale);                                               \
    } while (0)

#endif
