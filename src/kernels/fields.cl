/*
 * Matrices of the fields of a point, from one array to another or in place: each thread makes all
 * fields of its point. Before this text come what pointwise_shape.cl wants, with points in place of
 * elements, pointwise_shape.cl, and
 *
 *     BATCH    the loop over the members of the batch: a step is over all fields of a point
 */
KERNEL(weft_pointwise)
(MEMORY(const pointwise_number, in), MEMORY(pointwise_number, out), MEMORY(const real, tables), const pointwise_shape shape, VALUE(pointwise_places, places) ARRAY_PARAMETER) {
    OPEN(const pointwise_number, in);
    OPEN(pointwise_number, out);
    OPEN_VALUE(pointwise_places, places);
    OPEN_ARRAY
    const unsigned int point = GROUP(0) * THREADS + THREAD;
    if (point < shape.elements) {
        const long64 in_step = shape.in[BATCH] / pointwise_fields;
        const long64 out_step = shape.out[BATCH] / pointwise_made;
        pointwise_number field[pointwise_fields], made[pointwise_made];
        int index[AXES];
        find_element(&shape, point, index);
        const int of_axes[] = INDEX_OF_AXES;
        long64 from = 0, to = 0;
        UNROLL
        for (int l = 0; l < AXES; ++l) {
            from += index[l] * shape.in[l];
            to += index[l] * shape.out[l];
        }
        UNROLL
        for (int f = 0; f < pointwise_fields; ++f) field[f] = in[from + f * in_step];
        pointwise_make(field, made, of_axes, places ARRAY);
        UNROLL
        for (int g = 0; g < pointwise_made; ++g) out[to + g * out_step] = made[g];
    }
}
