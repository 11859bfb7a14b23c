/*
 * Lists of operators in target regions: operators.inc has them once for both precisions, and here
 * is what does not depend on it.
 */
#include "device/openmp/kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#pragma omp declare target

#include "support/half.h"

/* An element of a box: its indices, and its places in the box, in the caller's arrays (if that
 * which is loaded or stored has it) and in arrays of factors. */
typedef struct element {
    int64_t index[WEFT_AXES];
    int64_t box, callers, kept, factor;
    bool inside;
} element;

static inline element find_element(const weft_device_operators *o, int64_t i) {
    element e = {.inside = true};
    for (int l = o->axes - 1; l >= 0; l--) {
        const int a = o->order[l];
        e.index[a] = i % o->n[a];
        i /= o->n[a];
    }
    for (int a = 0; a < o->axes; a++) {
        const int64_t at = e.index[a], gap = o->n[a] - o->callers.n[a];
        const int64_t high = o->callers.high[a], low = o->callers.n[a] - high;
        const bool is_high = high > 0 && at >= o->n[a] - high;
        e.inside = e.inside && (at < low || is_high);
        e.box += at * o->stride[a];
        e.callers += (is_high ? at - gap : at) * o->callers.stride[a];
        e.kept += at * o->kept.stride[a];
        e.factor += at * o->array_stride[a];
    }
    return e;
}

/* Where the first field of a point lies, before and after, and its first factor. */
typedef struct point {
    int64_t in, out, factor;
} point;

static inline point find_point(const weft_device_operators *o, int64_t i) {
    const int batch = o->axes - 1;
    point p = {0, 0, 0};
    for (int l = batch; l >= 0; l--) {
        const int a = o->order[l];
        const int64_t n = a == batch ? o->n[a] / o->matrix.fields : o->n[a], at = i % n;
        i /= n;
        p.in += at * o->stride[a] * (a == batch ? o->matrix.fields : 1);
        p.out += at * o->matrix.out_stride[a] * (a == batch ? o->matrix.made : 1);
        p.factor += at * o->array_stride[a];
    }
    return p;
}

typedef union bits {
    double number;
    uint64_t bits;
} bits;

/* The natural logarithm, for which devices may have no library: 2 artanh((m - 1) / (m + 1)) of the
 * fraction m, which is between sqrt(1/2) and sqrt(2). */
static inline double logarithm(double x) {
    int exponent = 0;
    if (x == 0) return -(double)INFINITY;
    if (!(x < (double)INFINITY)) return x;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponent = -54;
    }
    bits m = {.number = x};
    exponent += (int)(m.bits >> 52) - 1023;
    m.bits = (m.bits & (UINT64_MAX >> 12)) | (uint64_t)1023 << 52;
    if (m.number > 1.4142135623730951) {
        m.number /= 2;
        exponent++;
    }
    const double s = (m.number - 1) / (m.number + 1);
    double sum = 0;
    for (int k = 21; k >= 1; k -= 2) sum = sum * s * s + 1.0 / k;
    return exponent * 0.693147180559945309417232121458176568 + 2 * s * sum;
}

/* Of |z|^2 the level in decibels, counted from 0 to 255. */
static inline double level(const weft_device_array *callers, double square) {
    const double *range = callers->decibels;
    return (10 / 2.30258509299404568402 * logarithm(square) - range[0]) *
           (255 / (range[1] - range[0]));
}

/* Replaces a pair of numbers from 0 on by another one if that has the larger magnitude or a NaN,
 * which stays. Nothing is squared that might be too large. */
static inline void take_larger(double pair[2], double x, double y) {
    const double large = x > y ? x : y, small = x > y ? y : x;
    const double was = pair[0] > pair[1] ? pair[0] : pair[1];
    const double other = pair[0] > pair[1] ? pair[1] : pair[0];
    bool takes = x != x || y != y;
    if (pair[0] != pair[0] || pair[1] != pair[1]) return;
    if (!takes && large > 0) {
        const double ratio = large / was, of_new = small / large, of_old = other / was;
        takes = was == 0 || (was < (double)INFINITY &&
                             ratio * ratio * (1 + of_new * of_new) > 1 + of_old * of_old);
    }
    if (!takes) return;
    pair[0] = x;
    pair[1] = y;
}

#pragma omp end declare target

#define REAL double
#define NAME(name) name##_doubles
#include "device/openmp/operators.inc"

#define REAL float
#define NAME(name) name##_floats
#include "device/openmp/operators.inc"

/* Reductions come first, since elements may be changed in place. */
void weft_openmp_operate_kernel(const weft_openmp_processor *p, const weft_device_operators *o,
                                const void *in, void *out) {
    const bool single = o->precision == WEFT_SINGLE;
    for (int r = 0; r < o->reductions; r++)
        if (single)
            reduce_floats(p, o, r, in);
        else
            reduce_doubles(p, o, r, in);
    if (o->matrix.fields == 0 && single)
        operate_floats(p, o, in, out);
    else if (o->matrix.fields == 0)
        operate_doubles(p, o, in, out);
    else if (o->array[o->matrix.array] && single)
        make_floats(p, o, in, out);
    else if (o->array[o->matrix.array])
        make_doubles(p, o, in, out);
}
