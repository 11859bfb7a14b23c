/*
 * How the elements lie that operators are applied to, for kernels that go over all of them
 * (pointwise.cl, fields.cl). Before this text come that of the operators (src/operator/kernel.h,
 * called `pointwise`) and
 *
 *     AXES             loops over the elements of the box, as they lie in memory, the fastest first
 *     INDEX_OF_AXES    an array's initializer: the entry of index[AXES] for each axis of the box
 */
typedef struct pointwise_shape {
    long64 in[AXES], out[AXES]; /* strides of the two arrays, in their elements */
    unsigned int elements, unused;
    unsigned int n[AXES], multiplier[AXES], shift[AXES], unused_too[AXES];
} pointwise_shape;

FUNCTION void find_element(const pointwise_shape *shape, unsigned int element, int *index) {
    UNROLL
    for (int l = 0; l < AXES; ++l) {
        /* Granlund and Montgomery 1994: element / n without dividing */
        const unsigned int rest =
            (MULTIPLY_HIGH(element, shape->multiplier[l]) + element) >> shape->shift[l];
        index[l] = (int)(element - rest * shape->n[l]);
        element = rest;
    }
}

#ifdef pointwise_arrays
#define ARRAY_PARAMETER , MEMORY(const real, array)
#define OPEN_ARRAY OPEN(const real, array);
#define ARRAY , array
#else
#define ARRAY_PARAMETER
#define OPEN_ARRAY
#define ARRAY
#endif
