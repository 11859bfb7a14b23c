/* Primes and generators by trial division; what they serve is short. */
#include "engine/generator.h"

bool weft_is_prime(int64_t n) {
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return n > 1;
}

int64_t weft_power_modulo(int64_t base, int64_t exponent, int64_t modulus) {
    int64_t result = 1 % modulus;
    for (base %= modulus; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

int64_t weft_generator(int64_t p) {
    for (int64_t g = 2;; g++) {
        bool all = true;
        int64_t rest = p - 1;
        for (int64_t d = 2; d * d <= rest && all; d++) {
            if (rest % d != 0) continue;
            while (rest % d == 0) rest /= d;
            all = weft_power_modulo(g, (p - 1) / d, p) != 1;
        }
        if (rest > 1 && all) all = weft_power_modulo(g, (p - 1) / rest, p) != 1;
        if (all) return g;
    }
}
