/*
 * Operators by themselves, from one array to another or in place. Before this text comes that of
 * the operators (src/operator/kernel.h, called `pointwise`), and
 *
 *     AXES             loops over the elements, as they lie in memory, the fastest first
 *     INDEX_OF_AXES    an array's initializer: the entry of index[AXES] for each axis of the box
 */
typedef struct pointwise_shape {
    unsigned int elements, unused;
    unsigned int n[AXES], multiplier[AXES], shift[AXES], unused_too[AXES];
} pointwise_shape;

FUNCTION pointwise_number operated(pointwise_number value, unsigned int element,
                                   const pointwise_shape *shape, const pointwise_places *places,
                                   GLOBAL const real *tables) {
    int index[AXES];
    UNROLL
    for (int l = 0; l < AXES; ++l) {
        /* Granlund and Montgomery 1994: element / n without dividing */
        const unsigned int rest =
            (MULTIPLY_HIGH(element, shape->multiplier[l]) + element) >> shape->shift[l];
        index[l] = (int)(element - rest * shape->n[l]);
        element = rest;
    }
    const int of_axes[] = INDEX_OF_AXES;
    return pointwise_operators(value, of_axes, places, tables);
}

KERNEL(weft_pointwise)
(MEMORY(const pointwise_number, in), MEMORY(pointwise_number, out), MEMORY(const real, tables), const pointwise_shape shape, const pointwise_places places) {
    enum { PER_THREAD = 4 };
    OPEN(const pointwise_number, in);
    OPEN(pointwise_number, out);
    OPEN(const real, tables);
    const unsigned int first = GROUP(0) * (THREADS * PER_THREAD) + THREAD;
    pointwise_number value[PER_THREAD];
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k)
        if (first + k * THREADS < shape.elements) value[k] = in[first + k * THREADS];
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k)
        if (first + k * THREADS < shape.elements)
            out[first + k * THREADS] =
                operated(value[k], first + k * THREADS, &shape, &places, tables);
}
