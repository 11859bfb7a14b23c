/*
 * Multiplies `count` numbers by a factor, rounding once: single precision is multiplied in double
 * where the device has it, else by the factor in two parts, which is as good but for a rare last
 * bit.
 */
#define SCALED_BY_A_THREAD 4

#if PRECISION == 0
#define SCALED(x) ((x) * high)
typedef double factor_part;
#elif HAS_DOUBLE
#define SCALED(x) ((float)((double)(x) * high))
typedef double factor_part;
#else
#define SCALED(x) fma(x, high, (x) * low)
typedef float factor_part;
#endif

KERNEL(weft_scale)(MEMORY(real, data), long64 count, factor_part high, factor_part low) {
    OPEN(real, data);
    long64 first = (long64)GROUP(0) * THREADS * SCALED_BY_A_THREAD + THREAD;
    real number[SCALED_BY_A_THREAD];
    (void)low;
    UNROLL
    for (int k = 0; k < SCALED_BY_A_THREAD; ++k)
        if (first + k * THREADS < count) number[k] = data[first + k * THREADS];
    UNROLL
    for (int k = 0; k < SCALED_BY_A_THREAD; ++k)
        if (first + k * THREADS < count) data[first + k * THREADS] = SCALED(number[k]);
}
