/* Of each number of a table the sum over the threads' parts or, with `store`, the largest. A group for each. */
KERNEL(weft_sweep_gather)(MEMORY(const double, table), MEMORY(double, result), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(const double, table);
    OPEN(double, result);
    const GLOBAL double *parts = table + (long64)GROUP(0) * k.threads;
    double value = 0;
    for (long64 t = THREAD; t < k.threads; t += THREADS)
        value = !k.store ? value + parts[t] : parts[t] > value ? parts[t] : value;
    scratch[THREAD] = value;
    for (int width = THREADS / 2; width > 0; width /= 2) {
        BARRIER();
        if (THREAD < width) {
            const double other = scratch[THREAD + width];
            scratch[THREAD] = !k.store ? scratch[THREAD] + other : other > scratch[THREAD] ? other : scratch[THREAD];
        }
    }
    if (THREAD == 0) result[GROUP(0)] = scratch[0];
}
