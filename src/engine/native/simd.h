/*
 * The vocabulary of the codelets: vectors of REAL, VECTOR of them at a time, in the compiler's own
 * vector extension, so that one source serves every instruction set. A file that includes it sets
 * REAL and VECTOR (1: plain numbers) and is compiled for its instruction set.
 *
 * A pair of vectors (re, im) holds VECTOR complex numbers, in the order that SIMD_RE and SIMD_IM
 * give: they move numbers within 16-byte lanes only, since that is cheap.
 */
#ifndef WEFT_ENGINE_NATIVE_SIMD_H
#define WEFT_ENGINE_NATIVE_SIMD_H

#include <stdint.h>
#include <string.h>

#if VECTOR == 1

typedef REAL vector;
typedef double double_vector;
#define SIMD_LOAD(p) (*(const REAL *)(p))
#define SIMD_STORE(p, v) (*(REAL *)(p) = (v))
#define SIMD_IN_ORDER(v) (v)
#define SIMD_SHUFFLED(v) (v)
#define SIMD_REVERSED(v) (v)

#else

typedef REAL vector __attribute__((vector_size(VECTOR * sizeof(REAL)), may_alias));
typedef REAL unaligned_vector
    __attribute__((vector_size(VECTOR * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
typedef double double_vector __attribute__((vector_size(VECTOR * sizeof(double))));
#define SIMD_LOAD(p) ((vector) * (const unaligned_vector *)(p))
#define SIMD_STORE(p, v) (*(unaligned_vector *)(p) = (v))

enum {
    SIMD_PARTS = VECTOR * (int)sizeof(REAL) / 16, /* 16-byte lanes */
    SIMD_PART = 16 / (int)sizeof(REAL),           /* numbers in each */
};

/* a and b hold VECTOR interleaved complex numbers, one after the other. SIMD_REVERSED reverses the
 * numbers, whether they are shuffled or in order. */
#if VECTOR == 2
#define SIMD_REVERSED(v) __builtin_shufflevector(v, v, 1, 0)
#define SIMD_RE(a, b) __builtin_shufflevector(a, b, 0, 2)
#define SIMD_IM(a, b) __builtin_shufflevector(a, b, 1, 3)
#define SIMD_FIRST(re, im) __builtin_shufflevector(re, im, 0, 2)
#define SIMD_SECOND(re, im) __builtin_shufflevector(re, im, 1, 3)
#define SIMD_IN_ORDER(v) (v)
#define SIMD_SHUFFLED(v) (v)
#elif VECTOR == 4 && SIMD_DOUBLE
#define SIMD_REVERSED(v) __builtin_shufflevector(v, v, 3, 2, 1, 0)
#define SIMD_RE(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define SIMD_IM(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define SIMD_FIRST(re, im) __builtin_shufflevector(re, im, 0, 4, 2, 6)
#define SIMD_SECOND(re, im) __builtin_shufflevector(re, im, 1, 5, 3, 7)
#define SIMD_IN_ORDER(v) __builtin_shufflevector(v, v, 0, 2, 1, 3)
#define SIMD_SHUFFLED(v) __builtin_shufflevector(v, v, 0, 2, 1, 3)
#elif VECTOR == 8 && SIMD_DOUBLE
#define SIMD_REVERSED(v) __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define SIMD_RE(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define SIMD_IM(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SIMD_FIRST(re, im) __builtin_shufflevector(re, im, 0, 8, 2, 10, 4, 12, 6, 14)
#define SIMD_SECOND(re, im) __builtin_shufflevector(re, im, 1, 9, 3, 11, 5, 13, 7, 15)
#define SIMD_IN_ORDER(v) __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7)
#define SIMD_SHUFFLED(v) __builtin_shufflevector(v, v, 0, 4, 1, 5, 2, 6, 3, 7)
#elif VECTOR == 4
#define SIMD_REVERSED(v) __builtin_shufflevector(v, v, 3, 2, 1, 0)
#define SIMD_RE(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define SIMD_IM(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define SIMD_FIRST(re, im) __builtin_shufflevector(re, im, 0, 4, 1, 5)
#define SIMD_SECOND(re, im) __builtin_shufflevector(re, im, 2, 6, 3, 7)
#define SIMD_IN_ORDER(v) (v)
#define SIMD_SHUFFLED(v) (v)
#elif VECTOR == 8
#define SIMD_REVERSED(v) __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define SIMD_RE(a, b) __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14)
#define SIMD_IM(a, b) __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15)
#define SIMD_FIRST(re, im) __builtin_shufflevector(re, im, 0, 8, 1, 9, 4, 12, 5, 13)
#define SIMD_SECOND(re, im) __builtin_shufflevector(re, im, 2, 10, 3, 11, 6, 14, 7, 15)
#define SIMD_IN_ORDER(v) __builtin_shufflevector(v, v, 0, 1, 4, 5, 2, 3, 6, 7)
#define SIMD_SHUFFLED(v) __builtin_shufflevector(v, v, 0, 1, 4, 5, 2, 3, 6, 7)
#else
#define SIMD_REVERSED(v)                                                                           \
    __builtin_shufflevector(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SIMD_RE(a, b)                                                                              \
    __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30)
#define SIMD_IM(a, b)                                                                              \
    __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31)
#define SIMD_FIRST(re, im)                                                                         \
    __builtin_shufflevector(re, im, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define SIMD_SECOND(re, im)                                                                        \
    __builtin_shufflevector(re, im, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define SIMD_IN_ORDER(v)                                                                           \
    __builtin_shufflevector(v, v, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
#define SIMD_SHUFFLED(v)                                                                           \
    __builtin_shufflevector(v, v, 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15)
#endif

#endif

#include "engine/native/scaling.h"

/* Loads VECTOR complex numbers from interleaved memory. */
/* Makes the compiler round a product before it adds to it, whatever it may contract otherwise. */
#if defined(__x86_64__)
#define SIMD_ROUNDED(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define SIMD_ROUNDED(v) __asm__("" : "+w"(v))
#else
#define SIMD_ROUNDED(v) __asm__("" : "+m"(v))
#endif

static inline __attribute__((always_inline)) void simd_load_complex(const REAL *p, vector *re,
                                                                    vector *im) {
#if VECTOR == 1
    *re = p[0];
    *im = p[1];
#else
    vector a = SIMD_LOAD(p), b = SIMD_LOAD(p + VECTOR);
    *re = SIMD_RE(a, b);
    *im = SIMD_IM(a, b);
#endif
}

static inline __attribute__((always_inline)) void simd_store_complex(REAL *p, vector re,
                                                                     vector im) {
#if VECTOR == 1
    p[0] = re;
    p[1] = im;
#else
    SIMD_STORE(p, SIMD_FIRST(re, im));
    SIMD_STORE(p + VECTOR, SIMD_SECOND(re, im));
#endif
}

#if VECTOR > 1

#if defined SIMD_MASKED
/* A mask of AVX2 for the first `count` numbers of a vector. */
static inline __attribute__((always_inline)) __m256i simd_mask(int count) {
    static const SIMD_MASKED bits[2 * VECTOR] = {
#if VECTOR == 4
        -1,
        -1,
        -1,
        -1
#else
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1
#endif
    };
    return _mm256_loadu_si256((const __m256i *)(const void *)(bits + VECTOR - count));
}
#endif

/* The first `count` numbers at p, and zeros: the memory behind them is not touched. */
static inline __attribute__((always_inline)) vector simd_load_part(const REAL *p, int count) {
    if (__builtin_constant_p(count) && count == VECTOR) return SIMD_LOAD(p);
#if defined SIMD_LOAD_PART
    return (vector)SIMD_LOAD_PART(p, count);
#else
    vector v = {0};
    for (int i = 0; i < VECTOR; i++)
        if (i < count) v[i] = p[i];
    return v;
#endif
}

/* Stores the first `count` numbers of v. */
static inline __attribute__((always_inline)) void simd_store_part(REAL *p, vector v, int count) {
    if (__builtin_constant_p(count) && count == VECTOR) {
        SIMD_STORE(p, v);
        return;
    }
#if defined SIMD_STORE_PART
    SIMD_STORE_PART(p, v, count);
#else
    for (int i = 0; i < VECTOR; i++)
        if (i < count) p[i] = v[i];
#endif
}

#endif

/* `count` numbers, or VECTOR if there are more, or none if it is negative. */
static inline __attribute__((always_inline)) int simd_limited(int count) {
    return count < 0 ? 0 : count < VECTOR ? count : VECTOR;
}

/* Loads and stores `count` interleaved complex numbers, or VECTOR of them if there are more. */
static inline __attribute__((always_inline)) void simd_load_some_complex(const REAL *p, int count,
                                                                         vector *re, vector *im) {
#if VECTOR == 1
    (void)count;
    simd_load_complex(p, re, im);
#else
    const vector a = simd_load_part(p, simd_limited(2 * count));
    const vector b = simd_load_part(p + VECTOR, simd_limited(2 * count - VECTOR));
    *re = SIMD_RE(a, b);
    *im = SIMD_IM(a, b);
#endif
}

static inline __attribute__((always_inline)) void simd_store_some_complex(REAL *p, int count,
                                                                          vector re, vector im) {
#if VECTOR == 1
    (void)count;
    simd_store_complex(p, re, im);
#else
    simd_store_part(p, SIMD_FIRST(re, im), simd_limited(2 * count));
    simd_store_part(p + VECTOR, SIMD_SECOND(re, im), simd_limited(2 * count - VECTOR));
#endif
}

/* A result as it is stored: see scaling.h. */
static inline __attribute__((always_inline)) vector simd_scaled(vector v, scaling by,
                                                                double scale) {
#if VECTOR == 1
    return by == IN_DOUBLE ? (REAL)((double)v * scale) : by == SCALED ? v * (REAL)scale : v;
#else
    if (by == IN_DOUBLE)
        return __builtin_convertvector(__builtin_convertvector(v, double_vector) * scale, vector);
    if (by == SCALED) v *= (REAL)scale;
    return v;
#endif
}

/* Stores past the caches; p must be aligned to the vector. */
static inline __attribute__((always_inline)) void simd_stream(REAL *p, vector v) {
#if VECTOR > 1 && defined SIMD_STREAM
    SIMD_STREAM(p, v);
#else
    SIMD_STORE(p, v);
#endif
}

static inline __attribute__((always_inline)) void simd_stream_complex(REAL *p, vector re,
                                                                      vector im) {
#if VECTOR > 1
    simd_stream(p, SIMD_FIRST(re, im));
    simd_stream(p + VECTOR, SIMD_SECOND(re, im));
#else
    simd_store_complex(p, re, im);
#endif
}

#endif
