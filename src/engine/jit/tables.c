/* Makes tables in double precision, from roots that are exact to about half a unit in the last
 * place, and stores them on the device. */
#include "engine/jit/tables.h"

#include <stdlib.h>
#include <string.h>

#include "engine/chirp.h"
#include "engine/generator.h"
#include "engine/roots.h"
#include "support/error.h"

/* Makes room for `count` more numbers; NULL when out of memory. */
static double *extend(weft_jit_table *table, int64_t count) {
    if (table->count + count > table->room) {
        const int64_t room = 2 * table->room + count;
        double *grown = realloc(table->number, (size_t)room * 2 * sizeof *grown);
        if (!grown) {
            table->failed = true;
            return NULL;
        }
        table->number = grown;
        table->room = room;
    }
    double *place = table->number + 2 * table->count;
    memset(place, 0, (size_t)count * 2 * sizeof *place);
    table->count += count;
    return place;
}

/* The first `count` roots of unity of order n, interleaved. When out of memory, NULL, and the table
 * has failed. */
static double *roots_of(weft_jit_table *table, int64_t n, int64_t count) {
    double *re = malloc((size_t)count * 4 * sizeof *re);
    if (!re || !weft_roots_fill(n, count, re, re + count)) {
        free(re);
        table->failed = true;
        return NULL;
    }
    double *im = re + count, *root = im + count;
    for (int64_t k = 0; k < count; k++) {
        root[2 * k] = re[k];
        root[2 * k + 1] = im[k];
    }
    memmove(re, root, (size_t)count * 2 * sizeof *re);
    return re;
}

/* Adds the twiddles of stages `first` to `end` - 1, which transform n points. */
static void add_stages(weft_jit_table *table, const weft_jit_shape *shape, weft_jit_places *places,
                       int first, int end, int n) {
    double *root = first < end ? roots_of(table, n, n) : NULL;
    for (int s = first; s < end && root; s++) {
        const int span = weft_jit_span(shape, s), radix = weft_jit_radix(shape, s);
        places->twiddles[s] = table->count;
        if (span == 1) continue;
        double *w = extend(table, (int64_t)(radix - 1) * span);
        if (!w) break;
        const int step = n / (span * radix);
        for (int k = 1; k < radix; k++)
            for (int j = 0; j < span; j++, w += 2)
                memcpy(w, root + 2 * j * k * step, 2 * sizeof *w);
    }
    free(root);
}

void weft_jit_add_twiddles(weft_jit_table *table, const weft_jit_shape *shape,
                           weft_jit_places *places) {
    const int after = shape->stages - shape->after.stages;
    add_stages(table, shape, places, 0, after, shape->points);
    add_stages(table, shape, places, after, shape->stages, shape->rows * (shape->points + 1));
}

int64_t weft_jit_add_roots(weft_jit_table *table, int64_t n, int64_t count) {
    const int64_t first = table->count;
    double *w = extend(table, count), *root = w ? roots_of(table, n, count) : NULL;
    if (root) memcpy(w, root, (size_t)count * 2 * sizeof *w);
    free(root);
    return first;
}

int64_t weft_jit_add_fourth_roots(weft_jit_table *table, int64_t n, int64_t count) {
    const int64_t first = table->count;
    double *w = extend(table, count);
    weft_roots *roots = weft_roots_create(n);
    for (int64_t k = 0; k < count && w && roots; k++)
        weft_roots_at(roots, 4 * k + 1, &w[2 * k], &w[2 * k + 1]);
    if (!roots) table->failed = true;
    weft_roots_destroy(roots);
    return first;
}

int64_t weft_jit_add_chirp(weft_jit_table *table, int64_t n) {
    const int64_t first = table->count;
    double *w = extend(table, n);
    if (w && !weft_chirp_fill(n, 2, w, w + 1)) table->failed = true;
    return first;
}

/* The forward transform of n points by Stockham's method, with each small factor done by the
 * definition. x and y are interleaved; returns the one of them that holds the result. */
static double *transform(double *x, double *y, int64_t n, const double *root) {
    for (int64_t rest = n, span = 1; rest > 1;) {
        int64_t p = rest % 4 == 0 ? 4 : 2;
        while (rest % p != 0) p++;
        const int64_t parts = n / p, step = n / (span * p);
        for (int64_t b = 0; b < parts; b++) {
            const int64_t j = b % span, to = b / span * span * p + j;
            for (int64_t k = 0; k < p; k++) {
                double re = 0, im = 0;
                const int64_t angle = (j + k * span) * step;
                for (int64_t q = 0, at = 0; q < p; q++, at = (at + angle) % n) {
                    const double *v = x + 2 * (b + q * parts), *w = root + 2 * at;
                    re += v[0] * w[0] - v[1] * w[1];
                    im += v[0] * w[1] + v[1] * w[0];
                }
                y[2 * (to + k * span)] = re;
                y[2 * (to + k * span) + 1] = im;
            }
        }
        double *other = x;
        x = y;
        y = other;
        rest /= p;
        span *= p;
    }
    return x;
}

/* Adds the spectrum of `core` numbers, which stay in x; it has room for twice as many. x NULL: out
 * of memory. */
static int64_t add_spectrum_of(weft_jit_table *table, double *x, int64_t core) {
    const int64_t first = table->count;
    double *w = extend(table, core), *root = w ? roots_of(table, core, core) : NULL;
    if (x && root)
        memcpy(w, transform(x, x + 2 * core, core, root), (size_t)core * 2 * sizeof *w);
    else
        table->failed = true;
    free(root);
    return first;
}

int64_t weft_jit_add_spectrum(weft_jit_table *table, int64_t n, int64_t core) {
    double *x = malloc((size_t)(4 * core + 2 * n) * sizeof *x), *chirp = x ? x + 4 * core : NULL;
    const bool made = x && weft_chirp_fill(n, 2, chirp, chirp + 1);
    if (made) weft_chirp_wrap(n, 2, chirp, chirp + 1, core, (double)core, x, x + 1);
    const int64_t first = add_spectrum_of(table, made ? x : NULL, core);
    free(x);
    return first;
}

int64_t weft_jit_add_powers(weft_jit_table *table, int64_t g, int64_t p, int64_t count) {
    const int64_t first = table->count;
    double *w = extend(table, count);
    for (int64_t b = 0, power = 1; b < count && w; b++, power = power * g % p)
        w[2 * b] = (double)power;
    return first;
}

int64_t weft_jit_add_rader_spectrum(weft_jit_table *table, int64_t g, int64_t p) {
    const int64_t core = p - 1, inverse = weft_power_modulo(g, p - 2, p);
    double *x = malloc((size_t)core * 4 * sizeof *x), *root = x ? roots_of(table, p, p) : NULL;
    for (int64_t r = 0, power = 1; r < core && root; r++, power = power * inverse % p) {
        x[2 * r] = root[2 * power] / (double)core;
        x[2 * r + 1] = root[2 * power + 1] / (double)core;
    }
    const int64_t first = add_spectrum_of(table, root ? x : NULL, core);
    free(root);
    free(x);
    return first;
}

/* ---- on the device ---- */

static weft_status upload(const weft_device_handle *device, const void *data, size_t bytes,
                          void *memory) {
    const weft_copy copy = weft_copy_of_run((int64_t)bytes, 1);
    weft_status status =
        device->ops->copy(device->state, NULL, &copy, data, memory, WEFT_HOST_TO_DEVICE);
    weft_status done = device->ops->queue_wait(device->state, NULL);
    return status != WEFT_SUCCESS ? status : done;
}

/* Copies a table to the device in the precision of the list. */
static weft_status send(const weft_jit_table_list *list, const weft_device_handle *device,
                        const weft_jit_table *table, void *memory) {
    const size_t numbers = 2 * (size_t)table->count;
    if (list->precision == WEFT_DOUBLE)
        return upload(device, table->number, numbers * sizeof(double), memory);
    float *single = malloc(numbers * sizeof *single);
    if (!single) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "jit engine: no memory for tables");
    for (size_t i = 0; i < numbers; i++) single[i] = (float)table->number[i];
    weft_status status = upload(device, single, numbers * sizeof *single, memory);
    free(single);
    return status;
}

weft_status weft_jit_store_table(weft_jit_table_list *list, const weft_device_handle *device,
                                 weft_jit_table *table, const void **memory) {
    if (table->count == 0) extend(table, 1); /* kernels want an address */
    if (table->failed || list->count == WEFT_JIT_TABLES) {
        free(table->number);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "jit engine: no memory for tables");
    }
    for (int i = 0; i < list->count; i++) {
        const weft_jit_stored_table *t = &list->table[i];
        if (t->count != table->count ||
            memcmp(t->number, table->number, (size_t)t->count * 2 * sizeof(double)) != 0)
            continue;
        free(table->number);
        *memory = t->memory;
        return WEFT_SUCCESS;
    }
    const size_t bytes = (size_t)table->count * 2 * weft_number_bytes(list->precision);
    weft_jit_stored_table *t = &list->table[list->count];
    *t = (weft_jit_stored_table){.number = table->number, .count = table->count};
    weft_status status =
        device->ops->allocate(device->state, WEFT_MEMORY_DEVICE, bytes, &t->memory);
    if (status != WEFT_SUCCESS) {
        free(table->number);
        return status;
    }
    list->count++;
    list->bytes += bytes;
    *memory = t->memory;
    return send(list, device, table, t->memory);
}

void weft_jit_tables_free_copies(weft_jit_table_list *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->table[i].number);
        list->table[i].number = NULL;
    }
}

void weft_jit_tables_release(weft_jit_table_list *list, const weft_device_handle *device) {
    weft_jit_tables_free_copies(list);
    for (int i = 0; i < list->count; i++)
        device->ops->free(device->state, WEFT_MEMORY_DEVICE, list->table[i].memory);
    list->count = 0;
}
