/*
 * Plans of the one-dimensional DFT. A length with a prime factor above the largest radix is done as
 * a convolution (chirp.h) of the next power of two from 2n - 1 on.
 */
#include "engine/reference/dft.h"

#include "engine/chirp.h"
#include "engine/reference/butterfly.h"

#include <stdlib.h>

enum { MAX_PASSES = 64, LARGEST_PRIME = 61 };

struct weft_dft {
    int64_t n;
    int passes;
    int radix[MAX_PASSES];
    weft_lines table;    /* roots of unity, or the chirp c_j */
    weft_dft *convolve;  /* NULL for mixed radix */
    weft_lines spectrum; /* of conj(c), over the length of the convolution */
};

/* Factorizes n by 4 as often as possible, then by primes in ascending order; false if one is too
 * large. */
static bool factorize(int64_t n, weft_dft *dft) {
    for (; n % 4 == 0; n /= 4) dft->radix[dft->passes++] = 4;
    for (int factor = 2; n > 1; factor++) {
        if (factor > LARGEST_PRIME) return false;
        for (; n % factor == 0; n /= factor) dft->radix[dft->passes++] = factor;
    }
    return true;
}

static bool allocate_lines(weft_lines *lines, int64_t n, size_t *bytes) {
    size_t size = (size_t)n * sizeof(double);
    lines->re = malloc(size);
    lines->im = malloc(size);
    *bytes += 2 * size;
    return lines->re && lines->im;
}

static void free_lines(weft_lines *lines) {
    free(lines->im);
    free(lines->re);
}

/* Computes the spectrum of the convolution's kernel, divided by its length, as the inverse
 * transform needs. */
static bool fill_spectrum(weft_dft *dft, size_t *bytes) {
    const int64_t n = dft->n, length = dft->convolve->n;
    weft_lines work;
    size_t ignored = 0;
    bool ok = allocate_lines(&dft->spectrum, length, bytes);
    ok = allocate_lines(&work, length, &ignored) && ok;
    if (ok) {
        weft_lines x = dft->spectrum, y = work;
        weft_chirp_wrap(n, 1, dft->table.re, dft->table.im, length, (double)length, x.re, x.im);
        weft_dft_run(dft->convolve, 1, &x, &y);
        dft->spectrum = x;
        work = y;
    }
    free_lines(&work);
    return ok;
}

weft_dft *weft_dft_create(int64_t n, size_t *bytes) {
    weft_dft *dft = calloc(1, sizeof *dft);
    if (!dft) return NULL;
    *bytes += sizeof *dft;
    dft->n = n;
    bool ok = allocate_lines(&dft->table, n, bytes);
    if (ok && factorize(n, dft)) {
        ok = weft_roots_fill(n, n, dft->table.re, dft->table.im);
    } else if (ok) {
        int64_t length = 1;
        while (length < 2 * n - 1) length *= 2;
        dft->passes = 0;
        dft->convolve = weft_dft_create(length, bytes);
        ok = dft->convolve && weft_chirp_fill(n, 1, dft->table.re, dft->table.im) &&
             fill_spectrum(dft, bytes);
    }
    if (ok) return dft;
    weft_dft_destroy(dft);
    return NULL;
}

void weft_dft_destroy(weft_dft *dft) {
    if (!dft) return;
    weft_dft_destroy(dft->convolve);
    free_lines(&dft->spectrum);
    free_lines(&dft->table);
    free(dft);
}

int64_t weft_dft_capacity(const weft_dft *dft) {
    return dft->convolve ? dft->convolve->n : dft->n;
}

static void run_mixed_radix(const weft_dft *dft, int64_t lanes, weft_lines *x, weft_lines *y) {
    weft_butterfly pass = {
        .n = dft->n, .rest = dft->n, .inner = lanes, .spread = 1, .roots = dft->table};
    for (int i = 0; i < dft->passes; i++) {
        pass.radix = dft->radix[i];
        pass.rest /= pass.radix;
        weft_butterfly_run(&pass, *x, *y);
        pass.inner *= pass.radix;
        pass.spread *= pass.radix;
        weft_lines result = *y;
        *y = *x;
        *x = result;
    }
}

/* x[j] *= factor[j] for every lane */
static void multiply(const weft_lines *factor, int64_t n, int64_t lanes, const weft_lines *x) {
    for (int64_t j = 0; j < n; j++) {
        const double c_re = factor->re[j], c_im = factor->im[j];
        double *restrict re = x->re + j * lanes, *restrict im = x->im + j * lanes;
        for (int64_t lane = 0; lane < lanes; lane++) {
            double a_re = re[lane], a_im = im[lane];
            re[lane] = a_re * c_re - a_im * c_im;
            im[lane] = a_re * c_im + a_im * c_re;
        }
    }
}

static void exchange_parts(weft_lines *lines) {
    double *re = lines->re;
    lines->re = lines->im;
    lines->im = re;
}

static void run_bluestein(const weft_dft *dft, int64_t lanes, weft_lines *x, weft_lines *y) {
    const int64_t length = dft->convolve->n;
    multiply(&dft->table, dft->n, lanes, x);
    for (int64_t i = dft->n * lanes; i < length * lanes; i++) x->re[i] = x->im[i] = 0;
    weft_dft_run(dft->convolve, lanes, x, y);
    multiply(&dft->spectrum, length, lanes, x);
    exchange_parts(x); /* makes it the inverse */
    weft_dft_run(dft->convolve, lanes, x, y);
    exchange_parts(x);
    multiply(&dft->table, dft->n, lanes, x);
}

void weft_dft_run(const weft_dft *dft, int64_t lanes, weft_lines *x, weft_lines *y) {
    if (dft->convolve)
        run_bluestein(dft, lanes, x, y);
    else
        run_mixed_radix(dft, lanes, x, y);
}
