/*
 * Lines of points in memory: where line number i and its point p lie, and how a point is loaded and
 * stored. Before this text the engine (src/engine/jit/text.c) defines
 *
 *     REAL_LENGTH   n of a real transform
 *     LENGTH        complex points of a line: n, or n / 2 where two real numbers make a point
 *     FROM, TO      what a line is in memory: one of the kinds below
 *     LOOPS         loops over the lines, the fastest first
 *     IN_UNIT, OUT_UNIT        1: neighbouring points (pairs, numbers) are neighbours in memory
 *     IN_ADJACENT, OUT_ADJACENT    1: so are the two real numbers of a pair
 *     ALIGNED       1: points, where they are two numbers side by side, are aligned to both
 *     INVERSE       1: real and imaginary parts change places on both sides, which changes the
 *                   sign of the exponent
 *     FOLD, FOLD_LOOP  of FOLDED points: their distance in the half spectrum, the loop over lines
 *     IN_PIECES(PIECE), OUT_PIECES(PIECE), where a side lies in pieces: PIECE(number) for each, in
 *                   order; PIECES is how many there are room for
 *     LOAD_NUMBER(p), STORE_NUMBER(p)
 *                   the number of point p in the whole line, if it is not p
 *     LOAD_INDICES(e), STORE_INDICES(e)
 *                   where operators (src/operator/kernel.h, called `load` and `store`) are applied
 *                   to elements as they are loaded or stored: the initializer of the indices of the
 *                   line's element e
 *     SPECTRAL_NUMBER(p), SPECTRAL_INDICES(e)
 *                   likewise where operators (called `spectral`) are applied to the spectrum
 *                   between a forward and an inverse transform
 *
 * All strides count real numbers. The kinds from ORDERED on are those of cosine and sine transforms
 * (fft_r2r.cl): their points are made of numbers that are found by their number in the whole line,
 * and `point` is the stride of these.
 */
#define POINTS_COMPLEX 0    /* real and imaginary part side by side */
#define POINTS_REAL_PAIRS 1 /* two real numbers of a real line of even length */
#define POINTS_REAL 2       /* real numbers */
#define POINTS_HALF 3       /* n / 2 + 1 complex numbers that stand for n */
#define POINTS_HALF_PAIRS 4 /* the same, of the line that REAL_PAIRS is the other side of */
#define POINTS_FOLDED 5     /* row r of the matrix that a half spectrum of REAL_LENGTH is: its numbers
                               r + FOLD p, the conjugates of the others where it has none */
#define POINTS_ORDERED 6       /* real numbers in the order that the type wants */
#define POINTS_ORDERED_PAIRS 7 /* two of them */
#define POINTS_WAVES 8         /* one coefficient for each point of the spectrum */
#define POINTS_WAVE_PAIRS 9    /* the coefficients for HALF_PAIRS */
#define POINTS_MIRRORED 10     /* type 4: numbers 2p and n - 1 - 2p */

#define FROM_HALF_PAIRS (FROM == POINTS_HALF_PAIRS || FROM == POINTS_WAVE_PAIRS)
#define TO_HALF_PAIRS (TO == POINTS_HALF_PAIRS || TO == POINTS_WAVE_PAIRS)
#define STORES_COMPLEX (TO != POINTS_REAL && TO != POINTS_REAL_PAIRS && TO < POINTS_ORDERED)

typedef struct fft_shape {
    long64 in_loop[LOOPS], out_loop[LOOPS];
    long64 in_point, out_point;
    long64 in_part, out_part; /* from the first number of a pair to the second */
    unsigned int lines, unused;
    unsigned int n[LOOPS], multiplier[LOOPS], shift[LOOPS], unused_too[LOOPS];
} fft_shape;

/* Pieces of a side: the first point, where it lies with all loops at 0, and strides. */
typedef struct fft_pieces {
    long64 first[PIECES], offset[PIECES], point[PIECES], loop[PIECES * LOOPS];
} fft_pieces;

/* What the arrays hold: numbers of the transform, unless the operators say otherwise. */
#ifndef load_stores
#define load_stores 0
#endif
#ifndef store_stores
#define store_stores 0
#endif
#if load_stores && load_converts
typedef load_stored in_number;
#define CONVERT_LOADED(x) load_convert(x)
#define IN_NUMBERS 1 /* of a complex one */
#define LOAD_TWO(at) load_convert(*(at))
#else
typedef real in_number;
#define CONVERT_LOADED(x) (x)
#define IN_NUMBERS 2
#define LOAD_TWO(at) load_two(at)
#endif
#if store_stores && store_converts
typedef store_stored out_number;
#define CONVERT_STORED(x) store_convert(x)
#else
typedef real out_number;
#define CONVERT_STORED(x) (x)
#endif
#if (store_stores && store_converts) || !STORES_COMPLEX
#define OUT_NUMBERS 1 /* of an element */
#else
#define OUT_NUMBERS 2
#endif

#ifdef IN_PIECES
#define IN_PARAMETER(number) MEMORY(const real, in_##number),
#define IN_MEMORY IN_PIECES(IN_PARAMETER)
#define OPEN_PIECE(number) OPEN(const real, in_##number);
#define OPEN_IN IN_PIECES(OPEN_PIECE)
#else
#define IN_MEMORY MEMORY(const in_number, in),
#define OPEN_IN OPEN(const in_number, in);
#endif
#if defined IN_PIECES || defined OUT_PIECES
#define PIECES_PARAMETERS , VALUE(fft_pieces, in_pieces), VALUE(fft_pieces, out_pieces)
#define OPEN_PIECES                                                                                \
    OPEN_VALUE(fft_pieces, in_pieces);                                                             \
    OPEN_VALUE(fft_pieces, out_pieces);                                                            \
    (void)in_pieces;                                                                               \
    (void)out_pieces;
#else
#define PIECES_PARAMETERS
#define OPEN_PIECES
#endif

#ifdef load_arrays
#define LOAD_ARRAY_PARAMETER , MEMORY(const real, load_array)
#define OPEN_LOAD_ARRAY OPEN(const real, load_array);
#define LOAD_ARRAY , load_array
#else
#define LOAD_ARRAY_PARAMETER
#define OPEN_LOAD_ARRAY
#define LOAD_ARRAY
#endif
#ifdef spectral_arrays
#define SPECTRAL_ARRAY_PARAMETER , MEMORY(const real, spectral_array)
#define OPEN_SPECTRAL_ARRAY OPEN(const real, spectral_array);
#else
#define SPECTRAL_ARRAY_PARAMETER
#define OPEN_SPECTRAL_ARRAY
#endif
#ifdef store_arrays
#define STORE_ARRAY_PARAMETER , MEMORY(const real, store_array)
#define OPEN_STORE_ARRAY OPEN(const real, store_array);
#else
#define STORE_ARRAY_PARAMETER
#define OPEN_STORE_ARRAY
#endif
#ifdef LOAD_INDICES
#define LOAD_PARAMETERS                                                                            \
    , MEMORY(const real, load_tables), VALUE(load_places, load_at) LOAD_ARRAY_PARAMETER
#define OPEN_LOAD                                                                                  \
    OPEN(const real, load_tables);                                                                 \
    OPEN_VALUE(load_places, load_at);                                                              \
    OPEN_LOAD_ARRAY
#else
#define LOAD_PARAMETERS
#define OPEN_LOAD
#endif
#ifdef store_keeps /* at most one of the two places does */
#define STORE_KEPT , MEMORY(store_kept, kept)
#define OPEN_KEPT OPEN(store_kept, kept);
#else
#define STORE_KEPT
#endif
#ifdef spectral_keeps
#define SPECTRAL_KEPT , MEMORY(spectral_kept, kept)
#define OPEN_KEPT OPEN(spectral_kept, kept);
#else
#define SPECTRAL_KEPT
#endif
#ifndef OPEN_KEPT
#define OPEN_KEPT
#endif
#ifdef STORE_INDICES
#define STORE_PARAMETERS                                                                           \
    , MEMORY(const real, store_tables),                                                            \
        VALUE(store_places, store_at) STORE_ARRAY_PARAMETER STORE_KEPT
#define OPEN_STORE                                                                                 \
    OPEN(const real, store_tables);                                                                \
    OPEN_VALUE(store_places, store_at);                                                            \
    OPEN_STORE_ARRAY
#else
#define STORE_PARAMETERS
#define OPEN_STORE
#endif
#ifdef SPECTRAL_NUMBER
#define SPECTRAL_PARAMETERS                                                                        \
    , MEMORY(const real, spectral_tables),                                                         \
        VALUE(spectral_places, spectral_at) SPECTRAL_ARRAY_PARAMETER SPECTRAL_KEPT
#define OPEN_SPECTRAL                                                                              \
    OPEN(const real, spectral_tables);                                                             \
    OPEN_VALUE(spectral_places, spectral_at);                                                      \
    OPEN_SPECTRAL_ARRAY
#else
#define SPECTRAL_PARAMETERS
#define OPEN_SPECTRAL
#endif
#define OPERATOR_PARAMETERS LOAD_PARAMETERS SPECTRAL_PARAMETERS STORE_PARAMETERS
#define OPEN_OPERATORS OPEN_LOAD OPEN_SPECTRAL OPEN_STORE OPEN_KEPT

/* The indices of the loops at line number `line`. */
FUNCTION void find_line(const fft_shape *shape, unsigned int line, unsigned int *index) {
    UNROLL
    for (int l = 0; l < LOOPS; ++l) {
        /* Granlund and Montgomery 1994: line / n without dividing */
        unsigned int rest = (MULTIPLY_HIGH(line, shape->multiplier[l]) + line) >> shape->shift[l];
        index[l] = line - rest * shape->n[l];
        line = rest;
    }
}

FUNCTION long64 place_of_line(const long64 *stride, const unsigned int *index) {
    long64 place = 0;
    UNROLL
    for (int l = 0; l < LOOPS; ++l) place += stride[l] * index[l];
    return place;
}

FUNCTION long64 place_in_piece(IN_VALUE const fft_pieces *pieces, int which, int p,
                               const unsigned int *index) {
    long64 place = pieces->offset[which] + (p - pieces->first[which]) * pieces->point[which];
    UNROLL
    for (int l = 0; l < LOOPS; ++l) place += pieces->loop[which * LOOPS + l] * index[l];
    return place;
}

FUNCTION real2 swapped(real2 z) {
    return pair(z.y, z.x);
}

FUNCTION real2 load_two(GLOBAL const real *at) {
#if ALIGNED
    return *(GLOBAL const real2 *)at;
#else
    return pair(at[0], at[1]);
#endif
}

FUNCTION void store_two(GLOBAL real *at, real2 z) {
#if ALIGNED
    *(GLOBAL real2 *)at = z;
#else
    at[0] = z.x;
    at[1] = z.y;
#endif
}

/* ---- loading: in the kernel itself, which has `index`, and `from` or the pieces' memory ---- */

/* Element number e of a line, as it was loaded, changed by the operators; LOAD_IF goes before what
 * loads one: what the array does not have stays 0. */
#ifndef LOAD_NUMBER
#define LOAD_NUMBER(p) (p)
#endif
#ifdef LOAD_INDICES
#define OPERATE_LOADED(value, e)                                                                   \
    {                                                                                              \
        const int indices[] = LOAD_INDICES(e);                                                     \
        value = load_operators(value, indices, load_at, load_tables LOAD_ARRAY);                   \
    }
#else
#define OPERATE_LOADED(value, e)
#endif
#if load_stores
#define LOAD_IF(e)                                                                                 \
    const int sought_indices[] = LOAD_INDICES(e);                                                  \
    if (load_inside(sought_indices, load_at))
#else
#define LOAD_IF(e)
#endif

/* Of a spectrum that is truncated, which is in no pieces, how far before its place in the whole line
 * a number is. */
#if load_has_gaps
#define LOAD_GAP (IN_NUMBERS * load_gaps(sought_indices, load_at))
#else
#define LOAD_GAP 0
#endif

/* Complex number `number` of a line. Pieces hold what an array holds: of one that is padded, the
 * points that are there. */
#ifdef IN_PIECES
#define IN_PIECE(which)                                                                            \
    if (sought >= in_pieces->first[which])                                                         \
        at = in_##which + place_in_piece(in_pieces, which, sought, index);
#define LOAD_FOUND(result)                                                                         \
    GLOBAL const real *at = in_0;                                                                  \
    IN_PIECES(IN_PIECE)                                                                            \
    result = load_two(at);
#else
#define LOAD_FOUND(result)                                                                         \
    result = LOAD_TWO(from + sought * (IN_UNIT ? IN_NUMBERS : shape.in_point) - LOAD_GAP);
#endif
#define LOAD_COMPLEX(result, number)                                                               \
    {                                                                                              \
        const int sought = (number);                                                               \
        LOAD_IF(LOAD_NUMBER(sought)) {                                                             \
            LOAD_FOUND(result)                                                                     \
            OPERATE_LOADED(result, LOAD_NUMBER(sought))                                            \
        }                                                                                          \
    }

/* Loads a real number, or the number that the caller's array holds for a complex one. */
#define LOAD_ONE(result, place, e)                                                                 \
    {                                                                                              \
        LOAD_IF(e) {                                                                               \
            result = CONVERT_LOADED(from[place]);                                                  \
            OPERATE_LOADED(result, e)                                                              \
        }                                                                                          \
    }

/* Element `number` of the real numbers of a cosine or sine transform; `result` is 0 before. */
#ifdef IN_PIECES
#define FIND_NUMBER                                                                                \
    GLOBAL const real *at = in_0;                                                                  \
    IN_PIECES(IN_PIECE)
#else
#define FIND_NUMBER                                                                                \
    GLOBAL const in_number *const at = from + sought * (IN_UNIT ? 1 : shape.in_point);
#endif
#define LOAD_REAL(result, number)                                                                  \
    {                                                                                              \
        const int sought = (number);                                                               \
        LOAD_IF(sought) {                                                                          \
            FIND_NUMBER                                                                            \
            result = CONVERT_LOADED(*at);                                                          \
            OPERATE_LOADED(result, sought)                                                         \
        }                                                                                          \
    }
#define LOAD_ORDERED(result, place)                                                                \
    {                                                                                              \
        const int ordered = (place), sign = ordered_sign(ordered);                                 \
        if (sign != 0) LOAD_REAL(result, ordered_point(ordered))                                   \
        result *= (real)sign;                                                                      \
    }

/* Number k of a half spectrum that is loaded by the pair. */
#if FROM == POINTS_WAVE_PAIRS
#define LOAD_HALF(result, k)                                                                       \
    {                                                                                              \
        const int wave = (k);                                                                      \
        real2 both = pair(0, 0);                                                                   \
        LOAD_REAL(both.x, wave_point(wave))                                                        \
        if (wave > 0) LOAD_REAL(both.y, wave_point(REAL_LENGTH - wave))                            \
        result = spectrum_of_waves(both.x, both.y, TABLE_READ(tables, FACTORS + wave));            \
    }
#else
#define LOAD_HALF(result, k) LOAD_COMPLEX(result, k)
#endif

/* Point `number` of a line. Those of HALF_PAIRS are loaded by the pair. */
#if FROM == POINTS_COMPLEX
#define LOAD_POINT(result, number) LOAD_COMPLEX(result, number)
#elif FROM == POINTS_REAL_PAIRS && IN_ADJACENT && !load_stores
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int sought = (number);                                                               \
        result = load_two(from + sought * (IN_UNIT ? 2 : shape.in_point));                         \
        OPERATE_LOADED(result.x, 2 * LOAD_NUMBER(sought))                                          \
        OPERATE_LOADED(result.y, 2 * LOAD_NUMBER(sought) + 1)                                      \
    }
#elif FROM == POINTS_REAL_PAIRS
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int sought = (number);                                                               \
        LOAD_ONE(result.x, sought * shape.in_point, 2 * LOAD_NUMBER(sought))                       \
        LOAD_ONE(result.y, sought * shape.in_point + shape.in_part, 2 * LOAD_NUMBER(sought) + 1)   \
    }
#elif FROM == POINTS_REAL
#if load_stores && !load_is_real
#define LOADED_PART(result) result
#else
#define LOADED_PART(result) result.x
#endif
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int sought = (number);                                                               \
        result = pair(0, 0);                                                                       \
        LOAD_ONE(LOADED_PART(result), sought * (IN_UNIT ? 1 : shape.in_point),                     \
                 LOAD_NUMBER(sought))                                                              \
    }
#elif FROM == POINTS_HALF
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int whole = (number);                                                                \
        const bool mirrored = 2 * whole > REAL_LENGTH;                                             \
        real2 half_ = pair(0, 0);                                                                  \
        LOAD_COMPLEX(half_, mirrored ? REAL_LENGTH - whole : whole)                                \
        if (mirrored) half_.y = -half_.y;                                                          \
        if (whole == 0 || 2 * whole == REAL_LENGTH) half_.y = 0; /* real data has none */          \
        result = half_;                                                                            \
    }
#elif FROM == POINTS_FOLDED
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int row = (int)index[FOLD_LOOP], whole = row + FOLD * (number);                      \
        const bool mirrored = whole > REAL_LENGTH - whole;                                         \
        const long64 away = (mirrored ? REAL_LENGTH - whole : whole) - row;                        \
        real2 half_ = pair(0, 0);                                                                  \
        LOAD_IF((int)away + row) {                                                                 \
            half_ = LOAD_TWO(from + away * shape.in_loop[FOLD_LOOP]);                              \
            OPERATE_LOADED(half_, (int)away + row)                                                 \
        }                                                                                          \
        if (mirrored) half_.y = -half_.y;                                                          \
        if (whole == 0 || whole == REAL_LENGTH - whole) half_.y = 0; /* real data has none */      \
        result = half_;                                                                            \
    }
#elif FROM == POINTS_ORDERED
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int point = LOAD_NUMBER(number);                                                     \
        result = pair(0, 0);                                                                       \
        LOAD_ORDERED(result.x, point)                                                              \
    }
#elif FROM == POINTS_ORDERED_PAIRS
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int point = LOAD_NUMBER(number);                                                     \
        result = pair(0, 0);                                                                       \
        LOAD_ORDERED(result.x, 2 * point)                                                          \
        LOAD_ORDERED(result.y, 2 * point + 1)                                                      \
    }
#elif FROM == POINTS_WAVES
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int point = LOAD_NUMBER(number);                                                     \
        real wave = 0;                                                                             \
        LOAD_REAL(wave, wave_point(point))                                                         \
        if (point > 0) wave *= 2;                                                                  \
        result = spectrum_of_waves(wave, 0, TABLE_READ(tables, FACTORS + point));                  \
    }
#elif FROM == POINTS_MIRRORED
#define LOAD_POINT(result, number)                                                                 \
    {                                                                                              \
        const int point = LOAD_NUMBER(number), mirrored = REAL_LENGTH - 1 - 2 * point;             \
        real2 both = pair(0, 0);                                                                   \
        LOAD_REAL(both.x, SINE ? mirrored : 2 * point)                                             \
        LOAD_REAL(both.y, SINE ? 2 * point : mirrored)                                             \
        result = complex_multiply(both, TABLE_READ(tables, FACTORS + point));                      \
    }
#endif

/* ---- storing ---- */

/* The place where a line is stored. */
typedef struct line_out_place {
    GLOBAL out_number *at;
#if TO >= POINTS_ORDERED
    GLOBAL const real2 *factors;
#endif
#if defined OUT_PIECES || defined STORE_NUMBER
    unsigned int index[LOOPS];
#endif
#ifdef OUT_PIECES
    IN_VALUE const fft_pieces *pieces;
#else
    long64 point, part;
#endif
#ifdef STORE_INDICES
    IN_VALUE const store_places *operators;
    GLOBAL const real *tables;
#endif
#ifdef store_arrays
    GLOBAL const real *array;
#endif
#ifdef store_keeps
    GLOBAL store_kept *kept;
#endif
#if TO == POINTS_FOLDED
    int row;
    long64 number; /* stride of the half spectrum's numbers */
#endif
} line_out_place;

#if defined OUT_PIECES || defined STORE_NUMBER
#define KEEP_INDEX(to)                                                                             \
    for (int l = 0; l < LOOPS; ++l) to.index[l] = index[l];
#else
#define KEEP_INDEX(to)
#endif
#ifndef STORE_NUMBER
#define STORE_NUMBER(p) (p)
#endif
#ifdef STORE_INDICES
#define OPERATE_STORED(value, e)                                                                   \
    {                                                                                              \
        const int indices[] = STORE_INDICES(e);                                                    \
        value = store_operators(value, indices, to.operators, to.tables STORE_ARRAY);              \
        KEEP_STORED(value)                                                                         \
    }
#ifdef store_arrays
#define STORE_ARRAY , to.array
#define OPEN_STORED_ARRAY(to) to.array = store_array;
#else
#define STORE_ARRAY
#define OPEN_STORED_ARRAY(to)
#endif
#ifdef store_keeps
#define KEEP_STORED(value) store_keep(value, indices, to.operators, to.kept);
#define OPEN_STORED_KEPT(to) to.kept = kept;
#else
#define KEEP_STORED(value)
#define OPEN_STORED_KEPT(to)
#endif
#define OPEN_STORED(to)                                                                            \
    to.operators = store_at;                                                                       \
    to.tables = store_tables;                                                                      \
    OPEN_STORED_ARRAY(to)                                                                          \
    OPEN_STORED_KEPT(to)
#else
#define OPERATE_STORED(value, e)
#define OPEN_STORED(to)
#endif
#if store_stores
#define STORE_IF(e)                                                                                \
    const int stored_indices[] = STORE_INDICES(e);                                                 \
    if (store_inside(stored_indices, to.operators))
#else
#define STORE_IF(e)
#endif
#if TO >= POINTS_ORDERED
#define OPEN_FACTORS(to) to.factors = tables + FACTORS;
#else
#define OPEN_FACTORS(to)
#endif

#ifdef OUT_PIECES
#define OPEN_LINE_OUT(to)                                                                          \
    to.at = out;                                                                                   \
    to.pieces = out_pieces;                                                                        \
    OPEN_FACTORS(to)                                                                               \
    KEEP_INDEX(to)                                                                                 \
    OPEN_STORED(to)
#define OUT_PIECE(which)                                                                           \
    if (p >= to.pieces->first[which])                                                              \
        place = place_in_piece(to.pieces, which, p, to.index);
#else
#define OUT_PIECES(PIECE) place = OUT_UNIT ? OUT_NUMBERS * p : p * to.point;
#if TO == POINTS_FOLDED
#define OPEN_FOLD(to)                                                                              \
    to.row = (int)index[FOLD_LOOP];                                                                \
    to.number = shape.out_loop[FOLD_LOOP];
#else
#define OPEN_FOLD(to)
#endif
#define OPEN_LINE_OUT(to)                                                                          \
    to.at = out + place_of_line(shape.out_loop, index);                                            \
    to.point = shape.out_point;                                                                    \
    to.part = shape.out_part;                                                                      \
    OPEN_FOLD(to)                                                                                  \
    OPEN_FACTORS(to)                                                                               \
    KEEP_INDEX(to)                                                                                 \
    OPEN_STORED(to)
#endif

#if STORES_COMPLEX
/* Stores element e of the line. */
FUNCTION void store_element(line_out_place to, long64 place, int e, real2 z) {
    STORE_IF(e) {
#if store_has_gaps
        place -= OUT_NUMBERS * store_gaps(stored_indices, to.operators);
#endif
        OPERATE_STORED(z, e)
#if store_stores && store_converts
        to.at[place] = CONVERT_STORED(z);
#else
        store_two(to.at + place, z);
#endif
    }
}

FUNCTION void store_complex(line_out_place to, int p, real2 z) {
    long64 place = 0;
    OUT_PIECES(OUT_PIECE)
    store_element(to, place, STORE_NUMBER(p), z);
}
#else
#if store_stores && !store_is_real
typedef real2 stored_value;
#define STORED_PART(z) z
#else
typedef real stored_value;
#define STORED_PART(z) z.x
#endif
/* Stores a real number, or the number that the caller's array holds for a complex one. */
FUNCTION void store_one(line_out_place to, long64 place, int e, stored_value x) {
    STORE_IF(e) {
        OPERATE_STORED(x, e)
        to.at[place] = CONVERT_STORED(x);
    }
}
#endif

#if TO >= POINTS_ORDERED
/* Stores element p of the results of a cosine or sine transform. */
FUNCTION void store_real(line_out_place to, int p, real x) {
    long64 place = 0;
    OUT_PIECES(OUT_PIECE)
    store_one(to, place, p, x);
}

/* Stores the coefficient that comes from number q of the whole spectrum. */
FUNCTION void store_wave(line_out_place to, int q, real2 z) {
#if TYPE == 1
    if (SINE ? q > 0 && q < SYMMETRY : q <= SYMMETRY) store_real(to, q - SINE, SINE ? -z.y : z.x);
#elif TYPE == 4 /* twice the real part of exp(-2 pi i b / 8) z, b being q modulo n */
    const int b = q % 2 == 1 ? q : q + REAL_LENGTH, k = b / 2, eighth = b & 7;
    const real re = eighth == 1 || eighth == 7 ? z.x : -z.x, im = eighth < 4 ? z.y : -z.y;
    store_real(to, k, (SINE && k % 2 == 1 ? -(re + im) : re + im) * (real)1.41421356237309504880);
#else
    const real2 root = TABLE_READ(to.factors, q);
    store_real(to, wave_point(q), 2 * fma(root.x, z.x, -(root.y * z.y)));
#endif
}
#endif

/* Stores number k of a half spectrum that is stored by the pair. */
#if TO == POINTS_HALF_PAIRS
#define store_half store_complex
#elif TO == POINTS_WAVE_PAIRS
FUNCTION void store_half(line_out_place to, int k, real2 z) {
#if TYPE == 1
    store_wave(to, k, z);
#else
    z = complex_multiply(z, TABLE_READ(to.factors, k));
    store_real(to, wave_point(k), 2 * z.x);
    if (k > 0 && 2 * k < REAL_LENGTH) store_real(to, wave_point(REAL_LENGTH - k), -2 * z.y);
#endif
}
#endif

/* Stores point p of a line; those of HALF_PAIRS are numbers of the half spectrum (fft_pairs.cl). */
FUNCTION void store_point(line_out_place to, int p, real2 z) {
#if TO == POINTS_COMPLEX || TO == POINTS_HALF_PAIRS
    store_complex(to, p, z);
#elif TO == POINTS_REAL_PAIRS && OUT_ADJACENT && !store_stores
    OPERATE_STORED(z.x, 2 * STORE_NUMBER(p))
    OPERATE_STORED(z.y, 2 * STORE_NUMBER(p) + 1)
    store_two(to.at + (OUT_UNIT ? 2 * p : p * to.point), z);
#elif TO == POINTS_REAL_PAIRS
    store_one(to, p * to.point, 2 * STORE_NUMBER(p), z.x);
    store_one(to, p * to.point + to.part, 2 * STORE_NUMBER(p) + 1, z.y);
#elif TO == POINTS_REAL
    store_one(to, p * (OUT_UNIT ? 1 : to.point), STORE_NUMBER(p), STORED_PART(z));
#elif TO == POINTS_HALF
    if (2 * p <= REAL_LENGTH) store_complex(to, p, z);
#elif TO == POINTS_FOLDED
    const int whole = to.row + FOLD * p;
    const bool mirrored = whole > REAL_LENGTH - whole;
    const long64 away = (mirrored ? REAL_LENGTH - whole : whole) - to.row;
    if (mirrored) z.y = -z.y;
    if (whole == 0 || whole == REAL_LENGTH - whole) z.y = 0; /* not a zero with a sign */
    /* Rows 0 and FOLD / 2 are their own mirror images. */
    if (!mirrored || (to.row > 0 && 2 * to.row != FOLD))
        store_element(to, away * to.number, (int)away + to.row, z);
#elif TO == POINTS_ORDERED
    const int i = STORE_NUMBER(p);
    store_real(to, ordered_point(i), ordered_sign(i) * z.x);
#elif TO == POINTS_ORDERED_PAIRS
    const int i = 2 * STORE_NUMBER(p);
    store_real(to, ordered_point(i), ordered_sign(i) * z.x);
    store_real(to, ordered_point(i + 1), ordered_sign(i + 1) * z.y);
#elif TO == POINTS_WAVES
    store_wave(to, STORE_NUMBER(p), z);
#elif TO == POINTS_MIRRORED
    const int k = STORE_NUMBER(p);
    z = complex_multiply(z, TABLE_READ(to.factors, REAL_LENGTH / 2 + k));
    store_real(to, 2 * k, 2 * z.x);
    store_real(to, REAL_LENGTH - 1 - 2 * k, SINE ? 2 * z.y : -2 * z.y);
#endif
}

/* ---- half spectra of pairs ---- */

/*
 * A real line of n numbers as n / 2 complex points z = x[2 j] + i x[2 j + 1]: with Z their
 * transform, h = n / 2 and w = exp(-2 pi i k / n), the spectrum's numbers k and h - k are
 *     X[k] = E + w O, X[h - k]* = E - w O, E = (Z[k] + Z[h - k]*) / 2, O = (Z[k] - Z[h - k]*) / 2i
 * (Cooley, Lewis, Welch 1970), Z[h] being Z[0].
 */
FUNCTION void join_pair(real2 *a, real2 *b, real2 w) {
    const real2 e = pair((real)0.5 * (a->x + b->x), (real)0.5 * (a->y - b->y));
    const real2 o = pair((real)0.5 * (a->y + b->y), (real)0.5 * (b->x - a->x));
    const real2 x = pair(fma(w.x, o.x, fma(-w.y, o.y, e.x)), fma(w.x, o.y, fma(w.y, o.x, e.y)));
    const real2 y = pair(fma(-w.x, o.x, fma(w.y, o.y, e.x)), fma(w.x, o.y, fma(w.y, o.x, -e.y)));
    *a = x;
    *b = y;
}

/* The inverse of join_pair, times two: Z from X. */
FUNCTION void part_pair(real2 *a, real2 *b, real2 w) {
    const real2 e = pair(a->x + b->x, a->y - b->y);
    const real2 d = pair(a->x - b->x, a->y + b->y);
    /* o = d conj(w); Z[k] = e + i o, Z[h - k] = conj(e) + i conj(o) */
    const real2 o = pair(fma(d.x, w.x, d.y * w.y), fma(d.y, w.x, -(d.x * w.y)));
    *a = pair(e.x - o.y, e.y + o.x);
    *b = pair(e.x + o.y, o.x - e.y);
}
