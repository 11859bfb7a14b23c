/*
 * Green's operator between the transforms: what green.c does to the components of each frequency
 * (green.h has the formulas), and displacements.h to the vectors of conjugate gradients. Before this
 * text come COMPONENTS, 6 (Mandel's notation) or 3, and SCHEME, one of those below.
 */
#define FOURIER 1
#define WILLOT 2
#define STAGGERED 3
#define ELASTIC (COMPONENTS == 6)
#define SHIFTED (COMPONENTS - 3) /* the first component that the staggered grid shifts */
#define PARTS (ELASTIC ? 3 : 1)  /* of a displacement, or of a temperature */

enum { VECTOR_X, VECTOR_R, VECTOR_P, VECTOR_S, VECTORS };
enum { BEGIN, REPLACE, ADVANCE, SHOW_X, SHOW_R, NO_VECTORS };

typedef struct green {
    long64 points[3];  /* of the grid */
    long64 lo[3], n[3]; /* the box of this rank's frequencies, row-major, component by component */
    long64 step;       /* of the vectors, or NO_VECTORS */
    double wave[3];    /* 2 n / length along each axis, of FOURIER 2 pi / length */
    double scale, share, compliance; /* of green.c */
    double factor, length;           /* of the step */
} green;

/* What belongs to the mean. In an array, since its entries are found by numbers. */
enum { MEANS = 0, MADE = 24, OFFSET = 30, ZERO = 36 }; /* [vector][component], and of the strain;
                                                          green.h has the other two */

typedef struct change {
    int step;
    double factor, length;
} change;

/* The vectors v at one place change with w, which becomes the one that is wanted. */
FUNCTION void change_vectors(change how, double *v, double *w) {
    if (how.step == ADVANCE) {
        v[VECTOR_P] = v[VECTOR_R] + how.factor * v[VECTOR_P];
        v[VECTOR_S] = *w + how.factor * v[VECTOR_S];
        v[VECTOR_X] -= how.length * v[VECTOR_P];
        v[VECTOR_R] -= how.length * v[VECTOR_S];
    } else if (how.step <= REPLACE) {
        v[VECTOR_R] = *w;
    }
    *w = how.step == SHOW_X ? v[VECTOR_X] : v[VECTOR_R];
}

/* Component c of a displacement w at a frequency; vectors are [vector][component][frequency] pairs,
 * so that threads side by side read numbers side by side. */
FUNCTION real2 change_pair(change how, GLOBAL real2 *vectors, long64 elements, long64 at, int c,
                           real2 w) {
    double x[VECTORS] = {0, 0, 0, 0}, y[VECTORS] = {0, 0, 0, 0};
    double made_x = (double)w.x, made_y = (double)w.y;
    UNROLL
    for (int i = 0; i < VECTORS; ++i) {
        if (how.step == BEGIN) continue;
        const real2 v = vectors[(i * PARTS + c) * elements + at];
        x[i] = (double)v.x;
        y[i] = (double)v.y;
    }
    change_vectors(how, x, &made_x);
    change_vectors(how, y, &made_y);
    UNROLL
    for (int i = 0; i < VECTORS; ++i)
        if (how.step <= ADVANCE)
            vectors[(i * PARTS + c) * elements + at] = pair((real)x[i], (real)y[i]);
    return pair((real)made_x, (real)made_y);
}

/* Frequency 0: the mean of the strain, from that of the stress. */
FUNCTION void make_mean(change how, double scale, GLOBAL real2 *field, long64 elements,
                        GLOBAL double *means) {
    for (int i = 0; i < COMPONENTS; ++i) {
        double mean = 0, v[VECTORS];
        for (int j = 0; j < COMPONENTS; ++j)
            mean += means[ZERO + i * COMPONENTS + j] *
                    ((double)field[j * elements].x * scale - means[OFFSET + j]);
        for (int k = 0; k < VECTORS; ++k) v[k] = means[MEANS + 6 * k + i];
        if (how.step != NO_VECTORS) change_vectors(how, v, &mean);
        for (int k = 0; k < VECTORS; ++k) means[MEANS + 6 * k + i] = v[k];
        means[MADE + i] = mean;
    }
    for (int i = 0; i < COMPONENTS; ++i) field[i * elements] = pair((real)means[MADE + i], 0);
}

KERNEL(weft_green)(MEMORY(real2, spectrum), MEMORY(real2, vectors), MEMORY(double, means), const green g) {
    OPEN(real2, spectrum);
    OPEN(real2, vectors);
    OPEN(double, means);
    const change how = {(int)g.step, g.factor, g.length};
    const long64 elements = g.n[0] * g.n[1] * g.n[2];
    const long64 at = (long64)GROUP(0) * THREADS + THREAD;
    if (at < elements) {
        const long64 row = at / g.n[2];
        const long64 index[3] = {g.lo[0] + row / g.n[1], g.lo[1] + row % g.n[1],
                                 g.lo[2] + at % g.n[2]};
        real wave[3], sine[3], cosine[3], square = 0;
        real2 field[COMPONENTS], u[3], along = pair(0, 0);
        UNROLL
        for (int a = 0; a < 3; ++a) {
            const long64 points = g.points[a], i = index[a];
            const int middle = 2 * i == points;
            const real j = (real)(2 * i > points ? i - points : i);
            const real angle = (real)3.14159265358979323846 * j / (real)points;
            sine[a] = middle ? (real)1 : sin(angle);
            cosine[a] = middle ? (real)0 : cos(angle);
            wave[a] = (real)g.wave[a] * (SCHEME == FOURIER ? (middle ? (real)0 : j) : sine[a]);
        }
#if SCHEME == WILLOT
        UNROLL
        for (int a = 0; a < 3; ++a) wave[a] *= cosine[(a + 1) % 3] * cosine[(a + 2) % 3];
#endif
        UNROLL
        for (int a = 0; a < 3; ++a) square += wave[a] * wave[a];
        const int is_mean = index[0] == 0 && index[1] == 0 && index[2] == 0;
#if SCHEME == FOURIER
        /* A wave vector that is 0 although the frequency is not: along the first axis in the middle. */
        for (int a = 0; a < 3 && square == 0; ++a)
            if (2 * index[a] == g.points[a] && g.points[a] > 1) wave[a] = square = 1;
#endif
        if (is_mean) make_mean(how, g.scale, spectrum, elements, means);
        UNROLL
        for (int f = 0; f < COMPONENTS; ++f)
            field[f] = square > 0 ? spectrum[f * elements + at] : pair(0, 0);
        const real over = square > 0 ? 1 / square : (real)0;
#if SCHEME == STAGGERED
        real2 turn[3];
        UNROLL
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            turn[a] = ELASTIC ? complex_multiply(pair(cosine[b], sine[b]), pair(cosine[d], sine[d]))
                              : pair(cosine[a], sine[a]);
            field[SHIFTED + a] = complex_multiply(turn[a], field[SHIFTED + a]);
        }
#endif
#if COMPONENTS == 6
        const real root = (real)0.70710678118654752440;
        UNROLL
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, d = (a + 2) % 3; /* component 3 + d is that of the axes a, b */
            const real2 shear = complex_add(complex_scale(field[3 + d], wave[b]),
                                            complex_scale(field[3 + b], wave[d]));
            u[a] = complex_add(complex_scale(field[a], wave[a]), complex_scale(shear, root));
            along = complex_add(along, complex_scale(u[a], wave[a]));
        }
        along = complex_scale(along, (real)g.share * over);
        UNROLL
        for (int a = 0; a < 3; ++a)
            u[a] = complex_scale(complex_subtract(u[a], complex_scale(along, wave[a])),
                                 (real)g.compliance * over);
#else
        UNROLL
        for (int a = 0; a < 3; ++a) along = complex_add(along, complex_scale(field[a], wave[a]));
        u[0] = complex_scale(along, (real)g.compliance * over);
#endif
        if (square > 0 && how.step != NO_VECTORS) {
            UNROLL
            for (int c = 0; c < PARTS; ++c)
                u[c] = change_pair(how, vectors, elements, at, c, u[c]);
        }
#if COMPONENTS == 6
        UNROLL
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            field[a] = complex_scale(u[a], wave[a]);
            field[3 + a] = complex_scale(
                complex_add(complex_scale(u[b], wave[d]), complex_scale(u[d], wave[b])), root);
        }
#else
        UNROLL
        for (int a = 0; a < 3; ++a) field[a] = complex_scale(u[0], wave[a]);
#endif
#if SCHEME == STAGGERED
        UNROLL
        for (int a = 0; a < 3; ++a)
            field[SHIFTED + a] =
                complex_multiply(pair(turn[a].x, -turn[a].y), field[SHIFTED + a]);
#endif
        UNROLL
        for (int f = 0; f < COMPONENTS; ++f)
            if (!is_mean) spectrum[f * elements + at] = field[f];
    }
}
