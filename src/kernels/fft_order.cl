/*
 * The order of a line's points. In local memory it is that of memory, where points come from
 * threads, or go to threads, that load or store neighbours: halves of spectra by the pair
 * (fft_pairs.cl), and lines whose stages want another order. That is so in Rader's convolution
 * (1968): with g a generator of the units modulo the prime LENGTH,
 *
 *     X[g^q] = x[0] + sum over r of x[g^r] exp(-2 pi i g^(q + r) / LENGTH),
 *
 * so number r of the POINTS = LENGTH - 1 that the stages transform is the line's point g^r, of the
 * results as of the input. Point 0 is v[VALUES] of thread 0 of the line, and the others' is unused.
 * The engine defines
 *
 *     RADER             1: the transform is such a convolution, by a table at SPECTRUM
 *     POWERS            where the g^b of the first stage's butterflies b begin in the tables
 *     POWER_STEPS       the initializer of the g^(k FIRST_BUTTERFLIES) mod LENGTH, k < FIRST_RADIX
 */
#if RADER
#define ORDERED_IN (!ACROSS_IN && LINE_THREADS > 1 && !FROM_HALF_PAIRS)
#define ORDERED_OUT (!ACROSS_OUT && LINE_THREADS > 1 && !TO_HALF_PAIRS)

/* The point with which butterfly b of the first stage and of the last begins. */
FUNCTION int beginning(int b, GLOBAL const real2 *tables) {
    return b < FIRST_BUTTERFLIES ? (int)TABLE_READ(tables, POWERS + b).x : 1;
}

/* Point k of a butterfly, from its first. */
FUNCTION int following(int first, int k) {
    const int step[] = POWER_STEPS;
    return (int)((unsigned int)(first * step[k]) % LENGTH);
}
#define BEGINNING(b) beginning(b, tables)
#define FIRST_POINT(first, k) following(first, k)
#define LAST_POINT(first, k) following(first, k)
#else
#define ORDERED_IN 0
#define ORDERED_OUT 0
#define BEGINNING(b) (b)
#define FIRST_POINT(first, k) ((first) + (k)*FIRST_BUTTERFLIES)
#define LAST_POINT(first, k) ((first) + (k)*LAST_BUTTERFLIES)
#endif

#if FROM_HALF_PAIRS || ORDERED_IN
/* Takes the points of the first stage. */
#define gather_points(v, line, t, part) take_points(v, line, t, part, tables)
FUNCTION void take_points(real2 *v, LOCAL exchanged *line, int t, int part,
                          GLOBAL const real2 *tables) {
    UNROLL
    for (int i = 0; i < FIRST_COUNT; ++i) {
        const int b = t + i * LINE_THREADS, first = BEGINNING(b);
        UNROLL
        for (int k = 0; k < FIRST_RADIX; ++k) {
            const int p = FIRST_POINT(first, k);
            if (b < FIRST_BUTTERFLIES && p < LENGTH) {
                TAKE(v[i * FIRST_RADIX + k], part, line[p]);
            }
        }
    }
#if RADER
    if (t == 0) {
        TAKE(v[VALUES], part, line[0]);
    }
#endif
    (void)tables;
}
#endif

#if TO_HALF_PAIRS || ORDERED_OUT
/* Gives the points of the last stage. */
#define scatter_points(v, line, t, part) give_points(v, line, t, part, tables)
FUNCTION void give_points(const real2 *v, LOCAL exchanged *line, int t, int part,
                          GLOBAL const real2 *tables) {
    UNROLL
    for (int i = 0; i < LAST_COUNT; ++i) {
        const int b = t + i * LINE_THREADS, first = BEGINNING(b);
        UNROLL
        for (int k = 0; k < LAST_RADIX; ++k) {
            const int p = LAST_POINT(first, k);
            if (b < LAST_BUTTERFLIES && p < LENGTH) line[p] = GIVEN(v[i * LAST_RADIX + k], part);
        }
    }
#if RADER
    if (t == 0) line[0] = GIVEN(v[VALUES], part);
#endif
    (void)tables;
}
#endif

#if RADER
/* Neighbouring points of neighbouring threads; v has room for as many as a thread gets. */
#define POINTS_OF_THREAD OF_THREAD(LENGTH)

FUNCTION void scatter_neighbours(const real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < POINTS_OF_THREAD; ++i)
        if (t + i * LINE_THREADS < LENGTH) line[t + i * LINE_THREADS] = GIVEN(v[i], part);
}

FUNCTION void gather_neighbours(real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < POINTS_OF_THREAD; ++i) {
        if (t + i * LINE_THREADS < LENGTH) {
            TAKE(v[i], part, line[t + i * LINE_THREADS]);
        }
    }
}

/* Point 0, from the thread that has it to the one that stores it. */
FUNCTION void scatter_zeroth(const real2 *v, LOCAL exchanged *line, int t, int part) {
    if (t == 0) line[0] = GIVEN(v[VALUES], part);
}

FUNCTION void gather_zeroth(real2 *v, LOCAL exchanged *line, int t, int part) {
    if (t == 0) {
        TAKE(v[VALUES], part, line[0]);
    }
}
#endif
