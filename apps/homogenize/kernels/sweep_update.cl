/* a -= factor x with bit 0 of `store`, b -= factor y with bit 1. Sum: <b, b> then, else <x, x>. */
KERNEL(weft_sweep_update)(MEMORY(real, a), MEMORY(const real, x), MEMORY(real, b), MEMORY(const real, y),
                          MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(real, a);
    OPEN(const real, x);
    OPEN(real, b);
    OPEN(const real, y);
    OPEN(double, sums);
    double sum = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double from[COMPONENTS], to[COMPONENTS];
        load(x, k.voxels, at, from);
        if (k.store & 1) {
            load(a, k.voxels, at, to);
            UNROLL
            for (int i = 0; i < COMPONENTS; ++i) to[i] -= k.factor * from[i];
            store(a, k.voxels, at, to);
        }
        if (k.store & 2) {
            load(y, k.voxels, at, to);
            load(b, k.voxels, at, from);
            UNROLL
            for (int i = 0; i < COMPONENTS; ++i) from[i] -= k.factor * to[i];
            store(b, k.voxels, at, from);
        }
        sum += product(k.twice, k.trace, from, from);
    }
    add_up(scratch, sum, sums + GROUP(0));
}
