/*
 * Multiplies `count` numbers by a factor, rounding once: single precision is multiplied in double
 * where the device has it, else by the factor in two parts, which is as good but for a rare last
 * bit.
 */
#if PRECISION == 0
#define WEFT_SCALE weft_scale_double
#define FACTOR double
#define SCALED(x) ((x) * high)
#elif HAS_DOUBLE
#define WEFT_SCALE weft_scale_single
#define FACTOR double
#define SCALED(x) ((float)((double)(x) * high))
#else
#define WEFT_SCALE weft_scale_single
#define FACTOR float
#define SCALED(x) fma(x, high, (x) * low)
#endif

KERNEL(WEFT_SCALE)(MEMORY(real, data), long64 count, FACTOR high, FACTOR low) {
    enum { PER_THREAD = 4 };
    OPEN(real, data);
    long64 first = (long64)GROUP(0) * THREADS * PER_THREAD + THREAD;
    real number[PER_THREAD];
    (void)low;
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k)
        if (first + k * THREADS < count) number[k] = data[first + k * THREADS];
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k)
        if (first + k * THREADS < count) data[first + k * THREADS] = SCALED(number[k]);
}

#undef WEFT_SCALE
#undef FACTOR
#undef SCALED
