/* e becomes C e. Sums: <e, e> and e C e, of e as it was. */
KERNEL(weft_sweep_respond)(MEMORY(real, e), MEMORY(const unsigned short, phases), MEMORY(const double, law),
                           MEMORY(const double, inverse), MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(real, e);
    OPEN(const unsigned short, phases);
    OPEN(const double, law);
    OPEN(const double, inverse);
    OPEN(double, sums);
    double square = 0, energy = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double x[COMPONENTS], y[COMPONENTS];
        load(e, k.voxels, at, x);
        apply_law(k, law, inverse, phases + place_of(k, at), x, y);
        store(e, k.voxels, at, y);
        square += product(k.twice, k.trace, x, x);
        energy += product(1, 0, x, y);
    }
    add_up(scratch, square, sums + 2 * GROUP(0));
    add_up(scratch, energy, sums + 2 * GROUP(0) + 1);
}
