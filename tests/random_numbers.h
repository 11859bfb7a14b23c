/* Random numbers of tests, from a state that each test sets: the same sequence, also on all ranks
 * that set the same. */
#ifndef WEFT_TESTS_RANDOM_NUMBERS_H
#define WEFT_TESTS_RANDOM_NUMBERS_H

#include <stdint.h>

static uint64_t random_state = 1;

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: SplitMix. */
static inline uint64_t random_bits(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* From 0 to n - 1. */
static inline int random_below(int n) {
    return (int)(random_bits() % (uint64_t)n);
}

/* From lo to hi, both included. */
static inline int64_t random_between(int64_t lo, int64_t hi) {
    return lo + (int64_t)(random_bits() % (uint64_t)(hi - lo + 1));
}

static inline double random_number(void) { /* in [-1, 1) */
    return (double)(random_bits() >> 11) * 0x1p-52 - 1;
}

#endif
