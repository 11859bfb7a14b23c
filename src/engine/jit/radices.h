/* The radices of the stages of a transform within a kernel, and the convolution that takes its
 * place where a length has a large prime factor. */
#ifndef WEFT_ENGINE_JIT_RADICES_H
#define WEFT_ENGINE_JIT_RADICES_H

#include "engine/jit/tuning.h"

enum {
    WEFT_JIT_LONGEST = 4096, /* most points of a line that one kernel of any device transforms */
    WEFT_JIT_LONGEST_CORE = 8192, /* most points of a convolution that transforms such a line */
    WEFT_JIT_LARGEST_RADIX = 32,
    WEFT_JIT_STAGES = 14, /* 2^14 in radices of 2 */
    /* There and back, and of the rows of a line, which are at most 4096 / 37. */
    WEFT_JIT_MOST_STAGES = 2 * WEFT_JIT_STAGES + 8
};

typedef struct weft_jit_radices {
    int stages;
    int radix[WEFT_JIT_STAGES];
    int threads; /* of a line */
    int values;  /* points that a thread holds */
} weft_jit_radices;

/* Whether n has no prime factor above 31, so that its stages have codelets. Here and in the other
 * files of this engine that is what smooth means. */
bool weft_jit_is_smooth(int64_t n);

/* Operations of a butterfly of so many points; 0: there is no codelet of that radix. */
int weft_jit_operations(int radix);

/* Points that a thread has in the stage where it has most, if so many threads do a line of n. */
int weft_jit_values_with(const weft_jit_radices *radices, int n, int threads);

/* Registers for the points that a thread holds at once: the results of a codelet of a large prime
 * are sums of all its points, so that these stay beside them. */
int weft_jit_registers_of_points(const weft_jit_radices *radices, weft_precision precision);

/* Visits all factorizations of n into radices from `largest` down, each no larger than the one
 * before, in at most `stages` stages: `visit` gets *radices with its stages set. The radices 18,
 * 20, 21, 24, 27, 28 and 30 are among them if `wide`. */
typedef void weft_jit_visit(void *context, weft_jit_radices *radices);
void weft_jit_factorize(int n, int largest, int stages, bool wide, weft_jit_radices *radices,
                        weft_jit_visit *visit, void *context);

/* The fastest factorization of n points; n is smooth and at most 2^15. A thread holds more points
 * than most_values only where a prime factor is larger. */
weft_jit_radices weft_jit_choose_radices(int n, int most_values);

/* The same of n points that Rader's convolution transforms there and back: a thread may hold two
 * points more where that saves a stage. */
weft_jit_radices weft_jit_choose_row_radices(int n, int most_values);

/* The fastest factorization of `rows` for the stages after so many rows of `length` points, each of
 * which has so many threads; no stages: there is one row, or a thread would hold too many points.
 */
weft_jit_radices weft_jit_choose_after_rows(int rows, int length, int threads, int most_values);

/* The smooth length of at least `least` for which a cyclic convolution is cheapest. */
int64_t weft_jit_convolution_length(int64_t least);

/* The points of the convolution by which one kernel transforms n points, n not smooth: at least
 * 2 n - 1 of Bluestein's convolution; or p - 1 of Rader's, if n is p times a smooth number of rows
 * (see fft_order.cl), p is a prime above 31, p - 1 is smooth, and a line needs no more threads than
 * every device has, or than Bluestein's. */
int64_t weft_jit_choose_core(int64_t n, const weft_jit_tuning *tuning);

#endif
