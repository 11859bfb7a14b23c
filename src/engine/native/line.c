/*
 * Rader (1968): with a generator g of the units modulo p, X[g^-q] - x[0] is the cyclic convolution
 * of x[g^q] with exp(-2 pi i g^-q / p). Bluestein: chirp.h.
 *
 * A convolution transforms, multiplies into a second area of the tile, and transforms again. The
 * second transform must be an inverse, which is the forward transform with its results in reverse
 * order, so only the rows from which results are read differ.
 */
#include "engine/native/line.h"

#include "engine/chirp.h"
#include "engine/generator.h"
#include "engine/native/number.h"
#include "engine/reference/dft.h"
#include "engine/roots.h"
#include "engine/smooth.h"

#include <stdlib.h>
#include <string.h>

/* The cheapest smooth length of at least `least`. */
static int64_t convolution_length(const weft_kernels *kernels, int64_t least) {
    int64_t best = 0;
    double best_cost = 1e300;
    for (int64_t m = least; m <= 2 * least; m++) {
        if (!weft_is_smooth(m)) continue;
        double cost = weft_stages_cost(kernels, m);
        if (cost < best_cost) {
            best = m;
            best_cost = cost;
        }
        if (m > least + 256 && best > 0) break;
    }
    return best;
}

static weft_line_method choose(int64_t n) {
    if (weft_is_smooth(n)) return WEFT_LINE_STAGES;
    return weft_is_prime(n) && weft_is_smooth(n - 1) ? WEFT_LINE_RADER : WEFT_LINE_BLUESTEIN;
}

double weft_line_cost(const weft_kernels *kernels, int64_t n) {
    switch (choose(n)) {
    case WEFT_LINE_STAGES:
        return weft_stages_cost(kernels, n);
    case WEFT_LINE_RADER:
        return 2 * weft_stages_cost(kernels, n - 1) + 10 * (double)n;
    default:
        return 2 * weft_stages_cost(kernels, convolution_length(kernels, 2 * n - 1)) +
               20 * (double)n;
    }
}

void *weft_line_make_filter(const weft_kernels *kernels, const double *re, const double *im,
                            int64_t m, size_t *bytes) {
    size_t unused = 0;
    weft_dft *dft = weft_dft_create(m, &unused);
    if (!dft) return NULL;
    int64_t capacity = weft_dft_capacity(dft);
    double *work = malloc(4 * (size_t)capacity * sizeof *work);
    void *filter = NULL;
    if (work) {
        weft_lines x = {work, work + capacity};
        weft_lines y = {work + 2 * capacity, work + 3 * capacity};
        memcpy(x.re, re, (size_t)m * sizeof *re);
        memcpy(x.im, im, (size_t)m * sizeof *im);
        weft_dft_run(dft, 1, &x, &y);
        for (int64_t j = 0; j < m; j++) {
            x.re[j] /= (double)m;
            x.im[j] /= (double)m;
        }
        filter = weft_numbers_create(kernels, x.re, x.im, m, bytes);
    }
    free(work);
    weft_dft_destroy(dft);
    return filter;
}

/* The row of result k of the convolution's second transform, an inverse: its results are in the
 * second area, in reverse order. */
static int32_t inverse_row(const weft_stages *s, int64_t k, int64_t area) {
    return (int32_t)(area + s->result_row[k == 0 ? 0 : s->n - k]);
}

/* `work` has room for 2 p numbers, the roots, and for 2 (p - 1). */
static bool create_rader(weft_line *line, double *work, size_t *bytes) {
    const int64_t p = line->n, m = p - 1, g = weft_generator(p),
                  inverse = weft_power_modulo(g, p - 2, p);
    double *root_re = work, *root_im = root_re + p, *re = root_im + p, *im = re + m;
    const weft_stages *s = &line->stages;
    const int64_t area = s->rows + 1; /* with a row for point 0, and one for result 0 */
    if (!weft_roots_fill(p, p, root_re, root_im)) return false;
    line->rows = 2 * area;
    line->load_row[0] = (int32_t)s->rows;
    line->store_row[0] = (int32_t)(area + s->rows);
    for (int64_t q = 0, up = 1, down = 1; q < m; q++) {
        line->load_row[up] = s->row_of[q];
        line->store_row[down] = inverse_row(s, q, area);
        re[q] = root_re[down];
        im[q] = root_im[down];
        up = up * g % p;
        down = down * inverse % p;
    }
    for (int64_t j = 0; j < m; j++) line->spread[j] = (int32_t)(area + s->row_of[j]);
    line->filter = weft_line_make_filter(s->kernels, re, im, m, bytes);
    return line->filter != NULL;
}

/* `work` has room for 2 n numbers, the chirp, and for twice the length of the convolution. */
static bool create_bluestein(weft_line *line, double *work, size_t *bytes) {
    const int64_t n = line->n, m = line->stages.n;
    double *chirp_re = work, *chirp_im = chirp_re + n, *re = chirp_im + n, *im = re + m;
    const weft_stages *s = &line->stages;
    line->rows = 2 * s->rows;
    line->result_row = malloc((size_t)n * sizeof *line->result_row);
    *bytes += (size_t)n * sizeof *line->result_row;
    if (!line->result_row || !weft_chirp_fill(n, 1, chirp_re, chirp_im)) return false;
    weft_chirp_wrap(n, 1, chirp_re, chirp_im, m, 1, re, im);
    for (int64_t j = 0; j < n; j++) {
        line->load_row[j] = s->row_of[j];
        line->result_row[j] = line->store_row[j] = inverse_row(s, j, s->rows);
    }
    for (int64_t j = 0; j < m; j++) line->spread[j] = (int32_t)(s->rows + s->row_of[j]);
    line->chirp = weft_numbers_create(s->kernels, chirp_re, chirp_im, n, bytes);
    line->filter = weft_line_make_filter(s->kernels, re, im, m, bytes);
    return line->chirp && line->filter;
}

static bool create_convolution(weft_line *line, size_t *bytes) {
    const int64_t n = line->n, m = line->stages.n;
    double *work = malloc((size_t)(2 * n + 2 * m) * sizeof *work);
    line->spread = malloc((size_t)m * sizeof *line->spread);
    *bytes += (size_t)m * sizeof *line->spread;
    bool ok = work && line->spread;
    if (ok)
        ok = line->method == WEFT_LINE_RADER ? create_rader(line, work, bytes)
                                             : create_bluestein(line, work, bytes);
    free(work);
    return ok;
}

/* Reverses the order in which results are read, which makes the transform its inverse. */
static void reverse(int32_t *rows, int64_t n) {
    for (int64_t k = 1; 2 * k < n; k++) {
        int32_t row = rows[k];
        rows[k] = rows[n - k];
        rows[n - k] = row;
    }
}

bool weft_line_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                      weft_line *line, size_t *bytes) {
    memset(line, 0, sizeof *line);
    line->method = choose(n);
    line->n = n;
    line->load_row = malloc((size_t)n * sizeof *line->load_row);
    line->store_row = malloc((size_t)n * sizeof *line->store_row);
    *bytes += 2 * (size_t)n * sizeof *line->load_row;
    int64_t length = line->method == WEFT_LINE_STAGES  ? n
                     : line->method == WEFT_LINE_RADER ? n - 1
                                                       : convolution_length(kernels, 2 * n - 1);
    bool ok = line->load_row && line->store_row &&
              weft_stages_create(kernels, length, &line->stages, bytes);
    if (!ok) return false;
    if (line->method == WEFT_LINE_STAGES) {
        line->rows = line->stages.rows;
        memcpy(line->load_row, line->stages.row_of, (size_t)n * sizeof *line->load_row);
        memcpy(line->store_row, line->stages.result_row, (size_t)n * sizeof *line->store_row);
    } else if (!create_convolution(line, bytes)) {
        return false;
    }
    if (direction == WEFT_INVERSE) reverse(line->store_row, n);
    return true;
}

void weft_line_release(weft_line *line) {
    weft_stages_release(&line->stages);
    free(line->load_row);
    free(line->store_row);
    free(line->chirp);
    free(line->filter);
    free(line->spread);
    free(line->result_row);
}

static char *row_at(void *tile, int64_t row) {
    return (char *)tile + row * WEFT_ROW_BYTES;
}

/* X[0] is x[0] plus the sum of the other points, which is result 0 of the first transform. Every
 * other result needs x[0] added, too: one addition to point 0 of the product does that for all of
 * them. */
static void run_rader(const weft_line *line, void *tile) {
    const weft_stages *s = &line->stages;
    const int64_t area = s->rows + 1;
    char *point = row_at(tile, s->rows);
    weft_stages_run(s, tile, 0, s->count);
    s->kernels->add_rows(point, row_at(tile, s->result_row[0]), row_at(tile, area + s->rows));
    s->kernels->multiply(tile, s->result_row, tile, line->spread, s->n, line->filter);
    char *zeroth = row_at(tile, line->spread[0]);
    s->kernels->add_rows(point, zeroth, zeroth);
    weft_stages_run(s, row_at(tile, area), 0, s->count);
}

static void run_bluestein(const weft_line *line, void *tile) {
    const weft_stages *s = &line->stages;
    const int64_t n = line->n, m = s->n;
    s->kernels->multiply(tile, line->load_row, tile, line->load_row, n, line->chirp);
    for (int64_t j = n; j < m; j++) memset(row_at(tile, s->row_of[j]), 0, WEFT_ROW_BYTES);
    weft_stages_run(s, tile, 0, s->count);
    s->kernels->multiply(tile, s->result_row, tile, line->spread, m, line->filter);
    weft_stages_run(s, row_at(tile, s->rows), 0, s->count);
    s->kernels->multiply(tile, line->result_row, tile, line->result_row, n, line->chirp);
}

void weft_line_run(const weft_line *line, void *tile) {
    switch (line->method) {
    case WEFT_LINE_STAGES:
        weft_stages_run(&line->stages, tile, 0, line->stages.count);
        return;
    case WEFT_LINE_RADER:
        run_rader(line, tile);
        return;
    case WEFT_LINE_BLUESTEIN:
        run_bluestein(line, tile);
        return;
    }
}
