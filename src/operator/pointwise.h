/*
 * A list of operators made ready for the box of a rank. Neighbouring operators that multiply each
 * element by one factor for each axis are one *product*: a table for each axis, of this rank's
 * indices. An element's factor is the product of its axes' factors in the order of the axes, so
 * that its bits depend on neither box nor memory order.
 */
#ifndef WEFT_OPERATOR_POINTWISE_H
#define WEFT_OPERATOR_POINTWISE_H

#include "operator/operator.h"

typedef struct weft_pointwise_part {
    const weft_operator *function; /* NULL: a product */
    bool complex_factors;
    double scale;               /* of a product without tables; in tables it is included */
    void *table[WEFT_MAX_RANK]; /* in the array's precision, pairs if complex_factors; NULL: 1 */
} weft_pointwise_part;

struct weft_pointwise {
    int rank;
    weft_pointwise_layout layout;
    int64_t stored_stride[WEFT_AXES]; /* of the caller's array */
    int threads;
    int64_t elements;
    int run_axis;       /* elements that are neighbours along it are neighbours in memory */
    int rows;           /* axes around the runs, ... */
    int row[WEFT_AXES]; /* ... slowest first */
    bool omits_functions;
    size_t bytes;
    int parts;
    weft_pointwise_part part[]; /* in the order in which they are applied */
};

static inline size_t weft_pointwise_element_bytes(const weft_pointwise *p) {
    return weft_number_bytes(p->layout.precision) * (p->layout.real ? 1 : 2);
}

#endif
