/* What the functions of operators are written in; src/operator/kernel.c writes them. */
#ifndef WEFT_KERNELS_OPERATORS
#define WEFT_KERNELS_OPERATORS

/* x times a factor, rounded once: in double where the device has it, else by the factor in two
 * parts, as scale.cl does. */
#if PRECISION == 0
#define OPERATOR_SCALED(x, factor, high, low) ((x) * (factor))
#elif HAS_DOUBLE
#define OPERATOR_SCALED(x, factor, high, low) ((real)((double)(x) * (factor)))
#else
#define OPERATOR_SCALED(x, factor, high, low) fma(x, high, (x) * (low))
#endif

#define OPERATOR_PRODUCT(x, y) ((x) * (y))
#define PAIR_READ(table, at) TABLE_READ((GLOBAL const real2 *)(table), at)
#endif
