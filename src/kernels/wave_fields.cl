/*
 * The snippet of a WEFT_OPERATOR_MATRIX: what the kernels of convolutions that make the fields of a
 * point from one another (src/convolve/fields.c, which has the formulas) do in kernels. Before this
 * text come a definition of WAVE_gradient, WAVE_divergence, WAVE_curl, WAVE_leray or WAVE_elastic,
 * of WAVE_RANK, the number of axes, of WAVE_INDEX(a), the index along axis a, and of the constants
 *
 *     long64 wave_points[]    points of the transform along each axis, all of them periodic
 *     real wave_step[]        the wavenumber of index 1
 *     real wave_factor        what all is multiplied by
 *     real wave_lame[2]       of the elastic kernel
 *
 * and, of the discretization WEFT_STAGGERED, which only the elastic one has, of WAVE_STAGGERED and
 *
 *     real wave_half[]        half a spacing along each axis
 */
real wave_k[WAVE_RANK], wave_square = 0, wave_weight = wave_factor;
int wave_folded = 0; /* bit a: the index along axis a is n/2, which stands for both signs */
#ifdef WAVE_STAGGERED
real2 wave_turn[WAVE_RANK]; /* exp(i k h / 2) */
#endif
UNROLL
for (int a = 0; a < WAVE_RANK; ++a) {
    const long64 i = WAVE_INDEX(a);
    wave_k[a] = wave_step[a] * (real)(2 * i > wave_points[a] ? i - wave_points[a] : i);
#ifdef WAVE_STAGGERED
    const real angle = wave_k[a] * wave_half[a];
    wave_turn[a] = pair(cos(angle), sin(angle));
    wave_k[a] = wave_turn[a].y / wave_half[a];
#else
    if (2 * i == wave_points[a]) {
        wave_folded |= 1 << a;
        wave_weight *= (real)0.5;
    }
#endif
    wave_square += wave_k[a] * wave_k[a];
}
for (int signs = 0; signs < 1 << WAVE_RANK; ++signs) {
    real k[WAVE_RANK];
    if (signs & ~wave_folded) continue;
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) k[a] = signs >> a & 1 ? -wave_k[a] : wave_k[a];
#ifdef WAVE_gradient
    const real2 slope = complex_scale(complex_times_i(in[0]), wave_weight);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) out[a] = complex_add(out[a], complex_scale(slope, k[a]));
#endif
#if defined(WAVE_divergence) || defined(WAVE_leray)
    real2 along = pair(0, 0);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) along = complex_add(along, complex_scale(in[a], k[a]));
#endif
#ifdef WAVE_divergence
    out[0] = complex_add(out[0], complex_scale(complex_times_i(along), wave_weight));
#endif
#ifdef WAVE_curl
    UNROLL
    for (int a = WAVE_RANK == 2 ? 2 : 0; a < 3; ++a) {
        const int b = (a + 1) % 3, d = (a + 2) % 3, made = WAVE_RANK == 2 ? 0 : a;
        const real2 turn = complex_subtract(complex_scale(in[d], k[b]), complex_scale(in[b], k[d]));
        out[made] = complex_add(out[made], complex_scale(complex_times_i(turn), wave_weight));
    }
#endif
#ifdef WAVE_leray
    if (wave_square > 0) along = complex_scale(along, 1 / wave_square);
    UNROLL
    for (int a = 0; a < WAVE_RANK; ++a) {
        const real2 rest = complex_subtract(in[a], complex_scale(along, k[a]));
        out[a] = complex_add(out[a], complex_scale(rest, wave_weight));
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
            real2 stress = in[component[a][b]];
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
            out[at] = complex_add(out[at], complex_scale(twice, (real)0.5));
        }
    }
#endif
}
