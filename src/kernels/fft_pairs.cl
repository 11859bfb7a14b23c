/*
 * The exchange of half spectra between threads that load or store them in pairs, numbers k and
 * LENGTH - k, and the threads that hold the points of the first or the last stage (fft_order.cl).
 */
#define PAIRS (LENGTH / 2 + 1)
#define PAIRS_OF_THREAD ((PAIRS + LINE_THREADS - 1) / LINE_THREADS)

#if FROM_HALF_PAIRS
FUNCTION void scatter_pairs(const real2 *pairs, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k < PAIRS) line[ORDERED(k)] = GIVEN(pairs[2 * i], part);
        if (k > 0 && 2 * k < LENGTH)
            line[ORDERED(LENGTH - k)] = GIVEN(pairs[2 * i + 1], part);
    }
}

/* Turns loaded pairs of a half spectrum into points, in place. */
FUNCTION void part_pairs(real2 *pairs, GLOBAL const real2 *tables, int t) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k == 0) pairs[2 * i].y = pairs[2 * i + 1].y = 0; /* real data has none */
        if (k < PAIRS)
            part_pair(&pairs[2 * i], &pairs[2 * i + 1], TABLE_READ(tables, HALF_ROOTS + k));
    }
}
#endif

#if TO_HALF_PAIRS
FUNCTION void gather_pairs(real2 *pairs, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k < PAIRS) {
            TAKE(pairs[2 * i], part, line[k % LENGTH]);
            TAKE(pairs[2 * i + 1], part, line[(LENGTH - k) % LENGTH]);
        }
    }
}

/* Turns points into half spectra, in place: numbers k and LENGTH - k, which may be the same. */
FUNCTION void join_pairs(real2 *pairs, GLOBAL const real2 *tables, int t) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k < PAIRS) {
            join_pair(&pairs[2 * i], &pairs[2 * i + 1], TABLE_READ(tables, HALF_ROOTS + k));
            if (k == 0) pairs[2 * i].y = pairs[2 * i + 1].y = 0; /* not a zero with a sign */
        }
    }
}

#if STORES_RUN
FUNCTION void scatter_halves(const real2 *pairs, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k < PAIRS) line[k] = GIVEN(pairs[2 * i], part);
        if (k < PAIRS && 2 * k != LENGTH) line[LENGTH - k] = GIVEN(pairs[2 * i + 1], part);
    }
}
#else
FUNCTION void store_pairs(const real2 *pairs, line_out_place to, int t) {
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t + i * LINE_THREADS;
        if (k < PAIRS) store_half(to, k, pairs[2 * i]);
        if (k < PAIRS && 2 * k != LENGTH) store_half(to, LENGTH - k, pairs[2 * i + 1]);
    }
}
#endif
#endif
