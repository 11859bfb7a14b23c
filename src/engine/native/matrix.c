/* Lines as matrices: the two factors of the length, the twiddles between the steps, and the
 * steps. */
#include "engine/native/matrix.h"

#include "engine/native/number.h"
#include "engine/smooth.h"
#include "support/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a matrix is worse by that is far from square: each thread has a tile of as many rows as its
 * longer side, which should stay in the second-level cache. */
static double penalty(int64_t n1, int64_t n2) {
    enum { SHORT = 2048 };
    const double longer = (double)(n1 > n2 ? n1 : n2), most = 2 * sqrt((double)n1 * (double)n2);
    return longer <= SHORT || longer <= most ? 1 : longer / most;
}

/* The cheapest number of rows n1; 0 if there is none. */
static int64_t choose_rows(const weft_kernels *kernels, int64_t n) {
    const int64_t lanes = kernels->lanes;
    int64_t best = 0;
    double best_cost = 1e300;
    for (int64_t n1 = lanes; n1 * lanes <= n; n1 += lanes) {
        if (n % (n1 * lanes) != 0) continue;
        double cost = (weft_stages_cost(kernels, n1) / (double)n1 +
                       weft_stages_cost(kernels, n / n1) / (double)(n / n1)) *
                      penalty(n1, n / n1);
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

/* The inverse of either step is the forward transform with its results in reverse order. */
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
        m->transposed_offset[m->rows.place_of[k]] = k * WEFT_ROW_BYTES;
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
    m->beyond_cache = n * weft_complex_bytes(kernels) > 2 * (int64_t)weft_topology_get()->l2;
    /* The distance is not a power of two, lest the rows of successive tiles compete for the same
     * sets of the cache. */
    m->tile_stride = (m->n2 + 1) * WEFT_ROW_BYTES;
    const int64_t tiles = m->n2 / kernels->lanes;
    m->share = n * weft_complex_bytes(kernels) / (tiles + m->n1 / kernels->lanes);
    m->twiddles = weft_twiddles_borrow(kernels, n, m->n1, true, direction, bytes);
    m->column_row = malloc((size_t)m->n1 * sizeof *m->column_row);
    m->load_offset = malloc((size_t)m->n1 * sizeof *m->load_offset);
    m->transposed_offset = malloc((size_t)m->n2 * sizeof *m->transposed_offset);
    m->store_offset = malloc((size_t)m->n2 * sizeof *m->store_offset);
    *bytes += (size_t)m->n1 * (sizeof *m->column_row + sizeof *m->load_offset) +
              (size_t)m->n2 * (sizeof *m->transposed_offset + sizeof *m->store_offset);
    bool ok = weft_stages_create(kernels, m->n1, &m->columns, bytes) &&
              weft_stages_create(kernels, m->n2, &m->rows, bytes) && m->twiddles && m->column_row &&
              m->load_offset && m->transposed_offset && m->store_offset;
    if (ok) fill_orders(m, inverse);
    return ok;
}

void weft_matrix_release(weft_matrix *m) {
    weft_stages_release(&m->columns);
    weft_stages_release(&m->rows);
    weft_table_return(m->twiddles);
    free(m->column_row);
    free(m->load_offset);
    free(m->transposed_offset);
    free(m->store_offset);
}

static int64_t tile_rows(const weft_matrix *m) {
    return m->columns.rows > m->rows.rows ? m->columns.rows : m->rows.rows;
}

size_t weft_matrix_tile_bytes(const weft_matrix *m) {
    const size_t room = (weft_twiddles_room(m->twiddles) + 63) / 64 * 64;
    return (size_t)(tile_rows(m) * WEFT_ROW_BYTES) + room;
}

int64_t weft_matrix_column_tiles(const weft_matrix *m) {
    return m->n2 / m->kernels->lanes;
}

int64_t weft_matrix_row_tiles(const weft_matrix *m) {
    return m->n1 / m->kernels->lanes;
}

size_t weft_matrix_transposed_bytes(const weft_matrix *m) {
    return (size_t)(weft_matrix_row_tiles(m) * m->tile_stride);
}

/* ---- running ---- */

/* Transforms the columns of tile c, from the array to the transposed matrix. */
static void transform_columns(const weft_matrix *m, const char *in, char *tile, char *transposed,
                              int64_t c) {
    const weft_stages *s = &m->columns;
    const int64_t lanes = m->kernels->lanes;
    const char *first = in + c * WEFT_ROW_BYTES;
    if (s->count > 1)
        weft_stages_load(s, first, m->load_offset, tile, NULL);
    else
        s->stage[0].codelet->load(first, m->load_offset, tile, 1, 0);
    weft_stages_run(s, tile, s->inner, s->count);
    const void *factors =
        weft_twiddles_factors(m->twiddles, c, tile + tile_rows(m) * WEFT_ROW_BYTES);
    m->kernels->twiddle_transpose(tile, m->column_row, m->n1, weft_twiddles_table(m->twiddles, c),
                                  factors, transposed + c * lanes * WEFT_ROW_BYTES, m->tile_stride);
}

/* Transforms the rows of tile c, from the transposed matrix to the array. */
static void transform_rows(const weft_matrix *m, const char *transposed, char *tile, char *out,
                           bool past, double scale, int64_t c) {
    const weft_stages *s = &m->rows;
    transposed += c * m->tile_stride;
    out += c * WEFT_ROW_BYTES;
    if (s->count == 1) {
        s->stage[0].codelet->array_to_array(transposed, m->transposed_offset, out, m->store_offset,
                                            past, scale);
        return;
    }
    weft_stages_load(s, transposed, m->transposed_offset, tile, NULL);
    weft_stages_run(s, tile, s->inner, s->count - 1);
    weft_stages_store(s, tile, out, m->store_offset, past, scale);
}

/* Prefetches the rows of the next tile, which hardware prefetchers do not foresee: both those that
 * will be read and those that will be written, since a store reads its cache line first. */
static inline void fetch_rows(const char *base, const int64_t *offset, int64_t n, bool write) {
    for (int64_t j = 0; j < n; j++)
        for (int i = 0; i < WEFT_ROW_BYTES; i += WEFT_CACHE_LINE) {
            if (write)
                __builtin_prefetch(base + offset[j] + i, 1, 2);
            else
                __builtin_prefetch(base + offset[j] + i, 0, 2);
        }
}

static void fetch_transposed(const weft_matrix *m, const char *transposed) {
    const int64_t bytes = m->kernels->lanes * WEFT_ROW_BYTES;
    for (int64_t c = 0; c < weft_matrix_row_tiles(m); c++, transposed += m->tile_stride)
        for (int64_t i = 0; i < bytes; i += WEFT_CACHE_LINE)
            __builtin_prefetch(transposed + i, 1, 2);
}

void weft_matrix_run_columns(const weft_matrix *m, const void *in, void *tile, void *transposed,
                             int64_t first, int64_t end) {
    const int64_t run = m->kernels->lanes * WEFT_ROW_BYTES;
    for (int64_t c = first; c < end; c++) {
        if (m->beyond_cache) {
            const char *next = (const char *)in + (c + 1) * WEFT_ROW_BYTES;
            fetch_transposed(m, (const char *)transposed + c * run);
            if (c + 1 < end) fetch_rows(next, m->load_offset, m->n1, false);
        }
        transform_columns(m, in, tile, transposed, c);
    }
}

void weft_matrix_run_rows(const weft_matrix *m, const void *transposed, void *tile, void *out,
                          bool past, double scale, int64_t first, int64_t end) {
    for (int64_t c = first; c < end; c++) {
        if (m->beyond_cache) {
            const char *next = (const char *)transposed + (c + 1) * m->tile_stride;
            if (c + 1 < end) fetch_rows(next, m->transposed_offset, m->n2, false);
            if (!past)
                fetch_rows((const char *)out + c * WEFT_ROW_BYTES, m->store_offset, m->n2, true);
        }
        transform_rows(m, transposed, tile, out, past, scale, c);
    }
    if (past) m->kernels->fence();
}

/* Prefetches one tile's share of the next line. Prefetching all of the line at once would fill the
 * processor's queues, and its own prefetcher is not enough. */
static const char *fetch_share(const weft_matrix *m, const char *next) {
    for (int64_t i = 0; i < m->share; i += WEFT_CACHE_LINE) __builtin_prefetch(next + i);
    return next + m->share;
}

void weft_matrix_run(const weft_matrix *m, const void *in, void *out, void *room, bool past,
                     double scale, const void *next) {
    char *tile = room, *transposed = tile + weft_matrix_tile_bytes(m);
    const char *ahead = next;
    const int64_t columns = weft_matrix_column_tiles(m), rows = weft_matrix_row_tiles(m);
    for (int64_t c = 0; c < columns; c++) {
        if (next) ahead = fetch_share(m, ahead);
        transform_columns(m, in, tile, transposed, c);
    }
    for (int64_t c = 0; c < rows; c++) {
        if (next) ahead = fetch_share(m, ahead);
        transform_rows(m, transposed, tile, out, past, scale, c);
    }
}
