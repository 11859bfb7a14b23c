/*
 * Tables of a pass, computed on the host in double precision: the roots of the stages, those of a
 * real line that is transformed in pairs, those of cosine and sine transforms, and Bluestein's
 * chirp with the spectrum of its conjugate.
 */
#include "engine/openmp/tables.h"

#include <stdlib.h>

#include "engine/chirp.h"
#include "engine/reference/dft.h"
#include "support/error.h"

/* Numbers as the device will have them. */
typedef struct table_text {
    void *numbers; /* pairs of `precision` */
    size_t pairs;  /* written so far */
    weft_precision precision;
} table_text;

static void add(table_text *t, double re, double im) {
    const size_t at = 2 * t->pairs++;
    if (t->precision == WEFT_SINGLE) {
        ((float *)t->numbers)[at] = (float)re;
        ((float *)t->numbers)[at + 1] = (float)im;
    } else {
        ((double *)t->numbers)[at] = re;
        ((double *)t->numbers)[at + 1] = im;
    }
}

/* The first `count` roots exp(-2 pi i k / n). */
static bool add_roots(table_text *t, int64_t n, int64_t count) {
    weft_roots *roots = weft_roots_create(n);
    if (!roots) return false;
    for (int64_t k = 0; k < count; k++) {
        double re, im;
        weft_roots_at(roots, k % n, &re, &im);
        add(t, re, im);
    }
    weft_roots_destroy(roots);
    return true;
}

/* Of type 4 of even length; see weft_openmp_factors. */
static bool add_mirrored_roots(table_text *t, int64_t n) {
    weft_roots *roots = weft_roots_create(8 * n);
    if (!roots) return false;
    for (int64_t k = 0; k < n / 2; k++) {
        double re, im;
        weft_roots_at(roots, 4 * k + 1, &re, &im);
        add(t, re, im);
    }
    weft_roots_destroy(roots);
    return add_roots(t, 2 * n, n / 2);
}

/* The chirp, and the spectrum of the convolution's kernel, divided by its length. x and y have room
 * for the latter, and so has the chirp c. */
static void add_chirp(table_text *t, weft_dft *dft, int64_t n, int64_t room, weft_lines c,
                      weft_lines x, weft_lines y) {
    for (int64_t j = 0; j < n; j++) add(t, c.re[j], c.im[j]);
    weft_chirp_wrap(n, 1, c.re, c.im, room, 1, x.re, x.im);
    weft_dft_run(dft, 1, &x, &y);
    for (int64_t k = 0; k < room; k++) add(t, x.re[k] / (double)room, x.im[k] / (double)room);
}

static bool add_chirps(table_text *t, int64_t n, int64_t room) {
    size_t unused = 0;
    weft_dft *dft = weft_dft_create(room, &unused);
    double *numbers = NULL;
    bool made = false;
    if (dft) {
        const size_t capacity = (size_t)weft_dft_capacity(dft);
        numbers = malloc(6 * capacity * sizeof *numbers);
        weft_lines x = {numbers, numbers + capacity};
        weft_lines y = {numbers + 2 * capacity, numbers + 3 * capacity};
        weft_lines c = {numbers + 4 * capacity, numbers + 5 * capacity};
        made = numbers && weft_chirp_fill(n, 1, c.re, c.im);
        if (made) add_chirp(t, dft, n, room, c, x, y);
    }
    free(numbers);
    weft_dft_destroy(dft);
    return made;
}

static bool is_in_pairs(const weft_openmp_pass *pass) {
    return pass->in_form == WEFT_OPENMP_PAIRS || pass->out_form == WEFT_OPENMP_PAIRS;
}

static bool is_mirrored(const weft_openmp_pass *pass) {
    return pass->in_form == WEFT_OPENMP_MIRRORED;
}

static bool has_waves(const weft_openmp_pass *pass) {
    return pass->waves.type == 2 || pass->waves.type == 3;
}

/* Finds where the tables begin; returns the number of pairs of all. */
static size_t place(weft_openmp_pass *pass, size_t pair) {
    size_t pairs = pass->room;
    pass->real_roots = pairs * pair;
    if (is_in_pairs(pass)) pairs += pass->points + 1;
    pass->wave_roots = pairs * pair;
    if (has_waves(pass)) pairs += pass->length / 2 + 1;
    if (is_mirrored(pass)) pairs += pass->length;
    pass->chirp = pairs * pair;
    if (pass->chirped) pairs += pass->points;
    pass->spectrum = pairs * pair;
    if (pass->chirped) pairs += pass->room;
    return pairs;
}

static bool add_tables(table_text *t, const weft_openmp_pass *pass) {
    const int64_t n = pass->length;
    bool made = add_roots(t, pass->room, pass->room);
    if (made && is_in_pairs(pass)) made = add_roots(t, n, n / 2 + 1);
    if (made && has_waves(pass)) made = add_roots(t, 4 * n, n / 2 + 1);
    if (made && is_mirrored(pass)) made = add_mirrored_roots(t, n);
    if (made && pass->chirped) made = add_chirps(t, pass->points, pass->room);
    return made;
}

weft_status weft_openmp_tables_create(weft_openmp_pass *pass, weft_device_state *device) {
    const size_t pair = 2 * weft_number_bytes(pass->precision), pairs = place(pass, pair);
    table_text t = {.numbers = malloc(pairs * pair), .precision = pass->precision};
    const bool made = t.numbers && add_tables(&t, pass);
    weft_status status = WEFT_SUCCESS;
    pass->table_bytes = pairs * pair;
    if (!made) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "OpenMP engine: no memory for tables");
    if (status == WEFT_SUCCESS)
        status = weft_openmp_allocate(device, WEFT_MEMORY_DEVICE, pass->table_bytes, &pass->tables);
    if (status == WEFT_SUCCESS)
        status = weft_openmp_upload(device, t.numbers, pass->tables, pass->table_bytes);
    free(t.numbers);
    return status;
}
