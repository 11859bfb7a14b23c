/* What the functions that apply operators use; src/operator/kernel.c writes those functions. */
#ifndef WEFT_KERNELS_OPERATORS
#define WEFT_KERNELS_OPERATORS

/* x times a factor, rounded once: in double precision where the device has it, otherwise with the
 * factor in two parts, as in scale.cl. */
#if PRECISION == 0
#define OPERATOR_SCALED(x, factor, high, low) ((x) * (factor))
#elif HAS_DOUBLE
#define OPERATOR_SCALED(x, factor, high, low) ((real)((double)(x) * (factor)))
#else
#define OPERATOR_SCALED(x, factor, high, low) fma(x, high, (x) * (low))
#endif

#define OPERATOR_PRODUCT(x, y) ((x) * (y))

/* What reductions add up. The larger of two magnitudes is NaN where one is. */
#if HAS_DOUBLE
typedef double reduced_number;
#else
typedef float reduced_number;
#endif
#define OPERATOR_LARGER(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))

#define PAIR_READ(table, at) TABLE_READ((GLOBAL const real2 *)(table), at)
/* A pair of an array that is aligned to numbers only. */
#define LOOSE_PAIR_READ(array, at) pair(TABLE_READ(array, 2 * (at)), TABLE_READ(array, 2 * (at) + 1))
#endif
