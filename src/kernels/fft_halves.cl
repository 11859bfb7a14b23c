/*
 * Between loading and storing: products by roots of unity, and lines that are done in two halves
 * since registers do not hold them (HALVED). The sums x[p] + x[p + n / 2] become the points with
 * even numbers, the differences times exp(-2 pi i p / n), which wait in local memory, the odd ones
 * (Gentleman and Sande 1966). fft_line.cl has
 *
 *     OPEN_SHARED            what threads exchange points through
 *     LOAD_HALVES            after the first half of the points is loaded and prepared
 *     FIRST_HALF, LAST_HALF  around what is done to each half
 *     OF_HALF(p)             number of point p of a half in the line
 */
#if TWIST >= 0 || HALVED
FUNCTION real2 root_of_unity(unsigned int number, GLOBAL const real2 *tables) {
    return complex_multiply(TABLE_READ(tables, COARSE_TABLE + number / FINE),
                            TABLE_READ(tables, FINE_TABLE + number % FINE));
}
#endif

#if TWIST >= 0
#define LOWEST_BIT(k) ((k)&1 ? 0 : (k)&2 ? 1 : (k)&4 ? 2 : (k)&8 ? 3 : 4)

/* Root number `twist` p for the points p of a thread: those of a butterfly are the first one's times
 * roots for each bit of their place in it, of which all threads of a line read the same few. */
FUNCTION void twist_points(real2 *v, unsigned int twist, int t, GLOBAL const real2 *tables) {
    real2 of_bit[5], root[LAST_RADIX];
    UNROLL
    for (int bit = 0; bit < 5; ++bit)
        of_bit[bit] = (1 << bit) < LAST_RADIX
                          ? root_of_unity(twist * (unsigned int)(LAST_BUTTERFLIES << bit), tables)
                          : pair(1, 0);
    UNROLL
    for (int i = 0; i < LAST_COUNT; ++i) {
        const int b = t + i * LINE_THREADS;
        if (b < LAST_BUTTERFLIES) {
            root[0] = root_of_unity(twist * (unsigned int)b, tables);
            UNROLL
            for (int k = 0; k < LAST_RADIX; ++k) {
                if (k > 0) root[k] = complex_multiply(root[k & (k - 1)], of_bit[LOWEST_BIT(k)]);
                v[i * LAST_RADIX + k] = complex_multiply(v[i * LAST_RADIX + k], root[k]);
            }
        }
    }
}
#endif

#if HALVED
#define OPEN_SHARED                                                                                \
    OPEN_LOCAL(real2, parked);                                                                     \
    LOCAL exchanged *const shared = (LOCAL exchanged *)(parked + POINTS);
#define LOAD_HALVES                                                                                \
    UNROLL                                                                                         \
    for (int i = 0; i < FIRST_COUNT; ++i) {                                                        \
        UNROLL                                                                                     \
        for (int k = 0; k < FIRST_RADIX; ++k) {                                                    \
            const int p = t_in + i * LINE_THREADS + k * FIRST_BUTTERFLIES;                         \
            if (loads && p < (k + 1) * FIRST_BUTTERFLIES) {                                        \
                real2 far = pair(0, 0), *near = &v[i * FIRST_RADIX + k];                           \
                LOAD_POINT(far, p + POINTS)                                                        \
                far = prepared(far, p + POINTS, tables);                                           \
                parked[p] = complex_multiply(complex_subtract(*near, far),                         \
                                             root_of_unity((unsigned int)p, tables));              \
                *near = complex_add(*near, far);                                                   \
            }                                                                                      \
        }                                                                                          \
    }
#define FIRST_HALF                                                                                 \
    _Pragma("unroll 1")                                                                            \
    for (int turn = 0; turn < 2; ++turn) {
#define LAST_HALF                                                                                  \
    BARRIER();                                                                                     \
    if (turn == 0) take_parked(v, parked, t_in);                                                   \
    }
#define OF_HALF(p) (2 * (p) + turn)

/* A thread takes what it left itself. */
FUNCTION void take_parked(real2 *v, LOCAL const real2 *parked, int t) {
    UNROLL
    for (int i = 0; i < FIRST_COUNT; ++i) {
        const int b = t + i * LINE_THREADS;
        UNROLL
        for (int k = 0; k < FIRST_RADIX; ++k)
            if (b < FIRST_BUTTERFLIES)
                v[i * FIRST_RADIX + k] = parked[b + k * FIRST_BUTTERFLIES];
    }
}
#else
#define OPEN_SHARED OPEN_LOCAL(exchanged, shared);
#define LOAD_HALVES
#define FIRST_HALF
#define LAST_HALF
#define OF_HALF(p) (p)
#endif
