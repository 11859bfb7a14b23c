/* Makes and finds the twiddles of the four-step method. */
#include "engine/native/twiddles.h"

#include "engine/native/number.h"
#include "engine/roots.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_WHOLE = 1 << 12,  /* most points n for which every tile has a table of its own */
    LARGEST_FACTORS = 1 << 18 /* most bytes of factors that are not products */
};

typedef struct filling {
    const weft_roots *roots;
    int64_t n;
    double sign;
} filling;

static void set_root(const weft_twiddles *t, const filling *f, int64_t index, void *table,
                     int64_t re, int64_t im) {
    double x, y;
    weft_roots_at(f->roots, index % f->n, &x, &y);
    weft_number_set(t->shared.key.kernels, table, re, x);
    weft_number_set(t->shared.key.kernels, table, im, f->sign * y);
}

static void fill_table(const weft_twiddles *t, const filling *f, int64_t tiles) {
    const int64_t lanes = t->shared.key.kernels->lanes;
    for (int64_t i = 0; i < tiles * t->points; i++)
        for (int64_t l = 0; l < lanes; l++) {
            const int64_t line = i / t->points * lanes + l;
            const int64_t at = i * 2 * lanes + t->shared.key.kernels->position((int)l);
            set_root(t, f, line * (i % t->points), t->table, at, at + lanes);
        }
}

/* The factors of tiles 0, step, 2 step, ... */
static void fill_factors(const weft_twiddles *t, const filling *f, int64_t count, int64_t step,
                         void *factors) {
    const int64_t lanes = t->shared.key.kernels->lanes;
    for (int64_t i = 0; i < count * t->points; i++)
        set_root(t, f, i / t->points * step * lanes % f->n * (i % t->points), factors, 2 * i,
                 2 * i + 1);
}

/* What the numbers of a key are. */
enum { KEY_N, KEY_POINTS, KEY_WHOLE, KEY_INVERSE };

static bool make(void *table, const weft_table_key *key, size_t *bytes) {
    weft_twiddles *t = table;
    const int64_t n = key->n[KEY_N], points = key->n[KEY_POINTS], lanes = key->kernels->lanes;
    const int64_t tiles = (n / points + lanes - 1) / lanes;
    const int64_t line = points * weft_complex_bytes(key->kernels);
    const bool factors = !key->n[KEY_WHOLE] || n > LARGEST_WHOLE;
    t->points = points;
    t->tiles = t->fines = tiles;
    if (factors && tiles * line > LARGEST_FACTORS)
        for (t->fines = 1; t->fines * t->fines < tiles;) t->fines *= 2;
    const int64_t tables = factors ? 1 : tiles, coarse = (tiles + t->fines - 1) / t->fines;
    const size_t table_bytes = (size_t)(tables * points * WEFT_ROW_BYTES);
    t->table = aligned_alloc(64, table_bytes);
    if (factors) t->fine = malloc((size_t)(t->fines * line));
    if (factors && coarse > 1) t->coarse = malloc((size_t)(coarse * line));
    *bytes += table_bytes + (factors ? (size_t)(t->fines * line) : 0) +
              (t->coarse ? (size_t)(coarse * line) : 0);
    weft_roots *roots = weft_roots_create(n);
    const filling f = {roots, n, key->n[KEY_INVERSE] ? -1.0 : 1.0};
    const bool ok = roots && t->table && (!factors || (t->fine && (coarse == 1 || t->coarse)));
    if (ok) fill_table(t, &f, tables);
    if (ok && t->fine) fill_factors(t, &f, t->fines, 1, t->fine);
    if (ok && t->coarse) fill_factors(t, &f, coarse, t->fines, t->coarse);
    weft_roots_destroy(roots);
    return ok;
}

static void release(void *table) {
    weft_twiddles *t = table;
    free(t->table);
    free(t->fine);
    free(t->coarse);
}

const weft_twiddles *weft_twiddles_borrow(const weft_kernels *kernels, int64_t n, int64_t points,
                                          bool whole, weft_direction direction, size_t *bytes) {
    static const weft_table_kind kind = {sizeof(weft_twiddles), make, release};
    weft_table_key key = {.kernels = kernels};
    key.n[KEY_N] = n;
    key.n[KEY_POINTS] = points;
    key.n[KEY_WHOLE] = whole;
    key.n[KEY_INVERSE] = direction == WEFT_INVERSE;
    return weft_table_borrow(&kind, &key, bytes);
}

size_t weft_twiddles_room(const weft_twiddles *t) {
    return t && t->coarse ? (size_t)(t->points * weft_complex_bytes(t->shared.key.kernels)) : 0;
}

const void *weft_twiddles_table(const weft_twiddles *t, int64_t tile) {
    return (const char *)t->table + (t->fine ? 0 : tile * t->points * WEFT_ROW_BYTES);
}

const void *weft_twiddles_factors(const weft_twiddles *t, int64_t tile, void *room) {
    const weft_kernels *kernels = t->shared.key.kernels;
    const int64_t line = t->points * weft_complex_bytes(kernels);
    if (!t->fine) return NULL;
    const char *fine = (const char *)t->fine + tile % t->fines * line;
    if (!t->coarse) return fine;
    kernels->multiply_lines(fine, (const char *)t->coarse + tile / t->fines * line, room,
                            t->points);
    return room;
}
