/*
 * One stage of Stockham's transform: every thread does COUNT butterflies of RADIX points, in
 * registers. This text comes once for each stage, with
 *
 *     STAGE         its number
 *     STAGE_POINTS  points of the transform: a line, or a row (fft_order.cl)
 *     STAGE_THREADS threads of it
 *     FROM_ROWS     1: it follows the transforms of rows
 *     RADIX, SPAN   its radix, and the product of those before it
 *     TWIDDLES      where its roots begin in the tables: SPAN for each point of a butterfly but
 *                   the first
 *     PAD_BEFORE, PAD_AFTER  numbers after which local memory leaves out one, so that threads meet
 *                   different banks, in the exchanges before and after the stage
 *
 * Butterfly b takes the points b + k STAGE_POINTS / RADIX and gives
 * b / SPAN * SPAN * RADIX + b % SPAN + k SPAN, so the first stage loads, and the last one stores,
 * neighbouring points by neighbouring threads.
 */
#define BUTTERFLIES (STAGE_POINTS / RADIX)
#define COUNT OF_THREADS(BUTTERFLIES, STAGE_THREADS)
#define ALL_BUSY (BUTTERFLIES % STAGE_THREADS == 0)
#define BUTTERFLY(t, i) BUTTERFLY_OF(t, i, BUTTERFLIES, STAGE_THREADS)
#define IS_BUTTERFLY(t, i) IS_BUTTERFLY_OF(t, i, BUTTERFLIES, STAGE_THREADS)
#if FROM_ROWS
#define TAKEN(line, p) (line)[ROW_RESULT(p)]
#else
#define TAKEN(line, p) PLACE(line, p, PAD_BEFORE)
#endif

FUNCTION void NUMBERED(transform_, STAGE)(real2 *v, GLOBAL const real2 *tables, int t) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
#if SPAN > 1
        const int j = BUTTERFLY(t, i) % SPAN;
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
        const int b = BUTTERFLY(t, i);
        const int first = b / SPAN * (SPAN * RADIX) + b % SPAN;
        if (ALL_BUSY || IS_BUTTERFLY(t, i)) {
            UNROLL
            for (int k = 0; k < RADIX; ++k)
                OWN_PLACE(line, first + k * SPAN, PAD_AFTER) = GIVEN(v[i * RADIX + k], part);
        }
    }
}

FUNCTION void NUMBERED(gather_, STAGE)(real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < COUNT; ++i) {
        const int b = BUTTERFLY(t, i);
        if (ALL_BUSY || IS_BUTTERFLY(t, i)) {
            UNROLL
            for (int k = 0; k < RADIX; ++k)
                TAKE(v[i * RADIX + k], part, TAKEN(line, b + k * BUTTERFLIES));
        }
    }
}

#undef BUTTERFLIES
#undef COUNT
#undef ALL_BUSY
#undef BUTTERFLY
#undef IS_BUTTERFLY
#undef TAKEN
#undef STAGE
#undef STAGE_POINTS
#undef STAGE_THREADS
#undef FROM_ROWS
#undef RADIX
#undef SPAN
#undef TWIDDLES
#undef PAD_BEFORE
#undef PAD_AFTER
