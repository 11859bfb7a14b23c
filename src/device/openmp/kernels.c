/* Target regions that copy, scale and apply operators. */
#include "device/openmp/kernels.h"

#include <math.h>

#include "device/copy_tile.h"

enum { MOST_AXES = WEFT_AXES + 1, MOST_UNITS = 1 << 30 /* of a kernel */ };

/* A copy in units: loops, slowest first, the last over the units of a cell. */
typedef struct unit_copy {
    uint32_t units;
    int axes;
    uint32_t n[MOST_AXES];
    int64_t src[MOST_AXES], dst[MOST_AXES]; /* steps in bytes */
} unit_copy;

/* Units are moved as bytes, whatever they are. */
typedef uint8_t __attribute__((may_alias)) unit1;
typedef uint16_t __attribute__((may_alias)) unit2;
typedef uint32_t __attribute__((may_alias)) unit4;
typedef uint64_t __attribute__((may_alias)) unit8;
typedef struct __attribute__((may_alias)) unit16 {
    uint64_t part[2];
} unit16;

#define COPY_UNITS(bytes)                                                                          \
    static void copy_units_##bytes(const weft_openmp_processor *p, const unit_copy *copy,          \
                                   const char *src, char *dst) {                                   \
        const int device = p->number, threads = p->threads;                                        \
        const unit_copy c = *copy;                                                                 \
        WEFT_OPENMP_ON_DEVICE(firstprivate(c) is_device_ptr(src, dst))                             \
        for (uint32_t i = 0; i < c.units; i++) {                                                   \
            uint32_t rest = i;                                                                     \
            int64_t from = 0, to = 0;                                                              \
            for (int a = c.axes - 1; a > 0; a--) {                                                 \
                const uint32_t index = rest % c.n[a];                                              \
                rest /= c.n[a];                                                                    \
                from += index * c.src[a];                                                          \
                to += index * c.dst[a];                                                            \
            }                                                                                      \
            from += rest * c.src[0];                                                               \
            to += rest * c.dst[0];                                                                 \
            *(unit##bytes *)(void *)(dst + to) = *(const unit##bytes *)(const void *)(src + from); \
        }                                                                                          \
    }

COPY_UNITS(1)
COPY_UNITS(2)
COPY_UNITS(4)
COPY_UNITS(8)
COPY_UNITS(16)

static void copy_units(const weft_openmp_processor *p, const weft_byte_copy *copy, int64_t unit) {
    static void (*const kernels[])(const weft_openmp_processor *, const unit_copy *, const char *,
                                   char *) = {copy_units_1, copy_units_2, copy_units_4,
                                              copy_units_8, copy_units_16};
    unit_copy c = {.units = (uint32_t)(copy->cell / unit), .axes = copy->axes};
    for (int a = 0; a < copy->axes; a++) {
        c.n[a] = (uint32_t)copy->axis[a].n;
        c.src[a] = copy->axis[a].src;
        c.dst[a] = copy->axis[a].dst;
        c.units *= c.n[a];
    }
    c.n[c.axes] = (uint32_t)(copy->cell / unit);
    c.src[c.axes] = c.dst[c.axes] = unit;
    c.axes++;
    int kernel = 0;
    while (1 << kernel < unit) kernel++;
    kernels[kernel](p, &c, copy->src, copy->dst);
}

/* Kernels count with 32 bits, so larger copies are cut along their slowest axis. */
static void copy_parts(const weft_openmp_processor *p, const weft_byte_copy *copy, int64_t unit) {
    const int64_t most = MOST_UNITS * unit;
    weft_byte_copy part = *copy;
    int64_t inner = copy->cell;
    for (int a = 1; a < copy->axes; a++) inner *= copy->axis[a].n;
    if (copy->axes > 0 && inner > most) { /* one index at a time */
        part.axes--;
        for (int a = 0; a < part.axes; a++) part.axis[a] = copy->axis[a + 1];
        for (int64_t i = 0; i < copy->axis[0].n; i++) {
            copy_parts(p, &part, unit);
            part.src += copy->axis[0].src;
            part.dst += copy->axis[0].dst;
        }
        return;
    }
    const bool cell = copy->axes == 0;
    const int64_t all = cell ? copy->cell : copy->axis[0].n, step = cell ? most : most / inner;
    for (int64_t i = 0; i < all; i += step) {
        const int64_t count = all - i < step ? all - i : step;
        part.src = copy->src + i * (cell ? 1 : copy->axis[0].src);
        part.dst = copy->dst + i * (cell ? 1 : copy->axis[0].dst);
        *(cell ? &part.cell : &part.axis[0].n) = count;
        copy_units(p, &part, unit);
    }
}

void weft_openmp_copy_kernel(const weft_openmp_processor *p, const weft_byte_copy *copy) {
    copy_parts(p, copy, INT64_C(1) << weft_copy_unit(copy));
}

static void scale_doubles(const weft_openmp_processor *p, double *data, int64_t count,
                          double factor) {
    const int device = p->number, threads = p->threads;
    WEFT_OPENMP_ON_DEVICE(is_device_ptr(data))
    for (int64_t i = 0; i < count; i++) data[i] *= factor;
}

/* The factor keeps its double precision, so that each value is rounded once. */
static void scale_floats(const weft_openmp_processor *p, float *data, int64_t count,
                         double factor) {
    const int device = p->number, threads = p->threads;
    WEFT_OPENMP_ON_DEVICE(is_device_ptr(data))
    for (int64_t i = 0; i < count; i++) data[i] = (float)((double)data[i] * factor);
}

void weft_openmp_scale_kernel(const weft_openmp_processor *p, weft_precision precision, void *data,
                              int64_t count, double factor) {
    if (precision == WEFT_SINGLE)
        scale_floats(p, data, count, factor);
    else
        scale_doubles(p, data, count, factor);
}

/* ---- operators ---- */

#pragma omp declare target

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

static inline double number_of_half(uint16_t half) {
    const int exponent = half >> 10 & 31;
    const double mantissa = half & 1023, sign = half & 0x8000 ? -1 : 1;
    if (exponent == 0) return sign * mantissa * 0x1p-24;
    if (exponent == 31) return mantissa > 0 ? (double)NAN : sign * (double)INFINITY;
    const bits power = {.bits = (uint64_t)(1023 + exponent - 25) << 52};
    return sign * (1024 + mantissa) * power.number;
}

/* Beyond 2^52 there are only integers, so this rounds as nearbyint does. */
static inline double to_integer(double x) {
    const double shift = 0x1.8p52;
    return x + shift - shift;
}

/* Rounds to the nearest half-precision number, ties to even. */
static inline uint16_t half_of_number(double x) {
    bits b = {.number = x};
    const uint16_t sign = (uint16_t)(b.bits >> 48 & 0x8000);
    b.bits &= UINT64_MAX >> 1;
    if (b.number != b.number) return 0x7e00;
    if (b.number < 0x1p-14) return (uint16_t)(sign | (uint16_t)to_integer(b.number * 0x1p24));
    if (b.number >= 65520) return sign | 0x7c00;
    const int exponent = (int)(b.bits >> 52) - 1023;
    const bits fraction = {.bits = (b.bits & (UINT64_MAX >> 12)) | (uint64_t)1023 << 52};
    const int mantissa = (int)to_integer(fraction.number * 1024) - 1024;
    return (uint16_t)(sign | (((exponent + 15) << 10) + mantissa));
}

/* Rounds to an integer from `least` to `most`; NaN gives `least`. */
static inline double rounded(double value, double least, double most) {
    return to_integer(value > least ? value < most ? value : most : least);
}

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
