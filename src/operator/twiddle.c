/* Multiplying by twiddle factors, each a product of two table entries. This file is compiled
 * without contraction to fused operations (CMakeLists.txt), as apply.c is. */
#include "operator/twiddle.h"

#include "engine/native/root_table.h"
#include "support/error.h"

#include <stdlib.h>

struct weft_twiddles {
    weft_root_table roots;
    int shift; /* the table's block is 2^shift */
    int64_t coarse;
    double sign;
};

weft_status weft_twiddles_create(int64_t n1, int64_t n2, bool conjugate, weft_twiddles **out,
                                 size_t *bytes) {
    weft_twiddles *t = calloc(1, sizeof *t);
    const int64_t count = (n1 - 1) * (n2 - 1) + 1;
    if (!t || !weft_root_table_create(n1 * n2, count, &t->roots, bytes)) {
        weft_twiddles_release(t);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for the twiddle factors of a line");
    }
    while ((int64_t)1 << t->shift < t->roots.block) t->shift++;
    t->coarse = (count + t->roots.block - 1) / t->roots.block;
    t->sign = conjugate ? -1 : 1;
    *bytes += sizeof *t;
    *out = t;
    return WEFT_SUCCESS;
}

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

void weft_twiddles_apply(const weft_twiddles *t, weft_precision precision, int64_t first,
                         int64_t step, int64_t count, void *data) {
    double *d = data, re, im;
    float *f = data;
    for (int64_t i = 0; i < count && precision == WEFT_SINGLE; i++) {
        const double x = f[2 * i], y = f[2 * i + 1];
        root_at(t, first + i * step, &re, &im);
        f[2 * i] = (float)(x * re - y * im);
        f[2 * i + 1] = (float)(x * im + y * re);
    }
    for (int64_t i = 0; i < count && precision != WEFT_SINGLE; i++) {
        const double x = d[2 * i], y = d[2 * i + 1];
        root_at(t, first + i * step, &re, &im);
        d[2 * i] = x * re - y * im;
        d[2 * i + 1] = x * im + y * re;
    }
}
