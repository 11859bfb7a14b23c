/*
 * A list of operators as data, for devices that apply it by themselves: `operate` of device.h. Each
 * element of a box is read from one array, changed by one part of the list after the other, and
 * written to another array or the same one.
 */
#ifndef WEFT_DEVICE_OPERATORS_H
#define WEFT_DEVICE_OPERATORS_H

#include "layout/layout.h"

typedef enum weft_part_kind {
    WEFT_PART_PRODUCT, /* the element times `scale` or, where there are tables, table[a][i_a]
                          for each axis in their order */
    WEFT_PART_ARRAY,   /* times the factor in the array of this number; nothing if that is NULL */
    WEFT_PART_ROOTS,   /* of element (i_0, i_1) root k = (lo[0] + i_0) (lo[1] + i_1): the
                          product of coarse root k >> shift, table[0], and one plus fine root
                          number k modulo 2^shift, table[1] */
    WEFT_PART_HALF_SPECTRUM, /* element k = (lo[1] + i_1) all[0] + lo[0] + i_0 of all[0] all[1] in
                                all: 0 beyond the middle, and twice as much before it, but for
                                number 0 */
    WEFT_PART_REDUCTION      /* the element is left as it is: see `reduced` below */
} weft_part_kind;

typedef struct weft_device_part {
    weft_part_kind kind;
    int number;                   /* ARRAY */
    bool complex_factors;         /* of tables and arrays */
    bool conjugate;               /* ROOTS */
    int shift;                    /* ROOTS */
    double scale;                 /* PRODUCT without tables */
    const void *table[WEFT_AXES]; /* on the device, in the precision of the elements; NULL: 1 */
} weft_device_part;

/* An array of the caller's: along each axis it has the first n - high indices of the box and its
 * last high ones, at these strides (in elements), perhaps as other numbers. */
typedef struct weft_device_array {
    weft_storage storage;
    double decibels[2];
    int64_t n[WEFT_AXES], high[WEFT_AXES], stride[WEFT_AXES];
} weft_device_array;

/* Of a list with a matrix for each point, which has nothing else than scalings: the array of its
 * entries and how many factors it has from one entry of a matrix to the next. Fields are
 * neighbours along the last axis. */
typedef struct weft_device_matrix {
    int fields, made; /* of a point, before and after; 0: there is no matrix */
    int array;
    bool complex_factors;
    int64_t apart;
    int64_t out_stride[WEFT_AXES];
    double scale; /* of what is made */
} weft_device_matrix;

/* What a reduction has found in each of WEFT_DEVICE_SUMS shares of the elements: real and imaginary
 * part of the sum; the sum of squares; or both parts of the largest element, not negative. */
enum { WEFT_DEVICE_SUMS = 8192 };
typedef struct weft_device_sums {
    double value[WEFT_DEVICE_SUMS][2];
} weft_device_sums;

typedef struct weft_device_operators {
    weft_precision precision;
    bool complex_elements;
    bool loads; /* the caller's array is read; otherwise it is written */
    bool keeps; /* results are written to an array of the caller's that keeps them, too */
    int axes, order[WEFT_AXES];                        /* of the box in memory, slowest first */
    int64_t elements, n[WEFT_AXES], stride[WEFT_AXES]; /* of the box */
    int64_t lo[2], all[2]; /* where the box begins along the first axes, and their extents */
    int64_t array_stride[WEFT_AXES]; /* of arrays of factors, in factors */
    weft_device_array callers, kept;
    weft_device_matrix matrix;
    int parts;
    const weft_device_part *part; /* on the device */
    int reductions;
    weft_reduction reduction[WEFT_MAX_REDUCTIONS];
    int reduced[WEFT_MAX_REDUCTIONS]; /* the part that each of them is */
    weft_device_sums *sums;           /* of each of them, on the device */

    /* Set before each run. */
    const void *array[WEFT_MAX_ARRAYS]; /* on the device */
    void *keep_at;
} weft_device_operators;

#endif
