/* The tables of cosine and sine transforms of one line. */
#include "engine/native/r2r.h"

#include "engine/native/number.h"
#include "engine/roots.h"
#include "support/axis.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

/* What fills them: roots of unity in double precision. */
typedef struct maker {
    const weft_kernels *kernels;
    weft_r2r_line *line;
    double *re, *im; /* exp(-2 pi i k / order), k < count */
    size_t *bytes;
} maker;

static bool make_unity(maker *m, int64_t order, int64_t count) {
    free(m->re);
    free(m->im);
    m->re = malloc((size_t)count * sizeof *m->re);
    m->im = malloc((size_t)count * sizeof *m->im);
    return m->re && m->im && weft_roots_fill(order, count, m->re, m->im);
}

static bool make_index(maker *m, weft_r2r_step *step, int64_t count) {
    step->index = malloc((size_t)count * sizeof *step->index);
    *m->bytes += (size_t)count * sizeof *step->index;
    return step->index != NULL;
}

static bool make_factors(maker *m, weft_r2r_step *step, int64_t count) {
    const size_t size = (size_t)count * (size_t)m->kernels->real_bytes;
    step->factors = malloc(size);
    *m->bytes += size;
    return step->factors != NULL;
}

static void set_factor(const maker *m, weft_r2r_step *step, int64_t i, double value) {
    weft_number_set(m->kernels, step->factors, i, value);
}

/* exp(-2 pi i k / order) for k = 0..h/2. */
static bool make_roots(maker *m, weft_r2r_step *step, int64_t order, int64_t h) {
    step->roots = weft_numbers_roots(m->kernels, order, h / 2 + 1, m->bytes);
    return step->roots != NULL;
}

/* w^k = exp(-pi i k / 2n) for k = 0..count-1. */
static bool make_twiddles(maker *m, weft_r2r_step *step, int64_t count) {
    step->factors = weft_numbers_roots(m->kernels, 4 * m->line->n, count, m->bytes);
    return step->factors != NULL;
}

/* ---- types 2 and 3 ---- */

/* Whether lines are half as many pairs. Aligned frequencies are not numbered from either end. */
static bool are_pairs(const weft_r2r_line *line) {
    return line->n % 2 == 0 && !weft_axis_is_aligned(line->type);
}

/* Number j of Makhoul's line: the point that it is, with its sign in a sine transform. */
static int32_t makhoul(const weft_r2r_line *line, int64_t j, double *sign) {
    const int64_t n = line->n;
    const bool even = 2 * j < n;
    *sign = weft_axis_is_sine(line->type) && !even ? -1 : 1;
    return (int32_t)(even ? 2 * j : 2 * (n - 1 - j) + 1);
}

/* The order of Makhoul's line as pairs of points with their signs (even length), or as points with
 * a factor of which only the real part counts (odd length). */
static bool make_makhoul(maker *m, weft_r2r_step *step) {
    const int64_t n = m->line->n;
    const bool pairs = are_pairs(m->line);
    if (!make_index(m, step, n) || !make_factors(m, step, pairs ? n : 2 * n)) return false;
    for (int64_t j = 0; j < n; j++) {
        double sign;
        step->index[j] = makhoul(m->line, j, &sign);
        set_factor(m, step, pairs ? j : 2 * j, sign);
        if (!pairs) set_factor(m, step, 2 * j + 1, 0);
    }
    return true;
}

/* Point k in frequency of the cosine transform, in a line that is numbered as the tables are. */
static int32_t wave_point(const weft_r2r_line *line, int64_t k) {
    return (int32_t)(weft_axis_is_aligned(line->type) && k > 0 ? line->n - k : k);
}

static bool make_type_2(maker *m) {
    weft_r2r_line *line = m->line;
    const int64_t n = line->n;
    const bool even = are_pairs(line);
    line->m = even ? n / 2 : n;
    line->out_backwards = weft_axis_is_sine(line->type) && !weft_axis_is_aligned(line->type);
    line->load.kind = even ? WEFT_R2R_PACK : WEFT_R2R_TWIDDLE;
    line->store.kind = even ? WEFT_R2R_SPLIT_TWIDDLED : WEFT_R2R_PROJECT;
    if (!make_makhoul(m, &line->load)) return false;
    if (even)
        return make_twiddles(m, &line->store, n / 2 + 1) && make_roots(m, &line->store, n, n / 2);
    if (!make_index(m, &line->store, n) || !make_factors(m, &line->store, 2 * n) ||
        !make_unity(m, 4 * n, n))
        return false;
    for (int64_t k = 0; k < n; k++) {
        line->store.index[k] = wave_point(line, k);
        set_factor(m, &line->store, 2 * k, 2 * m->re[k]);
        set_factor(m, &line->store, 2 * k + 1, -2 * m->im[k]);
    }
    return true;
}

static bool make_type_3(maker *m) {
    weft_r2r_line *line = m->line;
    const int64_t n = line->n;
    const bool even = are_pairs(line);
    line->m = even ? n / 2 : n;
    line->direction = WEFT_INVERSE;
    line->in_backwards = weft_axis_is_sine(line->type) && !weft_axis_is_aligned(line->type);
    line->load.kind = even ? WEFT_R2R_MERGE : WEFT_R2R_TWIDDLE;
    line->store.kind = even ? WEFT_R2R_UNPACK : WEFT_R2R_PROJECT;
    if (!make_makhoul(m, &line->store)) return false;
    if (even)
        return make_twiddles(m, &line->load, n / 2 + 1) && make_roots(m, &line->load, n, n / 2);
    if (!make_index(m, &line->load, n) || !make_factors(m, &line->load, 2 * n) ||
        !make_unity(m, 4 * n, n))
        return false;
    for (int64_t k = 0; k < n; k++) {
        line->load.index[k] = wave_point(line, k);
        set_factor(m, &line->load, 2 * k, k == 0 ? 1 : 2 * m->re[k]);
        set_factor(m, &line->load, 2 * k + 1, k == 0 ? 0 : -2 * m->im[k]);
    }
    return true;
}

/* ---- type 4 ---- */

static bool make_even_type_4(maker *m) {
    weft_r2r_line *line = m->line;
    const int64_t n = line->n, h = n / 2;
    line->m = h;
    line->load.kind = WEFT_R2R_PACK_TWIDDLED;
    line->store.kind = WEFT_R2R_PROJECT_PAIRS;
    if (!make_index(m, &line->load, n) || !make_factors(m, &line->load, n) ||
        !make_index(m, &line->store, n) || !make_factors(m, &line->store, 2 * n) ||
        !make_unity(m, 8 * n, 2 * n))
        return false;
    for (int64_t j = 0; j < h; j++) {
        const double re = 2 * m->re[4 * j], im = 2 * m->im[4 * j]; /* 2 exp(-pi i j / n) */
        const double sign = weft_axis_is_sine(line->type) ? 1 : -1;
        line->load.index[2 * j] = line->store.index[2 * j] = (int32_t)(2 * j);
        line->load.index[2 * j + 1] = line->store.index[2 * j + 1] = (int32_t)(n - 1 - 2 * j);
        set_factor(m, &line->load, 2 * j, m->re[4 * j + 1]);
        set_factor(m, &line->load, 2 * j + 1, m->im[4 * j + 1]);
        set_factor(m, &line->store, 4 * j, re);
        set_factor(m, &line->store, 4 * j + 1, -im);
        set_factor(m, &line->store, 4 * j + 2, sign * im);
        set_factor(m, &line->store, 4 * j + 3, sign * re);
    }
    return true;
}

/* The definition sums f(a) cos(2 pi a b / 8n), b = 2k+1, over the odd numbers a = 2j+1, and f has
 * the symmetries f(-a) = f(a) = -f(a + 4n). So a may run over n + 8s, s < n, instead, which turns
 * the sum into Re exp(-2 pi i b / 8) V[b mod n]. */
static bool make_odd_type_4(maker *m) {
    weft_r2r_line *line = m->line;
    const int64_t n = line->n;
    const double half_sqrt2 = 0.707106781186547524400844362104849039; /* of eighth roots of 1 */
    line->m = n;
    line->load.kind = WEFT_R2R_TWIDDLE;
    line->store.kind = WEFT_R2R_PROJECT;
    if (!make_index(m, &line->load, n) || !make_factors(m, &line->load, 2 * n) ||
        !make_index(m, &line->store, n) || !make_factors(m, &line->store, 2 * n))
        return false;
    for (int64_t s = 0; s < n; s++) {
        int64_t a = (n + 8 * s) % (8 * n);
        if (a > 4 * n) a = 8 * n - a;
        const bool folded = a > 2 * n;
        if (folded) a = 4 * n - a;
        line->load.index[s] = (int32_t)((a - 1) / 2);
        set_factor(m, &line->load, 2 * s, folded ? -1 : 1);
        set_factor(m, &line->load, 2 * s + 1, 0);
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t b = 2 * k + 1, eighth = b % 8, q = b % n;
        const double sign = weft_axis_is_sine(line->type) && k % 2 == 1 ? -2 : 2;
        const double cosine = eighth == 1 || eighth == 7 ? half_sqrt2 : -half_sqrt2;
        const double sine = eighth < 4 ? half_sqrt2 : -half_sqrt2;
        line->store.index[q] = (int32_t)k;
        set_factor(m, &line->store, 2 * q, sign * cosine);
        set_factor(m, &line->store, 2 * q + 1, sign * sine);
    }
    return true;
}

static bool make_type_4(maker *m) {
    m->line->in_backwards = weft_axis_is_sine(m->line->type);
    return m->line->n % 2 == 0 ? make_even_type_4(m) : make_odd_type_4(m);
}

/* ---- type 1 ---- */

/* Number p of the line of 2m points: even about 0 and m, or odd. */
static int32_t unfold(const weft_r2r_line *line, int64_t p, double *sign) {
    const int64_t m = line->m, q = p <= m ? p : 2 * m - p;
    *sign = 1;
    if (!weft_axis_is_sine(line->type)) return (int32_t)q;
    if (q == 0 || q == m) {
        *sign = 0;
        return 0;
    }
    if (p > m) *sign = -1;
    return (int32_t)(q - 1);
}

static bool make_type_1(maker *m) {
    weft_r2r_line *line = m->line;
    line->m = weft_axis_is_sine(line->type) ? line->n + 1 : line->n - 1;
    line->load.kind = WEFT_R2R_PACK;
    line->store.kind =
        weft_axis_is_sine(line->type) ? WEFT_R2R_SPLIT_IMAGINARY : WEFT_R2R_SPLIT_REAL;
    if (!make_index(m, &line->load, 2 * line->m) || !make_factors(m, &line->load, 2 * line->m))
        return false;
    for (int64_t p = 0; p < 2 * line->m; p++) {
        double sign;
        line->load.index[p] = unfold(line, p, &sign);
        set_factor(m, &line->load, p, sign);
    }
    return make_roots(m, &line->store, 2 * line->m, line->m);
}

bool weft_r2r_line_create(const weft_kernels *kernels, weft_axis type, int64_t n,
                          weft_r2r_line *line, size_t *bytes) {
    maker m = {kernels, line, NULL, NULL, bytes};
    bool ok = false;
    *line = (weft_r2r_line){.type = type, .n = n, .direction = WEFT_FORWARD};
    switch (weft_axis_in_order(type)) {
    case WEFT_DCT1:
    case WEFT_DST1:
        ok = make_type_1(&m);
        break;
    case WEFT_DCT2:
    case WEFT_DST2:
        ok = make_type_2(&m);
        break;
    case WEFT_DCT3:
    case WEFT_DST3:
        ok = make_type_3(&m);
        break;
    default: /* type 4 */
        ok = make_type_4(&m);
        break;
    }
    line->load.rows = line->store.rows = line->m;
    free(m.re);
    free(m.im);
    return ok;
}

static void release_step(weft_r2r_step *step) {
    free(step->index);
    free(step->factors);
    free(step->roots);
}

void weft_r2r_line_release(weft_r2r_line *line) {
    release_step(&line->load);
    release_step(&line->store);
}
