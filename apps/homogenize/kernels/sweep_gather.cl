/* Of each number of a table the sum over the threads' parts or, with `store`, the largest. A group for each. */
KERNEL(weft_sweep_gather)(MEMORY(const double, table), MEMORY(double, result), const sweep k) {
    LOCAL_ARRAY(double, scratch, THREADS);
    OPEN(const double, table);
    OPEN(double, result);
    const GLOBAL double *parts = table + (long64)GROUP(0) * k.threads;
    double value = 0;
    for (long64 t = THREAD; t < k.threads; t += THREADS)
        value = !k.store ? value + parts[t] : parts[t] > value ? parts[t] : value;
    join(scratch, value, k.store != 0, result + GROUP(0));
}
