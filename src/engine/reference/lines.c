/* Gather and scatter of complex, real, half-complex and embedded lines, in single or double
 * precision. */
#include "engine/reference/lines.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Real number i of an array of either precision; `single` is a constant wherever these are used. */
ALWAYS_INLINE double load(const void *array, int64_t i, bool single) {
    return single ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

ALWAYS_INLINE void store(void *array, int64_t i, double value, bool single) {
    if (single)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* ---- gather ---- */

ALWAYS_INLINE void gather_complex(const weft_pass *pass, const void *in, const int64_t *offset,
                                  int64_t lanes, weft_lines x, bool single) {
    for (int64_t j = 0; j < pass->dim.n; j++) {
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = 2 * (offset[lane] + j * pass->dim.in_stride);
            x.re[j * lanes + lane] = load(in, i, single);
            x.im[j * lanes + lane] = load(in, i + 1, single);
        }
    }
}

/* Gathers real lines. If halved, two neighbours become the real and imaginary part of one complex
 * number. */
ALWAYS_INLINE void gather_real(const weft_pass *pass, const void *in, const int64_t *offset,
                               int64_t lanes, weft_lines x, bool single) {
    const bool halved = pass->halved;
    const int64_t n = halved ? pass->dim.n / 2 : pass->dim.n, stride = pass->dim.in_stride;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = offset[lane] + (halved ? 2 * j : j) * stride;
            x.re[j * lanes + lane] = load(in, i, single);
            x.im[j * lanes + lane] = halved ? load(in, i + stride, single) : 0;
        }
    }
}

/* Gathers real lines into the sparse lines whose DFT holds their cosine or sine transform. */
ALWAYS_INLINE void gather_embedded(const weft_pass *pass, const void *in, const int64_t *offset,
                                   int64_t lanes, weft_lines x, bool single) {
    const weft_embedding *e = &pass->embedding;
    const int64_t n = pass->dim.n;
    memset(x.re, 0, (size_t)(e->n * lanes) * sizeof *x.re);
    memset(x.im, 0, (size_t)(e->n * lanes) * sizeof *x.im);
    for (int64_t j = 0; j < n; j++) {
        const int64_t last = e->in_last ? 0 : n - 1, place = e->in_last && j == 0 ? n : j;
        const bool once = (j == 0 && e->first_once) || (j == last && e->last_once);
        double *to = x.re + (e->in_first + place * e->in_step) * lanes;
        for (int64_t lane = 0; lane < lanes; lane++)
            to[lane] = (once ? 1 : 2) * load(in, offset[lane] + j * pass->dim.in_stride, single);
    }
}

/* Gathers half spectra; the other half follows by symmetry. */
ALWAYS_INLINE void gather_hermitian(const weft_pass *pass, const void *in, const int64_t *offset,
                                    int64_t lanes, weft_lines x, bool single) {
    const int64_t n = pass->dim.n;
    for (int64_t k = 0; k <= n / 2; k++) {
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = 2 * (offset[lane] + k * pass->dim.in_stride);
            double re = load(in, i, single);
            double im = k == 0 || 2 * k == n ? 0 : load(in, i + 1, single);
            x.re[k * lanes + lane] = re;
            x.im[k * lanes + lane] = im;
            if (k == 0) continue;
            x.re[(n - k) * lanes + lane] = re;
            x.im[(n - k) * lanes + lane] = -im;
        }
    }
}

/* Halved, n = 2h: Z_k = (X_k + conj X_(h-k)) + i (X_k - conj X_(h-k)) exp(2 pi i k / n), whose
 * inverse DFT has the even samples as real and the odd ones as imaginary parts. */
ALWAYS_INLINE void gather_hermitian_halved(const weft_pass *pass, const void *in,
                                           const int64_t *offset, int64_t lanes, weft_lines x,
                                           bool single) {
    const int64_t h = pass->dim.n / 2, stride = pass->dim.in_stride;
    for (int64_t k = 0; k < h; k++) {
        const double w_re = pass->roots.re[k], w_im = -pass->roots.im[k];
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = 2 * (offset[lane] + k * stride), j = 2 * (offset[lane] + (h - k) * stride);
            double a_re = load(in, i, single), b_re = load(in, j, single);
            double a_im = k == 0 ? 0 : load(in, i + 1, single);
            double b_im = k == 0 ? 0 : load(in, j + 1, single);
            double d_re = a_re - b_re, d_im = a_im + b_im;
            x.re[k * lanes + lane] = (a_re + b_re) - (d_re * w_im + d_im * w_re);
            x.im[k * lanes + lane] = (a_im - b_im) + (d_re * w_re - d_im * w_im);
        }
    }
}

ALWAYS_INLINE void gather(const weft_pass *pass, const void *in, const int64_t *offset,
                          int64_t lanes, weft_lines x, bool single) {
    if (pass->kind == WEFT_TRANSFORM_C2C)
        gather_complex(pass, in, offset, lanes, x, single);
    else if (pass->kind == WEFT_TRANSFORM_R2C)
        gather_real(pass, in, offset, lanes, x, single);
    else if (pass->kind == WEFT_TRANSFORM_R2R)
        gather_embedded(pass, in, offset, lanes, x, single);
    else if (!pass->halved)
        gather_hermitian(pass, in, offset, lanes, x, single);
    else
        gather_hermitian_halved(pass, in, offset, lanes, x, single);
}

void weft_lines_gather(const weft_pass *pass, const void *in, const int64_t *offset, int64_t lanes,
                       weft_lines x) {
    if (pass->precision == WEFT_SINGLE)
        gather(pass, in, offset, lanes, x, true);
    else
        gather(pass, in, offset, lanes, x, false);
}

/* ---- scatter ---- */

/* Scatters the first `count` complex elements of each line. */
ALWAYS_INLINE void scatter_complex(const weft_pass *pass, int64_t count, weft_lines x, void *out,
                                   const int64_t *offset, int64_t lanes, bool single) {
    for (int64_t k = 0; k < count; k++) {
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = 2 * (offset[lane] + k * pass->dim.out_stride);
            store(out, i, x.re[k * lanes + lane], single);
            store(out, i + 1, x.im[k * lanes + lane], single);
        }
    }
}

/* Halved, n = 2h, from the DFT Z of the samples taken in pairs:
 * X_k = (Z_k + conj Z_(h-k)) / 2 - i/2 (Z_k - conj Z_(h-k)) exp(-2 pi i k / n), k = 0..h, Z_h =
 * Z_0. */
ALWAYS_INLINE void scatter_hermitian_halved(const weft_pass *pass, weft_lines x, void *out,
                                            const int64_t *offset, int64_t lanes, bool single) {
    const int64_t h = pass->dim.n / 2;
    for (int64_t k = 0; k <= h; k++) {
        const double w_re = pass->roots.re[k], w_im = pass->roots.im[k];
        const int64_t a = (k == h ? 0 : k) * lanes, b = (k == 0 ? 0 : h - k) * lanes;
        for (int64_t lane = 0; lane < lanes; lane++) {
            double a_re = x.re[a + lane], a_im = x.im[a + lane];
            double b_re = x.re[b + lane], b_im = x.im[b + lane];
            double d_re = a_re - b_re, d_im = a_im + b_im;
            int64_t i = 2 * (offset[lane] + k * pass->dim.out_stride);
            store(out, i, 0.5 * ((a_re + b_re) + (d_re * w_im + d_im * w_re)), single);
            store(out, i + 1, 0.5 * ((a_im - b_im) - (d_re * w_re - d_im * w_im)), single);
        }
    }
}

ALWAYS_INLINE void scatter_real(const weft_pass *pass, weft_lines x, void *out,
                                const int64_t *offset, int64_t lanes, bool single) {
    const bool halved = pass->halved;
    const int64_t n = halved ? pass->dim.n / 2 : pass->dim.n, stride = pass->dim.out_stride;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t i = offset[lane] + (halved ? 2 * j : j) * stride;
            store(out, i, x.re[j * lanes + lane], single);
            if (halved) store(out, i + stride, x.im[j * lanes + lane], single);
        }
    }
}

ALWAYS_INLINE void scatter_embedded(const weft_pass *pass, weft_lines x, void *out,
                                    const int64_t *offset, int64_t lanes, bool single) {
    const weft_embedding *e = &pass->embedding;
    for (int64_t k = 0; k < pass->dim.n; k++) {
        const int64_t place = e->out_last && k == 0 ? pass->dim.n : k;
        const int64_t at = (e->out_first + place * e->out_step) * lanes;
        for (int64_t lane = 0; lane < lanes; lane++)
            store(out, offset[lane] + k * pass->dim.out_stride,
                  e->sine ? -x.im[at + lane] : x.re[at + lane], single);
    }
}

ALWAYS_INLINE void scatter(const weft_pass *pass, weft_lines x, void *out, const int64_t *offset,
                           int64_t lanes, bool single) {
    if (pass->kind == WEFT_TRANSFORM_C2C)
        scatter_complex(pass, pass->dim.n, x, out, offset, lanes, single);
    else if (pass->kind == WEFT_TRANSFORM_C2R)
        scatter_real(pass, x, out, offset, lanes, single);
    else if (pass->kind == WEFT_TRANSFORM_R2R)
        scatter_embedded(pass, x, out, offset, lanes, single);
    else if (!pass->halved)
        scatter_complex(pass, pass->dim.n / 2 + 1, x, out, offset, lanes, single);
    else
        scatter_hermitian_halved(pass, x, out, offset, lanes, single);
}

void weft_lines_scatter(const weft_pass *pass, weft_lines x, void *out, const int64_t *offset,
                        int64_t lanes) {
    if (pass->precision == WEFT_SINGLE)
        scatter(pass, x, out, offset, lanes, true);
    else
        scatter(pass, x, out, offset, lanes, false);
}
