/*
 * The snippet of a WEFT_OPERATOR_FUNCTION: what kernels that are a function of |k|^2 multiply a
 * spectrum by (src/convolve/symbol.c has the formulas). Before this text come the definitions and
 * constants of wave_fields.cl but for wave_lame, and
 *
 *     WAVE_VALUE              the function, of wave_square
 *     WAVE_ZERO               its value at |k|^2 = 0, where that is not the formula's
 */
real wave_square = 0, wave_value;
UNROLL
for (int a = 0; a < WAVE_RANK; ++a) {
    const long64 i = WAVE_INDEX(a);
    real k = wave_step[a] * (real)(2 * i > wave_points[a] ? i - wave_points[a] : i);
#ifdef WAVE_STAGGERED
    k = sin(k * wave_half[a]) / wave_half[a];
#endif
    wave_square += k * k;
}
wave_value = WAVE_VALUE;
#ifdef WAVE_ZERO
if (wave_square == 0) wave_value = WAVE_ZERO;
#endif
value = complex_scale(value, wave_value * wave_factor);
