/*
 * The snippet of a WEFT_OPERATOR_MATRIX: what the kernels of convolutions that make the fields of a
 * point from one another (src/convolve/fields.c, which has the formulas) do in kernels. Before this
 * text come a definition of WAVE_gradient, WAVE_divergence, WAVE_curl, WAVE_leray or WAVE_elastic,
 * of WAVE_RANK, the number of axes, of WAVE_INDEX(a), the index along axis a, and of the constants
 *
 *     long64 wave_points[]    points of the transform along each axis
 *     real wave_step[]        the wavenumber of index 1
 *     int wave_turns          bit a: axis a turns (parity.c), so that index i has wavenumber i
 *     real wave_factor        what all is multiplied by
 *     real wave_lame[2]       of the elastic kernel
 *
 * and, of the discretization WEFT_STAGGERED, which only the elastic one has, of WAVE_STAGGERED and
 *
 *     real wave_half[]        half a spacing along each axis
 *
 * and, where axes turn, of WAVE_TURNS, the numbers WAVE_FIELDS before and WAVE_MADE behind, of
 * WAVE_REAL where numbers are real, and
 *
 *     int wave_odd_in[]       of each field before: bit a: it is odd along axis a, which turns
 *     int wave_odd_out[]      of each field made
 */
real wave_k[WAVE_RANK], wave_square = 0, wave_weight = wave_factor;
int wave_folded = 0; /* bit a: the index along axis a is n/2, which stands for both signs */
#ifdef WAVE_STAGGERED
real2 wave_turn[WAVE_RANK]; /* exp(i k h / 2) */
#endif
#ifdef WAVE_REAL
#define WAVE_PAIR(number) pair(number, 0)
#define WAVE_NUMBER(value) value.x
#else
#define WAVE_PAIR(number) number
#define WAVE_NUMBER(value) value
#endif
#ifdef WAVE_TURNS
real2 wave_in[WAVE_FIELDS], wave_out[WAVE_MADE];
int wave_ends = 0; /* bit a: index 0 along axis a, which turns */
UNROLL
for (int f = 0; f < WAVE_MADE; ++f) wave_out[f] = pair(0, 0);
#define WAVE_IN wave_in
#define WAVE_OUT wave_out
#else
#define WAVE_IN in
#define WAVE_OUT out
#endif
UNROLL
for (int a = 0; a < WAVE_RANK; ++a) {
    const long64 i = WAVE_INDEX(a);
    const int turns = wave_turns >> a & 1;
    wave_k[a] = wave_step[a] * (real)(2 * i > wave_points[a] && !turns ? i - wave_points[a] : i);
#ifdef WAVE_TURNS
    if (turns && i == 0) wave_ends |= 1 << a;
#endif
#ifdef WAVE_STAGGERED
    const real angle = wave_k[a] * wave_half[a];
    wave_turn[a] = pair(cos(angle), sin(angle));
    wave_k[a] = wave_turn[a].y / wave_half[a];
#else
    if (2 * i == wave_points[a] && !turns) {
        wave_folded |= 1 << a;
        wave_weight *= (real)0.5;
    }
#endif
    wave_square += wave_k[a] * wave_k[a];
}
#ifdef WAVE_TURNS
/* At index 0 of axes that turn, fields that are odd along those of `tops` have the highest
 * wavenumber there, either sign of it, and the others wavenumber 0: see fields.c. */
const int wave_folds = wave_folded;
const real wave_whole = wave_weight, wave_flat = wave_square;
for (int tops = 0; tops < 1 << WAVE_RANK; ++tops) {
if (tops & ~wave_ends) continue;
wave_folded = wave_folds | tops;
wave_weight = wave_whole;
wave_square = wave_flat;
UNROLL
for (int a = 0; a < WAVE_RANK; ++a) {
    if (!(wave_ends >> a & 1)) continue;
    wave_k[a] = tops >> a & 1 ? wave_step[a] * (real)wave_points[a] : 0;
    if (tops >> a & 1) wave_weight *= (real)0.5;
    wave_square += wave_k[a] * wave_k[a];
}
UNROLL
for (int f = 0; f < WAVE_FIELDS; ++f) {
    const int odd = wave_odd_in[f];
    real2 value = (odd & wave_ends) == tops ? WAVE_PAIR(in[f]) : pair(0, 0);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a)
        if (odd >> a & 1) value = pair(value.y, -value.x);
    wave_in[f] = value;
}
#endif
for (int signs = 0; signs < 1 << WAVE_RANK; ++signs) {
    real k[WAVE_RANK];
    if (signs & ~wave_folded) continue;
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) k[a] = signs >> a & 1 ? -wave_k[a] : wave_k[a];
#ifdef WAVE_gradient
    const real2 slope = complex_scale(complex_times_i(WAVE_IN[0]), wave_weight);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) WAVE_OUT[a] = complex_add(WAVE_OUT[a], complex_scale(slope, k[a]));
#endif
#if defined(WAVE_divergence) || defined(WAVE_leray)
    real2 along = pair(0, 0);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) along = complex_add(along, complex_scale(WAVE_IN[a], k[a]));
#endif
#ifdef WAVE_divergence
    WAVE_OUT[0] = complex_add(WAVE_OUT[0], complex_scale(complex_times_i(along), wave_weight));
#endif
#ifdef WAVE_curl
    UNROLL
    for (int a = WAVE_RANK == 2 ? 2 : 0; a < 3; ++a) {
        const int b = (a + 1) % 3, d = (a + 2) % 3, made = WAVE_RANK == 2 ? 0 : a;
        const real2 turn = complex_subtract(complex_scale(WAVE_IN[d], k[b]), complex_scale(WAVE_IN[b], k[d]));
        WAVE_OUT[made] = complex_add(WAVE_OUT[made], complex_scale(complex_times_i(turn), wave_weight));
    }
#endif
#ifdef WAVE_leray
    if (wave_square > 0) along = complex_scale(along, 1 / wave_square);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) {
        const real2 rest = complex_subtract(WAVE_IN[a], complex_scale(along, k[a]));
        WAVE_OUT[a] = complex_add(WAVE_OUT[a], complex_scale(rest, wave_weight));
    }
#endif
#ifdef WAVE_elastic
#if WAVE_RANK == 2
    const int component[2][2] = {{0, 2}, {2, 1}};
#else
    const int component[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
#endif
    const real over = wave_square > 0 ? 1 / wave_square : 0, size = wave_weight * over / wave_lame[1];
    const real share = (wave_lame[0] + wave_lame[1]) / (wave_lame[0] + 2 * wave_lame[1]) * over;
    real2 u[WAVE_RANK], along = pair(0, 0);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) {
        u[a] = pair(0, 0);
        UNROLL
        for (int b = 0; b < WAVE_RANK; ++b) {
            real2 stress = WAVE_IN[component[a][b]];
#ifdef WAVE_STAGGERED /* where the others are, and the strain back: see fields.c */
            if (a != b) stress = complex_multiply(stress, complex_multiply(wave_turn[a], wave_turn[b]));
#endif
            u[a] = complex_add(u[a], complex_scale(stress, k[b]));
        }
        along = complex_add(along, complex_scale(u[a], k[a] * share));
    }
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a)
        u[a] = complex_scale(complex_subtract(u[a], complex_scale(along, k[a])), size);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) {
        UNROLL
        for (int b = a; b < WAVE_RANK; ++b) {
            real2 twice = complex_add(complex_scale(u[b], k[a]), complex_scale(u[a], k[b]));
            const int at = component[a][b];
#ifdef WAVE_STAGGERED
            if (a != b) twice = complex_multiply_conjugate(twice, complex_multiply(wave_turn[a], wave_turn[b]));
#endif
            WAVE_OUT[at] = complex_add(WAVE_OUT[at], complex_scale(twice, (real)0.5));
        }
    }
#endif
}
#ifdef WAVE_TURNS
}
UNROLL
for (int f = 0; f < WAVE_MADE; ++f) {
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a)
        if (wave_odd_out[f] >> a & 1) wave_out[f] = complex_times_i(wave_out[f]);
    out[f] = WAVE_NUMBER(wave_out[f]);
}
#endif
#undef WAVE_IN
#undef WAVE_OUT
