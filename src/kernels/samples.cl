/*
 * Convolutions by samples (src/sampled/device_local.c): planes of the result, each that of a
 * wavenumber kx along the first axis, are added up at the points of a lattice. Lattice points along
 * x are fewer than those of the grid, and cannot tell some wavenumbers apart; those are one sum.
 */
typedef struct samples_lattice {
    long64 points[3]; /* of the grid */
    long64 first[3];  /* point of the grid that lattice point 0 is; x's turns the waves' phases */
    long64 stride[3]; /* points of the grid from one lattice point to the next */
    long64 n[3];      /* lattice points; of x: the period's */
    long64 fields;    /* numbers of a point, which lie side by side */
    long64 kx, planes; /* the first wavenumber, and how many there are */
    long64 waves;      /* sums of wavenumbers */
    long64 real_field; /* 1: a plane stands for the wavenumber -kx, too, as its conjugate */
} samples_lattice;

FUNCTION void samples_add(GLOBAL real2 *sums, long64 at, real2 x) {
    sums[at] = complex_add(sums[at], x);
}

KERNEL(weft_samples_add)(MEMORY(const real2, planes), MEMORY(real2, sums), const samples_lattice l) {
    OPEN(const real2, planes);
    OPEN(real2, sums);
    const long64 across = l.n[1] * l.n[2] * l.fields;
    const long64 element = (long64)GROUP(0) * THREADS + THREAD, point = element / l.fields;
    if (element < across) {
        const long64 y = (l.first[1] + point / l.n[2] * l.stride[1]) % l.points[1];
        const long64 z = (l.first[2] + point % l.n[2] * l.stride[2]) % l.points[2];
        const long64 from = (y * l.points[2] + z) * l.fields + element % l.fields;
        const long64 plane = l.points[1] * l.points[2] * l.fields;
        for (long64 p = 0; p < l.planes; ++p) {
            const long64 kx = l.kx + p, q = kx % l.n[0], back = (l.points[0] - kx) % l.n[0];
            const real angle = (real)6.28318530717958647693 *
                               (real)(l.first[0] * kx % l.points[0]) / (real)l.points[0];
            const real2 x = complex_multiply(planes[p * plane + from], pair(cos(angle), sin(angle)));
            if (q < l.waves) samples_add(sums, q * across + element, x);
            if (l.real_field && kx > 0 && 2 * kx != l.points[0] && back < l.waves)
                samples_add(sums, back * across + element, pair(x.x, -x.y));
        }
    }
}

KERNEL(weft_samples_clear)(MEMORY(real2, sums), const long64 count) {
    OPEN(real2, sums);
    const long64 i = (long64)GROUP(0) * THREADS + THREAD;
    if (i < count) sums[i] = pair(0, 0);
}
