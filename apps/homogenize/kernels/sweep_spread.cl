/*
 * Of each phase the largest norm of the deviators of a field or, with `store`, how many of them are in each
 * of BINS bins of equal width from 0 to `most`.
 */
KERNEL(weft_sweep_spread)(MEMORY(const real, field), MEMORY(const unsigned short, phases), MEMORY(const double, most),
                          MEMORY(double, table), const sweep k) {
    OPEN(const real, field);
    OPEN(const unsigned short, phases);
    OPEN(const double, most);
    OPEN(double, table);
    const long64 thread = FIRST;
    clear_part(table, k, thread);
    for (long64 at = thread; thread < k.threads && at < k.voxels; at += k.threads) {
        const int phase = phases[place_of(k, at)];
        GLOBAL double *own = part_of(table, k, thread, phase);
        double x[COMPONENTS];
        load(field, k.voxels, at, x);
        const double trace = x[0] + x[1] + x[2];
        double square = COMPONENTS == 6 ? -trace * trace / 3 : 0;
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) square += x[i] * x[i];
        const double value = square > 0 ? sqrt(square) : 0;
        if (k.store) {
            const int last = value >= most[phase]; /* also where both are 0 */
            own[(last ? BINS - 1 : (int)(value / most[phase] * BINS)) * k.threads] += 1;
        } else if (value > own[0]) {
            own[0] = value;
        }
    }
}
