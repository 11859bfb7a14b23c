/* p = r + factor p, of which nothing is read where the factor is 0; q = C p. Sum: p q. */
KERNEL(weft_sweep_direction)(MEMORY(const real, r), MEMORY(real, p), MEMORY(real, q),
                             MEMORY(const unsigned short, phases), MEMORY(const double, law),
                             MEMORY(const double, inverse), MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(const real, r);
    OPEN(real, p);
    OPEN(real, q);
    OPEN(const unsigned short, phases);
    OPEN(const double, law);
    OPEN(const double, inverse);
    OPEN(double, sums);
    double sum = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double x[COMPONENTS], y[COMPONENTS];
        load(r, k.voxels, at, x);
        if (k.factor != 0) {
            load(p, k.voxels, at, y);
            UNROLL
            for (int i = 0; i < COMPONENTS; ++i) x[i] += k.factor * y[i];
        }
        store(p, k.voxels, at, x);
        apply_law(k, law, inverse, phases + place_of(k, at), x, y);
        store(q, k.voxels, at, y);
        sum += product(1, 0, x, y);
    }
    add_up(scratch, sum, sums + GROUP(0));
}
