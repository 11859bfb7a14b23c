/* Conversion of the numbers that callers' arrays hold, as in src/operator/convert.c; the functions
 * that src/operator/kernel.c writes use it. */
#ifndef WEFT_KERNELS_STORED
#define WEFT_KERNELS_STORED

FUNCTION float float_of_half(unsigned short half_bits) {
    const unsigned int sign = (unsigned int)(half_bits & 0x8000) << 16, rest = half_bits & 0x7fff;
    if (rest < 0x0400) return (sign ? -1.0f : 1.0f) * (float)rest * 5.9604644775390625e-8f;
    if (rest >= 0x7c00) return FLOAT_OF_BITS(sign | 0x7f800000u | rest << 13);
    return FLOAT_OF_BITS(sign | ((rest << 13) + (112u << 23)));
}

/* Rounds to the nearest half-precision number, ties to even. */
FUNCTION unsigned short half_of_float(float x) {
    const unsigned int bits = BITS_OF_FLOAT(x), sign = bits >> 16 & 0x8000;
    const unsigned int a = bits & 0x7fffffff;
    if (a > 0x7f800000) return 0x7e00;
    if (a >= 0x477ff000) return (unsigned short)(sign | 0x7c00); /* 65520 */
    if (a < 0x38800000) /* 2^-14 */
        return (unsigned short)(sign | (unsigned int)rint(FLOAT_OF_BITS(a) * 16777216.0f));
    return (unsigned short)(sign | ((a - (112u << 23) + 0xfff + (a >> 13 & 1)) >> 13));
}

/* A number of the transform in single precision, for rounding to half precision. If that is not
 * exact, the neighbour whose last bit is 1 is taken, so that the second rounding does not see a tie
 * where there is none (Boldo, Melquiond 2008: Emulation of FMA and correctly rounded sums). */
#if PRECISION == 0
FUNCTION float single_for_half(double x) {
    const float nearest = (float)x;
    const unsigned int bits = BITS_OF_FLOAT(nearest);
    if ((double)nearest == x || x != x) return nearest;
    return FLOAT_OF_BITS((fabs((double)nearest) > fabs(x) ? bits - 1 : bits) | 1u);
}
#else
#define single_for_half(x) (x)
#endif

/* Rounds to an integer from `least` to `most`; NaN gives `least`. */
FUNCTION real rounded_between(real x, real least, real most) {
    return x > least ? (x < most ? rint(x) : most) : least;
}

#define FROM_U8(x) (real)(x)
#define FROM_I16(x) (real)(x)
#define FROM_U16(x) (real)(x)
#define FROM_HALF(x) (real) float_of_half(x)
#define FROM_FLOAT(x) (real)(x)
#define FROM_DOUBLE(x) (real)(x)
#define FROM_COMPLEX_HALF(x)                                                                       \
    pair((real)float_of_half((unsigned short)((x)&0xffff)),                                        \
         (real)float_of_half((unsigned short)((x) >> 16)))
#define TO_U8(x) (unsigned char)rounded_between(x, 0, 255)
#define TO_I16(x) (short)rounded_between(x, -32768, 32767)
#define TO_U16(x) (unsigned short)rounded_between(x, 0, 65535)
#define TO_HALF(x) half_of_float(single_for_half(x))
#define TO_FLOAT(x) (float)(x)
#define TO_DOUBLE(x) (double)(x)
#define TO_COMPLEX_HALF(z)                                                                         \
    ((unsigned int)TO_HALF((z).x) | (unsigned int)TO_HALF((z).y) << 16)
#define TO_DECIBEL(z) ((real)10 * log10((z).x * (z).x + (z).y * (z).y))
#endif
