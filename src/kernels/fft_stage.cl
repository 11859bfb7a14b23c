/*
 * One stage of Stockham's transform of POINTS points: every thread of a line does COUNT butterflies
 * of RADIX points, in registers. This text comes once for each stage, with
 *
 *     STAGE         its number
 *     RADIX, SPAN   its radix, and the product of those before it
 *     TWIDDLES      where its roots begin in the tables: SPAN for each point of a butterfly but
 *                   the first
 *     PAD_BEFORE, PAD_AFTER  numbers after which local memory leaves out one, so that threads meet
 *                   different banks, in the exchanges before and after the stage
 *     LINE_THREADS  threads of a line
 *
 * Butterfly b takes the points b + k POINTS / RADIX and gives b / SPAN * SPAN * RADIX + b % SPAN +
 * k SPAN, so the first stage loads, and the last one stores, neighbouring points by neighbouring
 * threads.
 */
#define BUTTERFLIES (POINTS / RADIX)
#define COUNT OF_THREAD(BUTTERFLIES)
#define ALL_BUSY (BUTTERFLIES % LINE_THREADS == 0)

FUNCTION void NUMBERED(transform_, STAGE)(real2 *v, GLOBAL const real2 *tables, int t) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
#if SPAN > 1
        const int j = BUTTERFLY(t, i, BUTTERFLIES) % SPAN;
        UNROLL
        for (int k = 1; k < RADIX; ++k)
            v[i * RADIX + k] = complex_multiply(v[i * RADIX + k],
                                                TABLE_READ(tables, TWIDDLES + (k - 1) * SPAN + j));
#endif
        NUMBERED(dft_, RADIX)(v + i * RADIX);
    }
    (void)tables;
    (void)t;
}

FUNCTION void NUMBERED(scatter_, STAGE)(real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
        const int b = BUTTERFLY(t, i, BUTTERFLIES);
        const int first = b / SPAN * (SPAN * RADIX) + b % SPAN;
        if (ALL_BUSY || IS_BUTTERFLY(t, i, BUTTERFLIES)) {
            UNROLL
            for (int k = 0; k < RADIX; ++k)
                OWN_PLACE(line, first + k * SPAN, PAD_AFTER) = GIVEN(v[i * RADIX + k], part);
        }
    }
}

FUNCTION void NUMBERED(gather_, STAGE)(real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
        const int b = BUTTERFLY(t, i, BUTTERFLIES);
        if (ALL_BUSY || IS_BUTTERFLY(t, i, BUTTERFLIES)) {
            UNROLL
            for (int k = 0; k < RADIX; ++k)
                TAKE(v[i * RADIX + k], part, PLACE(line, b + k * BUTTERFLIES, PAD_BEFORE));
        }
    }
}

#undef BUTTERFLIES
#undef COUNT
#undef ALL_BUSY
#undef STAGE
#undef RADIX
#undef SPAN
#undef TWIDDLES
#undef PAD_BEFORE
#undef PAD_AFTER
