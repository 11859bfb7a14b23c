/* Convolutions of a line alone: their length, tables and steps. */
#include "engine/native/lone_chirp.h"

#include "engine/chirp.h"
#include "engine/native/line.h"
#include "engine/native/number.h"
#include "engine/smooth.h"

#include <stdlib.h>
#include <string.h>

/* The cheapest of the next smooth lengths, and its cost. */
static int64_t convolution_length(const weft_kernels *kernels, int64_t n, double *cost) {
    enum { CANDIDATES = 12 };
    int64_t best = 0;
    *cost = 1e300;
    for (int64_t m = 2 * n - 1, seen = 0; seen < CANDIDATES; m++) {
        if (!weft_is_smooth(m)) continue;
        const double found = weft_lone_cost(kernels, m);
        seen++;
        if (found >= *cost) continue;
        best = m;
        *cost = found;
    }
    return best;
}

double weft_lone_chirp_cost(const weft_kernels *kernels, int64_t n) {
    double transform;
    const int64_t m = convolution_length(kernels, n, &transform);
    return 2 * transform + 1.5 * (double)m;
}

static bool make_tables(const weft_kernels *kernels, int64_t n, double sign, weft_lone_chirp *c,
                        size_t *bytes) {
    const int64_t m = c->line.n;
    double *memory = malloc((size_t)(2 * n + 2 * m) * sizeof *memory);
    double *re = memory, *im = re + n, *kernel_re = im + n, *kernel_im = kernel_re + m;
    const bool ok = memory && weft_chirp_fill(n, 1, re, im);
    for (int64_t j = 0; j < n && ok; j++) im[j] *= sign;
    if (ok) weft_chirp_wrap(n, 1, re, im, m, 1, kernel_re, kernel_im);
    if (ok) {
        c->chirp = weft_numbers_create(kernels, re, im, n, bytes);
        for (int64_t j = 0; j < n; j++) im[j] = -im[j];
        c->conjugated = weft_numbers_create(kernels, re, im, n, bytes);
        c->filter = weft_line_make_filter(kernels, kernel_re, kernel_im, m, bytes);
    }
    free(memory);
    return ok && c->chirp && c->conjugated && c->filter;
}

bool weft_lone_chirp_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                            weft_lone_chirp *c, size_t *bytes) {
    double cost;
    memset(c, 0, sizeof *c);
    c->n = n;
    return weft_lone_create(kernels, convolution_length(kernels, n, &cost), WEFT_FORWARD, &c->line,
                            bytes) &&
           make_tables(kernels, n, direction == WEFT_INVERSE ? -1.0 : 1.0, c, bytes);
}

void weft_lone_chirp_release(weft_lone_chirp *c) {
    weft_lone_release(&c->line);
    free(c->chirp);
    free(c->conjugated);
    free(c->filter);
}

static size_t line_bytes(const weft_lone_chirp *c) {
    const size_t bytes = (size_t)(c->line.n * weft_complex_bytes(c->line.kernels));
    return (bytes + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE * WEFT_CACHE_LINE;
}

size_t weft_lone_chirp_room(const weft_lone_chirp *c) {
    return line_bytes(c) + weft_lone_room(&c->line);
}

void weft_lone_chirp_run(const weft_lone_chirp *c, const void *in, void *out, void *room,
                         double scale) {
    const weft_kernels *k = c->line.kernels;
    const int64_t n = c->n, m = c->line.n, element = weft_complex_bytes(k);
    char *line = room, *rest = line + line_bytes(c);
    k->multiply_lines(in, c->chirp, line, n);
    memset(line + n * element, 0, (size_t)((m - n) * element));
    weft_lone_run(&c->line, line, line, rest, 1);
    k->multiply_lines_conjugated(line, c->filter, line, m, 1);
    weft_lone_run(&c->line, line, line, rest, 1);
    k->multiply_lines_conjugated(line, c->conjugated, out, n, scale);
}
