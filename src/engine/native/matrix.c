/* Lines as matrices: the factors, the twiddles between, and the two steps. */
#include "engine/native/matrix.h"

#include "engine/native/number.h"
#include "engine/roots.h"

#include <stdlib.h>
#include <string.h>

/* The cheapest number of rows; 0 if there is none. */
static int64_t choose_rows(const weft_kernels *kernels, int64_t n) {
    const int64_t lanes = kernels->lanes;
    int64_t best = 0;
    double best_cost = 1e300;
    for (int64_t n1 = lanes; n1 * lanes <= n; n1 += lanes) {
        if (n % (n1 * lanes) != 0) continue;
        double cost = (weft_stages_cost(kernels, n1) / (double)n1 +
                       weft_stages_cost(kernels, n / n1) / (double)(n / n1));
        if (cost < best_cost) {
            best = n1;
            best_cost = cost;
        }
    }
    return best;
}

bool weft_matrix_suits(const weft_kernels *kernels, int64_t n) {
    return n > 0 && n % (kernels->lanes * kernels->lanes) == 0 && weft_stages_smooth(n);
}

static bool fill_table(weft_matrix *m, bool inverse) {
    const int64_t n = m->n1 * m->n2, lanes = m->kernels->lanes;
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    bool ok = re && im && weft_roots_fill(n, n, re, im);
    for (int64_t j = 0; j < m->n2 && ok; j++)
        for (int64_t k = 0; k < m->n1; k++) {
            int64_t at =
                (j / lanes * m->n1 + k) * 2 * lanes + m->kernels->position((int)(j % lanes));
            weft_number_set(m->kernels, m->table, at, re[j * k]);
            weft_number_set(m->kernels, m->table, at + lanes, inverse ? -im[j * k] : im[j * k]);
        }
    free(im);
    free(re);
    return ok;
}

/* The inverse of either step is the transform with its results in reverse order. */
static int64_t reversed(int64_t k, int64_t n, bool inverse) {
    return inverse && k > 0 ? n - k : k;
}

static void fill_orders(weft_matrix *m, bool inverse) {
    const int64_t element = 2 * m->kernels->real_bytes;
    for (int64_t j = 0; j < m->n1; j++) {
        m->load_offset[m->columns.place_of[j]] = j * m->n2 * element;
        m->column_row[j] = m->columns.result_row[reversed(j, m->n1, inverse)];
    }
    for (int64_t k = 0; k < m->n2; k++)
        m->store_offset[reversed(k, m->n2, inverse)] = k * m->n1 * element;
}

bool weft_matrix_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                        weft_matrix *m, size_t *bytes) {
    const bool inverse = direction == WEFT_INVERSE;
    memset(m, 0, sizeof *m);
    m->kernels = kernels;
    m->n1 = choose_rows(kernels, n);
    m->n2 = n / m->n1;
    size_t table = (size_t)(n / kernels->lanes * WEFT_ROW_BYTES);
    m->table = aligned_alloc(64, table);
    m->column_row = malloc((size_t)m->n1 * sizeof *m->column_row);
    m->load_offset = malloc((size_t)m->n1 * sizeof *m->load_offset);
    m->store_offset = malloc((size_t)m->n2 * sizeof *m->store_offset);
    *bytes += table + (size_t)m->n1 * (sizeof *m->column_row + sizeof *m->load_offset) +
              (size_t)m->n2 * sizeof *m->store_offset;
    bool ok = weft_stages_create(kernels, m->n1, &m->columns, bytes) &&
              weft_stages_create(kernels, m->n2, &m->rows, bytes) && m->table && m->column_row &&
              m->load_offset && m->store_offset && fill_table(m, inverse);
    if (ok) fill_orders(m, inverse);
    return ok;
}

void weft_matrix_release(weft_matrix *m) {
    weft_stages_release(&m->columns);
    weft_stages_release(&m->rows);
    free(m->table);
    free(m->column_row);
    free(m->load_offset);
    free(m->store_offset);
}

static int64_t tile_bytes(const weft_stages *s) {
    return s->rows * WEFT_ROW_BYTES;
}

size_t weft_matrix_room(const weft_matrix *m) {
    return (size_t)(tile_bytes(&m->columns) + m->n1 / m->kernels->lanes * tile_bytes(&m->rows));
}

/* The lines of a tile lie side by side: `width` bytes of every row of the matrix. */
static int64_t tile_width(const weft_matrix *m) {
    return m->kernels->lanes * 2 * m->kernels->real_bytes;
}

/* A share of the next line for each tile: all at once would fill the processor's queues, and what
 * it foresees by itself is not enough. */
static const char *fetch_share(const weft_matrix *m, const char *next) {
    enum { CACHE_LINE = 64 };
    const int64_t tiles = (m->n1 + m->n2) / m->kernels->lanes;
    const int64_t share = m->n1 * m->n2 * 2 * m->kernels->real_bytes / tiles;
    for (int64_t i = 0; i < share; i += CACHE_LINE) __builtin_prefetch(next + i);
    return next + share;
}

static const char *transform_columns(const weft_matrix *m, const char *in, char *tile, char *turned,
                                     const char *next) {
    const weft_stages *s = &m->columns;
    const int64_t lanes = m->kernels->lanes;
    for (int64_t c = 0; c < m->n2 / lanes; c++, in += tile_width(m)) {
        next = fetch_share(m, next);
        if (s->count > 1)
            weft_stages_load(s, in, m->load_offset, tile);
        else
            s->stage[0].codelet->load(in, m->load_offset, tile, 1, 0);
        weft_stages_run(s, tile, s->inner, s->count);
        m->kernels->turn(tile, m->column_row, m->n1,
                         (const char *)m->table + c * m->n1 * WEFT_ROW_BYTES, turned,
                         tile_bytes(&m->rows), m->rows.row_of + c * lanes);
    }
    return next;
}

static void transform_rows(const weft_matrix *m, char *tile, char *out, bool past,
                           const char *next) {
    const weft_stages *s = &m->rows;
    for (int64_t c = 0; c < m->n1 / m->kernels->lanes;
         c++, tile += tile_bytes(s), out += tile_width(m)) {
        next = fetch_share(m, next);
        if (s->count == 1) {
            s->stage[0].codelet->drop(tile, out, m->store_offset, past);
            continue;
        }
        weft_stages_run(s, tile, 0, s->count - 1);
        weft_stages_store(s, tile, out, m->store_offset, past);
    }
}

void weft_matrix_run(const weft_matrix *m, const void *in, void *out, void *room, bool past,
                     const void *next) {
    char *tile = room, *turned = tile + tile_bytes(&m->columns);
    next = transform_columns(m, in, tile, turned, next);
    transform_rows(m, turned, out, past, next);
}
