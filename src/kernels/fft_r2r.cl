/*
 * Cosine and sine transforms of lines of REAL_LENGTH real numbers: which of them the points of a
 * complex transform are made of, and what its results are worth. src/engine/native/r2r.h has the
 * sources. The engine defines, for lines of the kinds ORDERED to MIRRORED,
 *
 *     TYPE, SINE    1 to 4, and whether it is a sine transform
 *     ALIGNED_SINE  whether that has frequency j as number j, and frequency n as number 0
 *     FACTORS       where roots of unity begin in the tables: exp(-2 pi i k / 4n) of types 2 and 3;
 *                   of type 4 n/2 of exp(-2 pi i (4k + 1) / 8n), and n/2 of exp(-2 pi i k / 2n)
 *
 * A sine transform of type 2 or 3 is the cosine transform with alternating signs of what is in time
 * and the reverse order of what is in frequency; of type 4, that of the line in reverse order with
 * alternating signs of the results.
 */
#define SYMMETRY (SINE ? REAL_LENGTH + 1 : REAL_LENGTH - 1) /* type 1: half the period */

/* Type 4 of odd length: the sum runs over the odd numbers a = 2j + 1 of cos(2 pi a b / 8n), b = 2k
 * + 1. The line has the symmetries f(-a) = f(a) = -f(4n + a), so a may run over n + 8i instead, i <
 * n. This is a / 2 of number i, or, where that has the other sign, -1 - a / 2. */
FUNCTION int eighth_point(int i) {
    int a = REAL_LENGTH + 8 * i;
    if (a >= 8 * REAL_LENGTH) a -= 8 * REAL_LENGTH;
    if (a > 4 * REAL_LENGTH) a = 8 * REAL_LENGTH - a;
    return a > 2 * REAL_LENGTH ? -1 - (4 * REAL_LENGTH - a) / 2 : a / 2;
}

/* Number i of the real line that is transformed is point ordered_point(i) times ordered_sign(i). */
FUNCTION int ordered_point(int i) {
#if TYPE == 1
    return (i <= SYMMETRY ? i : 2 * SYMMETRY - i) - SINE;
#elif TYPE == 4
    const int at = eighth_point(i), point = at < 0 ? -1 - at : at;
    return SINE ? REAL_LENGTH - 1 - point : point;
#else /* the points of even number, and those of odd number backwards */
    return 2 * i < REAL_LENGTH ? 2 * i : 2 * (REAL_LENGTH - 1 - i) + 1;
#endif
}

FUNCTION int ordered_sign(int i) {
#if TYPE == 1
    return !SINE ? 1 : i == 0 || i == SYMMETRY ? 0 : i < SYMMETRY ? 1 : -1;
#elif TYPE == 4
    return eighth_point(i) < 0 ? -1 : 1;
#else
    return SINE && 2 * i >= REAL_LENGTH ? -1 : 1;
#endif
}

/* Types 2 and 3: the point that is coefficient k of the cosine transform. */
FUNCTION int wave_point(int k) {
    if (ALIGNED_SINE) return k > 0 ? REAL_LENGTH - k : 0;
    return SINE ? REAL_LENGTH - 1 - k : k;
}

/* Number k of the spectrum whose inverse transform type 3 is, from coefficients k and n - k. */
FUNCTION real2 spectrum_of_waves(real wave, real opposite, real2 root) {
    return complex_multiply_conjugate(pair(wave, -opposite), root);
}
