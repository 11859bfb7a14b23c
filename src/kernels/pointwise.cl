/*
 * Operators by themselves, from one array to another or in place. Before this text comes that of
 * the operators (src/operator/kernel.h, called `pointwise`), reduce.cl where they have reductions,
 * pointwise_shape.cl, and
 *
 *     LOADS            where the caller's array is not the box, 1: it is the one that is loaded
 */
#ifndef pointwise_stores
#define pointwise_stores 0
#endif
#if pointwise_stores && pointwise_converts
typedef pointwise_stored stored_number;
#define CONVERTED(x) pointwise_convert(x)
#else
typedef pointwise_number stored_number;
#define CONVERTED(x) (x)
#endif
#if pointwise_stores && LOADS
typedef stored_number in_number;
typedef pointwise_number out_number;
#elif pointwise_stores
typedef pointwise_number in_number;
typedef stored_number out_number;
#else
typedef pointwise_number in_number;
typedef pointwise_number out_number;
#endif

#if pointwise_is_real /* of callers' arrays that are not the box */
#define NOTHING 0
#else
#define NOTHING pair(0, 0)
#endif
#ifdef pointwise_keeps
#define KEPT_PARAMETER , MEMORY(pointwise_kept, kept)
#else
#define KEPT_PARAMETER
#endif

#ifdef pointwise_reductions
#define PARTS_PARAMETER , MEMORY(reduced_number, parts)
#define REDUCED , reduced
#else
#define PARTS_PARAMETER
#define REDUCED
#endif

KERNEL(weft_pointwise)
(MEMORY(const in_number, in), MEMORY(out_number, out), MEMORY(const real, tables), const pointwise_shape shape, VALUE(pointwise_places, places) ARRAY_PARAMETER KEPT_PARAMETER PARTS_PARAMETER) {
    enum { PER_THREAD = 4 };
#ifdef pointwise_reductions
    LOCAL_ARRAY(reduced_number, shared, 2 * THREADS);
    reduced_number reduced[2 * pointwise_reductions] = {0};
    OPEN(reduced_number, parts);
#endif
#ifdef pointwise_keeps
    OPEN(pointwise_kept, kept);
#endif
    OPEN(const in_number, in);
    OPEN(out_number, out);
    OPEN(const real, tables);
    OPEN_VALUE(pointwise_places, places);
    OPEN_ARRAY
    const unsigned int first = GROUP(0) * (THREADS * PER_THREAD) + THREAD;
    pointwise_number value[PER_THREAD];
#if !pointwise_stores
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k)
        if (first + k * THREADS < shape.elements) value[k] = in[first + k * THREADS];
#endif
    UNROLL
    for (int k = 0; k < PER_THREAD; ++k) {
        const unsigned int element = first + k * THREADS;
        if (element >= shape.elements) continue;
        int index[AXES];
        find_element(&shape, element, index);
        const int of_axes[] = INDEX_OF_AXES;
#if pointwise_stores
        const bool inside = pointwise_inside(of_axes, places);
        long64 at = 0;
        for (int l = 0; l < AXES; ++l) at += index[l] * (LOADS ? shape.in[l] : shape.out[l]);
        at -= pointwise_gaps(of_axes, places);
#if LOADS
        value[k] = NOTHING;
        if (inside) value[k] = pointwise_operators(CONVERTED(in[at]), of_axes, places, tables ARRAY REDUCED);
        out[element] = value[k];
#else
        value[k] = in[element];
        if (inside) out[at] = CONVERTED(pointwise_operators(value[k], of_axes, places, tables ARRAY REDUCED));
#endif
#else
        value[k] = pointwise_operators(value[k], of_axes, places, tables ARRAY REDUCED);
        out[element] = value[k];
#ifdef pointwise_keeps
        pointwise_keep(value[k], of_axes, places, kept);
#endif
#endif
    }
#ifdef pointwise_reductions
    reduce_group(reduced, shared, parts);
#endif
}
