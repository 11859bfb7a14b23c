/* Sums: <x, x> and <x, y>. */
KERNEL(weft_sweep_products)(MEMORY(const real, x), MEMORY(const real, y), MEMORY(double, sums),
                            const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(const real, x);
    OPEN(const real, y);
    OPEN(double, sums);
    double square = 0, mixed = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double a[COMPONENTS], b[COMPONENTS];
        load(x, k.voxels, at, a);
        load(y, k.voxels, at, b);
        square += product(k.twice, k.trace, a, a);
        mixed += product(k.twice, k.trace, a, b);
    }
    add_up(scratch, square, sums + 2 * GROUP(0));
    add_up(scratch, mixed, sums + 2 * GROUP(0) + 1);
}
