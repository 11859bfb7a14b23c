/* e -= factor g. Sum: <g, g>. */
KERNEL(weft_sweep_descend)(MEMORY(real, e), MEMORY(const real, g), MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(real, e);
    OPEN(const real, g);
    OPEN(double, sums);
    double sum = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double x[COMPONENTS], y[COMPONENTS];
        load(g, k.voxels, at, x);
        load(e, k.voxels, at, y);
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) y[i] -= k.factor * x[i];
        store(e, k.voxels, at, y);
        sum += product(k.twice, k.trace, x, x);
    }
    add_up(scratch, sum, sums + GROUP(0));
}
