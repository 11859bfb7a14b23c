/* The shift theorem: factors on one side of a transform that shift the array on the other side. */
#include "operator/operator.h"

#include <math.h>

bool weft_shift_is_real(int64_t n, double s) {
    return fmod(2 * s, (double)n) == 0;
}

/* exp(2 pi i t), exact where t is a multiple of 1/4. */
static void phase_factor(long double t, long double *re, long double *im) {
    static const long double pi = 3.14159265358979323846264338327950288L;
    const long double quarters = roundl(4 * t), rest = 2 * pi * (t - quarters / 4);
    const long double c = cosl(rest), s = sinl(rest);
    switch ((int)fmodl(quarters, 4) & 3) {
    case 0:
        *re = c, *im = s;
        break;
    case 1:
        *re = -s, *im = c;
        break;
    case 2:
        *re = -c, *im = -s;
        break;
    default:
        *re = s, *im = -c;
    }
}

void weft_shift_factors(weft_operator_place place, int64_t n, double s, bool pairs, int64_t count,
                        double *factors) {
    const double reduced = remainder(s, (double)n); /* the equivalent shift of at most n/2 */
    const int64_t whole = (int64_t)nearbyint(reduced);
    const long double part = (long double)reduced - (long double)whole;
    for (int64_t i = 0; i < count; i++) {
        const bool spectral = place == WEFT_PLACE_SPECTRAL || place == WEFT_PLACE_SPECTRUM;
        const int64_t k = spectral && 2 * i > n ? i - n : i;
        const long double turns =
            (long double)(k * whole % n) / (long double)n + (long double)k * part / (long double)n;
        long double re, im;
        phase_factor(place == WEFT_PLACE_LOAD ? turns : -turns, &re, &im);
        if (spectral && 2 * i == n) im = 0; /* frequencies n/2 and -n/2 */
        factors[pairs ? 2 * i : i] = (double)re;
        if (pairs) factors[2 * i + 1] = (double)im;
    }
}
