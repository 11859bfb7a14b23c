/*
 * Points from one array to another, of whatever kinds: what long transforms want done between their
 * kernels. Loop 0 is over the points of a line, and the points of real data change to those of a
 * complex transform and back. Besides what fft_points.cl wants:
 *
 *     MULTIPLIES                   1: by the table's entry of the point's number
 *     SWAPS_BEFORE, SWAPS_AFTER    1: the parts change places before or after that
 */
#define TABLE_OF(p) tables[p]

KERNEL(weft_fft_copy)
(IN_MEMORY MEMORY(out_number, out), MEMORY(const real2, tables), const fft_shape shape OPERATOR_PARAMETERS) {
    OPEN_IN
    OPEN(out_number, out);
    OPEN(const real2, tables);
    OPEN_OPERATORS
    const unsigned int number = GROUP(0) * THREADS + THREAD;
    unsigned int index[LOOPS];
    line_out_place to;
    if (number >= shape.lines) return;
    find_line(&shape, number, index);
    const int p = index[0];
    GLOBAL const in_number *const from = in + place_of_line(shape.in_loop, index);
    OPEN_LINE_OUT(to)
    real2 z = pair(0, 0);
#if FROM_HALF_PAIRS
    real2 mirrored;
    LOAD_HALF(z, p)
    LOAD_HALF(mirrored, LENGTH - p)
    if (p == 0) z.y = mirrored.y = 0; /* real data has none */
    part_pair(&z, &mirrored, TABLE_OF(p));
    store_complex(to, p, z);
    if (p > 0 && 2 * p < LENGTH) store_complex(to, LENGTH - p, mirrored);
#elif TO_HALF_PAIRS
    real2 mirrored;
    LOAD_COMPLEX(z, p)
    LOAD_COMPLEX(mirrored, p == 0 ? 0 : LENGTH - p)
    join_pair(&z, &mirrored, TABLE_OF(p));
    if (p == 0) z.y = mirrored.y = 0; /* not a zero with a sign */
    store_half(to, p, z);
    if (2 * p < LENGTH) store_half(to, LENGTH - p, mirrored);
#else
    if (p < LENGTH) {
        LOAD_POINT(z, p)
#if SWAPS_BEFORE
        z = swapped(z);
#endif
#if MULTIPLIES
        z = complex_multiply(z, TABLE_OF(p));
#endif
#if SWAPS_AFTER
        z = swapped(z);
#endif
    }
    store_point(to, p, z);
#endif
    (void)tables;
}
