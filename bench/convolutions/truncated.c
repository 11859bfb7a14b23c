/*
 * The transforms of the 3/2 rule: from the half spectrum of m^3 points to real space of n^3, n =
 * 3/2 m, and back to the same frequencies, in double precision. As one plan, which truncates axis
 * by axis, and on the host by transforms of n^3 points and copies of the frequencies between two
 * arrays, with the same engine's and with FFTW's transforms (the engine fftw, measured plans).
 * Called in turn; CSV on standard output: medians in milliseconds, and bytes held beside the
 * caller's spectra.
 *
 *   bench_truncated [--rounds R] [--threads T] [--device host|cuda] [--most M] [--engine E]
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "measuring.h"

enum { MOST_ROUNDS = 200, WAYS = 3 };

static weft_context ctx;
static weft_options options;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_truncated: %s\n", weft_last_error(ctx));
    exit(1);
}

/* ---- by whole transforms and copies ---- */

typedef struct separate {
    weft_plan plan;
    int64_t m, n;
    double *real;
    double complex *wide;
    size_t bytes;
} separate;

static void make_separate(separate *s, int64_t m, int64_t n, weft_engine engine,
                          weft_effort effort) {
    const weft_problem problem = {.rank = 3, .n = {n, n, n}, .kind = WEFT_R2C};
    weft_options with = options;
    size_t in, out;
    weft_memory memory;
    with.engine = engine;
    with.effort = effort;
    with.placement = WEFT_OUT_OF_PLACE;
    *s = (separate){.m = m, .n = n};
    must(weft_plan_create(ctx, &problem, &with, &s->plan));
    must(weft_plan_bytes(s->plan, WEFT_INPUT, &in));
    must(weft_plan_bytes(s->plan, WEFT_OUTPUT, &out));
    must(weft_plan_memory(s->plan, &memory));
    void *real = NULL, *wide = NULL;
    must(weft_buffer_create(s->plan, in, &real));
    must(weft_buffer_create(s->plan, out, &wide));
    s->real = real;
    s->wide = wide;
    s->bytes = in + out + memory.total;
}

/* Where frequency number i of m points lies among those of n. */
static int64_t place(const separate *s, int64_t i) {
    return i < (s->m + 1) / 2 ? i : i + s->n - s->m;
}

static void copy_frequencies(const separate *s, double complex *narrow, bool widens) {
    const int64_t m = s->m, kept = m / 2 + 1, row = s->n / 2 + 1;
#ifdef _OPENMP
#pragma omp parallel for num_threads(options.threads) if (options.threads > 1)
#endif
    for (int64_t i = 0; i < m * m; i++) {
        double complex *here = narrow + i * kept,
                       *there = s->wide + (place(s, i / m) * s->n + place(s, i % m)) * row;
        memcpy(widens ? there : here, widens ? here : there, (size_t)kept * sizeof *here);
    }
}

static void clear(const separate *s) {
    const int64_t plane = s->n * (s->n / 2 + 1);
#ifdef _OPENMP
#pragma omp parallel for num_threads(options.threads) if (options.threads > 1)
#endif
    for (int64_t i = 0; i < s->n; i++)
        memset(s->wide + i * plane, 0, (size_t)plane * sizeof *s->wide);
}

static void run_separate(const separate *s, double complex *in, double complex *out) {
    clear(s);
    copy_frequencies(s, in, true);
    must(weft_execute(s->plan, WEFT_INVERSE, s->wide, s->real));
    must(weft_execute(s->plan, WEFT_FORWARD, s->real, s->wide));
    copy_frequencies(s, out, false);
}

static void free_separate(separate *s) {
    void *real = s->real, *wide = s->wide;
    weft_buffer_destroy(s->plan, &real);
    weft_buffer_destroy(s->plan, &wide);
    weft_plan_destroy(&s->plan);
}

/* ---- cases ---- */

static weft_composition make_one_plan(int64_t m, int64_t n) {
    const weft_stage stages[] = {{.kind = WEFT_STAGE_EMBED, .n = {n, n, n}},
                                 {.kind = WEFT_STAGE_INVERSE},
                                 {.kind = WEFT_STAGE_FORWARD},
                                 {.kind = WEFT_STAGE_CROP, .n = {m, m, m}}};
    const weft_composition_problem p = {.rank = 3,
                                        .n = {m, m, m},
                                        .kind = WEFT_R2C,
                                        .begin = WEFT_OUTPUT,
                                        .stage = stages,
                                        .stages = 4};
    weft_composition plan = NULL;
    must(weft_composition_create(ctx, &p, &options, &plan));
    return plan;
}

static void check_same(const double complex *one, const double complex *other, int64_t count) {
    double off = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        off += creal((one[i] - other[i]) * conj(one[i] - other[i]));
        most += creal(one[i] * conj(one[i]));
    }
    if (off <= 1e-26 * most) return;
    fprintf(stderr, "bench_truncated: results differ\n");
    exit(1);
}

static void compare(int64_t m, int rounds) {
    static double seconds[WAYS][MOST_ROUNDS];
    const int64_t n = 3 * m / 2, count = m * m * (m / 2 + 1);
    const int ways = options.device == WEFT_HOST ? WAYS : 1;
    weft_composition plan = make_one_plan(m, n);
    separate by[2];
    size_t bytes;
    weft_memory memory;
    void *in = NULL, *out = NULL;
    must(weft_plan_bytes(plan, WEFT_INPUT, &bytes));
    must(weft_plan_memory(plan, &memory));
    must(weft_buffer_create(plan, bytes, &in));
    must(weft_buffer_create(plan, bytes, &out));
    must(upload_random(plan, in, bytes, WEFT_DOUBLE, 1));
    double complex *first = malloc(bytes);
    if (!first) exit(1);
    for (int i = 0; i + 1 < ways; i++)
        make_separate(&by[i], m, n, i ? WEFT_ENGINE_FFTW : WEFT_ENGINE_AUTO,
                      i ? WEFT_MEASURE : WEFT_ESTIMATE);
    for (int r = -2; r < rounds; r++)
        for (int k = 0; k < ways; k++) {
            const int way = (k + r + 2) % ways;
            const double begin = seconds_now();
            if (way == 0)
                must(weft_composition_execute(plan, in, &out));
            else
                run_separate(&by[way - 1], in, out);
            if (r >= 0) seconds[way][r] = seconds_now() - begin;
            if (r == -2 && ways > 1 && way == 0) memcpy(first, out, bytes);
            if (r == -2 && way > 0) check_same(first, out, count);
        }
    double median[WAYS] = {0};
    for (int way = 0; way < ways; way++) median[way] = 1e3 * median_of(seconds[way], rounds);
    printf("%s,%lld,%d,%.3f,%.3f,%.3f,%.1f,%.1f\n", weft_engine_name(options.engine), (long long)m,
           options.threads, median[0], median[1], median[2], (double)memory.total / (1 << 20),
           ways > 1 ? (double)by[0].bytes / (1 << 20) : 0);
    fflush(stdout);
    for (int i = 0; i + 1 < ways; i++) free_separate(&by[i]);
    free(first);
    weft_buffer_destroy(plan, &in);
    weft_buffer_destroy(plan, &out);
    weft_composition_destroy(&plan);
}

static weft_engine engine_named(const char *name) {
    for (int e = WEFT_ENGINE_AUTO; strcmp(weft_engine_name((weft_engine)e), "?") != 0; e++)
        if (strcmp(weft_engine_name((weft_engine)e), name) == 0) return (weft_engine)e;
    fprintf(stderr, "bench_truncated: no engine is called %s\n", name);
    exit(2);
}

int main(int argc, char **argv) {
    int rounds = 11;
    int64_t most = 256;
    options.threads = 1;
    for (int i = 1; i < argc; i += 2) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(flag, "--rounds") == 0) {
            rounds = atoi(value);
        } else if (strcmp(flag, "--threads") == 0) {
            options.threads = atoi(value);
        } else if (strcmp(flag, "--most") == 0) {
            most = atoi(value);
        } else if (strcmp(flag, "--engine") == 0) {
            options.engine = engine_named(value);
        } else if (strcmp(flag, "--device") == 0) {
            options.device = strcmp(value, "cuda") == 0 ? WEFT_CUDA : WEFT_HOST;
        } else {
            fprintf(stderr, "bench_truncated: %s is no flag of this program\n", flag);
            return 2;
        }
    }
    if (rounds < 1 || rounds > MOST_ROUNDS || options.threads < 1) return 2;
    must(weft_context_create(NULL, &ctx));
    printf("engine,m,threads,one_plan_ms,separate_ms,fftw_ms,one_plan_MiB,separate_MiB\n");
    for (int64_t m = 32; m <= most; m *= 2) compare(m, rounds);
    weft_context_destroy(&ctx);
    return 0;
}
