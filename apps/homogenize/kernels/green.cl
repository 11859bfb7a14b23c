/*
 * Green's operator as the snippet of a WEFT_OPERATOR_MATRIX: what green.c does to the components of
 * a frequency, for devices with kernels. green.h has the formulas. Before this text come
 *
 *     GREEN_ELASTIC                  defined in elasticity: 6 components in Mandel's notation, else 3
 *     GREEN_STAGGERED, _WILLOT or _FOURIER     the discretization
 *     long64 green_points[3]         points of the grid along each axis
 *     real green_step[3]             of staggered and Willot's 2 n / length, else 2 pi / length
 *
 * Parameters of the plan: 0 the scale of the transforms, 1 the share of the volume, 2 the compliance
 * of shear; of the mean, where its stress is given, 3 the components (bits), 4 and 5 compliance and
 * share, 6 and on the stress that it is to have.
 */
#ifdef GREEN_ELASTIC
enum { GREEN_COMPONENTS = 6, GREEN_SHIFTED = 3 };
const real green_root = (real)0.70710678118654752440;
const int green_shear[3] = {3, 4, 5}; /* yz, xz, xy: of the axes that are not x, y, z */
#else
enum { GREEN_COMPONENTS = 3, GREEN_SHIFTED = 0 };
#endif
real wave[3], sine[3], cosine[3], square = 0;
real2 stress[GREEN_COMPONENTS];
UNROLL
for (int a = 0; a < 3; ++a) {
    const long64 i = index[a], points = green_points[a];
    const int middle = 2 * i == points;
    const real j = (real)(2 * i > points ? i - points : i);
    const real angle = (real)3.14159265358979323846 * j / (real)points;
    sine[a] = middle ? (real)1 : sin(angle);
    cosine[a] = middle ? (real)0 : cos(angle);
#ifdef GREEN_FOURIER
    wave[a] = middle ? (real)0 : green_step[a] * j;
#else
    wave[a] = green_step[a] * sine[a];
#endif
}
#ifdef GREEN_WILLOT
UNROLL
for (int a = 0; a < 3; ++a) wave[a] *= cosine[(a + 1) % 3] * cosine[(a + 2) % 3];
#endif
UNROLL
for (int a = 0; a < 3; ++a) square += wave[a] * wave[a];
if (index[0] == 0 && index[1] == 0 && index[2] == 0) {
    const int given = (int)parameter[3];
    real rest[GREEN_COMPONENTS], volume = 0;
    UNROLL
    for (int f = 0; f < GREEN_COMPONENTS; ++f) {
        rest[f] = given >> f & 1 ? in[f].x * parameter[0] - parameter[6 + f] : (real)0;
        if (f < 3) volume += rest[f];
    }
    UNROLL
    for (int f = 0; f < GREEN_COMPONENTS; ++f)
        if (given >> f & 1)
            out[f] = pair(parameter[4] * (rest[f] - (f < 3 ? parameter[5] * volume : (real)0)), 0);
}
#ifdef GREEN_FOURIER
/* A wave vector that is 0 although the frequency is not: along the first axis in the middle. */
for (int a = 0; a < 3 && square == 0; ++a)
    if (2 * index[a] == green_points[a]) wave[a] = square = 1;
#endif
if (square > 0) {
    const real over = 1 / square;
#ifdef GREEN_STAGGERED
    real2 turn[3];
    UNROLL
    for (int a = 0; a < 3; ++a) {
#ifdef GREEN_ELASTIC
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        turn[a] = complex_multiply(pair(cosine[b], sine[b]), pair(cosine[d], sine[d]));
#else
        turn[a] = pair(cosine[a], sine[a]);
#endif
    }
#endif
    UNROLL
    for (int f = 0; f < GREEN_COMPONENTS; ++f) {
        stress[f] = in[f];
#ifdef GREEN_STAGGERED
        if (f >= GREEN_SHIFTED) stress[f] = complex_multiply(turn[f - GREEN_SHIFTED], in[f]);
#endif
    }
#ifdef GREEN_ELASTIC
    real2 u[3], along = pair(0, 0);
    UNROLL
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        const real2 shear = complex_add(complex_scale(stress[green_shear[d]], wave[b]),
                                        complex_scale(stress[green_shear[b]], wave[d]));
        u[a] = complex_add(complex_scale(stress[a], wave[a]), complex_scale(shear, green_root));
        along = complex_add(along, complex_scale(u[a], wave[a]));
    }
    along = complex_scale(along, parameter[1] * over);
    UNROLL
    for (int a = 0; a < 3; ++a)
        u[a] = complex_scale(complex_subtract(u[a], complex_scale(along, wave[a])),
                             parameter[2] * over);
    UNROLL
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        out[a] = complex_scale(u[a], wave[a]);
        out[green_shear[a]] = complex_scale(
            complex_add(complex_scale(u[b], wave[d]), complex_scale(u[d], wave[b])), green_root);
    }
#else
    real2 temperature = pair(0, 0);
    UNROLL
    for (int a = 0; a < 3; ++a)
        temperature = complex_add(temperature, complex_scale(stress[a], wave[a]));
    temperature = complex_scale(temperature, parameter[2] * over);
    UNROLL
    for (int a = 0; a < 3; ++a) out[a] = complex_scale(temperature, wave[a]);
#endif
#ifdef GREEN_STAGGERED
    UNROLL
    for (int a = 0; a < 3; ++a)
        out[GREEN_SHIFTED + a] =
            complex_multiply(pair(turn[a].x, -turn[a].y), out[GREEN_SHIFTED + a]);
#endif
}
