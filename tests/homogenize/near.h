/* Numbers that are equal but for rounding: cmocka 1.1 compares floats only. Include after it. */
#ifndef WEFT_TESTS_HOMOGENIZE_NEAR_H
#define WEFT_TESTS_HOMOGENIZE_NEAR_H

#include <math.h>
#include <stdio.h>

#define assert_near(got, expected, tolerance)                                                      \
    do {                                                                                           \
        const double near_got = (got), near_expected = (expected);                                 \
        if (!(fabs(near_got - near_expected) <= (tolerance))) {                                    \
            print_error("%.17g is not %.17g\n", near_got, near_expected);                          \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#endif
