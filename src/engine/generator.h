/* Primes, and generators of the units modulo a prime: what Rader's convolution orders points by. */
#ifndef WEFT_ENGINE_GENERATOR_H
#define WEFT_ENGINE_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

bool weft_is_prime(int64_t n);

/* base^exponent modulo `modulus`, which is below 2^31. */
int64_t weft_power_modulo(int64_t base, int64_t exponent, int64_t modulus);

/* The least number whose powers are all of 1..p-1 modulo the prime p. */
int64_t weft_generator(int64_t p);

#endif
