/* d = mean - t - e: e += 2 (C + C0)^-1 C0 d or, without `reference`, e += d. Sum: d C0 d. */
KERNEL(weft_sweep_reflect)(MEMORY(real, e), MEMORY(const real, t), MEMORY(const unsigned short, phases),
                           MEMORY(const double, relax), MEMORY(const double, inverse),
                           MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(real, e);
    OPEN(const real, t);
    OPEN(const unsigned short, phases);
    OPEN(const double, relax);
    OPEN(const double, inverse);
    OPEN(double, sums);
    double sum = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        const GLOBAL unsigned short *phase = phases + place_of(k, at);
        double x[COMPONENTS], d[COMPONENTS], change[COMPONENTS];
        load(e, k.voxels, at, x);
        load(t, k.voxels, at, d);
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) change[i] = d[i] = k.mean[i] - d[i] - x[i];
        if (k.reference) {
            multiply(relax, phase[0], d, change);
            UNROLL
            for (int i = 0; i < 3 * STAGGERED; ++i)
                change[MIDDLE + i] = 2 * k.twice / (series_modulus(k, inverse, phase, i) + k.twice) * d[MIDDLE + i];
        }
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) x[i] += change[i];
        store(e, k.voxels, at, x);
        sum += product(k.twice, k.trace, d, d);
    }
    add_up(scratch, sum, sums + GROUP(0));
}
