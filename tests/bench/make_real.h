/* Real-to-real problems for the tests of the benchmark. */
#ifndef WEFT_TESTS_BENCH_MAKE_REAL_H
#define WEFT_TESTS_BENCH_MAKE_REAL_H

#include "bench/problem.h"

/* Makes a problem real to real, in the direction and precision of a choice: another type along each
 * axis, and one left as it is. */
static inline void make_real(bench_problem *p, int choice) {
    static const weft_axis types[] = {WEFT_DCT1, WEFT_DST2,      WEFT_DCT3, WEFT_DCT4, WEFT_DST1,
                                      WEFT_DCT2, WEFT_AXIS_NONE, WEFT_DST3, WEFT_DST4};
    p->kind = WEFT_R2R;
    p->direction = choice & 1 ? WEFT_INVERSE : WEFT_FORWARD;
    p->precision = choice & 2 ? WEFT_SINGLE : WEFT_DOUBLE;
    for (int a = 0; a < p->rank; a++) {
        p->axis[a] = types[(size_t)(p->n[a] + 2 * a + choice) % 9];
        if (p->axis[a] == WEFT_DCT1 && p->n[a] < 2) p->axis[a] = WEFT_DCT2;
    }
    if (p->rank == 1 && p->axis[0] == WEFT_AXIS_NONE) p->axis[0] = WEFT_DCT1;
}

#endif
