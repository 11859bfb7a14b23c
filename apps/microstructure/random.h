/*
 * Random numbers: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014). A seed has streams, and a stream has a number at each place, so that any of them
 * can be had without those before it.
 */
#ifndef WEFT_MICROSTRUCTURE_RANDOM_H
#define WEFT_MICROSTRUCTURE_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* What a stream is used for. Each grain's orientation has a stream of its own, beginning at
 * RANDOM_ORIENTATIONS. */
enum { RANDOM_PLACES = 1, RANDOM_VOXELS = 2, RANDOM_ORIENTATIONS = 1 << 20 };

static inline uint64_t random_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The state from which a stream begins; it is one number after the other. */
static inline uint64_t random_stream(uint64_t seed, uint64_t stream) {
    return random_mix(random_mix(seed + RANDOM_STEP) + RANDOM_STEP * stream);
}

static inline uint64_t random_next(uint64_t *state) {
    return random_mix(*state += RANDOM_STEP);
}

/* In [0, 1), a multiple of 2^-53. */
static inline double random_unit(uint64_t *state) {
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* In [-1, 1). */
static inline double random_signed(uint64_t *state) {
    return 2 * random_unit(state) - 1;
}

#endif
