/* Lines as matrices: the factors, the twiddles between, and the two steps. */
#include "engine/native/matrix.h"

#include "engine/native/number.h"
#include "engine/roots.h"
#include "engine/smooth.h"
#include "support/topology.h"

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
    return n > 0 && n % (kernels->lanes * kernels->lanes) == 0 && weft_is_smooth(n);
}

enum { LARGEST_TABLE = 1 << 12 /* points whose twiddles all lie in a table */ };

/* exp(-+ 2 pi i j k / n) for the columns j of tile c, as a tile of n1 rows k. */
static void fill_tile(weft_matrix *m, int64_t c, const double *re, const double *im, double sign) {
    const int64_t n = m->n1 * m->n2, lanes = m->kernels->lanes;
    for (int64_t k = 0; k < m->n1; k++)
        for (int64_t l = 0; l < lanes; l++) {
            int64_t at = (c * m->n1 + k) * 2 * lanes + m->kernels->position((int)l);
            int64_t index = (c * lanes + l) * k % n;
            weft_number_set(m->kernels, m->table, at, re[index]);
            weft_number_set(m->kernels, m->table, at + lanes, sign * im[index]);
        }
}

static bool fill_twiddles(weft_matrix *m, bool inverse) {
    const int64_t n = m->n1 * m->n2, lanes = m->kernels->lanes, tiles = m->n2 / lanes;
    const double sign = inverse ? -1.0 : 1.0;
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    bool ok = re && im && weft_roots_fill(n, n, re, im);
    for (int64_t c = 0; c < (m->factors ? 1 : tiles) && ok; c++) fill_tile(m, c, re, im, sign);
    for (int64_t i = 0; i < tiles * m->n1 && m->factors && ok; i++) {
        int64_t index = i / m->n1 * lanes * (i % m->n1);
        weft_number_set(m->kernels, m->factors, 2 * i, re[index]);
        weft_number_set(m->kernels, m->factors, 2 * i + 1, sign * im[index]);
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
    for (int64_t k = 0; k < m->n2; k++) {
        m->turned_offset[m->rows.place_of[k]] = k * WEFT_ROW_BYTES;
        m->store_offset[reversed(k, m->n2, inverse)] = k * m->n1 * element;
    }
}

bool weft_matrix_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                        weft_matrix *m, size_t *bytes) {
    const bool inverse = direction == WEFT_INVERSE;
    memset(m, 0, sizeof *m);
    m->kernels = kernels;
    m->n1 = choose_rows(kernels, n);
    m->n2 = n / m->n1;
    m->far = n * weft_complex_bytes(kernels) > 2 * (int64_t)weft_topology_get()->l2;
    /* Not a power of two, lest runs for successive tiles compete for the same sets of the cache. */
    m->apart = (m->n2 + 1) * WEFT_ROW_BYTES;
    const int64_t tiles = m->n2 / kernels->lanes, tables = n > LARGEST_TABLE ? 1 : tiles;
    m->share = n * weft_complex_bytes(kernels) / (tiles + m->n1 / kernels->lanes);
    size_t table = (size_t)(tables * m->n1 * WEFT_ROW_BYTES);
    size_t factors = (size_t)(tiles * m->n1 * weft_complex_bytes(kernels));
    m->table = aligned_alloc(64, table);
    if (tables < tiles) m->factors = malloc(factors);
    m->column_row = malloc((size_t)m->n1 * sizeof *m->column_row);
    m->load_offset = malloc((size_t)m->n1 * sizeof *m->load_offset);
    m->turned_offset = malloc((size_t)m->n2 * sizeof *m->turned_offset);
    m->store_offset = malloc((size_t)m->n2 * sizeof *m->store_offset);
    *bytes += table + (m->factors ? factors : 0) +
              (size_t)m->n1 * (sizeof *m->column_row + sizeof *m->load_offset) +
              (size_t)m->n2 * (sizeof *m->turned_offset + sizeof *m->store_offset);
    bool ok = weft_stages_create(kernels, m->n1, &m->columns, bytes) &&
              weft_stages_create(kernels, m->n2, &m->rows, bytes) && m->table &&
              (m->factors || tables == tiles) && m->column_row && m->load_offset &&
              m->turned_offset && m->store_offset && fill_twiddles(m, inverse);
    if (ok) fill_orders(m, inverse);
    return ok;
}

void weft_matrix_release(weft_matrix *m) {
    weft_stages_release(&m->columns);
    weft_stages_release(&m->rows);
    free(m->table);
    free(m->factors);
    free(m->column_row);
    free(m->load_offset);
    free(m->turned_offset);
    free(m->store_offset);
}

size_t weft_matrix_tile_bytes(const weft_matrix *m) {
    int64_t rows = m->columns.rows > m->rows.rows ? m->columns.rows : m->rows.rows;
    return (size_t)(rows * WEFT_ROW_BYTES);
}

int64_t weft_matrix_column_tiles(const weft_matrix *m) {
    return m->n2 / m->kernels->lanes;
}

int64_t weft_matrix_row_tiles(const weft_matrix *m) {
    return m->n1 / m->kernels->lanes;
}

size_t weft_matrix_turned_bytes(const weft_matrix *m) {
    return (size_t)(weft_matrix_row_tiles(m) * m->apart);
}

/* ---- running ---- */

enum { CACHE_LINE = 64 };

/* The columns of tile c, from array to transposed matrix. */
static void transform_columns(const weft_matrix *m, const char *in, char *tile, char *turned,
                              int64_t c) {
    const weft_stages *s = &m->columns;
    const int64_t lanes = m->kernels->lanes, element = weft_complex_bytes(m->kernels);
    const char *first = in + c * WEFT_ROW_BYTES;
    if (s->count > 1)
        weft_stages_load(s, first, m->load_offset, tile);
    else
        s->stage[0].codelet->load(first, m->load_offset, tile, 1, 0);
    weft_stages_run(s, tile, s->inner, s->count);
    const char *table = m->table, *factors = m->factors;
    if (factors)
        factors += c * m->n1 * element;
    else
        table += c * m->n1 * WEFT_ROW_BYTES;
    m->kernels->turn(tile, m->column_row, m->n1, table, factors,
                     turned + c * lanes * WEFT_ROW_BYTES, m->apart);
}

/* The rows of tile c, from transposed matrix to array. */
static void transform_rows(const weft_matrix *m, const char *turned, char *tile, char *out,
                           bool past, int64_t c) {
    const weft_stages *s = &m->rows;
    turned += c * m->apart;
    out += c * WEFT_ROW_BYTES;
    if (s->count == 1) {
        s->stage[0].codelet->both(turned, m->turned_offset, out, m->store_offset, past);
        return;
    }
    weft_stages_load(s, turned, m->turned_offset, tile);
    weft_stages_run(s, tile, s->inner, s->count - 1);
    weft_stages_store(s, tile, out, m->store_offset, past);
}

/* Rows of a tile beyond the second-level cache are asked for before the one at hand is transformed,
 * for no processor foresees them; and those that will be written, which are read first. */
static inline void fetch_rows(const char *base, const int64_t *offset, int64_t n, bool write) {
    for (int64_t j = 0; j < n; j++)
        for (int i = 0; i < WEFT_ROW_BYTES; i += CACHE_LINE) {
            if (write)
                __builtin_prefetch(base + offset[j] + i, 1, 2);
            else
                __builtin_prefetch(base + offset[j] + i, 0, 2);
        }
}

static void fetch_turned(const weft_matrix *m, const char *turned) {
    const int64_t bytes = m->kernels->lanes * WEFT_ROW_BYTES;
    for (int64_t c = 0; c < weft_matrix_row_tiles(m); c++, turned += m->apart)
        for (int64_t i = 0; i < bytes; i += CACHE_LINE) __builtin_prefetch(turned + i, 1, 2);
}

void weft_matrix_run_columns(const weft_matrix *m, const void *in, void *tile, void *turned,
                             int64_t first, int64_t end) {
    const int64_t run = m->kernels->lanes * WEFT_ROW_BYTES;
    for (int64_t c = first; c < end; c++) {
        if (m->far) {
            const char *next = (const char *)in + (c + 1) * WEFT_ROW_BYTES;
            fetch_turned(m, (const char *)turned + c * run);
            if (c + 1 < end) fetch_rows(next, m->load_offset, m->n1, false);
        }
        transform_columns(m, in, tile, turned, c);
    }
}

void weft_matrix_run_rows(const weft_matrix *m, const void *turned, void *tile, void *out,
                          bool past, int64_t first, int64_t end) {
    for (int64_t c = first; c < end; c++) {
        if (m->far) {
            const char *next = (const char *)turned + (c + 1) * m->apart;
            if (c + 1 < end) fetch_rows(next, m->turned_offset, m->n2, false);
            if (!past)
                fetch_rows((const char *)out + c * WEFT_ROW_BYTES, m->store_offset, m->n2, true);
        }
        transform_rows(m, turned, tile, out, past, c);
    }
    if (past) m->kernels->settle();
}

/* A share of the next line for each tile: all at once would fill the processor's queues, and what
 * it foresees by itself is not enough. */
static const char *fetch_share(const weft_matrix *m, const char *next) {
    for (int64_t i = 0; i < m->share; i += CACHE_LINE) __builtin_prefetch(next + i);
    return next + m->share;
}

void weft_matrix_run(const weft_matrix *m, const void *in, void *out, void *room, bool past,
                     const void *next) {
    char *tile = room, *turned = tile + weft_matrix_tile_bytes(m);
    const char *ahead = next;
    const int64_t columns = weft_matrix_column_tiles(m), rows = weft_matrix_row_tiles(m);
    for (int64_t c = 0; c < columns; c++) {
        if (next) ahead = fetch_share(m, ahead);
        transform_columns(m, in, tile, turned, c);
    }
    for (int64_t c = 0; c < rows; c++) {
        if (next) ahead = fetch_share(m, ahead);
        transform_rows(m, turned, tile, out, past, c);
    }
}
