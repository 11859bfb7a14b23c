/* Multiplying by twiddle factors, which are products of entries of two tables, with the processor's
 * vectors. This file is compiled without contraction to fused operations (CMakeLists.txt), as
 * apply.c is. */
#include "operator/twiddle.h"

#include "engine/native/root_table.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

typedef void (*multiply_function)(const weft_twiddles *t, weft_precision precision, int64_t step,
                                  int64_t index, int64_t count, void *data);

struct weft_twiddles {
    weft_root_table roots;
    int64_t count; /* of the roots */
    int shift;     /* the table's block is 2^shift */
    int64_t coarse;
    double sign;
    multiply_function multiply;
};

void weft_twiddles_release(weft_twiddles *t) {
    if (!t) return;
    weft_root_table_release(&t->roots);
    free(t);
}

weft_twiddle_tables weft_twiddles_tables(const weft_twiddles *t) {
    return (weft_twiddle_tables){t->shift, t->coarse, t->roots.block, t->sign < 0};
}

static void put_pairs(weft_precision precision, const double *re, const double *im, int64_t count,
                      int64_t first, void *pairs) {
    double *d = pairs;
    float *f = pairs;
    for (int64_t i = 0; i < count; i++)
        if (precision == WEFT_SINGLE) {
            f[2 * (first + i)] = (float)re[i];
            f[2 * (first + i) + 1] = (float)im[i];
        } else {
            d[2 * (first + i)] = re[i];
            d[2 * (first + i) + 1] = im[i];
        }
}

void weft_twiddles_copy(const weft_twiddles *t, weft_precision precision, void *pairs) {
    const weft_root_table *r = &t->roots;
    put_pairs(precision, r->coarse_re, r->coarse_im, t->coarse, 0, pairs);
    put_pairs(precision, r->fine_re, r->fine_im, r->block, t->coarse, pairs);
}

/* As weft_root_table_at, which divides. */
static inline void root_at(const weft_twiddles *t, int64_t k, double *re, double *im) {
    const weft_root_table *r = &t->roots;
    const int64_t c = k >> t->shift, f = k & (r->block - 1);
    const double cr = r->coarse_re[c], ci = r->coarse_im[c];
    const double fr = r->fine_re[f], fi = r->fine_im[f];
    *re = cr + (cr * fr - ci * fi);
    *im = t->sign * (ci + (cr * fi + ci * fr));
}

/* ---- multiplying ---- */

/* Looking a root up takes longer than multiplying. So a row is multiplied block by block: a root
 * that is looked up for each block, times the roots of a block that begins at index 0. Blocks begin
 * at multiples of their size, so the bits do not depend on how a row is cut. */
enum { BLOCK = 8, PAIRS = 4, VECTORS = BLOCK / PAIRS };
typedef double pairs __attribute__((vector_size(16 * PAIRS)));
typedef float small_pairs __attribute__((vector_size(8 * PAIRS)));

/* The roots of such a block, each part twice; and once more, negative in the first place. */
typedef struct block_roots {
    pairs re[VECTORS], im[VECTORS], signed_re[VECTORS], signed_im[VECTORS];
} block_roots;

static void find_block(const weft_twiddles *t, int64_t step, block_roots *roots) {
    for (int i = 0; i < BLOCK; i++) {
        const int v = i / PAIRS, place = 2 * (i % PAIRS);
        double re = 0, im = 0; /* beyond the line: not used */
        if (step * i < t->count) root_at(t, step * i, &re, &im);
        for (int twice = 0; twice < 2; twice++) {
            const double sign = twice ? 1 : -1;
            roots->re[v][place + twice] = re;
            roots->im[v][place + twice] = im;
            roots->signed_re[v][place + twice] = sign * re;
            roots->signed_im[v][place + twice] = sign * im;
        }
    }
}

#define INLINE static inline __attribute__((always_inline))

/* *x becomes x times the roots of vector v of a block whose first root is (re, im). */
INLINE void times_roots(const block_roots *roots, int v, double re, double im, pairs *x) {
    const pairs swapped = __builtin_shufflevector(*x, *x, 1, 0, 3, 2, 5, 4, 7, 6);
    *x = *x * (re * roots->re[v] - im * roots->im[v]) +
         swapped * (re * roots->signed_im[v] + im * roots->signed_re[v]);
}

INLINE void multiply_block(const block_roots *roots, bool single, double re, double im,
                           void *data) {
    for (int v = 0; v < VECTORS; v++) {
        pairs x;
        small_pairs small;
        char *at = (char *)data + (size_t)v * (single ? sizeof small : sizeof x);
        if (single) {
            memcpy(&small, at, sizeof small);
            x = __builtin_convertvector(small, pairs);
        } else {
            memcpy(&x, at, sizeof x);
        }
        times_roots(roots, v, re, im, &x);
        small = __builtin_convertvector(x, small_pairs);
        memcpy(at, single ? (const void *)&small : (const void *)&x,
               single ? sizeof small : sizeof x);
    }
}

INLINE void multiply_row(const weft_twiddles *t, bool single, int64_t step, int64_t index,
                         int64_t count, char *data) {
    const size_t element = single ? 2 * sizeof(float) : 2 * sizeof(double);
    block_roots roots;
    find_block(t, step, &roots);
    for (int64_t end = index + count; index < end;) {
        const int64_t within = index % BLOCK, left = BLOCK - within;
        const int64_t here = end - index < left ? end - index : left;
        double re, im;
        root_at(t, step * (index - within), &re, &im);
        if (here == BLOCK) {
            multiply_block(&roots, single, re, im, data);
        } else {
            _Alignas(64) char part[2 * BLOCK * sizeof(double)] = {0};
            memcpy(part + (size_t)within * element, data, (size_t)here * element);
            multiply_block(&roots, single, re, im, part);
            memcpy(data, part + (size_t)within * element, (size_t)here * element);
        }
        data += (size_t)here * element;
        index += here;
    }
}

INLINE void multiply(const weft_twiddles *t, weft_precision precision, int64_t step, int64_t index,
                     int64_t count, void *data) {
    if (precision == WEFT_SINGLE)
        multiply_row(t, true, step, index, count, data);
    else
        multiply_row(t, false, step, index, count, data);
}

/* The same with each processor's vectors. Additions are not fused, so the bits are the same. */
static void multiply_plainly(const weft_twiddles *t, weft_precision precision, int64_t step,
                             int64_t index, int64_t count, void *data) {
    multiply(t, precision, step, index, count, data);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void multiply_avx2(const weft_twiddles *t,
                                                          weft_precision precision, int64_t step,
                                                          int64_t index, int64_t count,
                                                          void *data) {
    multiply(t, precision, step, index, count, data);
}

__attribute__((target("avx512f"))) static void multiply_avx512(const weft_twiddles *t,
                                                               weft_precision precision,
                                                               int64_t step, int64_t index,
                                                               int64_t count, void *data) {
    multiply(t, precision, step, index, count, data);
}
#endif

static multiply_function find_function(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return multiply_avx512;
    if (__builtin_cpu_supports("avx2")) return multiply_avx2;
#endif
    return multiply_plainly;
}

weft_status weft_twiddles_create(int64_t n1, int64_t n2, bool conjugate, weft_twiddles **out,
                                 size_t *bytes) {
    weft_twiddles *t = calloc(1, sizeof *t);
    const int64_t count = (n1 - 1) * (n2 - 1) + 1;
    if (!t || !weft_root_table_create(n1 * n2, count, &t->roots, bytes)) {
        weft_twiddles_release(t);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the twiddle factors of a line");
    }
    while ((int64_t)1 << t->shift < t->roots.block) t->shift++;
    t->count = count;
    t->coarse = (count + t->roots.block - 1) / t->roots.block;
    t->sign = conjugate ? -1 : 1;
    t->multiply = find_function();
    *bytes += sizeof *t;
    *out = t;
    return WEFT_SUCCESS;
}

void weft_twiddles_apply(const weft_twiddles *t, weft_precision precision, int64_t row,
                         int64_t index, int64_t count, void *data) {
    t->multiply(t, precision, row, index, count, data);
}
