/* s = C e, with `reference` less C0 e, stored with `store`. Sums, of C e: strain, stress, energy, size of the stress. */
KERNEL(weft_sweep_stress)(MEMORY(const real, e), MEMORY(real, s), MEMORY(const unsigned short, phases),
                          MEMORY(const double, law), MEMORY(const double, inverse),
                          MEMORY(double, sums), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(const real, e);
    OPEN(real, s);
    OPEN(const unsigned short, phases);
    OPEN(const double, law);
    OPEN(const double, inverse);
    OPEN(double, sums);
    double sum[14];
    UNROLL
    for (int i = 0; i < 14; ++i) sum[i] = 0;
    for (long64 at = FIRST; at < k.voxels; at += STEP) {
        double strain[COMPONENTS], stress[COMPONENTS];
        load(e, k.voxels, at, strain);
        apply_law(k, law, inverse, phases + place_of(k, at), strain, stress);
        UNROLL
        for (int i = 0; i < COMPONENTS; ++i) {
            sum[i] += strain[i];
            sum[6 + i] += stress[i];
        }
        sum[12] += product(1, 0, strain, stress);
        sum[13] += product(1 / k.twice, -k.trace / (k.twice * (k.twice + 3 * k.trace)), stress, stress);
        if (k.reference) {
            const double volume = k.trace * (strain[0] + strain[1] + strain[2]);
            UNROLL
            for (int i = 0; i < COMPONENTS; ++i)
                stress[i] -= k.twice * strain[i] + (i < 3 ? volume : 0);
        }
        if (k.store) store(s, k.voxels, at, stress);
    }
    UNROLL
    for (int i = 0; i < 14; ++i) add_up(scratch, sum[i], sums + 14 * GROUP(0) + i);
}
