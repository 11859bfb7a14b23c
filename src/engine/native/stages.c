/* Factors, twiddles and the permuted order of tile transforms. */
#include "engine/native/stages.h"

#include "engine/native/number.h"
#include "engine/roots.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_TILE = 256 }; /* rows that fill a first-level cache */

/* Only the ratios matter. */
double weft_stages_codelet_cost(int radix, bool first) {
    static const double costs[][2] = {
#define TILE_RADIX(r, later, first) [r] = {later, first},
#include "engine/native/radices.def"
    };
    return costs[radix][first];
}

/* A large tile is in the second-level cache, and each stage costs more. */
static double stage_cost(int64_t n, int radix, bool first) {
    return weft_stages_codelet_cost(radix, first) + (n >= LARGE_TILE ? 0.7 : 0.0);
}

/* Radices in falling order whose product divides the length, and their cost. */
typedef struct choice {
    double cost;
    int64_t n;
    int count, radix[WEFT_MAX_LINE_STAGES];
} choice;

/* Extends `path` by radices from `from` on, in falling order, whose product is n. *best becomes the
 * cheapest such path. */
static void search(const weft_codelet *from, int64_t n, choice *path, choice *best) {
    if (path->cost >= best->cost) return;
    if (n == 1) {
        *best = *path;
        return;
    }
    for (const weft_codelet *c = from; c->radix > 0; c++) {
        if (n % c->radix != 0) continue;
        choice next = *path;
        next.radix[next.count++] = c->radix;
        next.cost += stage_cost(path->n, c->radix, path->count == 0);
        search(c, n / c->radix, &next, best);
    }
}

static choice choose_radices(const weft_kernels *kernels, int64_t n) {
    choice path = {.n = n}, best = {.cost = 1e30};
    /* Lengths beyond any tile are only costed; large powers are taken out first to bound the
     * search. */
    while (n > (1 << 20) && n % 16 == 0) {
        path.radix[path.count++] = 16;
        path.cost += stage_cost(n, 16, false);
        n /= 16;
    }
    search(kernels->codelets, n, &path, &best);
    return best;
}

double weft_stages_cost(const weft_kernels *kernels, int64_t n) {
    return choose_radices(kernels, n).cost * (double)n;
}

/* exp(-2 pi i j k / (m radix)) for k < m, 0 < j < radix, from the roots of n. */
static bool fill_twiddles(const weft_stages *s, weft_line_stage *stage, const double *re,
                          const double *im, size_t *bytes) {
    const int radix = stage->codelet->radix;
    size_t size = (size_t)(stage->m * (radix - 1) * 2 * s->kernels->real_bytes);
    stage->twiddles = malloc(size);
    if (!stage->twiddles) return false;
    *bytes += size;
    int64_t at = 0;
    for (int64_t k = 0; k < stage->m; k++)
        for (int64_t j = 1; j < radix; j++) {
            int64_t index = j * k * (s->n / (stage->m * radix));
            weft_number_set(s->kernels, stage->twiddles, at++, re[index]);
            weft_number_set(s->kernels, stage->twiddles, at++, im[index]);
        }
    return true;
}

/* Point j = j_1 r_2 r_3 ... + j_2 r_3 ... + ... goes to place ... (j_3 r_2 + j_2) r_1 + j_1, and
 * result k_1 + r_1 (k_2 + r_2 ...) is left at that very place. */
static void fill_orders(weft_stages *s) {
    for (int64_t j = 0; j < s->n; j++) {
        int64_t row = 0, place = 0, result = 0, rest = j;
        for (int i = s->count - 1; i >= 0; i--) {
            const weft_line_stage *stage = &s->stage[i];
            int64_t digit = rest % stage->codelet->radix;
            rest /= stage->codelet->radix;
            row += digit * stage->step;
            place += digit * stage->m;
        }
        for (int i = 0; i < s->count; i++) {
            const weft_line_stage *stage = &s->stage[i];
            result += j / stage->m % stage->codelet->radix * stage->step;
        }
        s->row_of[j] = (int32_t)row;
        s->place_of[j] = (int32_t)place;
        s->result_row[j] = (int32_t)result;
    }
}

bool weft_stages_create(const weft_kernels *kernels, int64_t n, weft_stages *s, size_t *bytes) {
    memset(s, 0, sizeof *s);
    s->kernels = kernels;
    s->n = n;
    choice chosen = choose_radices(kernels, n);
    s->count = chosen.count;
    int64_t m = 1, step = 1;
    for (int i = 0; i < s->count; i++) {
        const weft_codelet *c = kernels->codelets;
        while (c->radix != chosen.radix[i]) c++;
        s->stage[i] = (weft_line_stage){.codelet = c, .m = m, .step = step};
        m *= c->radix;
        /* Padding keeps distances from being multiples of 512 bytes, for which rows would compete
         * for few sets of the cache. */
        step *= c->radix;
        if (step % 4 == 0) step++;
    }
    s->rows = step;
    s->inner = s->count > 0 ? 1 : 0;
    while (s->inner < s->count - 1 &&
           s->stage[s->inner].m * s->stage[s->inner].codelet->radix <= LARGE_TILE)
        s->inner++;
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    s->row_of = malloc((size_t)n * sizeof *s->row_of);
    s->place_of = malloc((size_t)n * sizeof *s->place_of);
    s->result_row = malloc((size_t)n * sizeof *s->result_row);
    *bytes += 3 * (size_t)n * sizeof *s->row_of;
    bool ok =
        re && im && s->row_of && s->place_of && s->result_row && weft_roots_fill(n, n, re, im);
    for (int i = 1; i < s->count && ok; i++) ok = fill_twiddles(s, &s->stage[i], re, im, bytes);
    if (ok) fill_orders(s);
    free(im);
    free(re);
    return ok;
}

void weft_stages_release(weft_stages *s) {
    for (int i = 0; i < s->count; i++) free(s->stage[i].twiddles);
    free(s->result_row);
    free(s->place_of);
    free(s->row_of);
}

/* ---- running ---- */

static char *row_at(const void *tile, int64_t row) {
    return (char *)(uintptr_t)tile + row * WEFT_ROW_BYTES;
}

/* The row of digits low..high-1 of `number`, the lowest first. */
static int64_t digits_row(const weft_stages *s, int low, int high, int64_t number) {
    int64_t row = 0;
    for (int i = low; i < high; i++) {
        row += number % s->stage[i].codelet->radix * s->stage[i].step;
        number /= s->stage[i].codelet->radix;
    }
    return row;
}

/* The product of the radices of stages `from` to end-1. */
static int64_t blocks_between(const weft_stages *s, int from, int end) {
    const int64_t all = end < s->count ? s->stage[end].m : s->n;
    return all / (s->stage[from - 1].m * s->stage[from - 1].codelet->radix);
}

/* Runs stage i on the block at `tile`, whose rows are numbered by the digits of the stages below
 * `end`. Stage 0's digit counts successive rows; the other digits below and above i are looped
 * over. */
static void run_stage(const weft_stages *s, int i, int end, void *tile) {
    const weft_line_stage *stage = &s->stage[i];
    const int64_t outer = blocks_between(s, i + 1, end);
    if (i == 0) {
        const int64_t block_stride = end > 1 ? s->stage[1].step : 0;
        const int64_t blocks = end > 1 ? s->stage[1].codelet->radix : 1;
        for (int64_t o = 0; o < outer / blocks; o++)
            stage->codelet->first(row_at(tile, digits_row(s, 2, end, o)), blocks, block_stride);
        return;
    }
    const int radix = stage->codelet->radix;
    const int64_t run = s->stage[0].codelet->radix, runs = stage->m / run;
    const size_t twiddles = (size_t)(run * (radix - 1) * 2 * s->kernels->real_bytes);
    for (int64_t o = 0; o < outer; o++) {
        int64_t base = digits_row(s, i + 1, end, o);
        for (int64_t r = 0; r < runs; r++)
            stage->codelet->stage(row_at(tile, base + digits_row(s, 1, i, r)), run, stage->step,
                                  (const char *)stage->twiddles + (size_t)r * twiddles);
    }
}

void weft_stages_run(const weft_stages *s, void *tile, int first, int end) {
    const int inner = end < s->inner ? end : s->inner;
    if (first < inner && inner > 1) {
        const int64_t blocks = blocks_between(s, inner, s->count);
        for (int64_t o = 0; o < blocks; o++) {
            void *block = row_at(tile, digits_row(s, inner, s->count, o));
            for (int i = first; i < inner; i++) run_stage(s, i, inner, block);
        }
        first = inner;
    }
    for (int i = first; i < end; i++) run_stage(s, i, s->count, tile);
}

/* Fetches rows of an array into the second-level cache. */
static void fetch_rows(const char *base, const int64_t *offset, int rows) {
    enum { SECOND_LEVEL = 2 };
    for (int i = 0; i < rows; i++)
        for (int b = 0; b < WEFT_ROW_BYTES; b += WEFT_CACHE_LINE)
            __builtin_prefetch(base + offset[i] + b, 0, SECOND_LEVEL);
}

/* Loads `count` butterflies of the first stage. What is loaded next is fetched in between, so that
 * it comes while they are computed. */
static void load_first(const weft_stages *s, const void *base, const int64_t *offset, char *tile,
                       int64_t count, const char *next) {
    const weft_line_stage *first = &s->stage[0];
    const int radix = first->codelet->radix;
    const int64_t step = s->stage[1].step;
    if (!next) {
        first->codelet->load(base, offset, tile, count, step);
        return;
    }
    for (int64_t i = 0; i < count; i++, offset += radix) {
        first->codelet->load(base, offset, row_at(tile, i * step), 1, step);
        fetch_rows(next, offset, radix);
    }
}

void weft_stages_load(const weft_stages *s, const void *base, const int64_t *offset, void *tile,
                      const void *next) {
    const int radix = s->stage[0].codelet->radix, end = s->inner > 1 ? s->inner : s->count;
    const int64_t blocks = s->n / (end < s->count ? s->stage[end].m : s->n);
    const int64_t runs = s->stage[1].codelet->radix, outer = blocks_between(s, 1, end) / runs;
    for (int64_t b = 0; b < blocks; b++) {
        char *block = row_at(tile, digits_row(s, end, s->count, b));
        for (int64_t o = 0; o < outer; o++, offset += runs * radix)
            load_first(s, base, offset, row_at(block, digits_row(s, 2, end, o)), runs, next);
        for (int i = 1; i < s->inner; i++) run_stage(s, i, s->inner, block);
    }
}

void weft_stages_store(const weft_stages *s, const void *tile, void *base, const int64_t *offset,
                       bool stream, double scale) {
    const weft_line_stage *last = &s->stage[s->count - 1];
    const int64_t run = s->stage[0].codelet->radix, runs = last->m / run;
    const size_t twiddles = (size_t)(run * (last->codelet->radix - 1) * 2 * s->kernels->real_bytes);
    for (int64_t r = 0; r < runs; r++)
        (stream ? last->codelet->stream : last->codelet->store)(
            row_at(tile, digits_row(s, 1, s->count - 1, r)), run, last->step,
            (const char *)last->twiddles + (size_t)r * twiddles, base, offset + r * run, last->m,
            scale);
}
