/*
 * Reductions of a list of operators, for a kernel of its own. Before this text comes that of the
 * operators (src/operator/kernel.h, called `pointwise`): pointwise_reductions is how many there
 * are, and bit k of pointwise_largest says that number k is a largest magnitude, not a sum. Each
 * has two numbers, `reduced` those of a thread.
 */
FUNCTION reduced_number combine(int k, reduced_number a, reduced_number b) {
    return (pointwise_largest >> k & 1) ? OPERATOR_LARGER(a, b) : a + b;
}

/* Combines what the threads of a group have, halving their number step by step, and stores it. */
FUNCTION void reduce_group(const reduced_number *reduced, LOCAL reduced_number *shared,
                           GLOBAL reduced_number *parts) {
    for (int k = 0; k < pointwise_reductions; ++k) {
        BARRIER();
        for (int part = 0; part < 2; ++part) shared[part * THREADS + THREAD] = reduced[2 * k + part];
        for (int width = THREADS / 2; width > 0; width /= 2) {
            BARRIER();
            for (int at = THREAD; THREAD < width && at < 2 * THREADS; at += THREADS)
                shared[at] = combine(k, shared[at], shared[at + width]);
        }
        for (int part = 0; THREAD == 0 && part < 2; ++part)
            parts[2 * (GROUP(0) * pointwise_reductions + k) + part] = shared[part * THREADS];
    }
}
