/*
 * A list of operators made ready for the box of a rank. Neighbouring operators that multiply each
 * element by one factor for each axis are one *product*: a table for each axis, of this rank's
 * indices. An element's factor is the product of its axes' factors in the order of the axes, so
 * that its bits depend on neither box nor memory order. Functions, arrays with a factor for each
 * element, and reductions are parts of their own.
 */
#ifndef WEFT_OPERATOR_POINTWISE_H
#define WEFT_OPERATOR_POINTWISE_H

#include "operator/operator.h"
#include "operator/reduce.h"
#include "operator/twiddle.h"

typedef struct weft_pointwise_part {
    const weft_operator *function;  /* the caller's function, or NULL */
    const weft_operator *array;     /* an array, or NULL */
    const weft_operator *reduction; /* a reduction, or NULL */
    const weft_operator *line;      /* one of a line; NULL, like those above: a product */
    weft_twiddles *twiddles;        /* of a line, or NULL */
    bool complex_factors;
    double scale;               /* of a product without tables; in tables it is included */
    void *table[WEFT_MAX_RANK]; /* in the array's precision, pairs if complex_factors; NULL: 1 */
} weft_pointwise_part;

/* A list with a matrix is that operator and factors before and behind it, which are not one factor,
 * since a function need not be linear. */
typedef struct weft_pointwise_matrix {
    const weft_operator *operator;
    int64_t in_fields, out_fields;
    int64_t apart; /* of an array: factors from one entry of a point's matrix to the next */
    double scale_before, scale_behind;
} weft_pointwise_matrix;

struct weft_pointwise {
    int rank;
    weft_pointwise_layout layout;
    int64_t stored_stride[WEFT_AXES]; /* of the caller's array */
    int64_t array_stride[WEFT_AXES];  /* of arrays of factors, in factors; 0 for the batch */
    const weft_operator_settings *settings;
    int threads;
    int64_t elements;
    int run_axis;       /* elements that are neighbours along it are neighbours in memory */
    int rows;           /* axes around the runs, ... */
    int row[WEFT_AXES]; /* ... slowest first */
    bool omits_functions;
    size_t bytes;
    weft_pointwise_matrix matrix; /* operator NULL: there is none */
    int reductions;               /* of the parts, ... */
    int shares;            /* ... and of the elements in the last run, a thread's each, ... */
    weft_reduced *reduced; /* ... in which this was found: [threads][reductions] */
    int parts;
    weft_pointwise_part part[]; /* in the order in which they are applied */
};

/* The factor at `index` of the box in the array of a part; NULL where the array is not set. */
static inline const void *weft_pointwise_factor(const weft_pointwise *p,
                                                const weft_pointwise_part *part,
                                                const int64_t *index) {
    const char *array = p->settings->array[part->array->array];
    int64_t at = 0;
    if (!array) return NULL;
    for (int a = 0; a < p->rank; a++) at += index[a] * p->array_stride[a];
    return array +
           at * (int64_t)weft_number_bytes(p->layout.precision) * (part->complex_factors ? 2 : 1);
}

/* Makes weft_pointwise_run of a list with a matrix (fields.c). */
weft_status weft_fields_apply(const weft_pointwise *pointwise, const void *in, void *out);

static inline size_t weft_pointwise_element_bytes(const weft_pointwise *p) {
    return weft_number_bytes(p->layout.precision) * (p->layout.real ? 1 : 2);
}

#endif
