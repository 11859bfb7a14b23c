/*
 * Transforms of lines: a group of THREADS threads does LINES lines of LENGTH points each. Threads
 * load what the first stage wants, points go from stage to stage through local memory, and threads
 * store what the last stage gives. Where memory has neighbouring lines side by side instead of
 * neighbouring points, neighbouring threads do neighbouring lines (ACROSS); the two sides may
 * differ. Besides what the other files want, the engine defines
 *
 *     POINTS, VALUES    of the last stage's transform; registers of a thread for its points
 *     LINE_THREADS      threads of a line
 *     FIRST_RADIX, MIDPOINT_RADIX, LAST_RADIX
 *     STAGES            what comes after the first stage: FIRST_STEP, STEP, CONVOLVE and
 *                       LEAVE_ROWS, see below
 *     ACROSS_IN, ACROSS_OUT
 *     PITCH             numbers of local memory from one line to the next; 0: none is needed
 *     BLUESTEIN         1: POINTS > LENGTH, and the transform is a convolution (Bluestein 1970) by
 *                       a table at SPECTRUM, with a chirp at CHIRP; RADER (fft_order.cl) is another
 *     ROUND_TRIP        1: the forward transform, operators on the spectrum (SPECTRAL_NUMBER,
 *                       SPECTRAL_INDICES), and the inverse transform
 *     HALF_ROOTS        where the roots of half spectra begin in the tables
 *     TWIDDLE_LOOP      the loop whose index times the point's is the number of the root of unity
 *                       that a point is multiplied by. The root is the product of two entries:
 *                       number / FINE of COARSE_TABLE, number % FINE of FINE_TABLE. -1: none
 */
#if PITCH > 0
#define SHARED LOCAL_MEMORY
#else
#define SHARED
#endif

/* Groups of a cluster, which have one line together, gather from each other's local memory; so all
 * of them must be there before the first of them does, and until the last one has. */
#if CLUSTER > 1
#define LINE_BARRIER() CLUSTER_BARRIER()
#define CLUSTER_MEETS() CLUSTER_BARRIER()
#define THREAD_OF_LINES (CLUSTER_GROUP * THREADS + THREAD)
#else
#define LINE_BARRIER() BARRIER()
#define CLUSTER_MEETS()
#define THREAD_OF_LINES THREAD
#endif

/* From registers to registers through local memory: a thread gives what stage `from` left in it
 * and takes what stage `to` wants. It is thread t of a line, or of a row; which one may change on
 * the way. */
#define THROUGH_LOCAL(given, scatter, from_side, taken, gather, to_side, part)                     \
    scatter(given, local_##from_side, t_##from_side, part);                                        \
    LINE_BARRIER();                                                                                \
    gather(taken, local_##to_side, t_##to_side, part);
#if PARTS == 1
#define BOTH_PARTS(given, scatter, from_side, taken, gather, to_side)                              \
    THROUGH_LOCAL(given, scatter, from_side, taken, gather, to_side, 0)
#else
#define BOTH_PARTS(given, scatter, from_side, taken, gather, to_side)                              \
    THROUGH_LOCAL(given, scatter, from_side, taken, gather, to_side, 0)                            \
    LINE_BARRIER();                                                                                \
    THROUGH_LOCAL(given, scatter, from_side, taken, gather, to_side, 1)
#endif
#define FIRST_STEP(from, from_side, to, to_side)                                                   \
    BOTH_PARTS(v, scatter_##from, from_side, v, gather_##to, to_side)                              \
    transform_##to(v, tables, t_##to_side);
#define STEP(from, from_side, to, to_side)                                                         \
    LINE_BARRIER();                                                                                \
    FIRST_STEP(from, from_side, to, to_side)
/* Stage number `to` follows the transforms of rows. */
#define LEAVE_ROWS(to, to_side)                                                                    \
    LINE_BARRIER();                                                                                \
    BOTH_PARTS(v, scatter_row, row, v, gather_##to, to_side)                                       \
    transform_##to(v, tables, t_##to_side);
/* Stage number `to` begins the inverse transform of a convolution: each thread goes on with the
 * points that it has, in the same order, so none go through local memory. */
#if ROUND_TRIP
#define CONVOLVE(to, side)                                                                         \
    SPECTRAL_LINE(t_##side)                                                                        \
    transform_##to(v, tables, t_##side);
#else
#define CONVOLVE(to, side)                                                                         \
    multiply_by_spectrum(v, tables, t_##side);                                                     \
    transform_##to(v, tables, t_##side);
#endif

/* Operators change the spectrum of a line, which then becomes the input of the inverse transform:
 * that is the forward one with real and imaginary parts changing places on both sides. */
#ifdef spectral_keeps
#define KEEP_SPECTRUM(value) spectral_keep(value, indices, spectral_at, kept);
#else
#define KEEP_SPECTRUM(value)
#endif
#ifndef SPECTRAL_NUMBER
#define SPECTRAL_NUMBER(p) (p)
#define OPERATE_SPECTRUM(value, e, k)
#elif defined(spectral_arrays)
#define OPERATE_SPECTRUM(value, e, k)                                                              \
    {                                                                                              \
        const int indices[] = SPECTRAL_INDICES(e);                                                 \
        value = spectral_operators_by(value, indices, spectral_at, spectral_tables, factor[k]);    \
        KEEP_SPECTRUM(value)                                                                       \
    }
#else
#define OPERATE_SPECTRUM(value, e, k)                                                              \
    {                                                                                              \
        const int indices[] = SPECTRAL_INDICES(e);                                                 \
        value = spectral_operators(value, indices, spectral_at, spectral_tables);                  \
        KEEP_SPECTRUM(value)                                                                       \
    }
#endif
/* Factors of an array are loaded for AT_ONCE points before the first of them is waited for: as many
 * as threads have registers for. */
#ifdef spectral_arrays
#define AT_ONCE ((int)(8 * sizeof(real) / sizeof(spectral_factor)))
#define READ_FACTORS(t, i, begin)                                                                  \
    spectral_factor factor[AT_ONCE];                                                               \
    UNROLL                                                                                         \
    for (int k = begin; k < begin + AT_ONCE && k < MIDPOINT_RADIX; ++k) {                          \
        const int p = MIDPOINT_BUTTERFLY(t, i) + k * MIDPOINT_BUTTERFLIES;                         \
        const int indices[] = SPECTRAL_INDICES(SPECTRAL_NUMBER(p));                                \
        factor[k - begin] = spectral_read(indices, spectral_at, spectral_array);                   \
    }
#else
#define AT_ONCE MIDPOINT_RADIX
#define READ_FACTORS(t, i, begin)
#endif
#define SPECTRAL_LINE(t)                                                                           \
    UNROLL                                                                                         \
    for (int i = 0; i < MIDPOINT_COUNT; ++i)                                                       \
        if (IS_MIDPOINT_BUTTERFLY(t, i) && loads) {                                                \
            UNROLL                                                                                 \
            for (int begin = 0; begin < MIDPOINT_RADIX; begin += AT_ONCE) {                        \
                READ_FACTORS(t, i, begin)                                                          \
                UNROLL                                                                             \
                for (int k = begin; k < begin + AT_ONCE && k < MIDPOINT_RADIX; ++k) {              \
                    const int p = MIDPOINT_BUTTERFLY(t, i) + k * MIDPOINT_BUTTERFLIES;             \
                    OPERATE_SPECTRUM(v[i * MIDPOINT_RADIX + k], SPECTRAL_NUMBER(p), k - begin)     \
                    v[i * MIDPOINT_RADIX + k] = swapped(v[i * MIDPOINT_RADIX + k]);                \
                }                                                                                  \
            }                                                                                      \
        }

#if BLUESTEIN || RADER
/* Bluestein's points become the input of the inverse transform, which is the forward one with real
 * and imaginary parts changing places on both sides. Rader's want the forward one. There point 0 of
 * the results is the sum of all points, which point 0 of the others' spectrum lacks only x[0]; and
 * x[0], added to that number of the product, is added to all other results. */
FUNCTION void multiply_by_spectrum(real2 *v, GLOBAL const real2 *tables, int t) {
#if RADER
    const real2 sum = complex_add(v[VALUES], v[0]);
#endif
    UNROLL
    for (int i = 0; i < MIDPOINT_COUNT; ++i) {
        const int b = MIDPOINT_BUTTERFLY(t, i);
        UNROLL
        for (int k = 0; k < MIDPOINT_RADIX; ++k)
            if (IS_MIDPOINT_BUTTERFLY(t, i)) {
                const real2 product =
                    complex_multiply(v[i * MIDPOINT_RADIX + k],
                                     TABLE_READ(tables, SPECTRUM + b + k * MIDPOINT_BUTTERFLIES));
                v[i * MIDPOINT_RADIX + k] = RADER ? product : swapped(product);
            }
    }
#if RADER
    if (t == 0) v[0] = complex_add(v[0], v[VALUES]);
    v[VALUES] = sum;
#endif
}
#endif

/* A point as the transform takes it. */
FUNCTION real2 prepared(real2 z, int p, GLOBAL const real2 *tables) {
#if INVERSE
    z = swapped(z);
#endif
#if BLUESTEIN
    z = complex_multiply(z, TABLE_READ(tables, CHIRP + p));
#endif
    (void)p;
    (void)tables;
    return z;
}

#if TWIDDLE_LOOP >= 0
FUNCTION real2 root_of_unity(unsigned int number, GLOBAL const real2 *tables) {
    return complex_multiply(TABLE_READ(tables, COARSE_TABLE + number / FINE),
                            TABLE_READ(tables, FINE_TABLE + number % FINE));
}

#define LOWEST_BIT(k) ((k)&1 ? 0 : (k)&2 ? 1 : (k)&4 ? 2 : (k)&8 ? 3 : 4)

/* Multiplies each point p of a thread by root of unity number `factor` p. Within a butterfly, a
 * point's root is that of the butterfly's first point times one root for each bit of the point's
 * place: all threads of a line read the same few of these. */
FUNCTION void multiply_by_twiddles(real2 *v, unsigned int factor, int t,
                                   GLOBAL const real2 *tables) {
    real2 of_bit[5], root[LAST_RADIX];
    UNROLL
    for (int bit = 0; bit < 5; ++bit)
        of_bit[bit] = (1 << bit) < LAST_RADIX
                          ? root_of_unity(factor * (unsigned int)(LAST_BUTTERFLIES << bit), tables)
                          : pair(1, 0);
    UNROLL
    for (int i = 0; i < LAST_COUNT; ++i) {
        const int b = LAST_BUTTERFLY(t, i);
        if (IS_LAST_BUTTERFLY(t, i)) {
            root[0] = root_of_unity(factor * (unsigned int)b, tables);
            UNROLL
            for (int k = 0; k < LAST_RADIX; ++k) {
                if (k > 0) root[k] = complex_multiply(root[k & (k - 1)], of_bit[LOWEST_BIT(k)]);
                v[i * LAST_RADIX + k] = complex_multiply(v[i * LAST_RADIX + k], root[k]);
            }
        }
    }
}
#endif

/* A point as it is stored. */
FUNCTION real2 finished(real2 z, int p, GLOBAL const real2 *tables) {
#if BLUESTEIN
    z = complex_multiply(swapped(z), TABLE_READ(tables, CHIRP + p));
#endif
#if ROUND_TRIP
    z = swapped(z);
#endif
    (void)p;
    (void)tables;
#if INVERSE
    z = swapped(z);
#endif
    return z;
}

KERNEL(weft_fft)
(IN_MEMORY MEMORY(out_number, out), MEMORY(const real2, tables), const fft_shape shape PIECES_PARAMETERS OPERATOR_PARAMETERS SHARED) {
    OPEN_IN
    OPEN(out_number, out);
    OPEN(const real2, tables);
    OPEN_PIECES
    OPEN_OPERATORS
#if PITCH > 0
    OPEN_LOCAL(exchanged, shared);
#endif
#if ACROSS_IN
    const int line_in = THREAD_OF_LINES % LINES, t_in = THREAD_OF_LINES / LINES;
#else
    const int line_in = THREAD_OF_LINES / LINE_THREADS, t_in = THREAD_OF_LINES % LINE_THREADS;
#endif
#if ACROSS_OUT
    const int line_out = THREAD_OF_LINES % LINES, t_out = THREAD_OF_LINES / LINES;
#else
    const int line_out = THREAD_OF_LINES / LINE_THREADS, t_out = THREAD_OF_LINES % LINE_THREADS;
#endif
    const int own_row = ROWS > 1 ? t_in / ROW_THREADS : 0;
    const int t_row = ROWS > 1 ? t_in % ROW_THREADS : t_in;
#if PITCH > 0
    LOCAL exchanged *const local_in = shared + line_in * PITCH;
    LOCAL exchanged *const local_row = local_in + own_row * ROW_PITCH;
    LOCAL exchanged *const local_out = shared + line_out * PITCH;
#endif
#if LOADS_RUN || STORES_RUN
    LOCAL exchanged *const local_run = shared;
    const int t_run = THREAD;
#endif
    const unsigned int first_line = GROUP(0) / CLUSTER * LINES;
    unsigned int index[LOOPS];
    real2 v[VALUES + RADER];
    UNROLL
    for (int i = 0; i < VALUES + RADER; ++i) v[i] = pair(0, 0);

#if LOADS_RUN || STORES_RUN
    const unsigned int lines_left = shape.lines - first_line;
    const int run_lines = lines_left < LINES ? (int)lines_left : LINES;
#endif
#if LOADS_RUN
    real2 loaded[RUN_COUNT(LENGTH)];
    UNROLL
    for (int i = 0; i < RUN_COUNT(LENGTH); ++i) {
        const int number = RUN_LOADED(i);
        find_line(&shape, first_line + (DENSE_IN ? 0 : RUN_LINE(number, LENGTH)), index);
#ifndef IN_PIECES
        GLOBAL const in_number *const from = in + place_of_line(shape.in_loop, index);
#endif
        loaded[i] = pair(0, 0); /* where nothing is stored */
        LOAD_POINT(loaded[i], DENSE_IN ? number : RUN_POINT(number, LENGTH))
    }
    BOTH_PARTS(loaded, scatter_run, run, v, gather_points, row)
#endif
    find_line(&shape, first_line + line_in, index);
    const bool loads = first_line + line_in < shape.lines;
#ifndef IN_PIECES
    GLOBAL const in_number *const from = in + place_of_line(shape.in_loop, index);
#endif
    CLUSTER_MEETS();
#if FROM_HALF_PAIRS
    real2 pairs[2 * PAIRS_OF_THREAD];
    UNROLL
    for (int i = 0; i < 2 * PAIRS_OF_THREAD; ++i) pairs[i] = pair(0, 0);
    UNROLL
    for (int i = 0; i < PAIRS_OF_THREAD; ++i) {
        const int k = t_in + i * LINE_THREADS;
        if (loads && k < PAIRS) {
            LOAD_HALF(pairs[2 * i], k)
            LOAD_HALF(pairs[2 * i + 1], LENGTH - k)
        }
    }
    part_pairs(pairs, tables, t_in);
    BOTH_PARTS(pairs, scatter_pairs, in, v, gather_points, row)
#elif ORDERED_IN
    UNROLL
    for (int i = 0; i < POINTS_OF_THREAD; ++i)
        if (loads && t_in + i * LINE_THREADS < LENGTH) LOAD_POINT(v[i], t_in + i * LINE_THREADS)
    BOTH_PARTS(v, scatter_neighbours, in, v, gather_points, row)
#elif !LOADS_RUN
    if (loads) {
#if RADER
        if (t_row == 0) LOAD_POINT(v[VALUES], own_row)
#endif
        UNROLL
        for (int i = 0; i < FIRST_COUNT; ++i) {
            const int first = BEGINNING(FIRST_BUTTERFLY(t_row, i));
            UNROLL
            for (int k = 0; k < FIRST_RADIX; ++k)
                if (IS_FIRST_BUTTERFLY(t_row, i) && FIRST_POINT(first, k) < LENGTH)
                    LOAD_POINT(v[i * FIRST_RADIX + k], own_row + ROWS * FIRST_POINT(first, k))
        }
    }
#endif
    UNROLL
    for (int i = 0; i < FIRST_COUNT; ++i) {
        UNROLL
        for (int k = 0; k < FIRST_RADIX; ++k) {
            const int p = FIRST_BUTTERFLY(t_row, i) + k * FIRST_BUTTERFLIES;
            if (p < LENGTH) v[i * FIRST_RADIX + k] = prepared(v[i * FIRST_RADIX + k], p, tables);
        }
    }
#if RADER
    v[VALUES] = prepared(v[VALUES], 0, tables);
#endif
    transform_0(v, tables, t_row);
    STAGES
#if RADER && ROWS == 1 && ACROSS_IN != ACROSS_OUT && LINE_THREADS > 1
    LINE_BARRIER();
    BOTH_PARTS(v, scatter_zeroth, in, v, gather_zeroth, out)
#endif

#if ACROSS_IN != ACROSS_OUT
    find_line(&shape, first_line + line_out, index);
#endif
    const bool stores = first_line + line_out < shape.lines;
#if TWIDDLE_LOOP >= 0
    multiply_by_twiddles(v, index[TWIDDLE_LOOP], t_out, tables);
#endif
    UNROLL
    for (int i = 0; i < LAST_COUNT; ++i) {
        UNROLL
        for (int k = 0; k < LAST_RADIX; ++k) {
            const int p = LAST_BUTTERFLY(t_out, i) + k * LAST_BUTTERFLIES;
            if (p < LENGTH) v[i * LAST_RADIX + k] = finished(v[i * LAST_RADIX + k], p, tables);
        }
    }
#if RADER
    v[VALUES] = finished(v[VALUES], 0, tables);
#endif
#if TO_HALF_PAIRS
    real2 points[2 * PAIRS_OF_THREAD];
    LINE_BARRIER();
    BOTH_PARTS(v, scatter_points, out, points, gather_pairs, out)
    join_pairs(points, tables, t_out);
#endif
#if STORES_RUN
    real2 stored[RUN_COUNT(STORED_POINTS)];
    LINE_BARRIER();
#if TO_HALF_PAIRS
    BOTH_PARTS(points, scatter_halves, out, stored, gather_run, run)
#else
    BOTH_PARTS(v, scatter_points, out, stored, gather_run, run)
#endif
    UNROLL
    for (int i = 0; i < RUN_COUNT(STORED_POINTS); ++i) {
        if (IS_OF_RUN(i, STORED_POINTS)) {
            const int number = RUN_NUMBER(i);
            find_line(&shape, first_line + (DENSE_OUT ? 0 : RUN_LINE(number, STORED_POINTS)), index);
            line_out_place to;
            OPEN_LINE_OUT(to)
            store_point(to, DENSE_OUT ? number : RUN_POINT(number, STORED_POINTS), stored[i]);
        }
    }
    (void)stores;
#else
    line_out_place to;
    OPEN_LINE_OUT(to)
#if TO_HALF_PAIRS
    if (stores) store_pairs(points, to, t_out);
#elif ORDERED_OUT
    LINE_BARRIER();
    BOTH_PARTS(v, scatter_points, out, v, gather_neighbours, out)
    UNROLL
    for (int i = 0; i < POINTS_OF_THREAD; ++i)
        if (stores && t_out + i * LINE_THREADS < LENGTH)
            store_point(to, t_out + i * LINE_THREADS, v[i]);
#else
    if (stores) {
#if RADER && ROWS == 1
        if (t_out == 0) store_point(to, 0, v[VALUES]);
#endif
        UNROLL
        for (int i = 0; i < LAST_COUNT; ++i) {
            const int first = LAST_BEGINNING(LAST_BUTTERFLY(t_out, i));
            UNROLL
            for (int k = 0; k < LAST_RADIX; ++k)
                if (IS_LAST_BUTTERFLY(t_out, i) && LAST_POINT(first, k) < LENGTH)
                    store_point(to, LAST_POINT(first, k), v[i * LAST_RADIX + k]);
        }
    }
#endif
#endif
    CLUSTER_MEETS();
}
