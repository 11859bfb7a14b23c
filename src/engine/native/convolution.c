/*
 * jk = (j^2 + k^2 - (k-j)^2) / 2: the transform is a convolution with a chirp (Bluestein, 1970),
 * done here over a power of two or thrice one. The inverse conjugates what it loads and stores.
 * Lines of smooth length come here when their real points cannot be taken in pairs; they need no
 * chirp.
 */
#include "engine/native/convolution.h"

#include "engine/native/number.h"
#include "engine/native/pass_group.h"
#include "engine/roots.h"
#include "engine/smooth.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

struct weft_convolution {
    const weft_kernels *kernels;
    weft_transform_kind kind;
    bool conjugate;
    int64_t n, m;
    int64_t in_stride, out_stride; /* bytes */
    weft_pass_group transform;     /* forward, of length m, from buffer to buffer */
    void *chirp, *filter;          /* [n], [m]; complex; NULL where n is smooth, and m is n */
};

static size_t buffer_bytes(const weft_convolution *c) {
    return (size_t)c->m * 2 * (size_t)c->kernels->real_bytes;
}

static int64_t convolution_length(int64_t least) {
    int64_t m = 1;
    while (m < least) m *= 2;
    return m / 4 * 3 >= least ? m / 4 * 3 : m;
}

static void transform(const weft_convolution *c, const void *from, void *to, char *memory) {
    const void *in[1] = {from};
    weft_pass_group_run(&c->transform, in, &to, memory, 0, 1);
}

static bool make_tables(weft_convolution *c, size_t *bytes) {
    const weft_kernels *k = c->kernels;
    const int64_t n = c->n, m = c->m;
    double *re = malloc(2 * (size_t)n * sizeof *re), *im = malloc(2 * (size_t)n * sizeof *im);
    char *memory = calloc(1, weft_pass_group_memory(&c->transform));
    void *kernel = calloc(1, buffer_bytes(c));
    c->chirp = malloc((size_t)n * 2 * (size_t)k->real_bytes);
    c->filter = malloc(buffer_bytes(c));
    *bytes += (size_t)n * 2 * (size_t)k->real_bytes + buffer_bytes(c);
    bool ok = re && im && memory && kernel && c->chirp && c->filter &&
              weft_roots_fill(2 * n, 2 * n, re, im);
    for (int64_t j = 0, square = 0; j < n && ok; j++) { /* j^2 mod 2 n */
        weft_number_set(k, c->chirp, 2 * j, re[square]);
        weft_number_set(k, c->chirp, 2 * j + 1, im[square]);
        int64_t back = (m - j) % m;
        weft_number_set(k, kernel, 2 * j, re[square] / (double)m);
        weft_number_set(k, kernel, 2 * j + 1, -im[square] / (double)m);
        weft_number_set(k, kernel, 2 * back, re[square] / (double)m);
        weft_number_set(k, kernel, 2 * back + 1, -im[square] / (double)m);
        square = (square + 2 * j + 1) % (2 * n);
    }
    if (ok) transform(c, kernel, c->filter, memory);
    free(kernel);
    free(memory);
    free(im);
    free(re);
    return ok;
}

weft_status weft_convolution_create(const weft_kernels *kernels, weft_transform_kind kind,
                                    weft_direction direction, const weft_dimension *dim,
                                    weft_convolution **out, size_t *bytes) {
    weft_convolution *c = calloc(1, sizeof *c);
    *out = c;
    if (!c) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    const int64_t element = 2 * kernels->real_bytes;
    *bytes += sizeof *c;
    c->kernels = kernels;
    c->kind = kind;
    c->conjugate = direction == WEFT_INVERSE;
    c->n = dim->n;
    const bool smooth = weft_is_smooth(dim->n);
    c->m = smooth ? dim->n : convolution_length(2 * dim->n - 1);
    c->in_stride = dim->in_stride * (kind == WEFT_TRANSFORM_R2C ? element / 2 : element);
    c->out_stride = dim->out_stride * (kind == WEFT_TRANSFORM_C2R ? element / 2 : element);
    weft_pass_request inner = {.kernels = kernels,
                               .kind = WEFT_TRANSFORM_C2C,
                               .direction = WEFT_FORWARD,
                               .dim = {c->m, 1, 1}};
    WEFT_TRY(weft_pass_group_create_long(&inner, &c->transform, bytes));
    if (!smooth && !make_tables(c, bytes))
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                         "native engine: no memory for the tables of length %lld",
                         (long long)dim->n);
    return WEFT_SUCCESS;
}

void weft_convolution_release(weft_convolution *c) {
    if (!c) return;
    weft_pass_group_release(&c->transform);
    free(c->chirp);
    free(c->filter);
    free(c);
}

size_t weft_convolution_memory(const weft_convolution *c) {
    return 2 * buffer_bytes(c) + weft_pass_group_memory(&c->transform);
}

/* Loads point j of a line; of a half spectrum also the points that it implies. */
static void load_point(const weft_convolution *c, const char *in, int64_t j, double *re,
                       double *im) {
    const bool mirrored = c->kind == WEFT_TRANSFORM_C2R && 2 * j > c->n;
    const char *x = in + (mirrored ? c->n - j : j) * c->in_stride;
    *re = weft_number_get(c->kernels, x, 0);
    *im = c->kind == WEFT_TRANSFORM_R2C ? 0.0 : weft_number_get(c->kernels, x, 1);
    if (c->kind == WEFT_TRANSFORM_C2R && (j == 0 || 2 * j == c->n)) *im = 0.0;
    if (mirrored != c->conjugate) *im = -*im;
}

static void load_line(const weft_convolution *c, const char *in, void *x) {
    const weft_kernels *k = c->kernels;
    for (int64_t j = 0; j < c->n; j++) {
        double re, im, wr = 1, wi = 0;
        load_point(c, in, j, &re, &im);
        if (c->chirp)
            wr = weft_number_get(k, c->chirp, 2 * j), wi = weft_number_get(k, c->chirp, 2 * j + 1);
        weft_number_set(k, x, 2 * j, re * wr - im * wi);
        weft_number_set(k, x, 2 * j + 1, re * wi + im * wr);
    }
}

static void store_line(const weft_convolution *c, const void *x, char *out) {
    const weft_kernels *k = c->kernels;
    const int64_t points = c->kind == WEFT_TRANSFORM_R2C ? c->n / 2 + 1 : c->n;
    for (int64_t j = 0; j < points; j++, out += c->out_stride) {
        double re = weft_number_get(k, x, 2 * j), im = weft_number_get(k, x, 2 * j + 1), wr = 1,
               wi = 0;
        if (c->chirp)
            wr = weft_number_get(k, c->chirp, 2 * j), wi = weft_number_get(k, c->chirp, 2 * j + 1);
        double imaginary = re * wi + im * wr;
        weft_number_set(k, out, 0, re * wr - im * wi);
        if (c->kind != WEFT_TRANSFORM_C2R)
            weft_number_set(k, out, 1, c->conjugate ? -imaginary : imaginary);
    }
}

/* Convolves x: multiplies its transform by the filter and transforms back. y is scratch memory. */
static void convolve(const weft_convolution *c, void *x, void *y, char *rest) {
    const weft_kernels *k = c->kernels;
    memset((char *)x + (size_t)c->n * 2 * (size_t)k->real_bytes, 0,
           (size_t)(c->m - c->n) * 2 * (size_t)k->real_bytes);
    transform(c, x, y, rest);
    for (int64_t j = 0; j < c->m;
         j++) { /* conjugated, so that the forward transform acts as the inverse */
        double re = weft_number_get(k, y, 2 * j), im = weft_number_get(k, y, 2 * j + 1);
        double wr = weft_number_get(k, c->filter, 2 * j),
               wi = weft_number_get(k, c->filter, 2 * j + 1);
        weft_number_set(k, y, 2 * j, re * wr - im * wi);
        weft_number_set(k, y, 2 * j + 1, -(re * wi + im * wr));
    }
    transform(c, y, x, rest);
    for (int64_t j = 0; j < c->n; j++)
        weft_number_set(k, x, 2 * j + 1, -weft_number_get(k, x, 2 * j + 1));
}

void weft_convolution_run(const weft_convolution *c, const void *in, void *out, char *memory) {
    char *x = memory, *y = memory + buffer_bytes(c), *rest = y + buffer_bytes(c);
    load_line(c, in, x);
    if (c->chirp)
        convolve(c, x, y, rest);
    else
        transform(c, x, y, rest);
    store_line(c, c->chirp ? x : y, out);
}
