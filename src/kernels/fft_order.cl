/*
 * The order of a line's points. In local memory it is that of memory, where points come from
 * threads, or go to threads, that load or store neighbours: halves of spectra by the pair
 * (fft_pairs.cl), and lines whose stages want another order. That is so in Rader's convolution
 * (1968): with g a generator of the units modulo the prime p,
 *
 *     X[g^q] = x[0] + sum over r of x[g^r] exp(-2 pi i g^(q + r) / p),
 *
 * so number r of the p - 1 that the stages transform is point g^r, of the results as of the input.
 * Point 0 is v[VALUES] of thread 0, and the others' is unused.
 *
 * A line of ROWS p points is a matrix, of which row i has the points i + ROWS j. Each row has
 * threads and local memory of its own while it is convolved; the stages after that have radices
 * whose product is ROWS. All other transforms have one row, the line. The engine defines
 *
 *     RADER             1: the transform is such a convolution, by a table at SPECTRUM
 *     ROWS              of a line
 *     ROW_POINTS, ROW_THREADS, ROW_PITCH   points that the first stages transform, threads, and
 *                       numbers of local memory
 *     LOADS_RUN, STORES_RUN   1: a group loads, or stores, its lines as one run of points, of which
 *                       neighbouring threads have neighbours; a line has few threads then
 *     DENSE_IN, DENSE_OUT     1: such a run lies in memory as one line would
 *     POWERS            where the g^b of the first stage's butterflies b begin in the tables
 *     POWER_STEPS       the initializer of the g^(k FIRST_BUTTERFLIES) mod p, k < FIRST_RADIX
 */

/* Where number p of a line lies in local memory, in the order of memory. */
#if ROWS > 1
#define ORDERED(p) ((p) % ROWS * ROW_PITCH + (p) / ROWS)
#else
#define ORDERED(p) (p)
#endif

#if RADER
#define PRIME (LENGTH / ROWS)
#define ORDERED_IN (!ACROSS_IN && LINE_THREADS > 1 && !FROM_HALF_PAIRS)
#define ORDERED_OUT (ROWS == 1 && !ACROSS_OUT && LINE_THREADS > 1 && !TO_HALF_PAIRS)
/* Where number p of the results of all rows, one row after the other, lies in local memory. */
#define ROW_RESULT(p) ((p) / PRIME * ROW_PITCH + (p) % PRIME)

/* The point of a row with which butterfly b of its first stage, and of its last one, begins. */
FUNCTION int beginning(int b, GLOBAL const real2 *tables) {
    return b < FIRST_BUTTERFLIES ? (int)TABLE_READ(tables, POWERS + b).x : 1;
}

/* Point k of a butterfly, from its first. */
FUNCTION int following(int first, int k) {
    const int step[] = POWER_STEPS;
    return (int)((unsigned int)(first * step[k]) % PRIME);
}
#define BEGINNING(b) beginning(b, tables)
#define FIRST_POINT(first, k) following(first, k)
#else
#define ORDERED_IN 0
#define ORDERED_OUT 0
#define BEGINNING(b) (b)
#define FIRST_POINT(first, k) ((first) + (k)*FIRST_BUTTERFLIES)
#endif

/* Point k of a butterfly of the last stage, from its first. */
#if RADER && ROWS == 1
#define LAST_BEGINNING(b) beginning(b, tables)
#define LAST_POINT(first, k) following(first, k)
#else
#define LAST_BEGINNING(b) (b)
#define LAST_POINT(first, k) ((first) + (k)*LAST_BUTTERFLIES)
#endif

#if FROM_HALF_PAIRS || ORDERED_IN || LOADS_RUN
/* Takes the points of the first stage, of a row. */
#define gather_points(v, row, t, part) take_points(v, row, t, part, tables)
FUNCTION void take_points(real2 *v, LOCAL exchanged *row, int t, int part,
                          GLOBAL const real2 *tables) {
    UNROLL
    for (int i = 0; i < FIRST_COUNT; ++i) {
        const int b = t + i * ROW_THREADS, first = BEGINNING(b);
        UNROLL
        for (int k = 0; k < FIRST_RADIX; ++k) {
            const int p = FIRST_POINT(first, k);
            if (b < FIRST_BUTTERFLIES && p < LENGTH) {
                TAKE(v[i * FIRST_RADIX + k], part, row[p]);
            }
        }
    }
#if RADER
    if (t == 0) {
        TAKE(v[VALUES], part, row[0]);
    }
#endif
    (void)tables;
}
#endif

#if RADER
/* Gives the results of a row's last stage. */
#define scatter_row(v, row, t, part) give_row(v, row, t, part, tables)
FUNCTION void give_row(const real2 *v, LOCAL exchanged *row, int t, int part,
                       GLOBAL const real2 *tables) {
    UNROLL
    for (int i = 0; i < FIRST_COUNT; ++i) {
        const int b = t + i * ROW_THREADS, first = BEGINNING(b);
        UNROLL
        for (int k = 0; k < FIRST_RADIX; ++k)
            if (b < FIRST_BUTTERFLIES)
                row[following(first, k)] = GIVEN(v[i * FIRST_RADIX + k], part);
    }
    if (t == 0) row[0] = GIVEN(v[VALUES], part);
}
#endif

/* Gives the points of the last stage. */
#if RADER && ROWS == 1
#define scatter_points scatter_row
#elif TO_HALF_PAIRS || STORES_RUN
FUNCTION void scatter_points(const real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < LAST_COUNT; ++i) {
        const int b = t + i * LINE_THREADS;
        UNROLL
        for (int k = 0; k < LAST_RADIX; ++k) {
            const int p = LAST_POINT(b, k);
            if (b < LAST_BUTTERFLIES && p < LENGTH) line[p] = GIVEN(v[i * LAST_RADIX + k], part);
        }
    }
}
#endif

#if LOADS_RUN || STORES_RUN
/* Of the run of a group's lines of so many points: numbers of a thread, number i of them, its line
 * and its point there, and whether it is one of `run_lines` lines. Threads load the last number of
 * these in place of those behind it: without branches, loads do not wait for each other. */
#define RUN_COUNT(points) OF_THREADS(LINES *(points), THREADS)
#define RUN_NUMBER(i) (THREAD + (i)*THREADS)
#define RUN_LINE(number, points) ((number) / (points))
#define RUN_POINT(number, points) ((number) % (points))
#define IS_OF_GROUP(i, points)                                                                     \
    (((i) + 1) * THREADS <= LINES * (points) || RUN_NUMBER(i) < LINES * (points))
#define IS_OF_RUN(i, points) (RUN_NUMBER(i) < run_lines * (points))
#define RUN_LOADED(i) (IS_OF_RUN(i, LENGTH) ? RUN_NUMBER(i) : run_lines * LENGTH - 1)
#define STORED_POINTS (LENGTH + TO_HALF_PAIRS)
#endif

#if LOADS_RUN
FUNCTION void scatter_run(const real2 *v, LOCAL exchanged *lines, int t, int part) {
    UNROLL
    for (int i = 0; i < RUN_COUNT(LENGTH); ++i)
        if (IS_OF_GROUP(i, LENGTH))
            lines[RUN_LINE(RUN_NUMBER(i), LENGTH) * PITCH + RUN_POINT(RUN_NUMBER(i), LENGTH)] =
                GIVEN(v[i], part);
    (void)t;
}
#endif

#if STORES_RUN
FUNCTION void gather_run(real2 *v, LOCAL exchanged *lines, int t, int part) {
    UNROLL
    for (int i = 0; i < RUN_COUNT(STORED_POINTS); ++i) {
        if (IS_OF_GROUP(i, STORED_POINTS)) {
            TAKE(v[i], part,
                 lines[RUN_LINE(RUN_NUMBER(i), STORED_POINTS) * PITCH +
                       RUN_POINT(RUN_NUMBER(i), STORED_POINTS)]);
        }
    }
    (void)t;
}
#endif

#if RADER
/* Neighbouring points of neighbouring threads; v has room for as many as a thread gets. */
#define POINTS_OF_THREAD OF_THREADS(LENGTH, LINE_THREADS)

FUNCTION void scatter_neighbours(const real2 *v, LOCAL exchanged *line, int t, int part) {
    UNROLL
    for (int i = 0; i < POINTS_OF_THREAD; ++i) {
        const int p = t + i * LINE_THREADS;
        if (p < LENGTH) line[ORDERED(p)] = GIVEN(v[i], part);
    }
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
