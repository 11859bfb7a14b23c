/*
 * Sums of strain and stress for each phase, strain first. On a staggered grid each voxel has its share of
 * the edges or faces around it, as elements in series: each has their stress, and the strain that this
 * causes in its own material.
 */
KERNEL(weft_sweep_phases)(MEMORY(const real, e), MEMORY(const unsigned short, phases), MEMORY(const double, law),
                          MEMORY(const double, inverse), MEMORY(double, table), const sweep k) {
    OPEN(const real, e);
    OPEN(const unsigned short, phases);
    OPEN(const double, law);
    OPEN(const double, inverse);
    OPEN(double, table);
    const long64 thread = FIRST;
    clear_part(table, k, thread);
    for (long64 at = thread; thread < k.threads && at < k.voxels; at += k.threads) {
        const GLOBAL unsigned short *phase = phases + place_of(k, at);
        GLOBAL double *own = part_of(table, k, thread, phase[0]);
        double strain[COMPONENTS], stress[COMPONENTS];
        load(e, k.voxels, at, strain);
        apply_law(k, law, inverse, phase, strain, stress);
        UNROLL
        for (int i = 0; i < MIDDLE; ++i) {
            own[i * k.threads] += strain[i];
            own[(COMPONENTS + i) * k.threads] += stress[i];
        }
#if STAGGERED
        UNROLL
        for (int i = 0; i < 3; ++i) {
            const int around = COMPONENTS == 6 ? 4 : 2, c = MIDDLE + i;
            const long64 a = down(k, COMPONENTS == 6 ? (i + 1) % 3 : i);
            const long64 b = COMPONENTS == 6 ? down(k, (i + 2) % 3) : 0;
            for (int v = 0; v < around; ++v) {
                const int other = phase[-(v & 1) * a - (v >> 1) * b];
                GLOBAL double *its = part_of(table, k, thread, other);
                its[c * k.threads] += stress[c] * inverse[3 * other + i] / around;
                its[(COMPONENTS + c) * k.threads] += stress[c] / around;
            }
        }
#endif
    }
}
