/* Lines alone: the width of the vectors, the radices and their order, and the twiddles. */
#include "engine/native/lone.h"

#include "engine/generator.h"
#include "engine/native/lone_chirp.h"
#include "engine/native/number.h"
#include "engine/native/stages.h"
#include "engine/native/tables.h"
#include "engine/roots.h"
#include "engine/smooth.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_LEVEL = 32768 };

/* ---- choice ---- */

/* The radices of the stages, in their order, for vectors of one width. */
typedef struct choice {
    const weft_lone_line *line; /* instead of stages */
    const weft_lone_kernels *kernels;
    double cost;
    bool both; /* one call does the two stages */
    int count;
    const weft_lone_codelet *codelet[WEFT_LONE_STAGES];
} choice;

static int64_t rounds(int64_t points, int64_t width) {
    return (points + width - 1) / width;
}

bool weft_lone_is_wide(const weft_kernels *kernels) {
    return kernels->lone->widths[0]->width * kernels->real_bytes == WEFT_ROW_BYTES / 2;
}

/* Nanoseconds of `count` butterflies of a codelet on vectors of real or imaginary parts, fitted to
 * each codelet's time on a Zen 4 core with vectors of 64 bytes: a part for loads and stores, and
 * one for arithmetic. */
static double butterflies(int radix, int64_t count) {
    return (double)(radix * count) * (0.65 + 0.85 * weft_stages_codelet_cost(radix, false));
}

/* Those on interleaved numbers, of the first stage, one between, or the last, which has no
 * twiddles: fitted to each codelet's time on a Zen 3 core, where long primes do not fit into the
 * registers. Large vectors, of 64 bytes, take between the same time and twice as long, by
 * processor. */
static double interleaved_butterflies(bool large, const weft_lone_codelet *codelet, bool first,
                                      bool last, int64_t count) {
    const double begun = last ? 1.5 : 1;
    const double operation = last ? 0.20 : first ? 0.23 : 0.255;
    const double point = last ? -0.43 : first ? 0.02 : 0.08;
    const double crowded = codelet->radix > 16 && weft_is_prime(codelet->radix) ? 1.35 : 1;
    return (double)count * crowded * (large ? 1.5 : 1) *
           (begun + operation * codelet->operations + point * codelet->radix);
}

/* Besides its butterflies a stage takes the time of a call and of waiting for what the one before
 * has stored, the first one transposes squares of `width` vectors, which overlap unless the radix
 * is a multiple of the width, and a line that the first-level cache does not hold, with scratch
 * memory and twiddles, is loaded from the second-level one. */
static double stage_cost(const weft_kernels *kernels, const weft_lone_kernels *lone,
                         const weft_lone_codelet *codelet, int64_t s, int64_t m) {
    const double stage = 4, beyond = 0.004;
    const int width = lone->width, radix = codelet->radix;
    const int64_t count = s == 1 ? rounds(m, width) : m * rounds(s, width);
    const int64_t bytes = s * radix * m * weft_complex_bytes(kernels);
    const double cost = stage + (bytes > FIRST_LEVEL / 2 ? beyond * (double)bytes : 0);
    const bool large = width * weft_complex_bytes(kernels) == WEFT_ROW_BYTES / 2;
    if (lone->interleaved)
        return cost + interleaved_butterflies(large, codelet, s == 1, m == 1, count);
    const double square = 0.19 * (width * width - 4);
    const double squares = (double)(count * rounds(radix, width)) * (radix % width == 0 ? 1 : 1.5);
    return cost + butterflies(radix, count) + (s == 1 ? squares * square : 0);
}

/* The two stages of a line in one call, for which less is loaded and stored: on split numbers
 * fitted to times on a Xeon with AVX-512, which are higher than those of the others by about a
 * third, on interleaved ones less than two calls take by what one costs. */
static double both_cost(const weft_kernels *kernels, const weft_lone_kernels *lone,
                        const weft_lone_codelet *const *codelet) {
    const int width = lone->width, radix = codelet[0]->radix;
    const double call = 4, square = 0.19 * (width * width - 4);
    if (lone->interleaved)
        return stage_cost(kernels, lone, codelet[0], 1, width) +
               stage_cost(kernels, lone, codelet[1], radix, 1) - call;
    const int64_t groups = rounds(radix, width);
    return call + 0.8 * (butterflies(radix, 1) + butterflies(width, groups)) +
           (double)groups * square;
}

/* A codelet of complex lines: where it works on pairs, fitted to times on a Xeon, beside those of
 * two stages in one call. */
static double line_cost(const weft_kernels *kernels, const weft_lone_line *line) {
    const double operation = kernels->real_bytes == sizeof(float) ? 0.15 : 0.13;
    return line->operations > 0 ? 1 + operation * line->operations : butterflies(line->points, 1);
}

const weft_lone_line *weft_lone_find_line(const weft_kernels *kernels, int64_t n) {
    const weft_lone_line *const *lines = kernels->lone->lines;
    for (int i = 0; lines[i]; i++)
        if (lines[i]->points == n) return lines[i];
    return NULL;
}

/* The codelet of complex lines of n points, or NULL. */
static const weft_lone_line *whole_line(const weft_kernels *kernels, int64_t n) {
    const weft_lone_line *line = weft_lone_find_line(kernels, n);
    return line && line->complex ? line : NULL;
}

enum { MOST_DIVISORS = 160 /* of a number up to WEFT_LONGEST_LONE */ };

/* The cheapest stages that end a line, for each product s of the radices before them. */
typedef struct endings {
    const weft_kernels *kernels;
    const weft_lone_kernels *lone;
    int64_t n;
    int count;
    struct {
        int64_t s;
        double cost;
        const weft_lone_codelet *codelet; /* of the first of them; NULL: there is no such end */
    } known[MOST_DIVISORS];
} endings;

/* Returns the number of the ending for s, which is found at the first call for that s. */
static int find_ending(endings *e, int64_t s) {
    const int width = e->lone->width;
    for (int i = 0; i < e->count; i++)
        if (e->known[i].s == s) return i;
    double best_cost = 1e300;
    const weft_lone_codelet *best = NULL;
    for (int i = 0; e->lone->codelets[i]; i++) {
        const weft_lone_codelet *codelet = e->lone->codelets[i];
        const int64_t m = e->n / s / codelet->radix;
        if (m * s * codelet->radix != e->n) continue;
        if (s == 1 && (!codelet->first || m < width || m == 1)) continue;
        double cost = stage_cost(e->kernels, e->lone, codelet, s, m);
        if (m > 1) cost += e->known[find_ending(e, s * codelet->radix)].cost;
        if (cost >= best_cost) continue;
        best_cost = cost;
        best = codelet;
    }
    const int number = e->count++;
    e->known[number].s = s;
    e->known[number].cost = best_cost;
    e->known[number].codelet = best;
    return number;
}

static choice choose_stages(const weft_kernels *kernels, const weft_lone_kernels *lone, int64_t n) {
    endings e = {.kernels = kernels, .lone = lone, .n = n};
    choice found = {.kernels = lone, .cost = e.known[find_ending(&e, 1)].cost};
    for (int64_t s = 1; s < n && found.cost < 1e300; s *= found.codelet[found.count++]->radix)
        found.codelet[found.count] = e.known[find_ending(&e, s)].codelet;
    return found;
}

/* A line in one call of two stages, whose points stay in registers between them. */
static choice choose_both(const weft_kernels *kernels, const weft_lone_kernels *lone, int64_t n) {
    const int width = lone->width;
    choice found = {.kernels = lone, .cost = 1e300, .both = true, .count = 2};
    for (int i = 0; lone->codelets[i]; i++) {
        const weft_lone_codelet *codelet = lone->codelets[i];
        if (codelet->both && (int64_t)codelet->radix * width == n) found.codelet[0] = codelet;
        if (codelet->radix == width) found.codelet[1] = codelet;
    }
    if (found.codelet[0]) found.cost = both_cost(kernels, lone, found.codelet);
    return found;
}

static choice choose(const weft_kernels *kernels, int64_t n) {
    choice best = {.cost = 1e300};
    const weft_lone_kernels *const *widths = kernels->lone->widths;
    for (int i = 0; widths[i]; i++) {
        const choice found[] = {choose_stages(kernels, widths[i], n),
                                choose_both(kernels, widths[i], n)};
        for (int j = 0; j < 2; j++)
            if (found[j].cost < best.cost) best = found[j];
    }
    const weft_lone_line *line = whole_line(kernels, n);
    const double cost = line ? line_cost(kernels, line) : 1e300;
    return cost < best.cost ? (choice){.line = line, .cost = cost} : best;
}

bool weft_lone_suits(const weft_kernels *kernels, int64_t n) {
    return n <= WEFT_LONGEST_LONE &&
           (n == 1 || !weft_is_smooth(n) || choose(kernels, n).cost < 1e300);
}

double weft_lone_cost(const weft_kernels *kernels, int64_t n) {
    if (n == 1) return 0;
    const double direct = choose(kernels, n).cost;
    return direct < 1e300 ? direct : weft_lone_chirp_cost(kernels, n);
}

/* ---- tables ---- */

typedef struct twiddle_roots {
    double *re, *im; /* exp(-2 pi i j / n) */
    double sign;
} twiddle_roots;

/* Sets the twiddles of result k of butterfly p, where table[at] takes the real part and table[at +
 * step] the imaginary one; where numbers are interleaved both take two. */
static void set_twiddle(const weft_lone *lone, const weft_lone_stage *stage,
                        const twiddle_roots *roots, int64_t p, int k, int64_t at, int64_t step) {
    const int64_t j = stage->s * p * k;
    const double re = roots->re[j], im = roots->sign * roots->im[j];
    weft_number_set(lone->kernels, stage->twiddles, at, re);
    weft_number_set(lone->kernels, stage->twiddles, at + step, im);
    if (!lone->interleaved) return;
    weft_number_set(lone->kernels, stage->twiddles, at + 1, re);
    weft_number_set(lone->kernels, stage->twiddles, at + step, -im);
    weft_number_set(lone->kernels, stage->twiddles, at + step + 1, im);
}

/* Real numbers in a table for each twiddle. */
static int twiddle_parts(const weft_lone *lone) {
    return lone->interleaved ? 4 : 2;
}

/* Twiddles of the first stage: vectors over p, of which the last overlaps the one before. */
static void fill_vectors(const weft_lone *lone, const weft_lone_stage *stage, int width,
                         const twiddle_roots *roots) {
    const int radix = stage->codelet->radix, half = twiddle_parts(lone) / 2;
    int64_t at = 0;
    for (int64_t b = 0; b < rounds(stage->m, width); b++) {
        const int64_t p = (b + 1) * width <= stage->m ? b * width : stage->m - width;
        for (int k = 1; k < radix; k++, at += 2 * half * width)
            for (int l = 0; l < width; l++)
                set_twiddle(lone, stage, roots, p + l, k, at + half * l, half * width);
    }
}

static bool make_twiddles(weft_lone *lone, int width, const twiddle_roots *roots, size_t *bytes) {
    const int parts = twiddle_parts(lone);
    for (int i = 0; i + 1 < lone->count; i++) {
        weft_lone_stage *stage = &lone->stage[i];
        const int radix = stage->codelet->radix;
        const int64_t count = i == 0 ? rounds(stage->m, width) * width : stage->m;
        size_t size = (size_t)(count * (radix - 1) * parts * lone->kernels->real_bytes);
        size = (size + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE * WEFT_CACHE_LINE;
        stage->twiddles = aligned_alloc(WEFT_CACHE_LINE, size);
        if (!stage->twiddles) return false;
        *bytes += size;
        if (i == 0) {
            fill_vectors(lone, stage, width, roots);
            continue;
        }
        for (int64_t p = 0, at = 0; p < stage->m; p++)
            for (int k = 1; k < radix; k++, at += parts)
                set_twiddle(lone, stage, roots, p, k, at, parts / 2);
    }
    return true;
}

/* Sets the stages, without their twiddles. */
static void set_stages(weft_lone *lone, const choice *chosen) {
    lone->count = chosen->count;
    lone->interleaved = chosen->kernels->interleaved;
    int64_t s = 1;
    for (int i = 0; i < chosen->count; i++) {
        const int radix = chosen->codelet[i]->radix;
        lone->stage[i] = (weft_lone_stage){chosen->codelet[i], s, lone->n / s / radix, NULL};
        s *= radix;
    }
}

/* The twiddles of all lines of one length and direction. */
typedef struct stage_tables {
    weft_shared_table shared;
    void *twiddles[WEFT_LONE_STAGES];
} stage_tables;

static bool make_tables(void *table, const weft_table_key *key, size_t *bytes) {
    stage_tables *t = table;
    const int64_t n = key->n[0];
    const choice chosen = choose(key->kernels, n);
    weft_lone lone = {.kernels = key->kernels, .n = n, .inverse = key->n[1] != 0};
    set_stages(&lone, &chosen);
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    bool ok = re && im && weft_roots_fill(n, n, re, im);
    if (ok) {
        const twiddle_roots roots = {re, im, lone.inverse ? -1.0 : 1.0};
        ok = make_twiddles(&lone, chosen.kernels->width, &roots, bytes);
    }
    for (int i = 0; i < lone.count; i++) t->twiddles[i] = lone.stage[i].twiddles;
    free(im);
    free(re);
    return ok;
}

static void release_tables(void *table) {
    stage_tables *t = table;
    for (int i = 0; i < WEFT_LONE_STAGES; i++) free(t->twiddles[i]);
}

static bool borrow_tables(weft_lone *lone, size_t *bytes) {
    static const weft_table_kind kind = {sizeof(stage_tables), make_tables, release_tables};
    const weft_table_key key = {lone->kernels, {lone->n, lone->inverse}};
    const stage_tables *t = weft_table_borrow(&kind, &key, bytes);
    lone->tables = t;
    for (int i = 0; t && i < lone->count; i++) lone->stage[i].twiddles = t->twiddles[i];
    return t != NULL;
}

/* ---- execution ---- */

static size_t buffer_bytes(const weft_lone *lone) {
    return (size_t)(2 * lone->imaginary * lone->kernels->real_bytes);
}

static void run_point(const weft_lone *lone, const void *in, void *out, void *room, double scale) {
    (void)room;
    if (in != out || scale != 1)
        lone->kernels->copy_scaled(in, out, weft_complex_bytes(lone->kernels), false, scale);
}

static void run_line(const weft_lone *lone, const void *in, void *out, void *room, double scale) {
    (void)room;
    lone->line->complex(in, out, lone->inverse, scale);
}

static void run_both(const weft_lone *lone, const void *in, void *out, void *room, double scale) {
    (void)room;
    lone->stage[0].codelet->both(in, out, lone->stage[0].twiddles, lone->inverse, scale);
}

static void run_stages(const weft_lone *lone, const void *in, void *out, void *room, double scale) {
    const weft_lone_stage *stage = lone->stage, *last = stage + lone->count - 1;
    char *from = room, *to = from + buffer_bytes(lone);
    if (lone->interleaved && in != out) { /* one buffer less for the first-level cache to hold */
        from = lone->count % 2 == 0 ? room : out;
        to = lone->count % 2 == 0 ? out : room;
    }
    stage->codelet->first(in, from, lone->imaginary, stage->m, stage->twiddles, lone->inverse);
    for (stage++; stage < last; stage++) {
        stage->codelet->middle(from, to, lone->imaginary, stage->s, stage->m, stage->twiddles,
                               lone->inverse);
        char *other = from;
        from = to;
        to = other;
    }
    last->codelet->last(from, lone->imaginary, out, last->s, lone->inverse, scale);
}

/* Only stages that are calls of their own need scratch memory. */
size_t weft_lone_room(const weft_lone *lone) {
    if (lone->chirp) return weft_lone_chirp_room(lone->chirp);
    return lone->run == run_stages ? (lone->count == 2 ? 1 : 2) * buffer_bytes(lone) : 0;
}

static void run_chirp(const weft_lone *lone, const void *in, void *out, void *room, double scale) {
    weft_lone_chirp_run(lone->chirp, in, out, room, scale);
}

/* ---- creation ---- */

static bool create_direct(weft_lone *lone, choice chosen, size_t *bytes) {
    lone->line = chosen.line;
    lone->run = chosen.line ? run_line : chosen.both ? run_both : run_stages;
    if (chosen.line) return true;
    set_stages(lone, &chosen);
    /* Between real and imaginary parts there are some cache lines, lest those of powers of two
     * compete for the same sets of the cache. */
    const int64_t numbers = WEFT_CACHE_LINE / lone->kernels->real_bytes;
    lone->imaginary = (rounds(lone->n, numbers) + 5) * numbers;
    return borrow_tables(lone, bytes);
}

static void begin(const weft_kernels *kernels, int64_t n, weft_direction direction,
                  weft_lone *lone) {
    memset(lone, 0, sizeof *lone);
    lone->kernels = kernels;
    lone->n = n;
    lone->inverse = direction == WEFT_INVERSE;
}

void weft_lone_create_line(const weft_kernels *kernels, const weft_lone_line *line,
                           weft_direction direction, weft_lone *lone) {
    begin(kernels, line->points, direction, lone);
    lone->line = line;
    lone->run = run_line;
}

bool weft_lone_create(const weft_kernels *kernels, int64_t n, weft_direction direction,
                      weft_lone *lone, size_t *bytes) {
    begin(kernels, n, direction, lone);
    lone->run = n == 1 ? run_point : run_chirp;
    if (n == 1) return true;
    const choice found = choose(kernels, n);
    if (found.cost < 1e300) return create_direct(lone, found, bytes);
    lone->chirp = malloc(sizeof *lone->chirp);
    *bytes += sizeof *lone->chirp;
    return lone->chirp && weft_lone_chirp_create(kernels, n, direction, lone->chirp, bytes);
}

void weft_lone_release(weft_lone *lone) {
    weft_table_return(lone->tables);
    if (lone->chirp) weft_lone_chirp_release(lone->chirp);
    free(lone->chirp);
}
