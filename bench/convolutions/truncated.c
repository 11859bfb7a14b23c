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
#include "one_process.h"

#include <complex.h>

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

typedef struct ways {
    weft_composition plan;
    void *in, *out;
    separate by[MOST_WAYS - 1]; /* of which there may be none */
} ways;

static void run_way(int way, void *argument) {
    ways *w = argument;
    if (way == 0)
        must(weft_composition_execute(w->plan, w->in, &w->out));
    else
        run_separate(&w->by[way - 1], w->in, w->out);
}

/* Whether all ways, on the host, have one result. */
static void check_results(ways *w, int count, int64_t elements) {
    double complex *first = malloc((size_t)elements * sizeof *first);
    if (!first) exit(1);
    for (int way = 0; way < count; way++) {
        run_way(way, w);
        if (way == 0)
            memcpy(first, w->out, (size_t)elements * sizeof *first);
        else
            check_same(first, w->out, elements);
    }
    free(first);
}

static void compare(int64_t m, int rounds) {
    const int64_t n = 3 * m / 2;
    const int count = options.device == WEFT_HOST ? MOST_WAYS : 1;
    ways w = {.plan = make_one_plan(m, n)};
    size_t bytes;
    weft_memory memory;
    double median[MOST_WAYS];
    must(weft_plan_bytes(w.plan, WEFT_INPUT, &bytes));
    must(weft_plan_memory(w.plan, &memory));
    must(weft_buffer_create(w.plan, bytes, &w.in));
    must(weft_buffer_create(w.plan, bytes, &w.out));
    must(upload_random(w.plan, w.in, bytes, WEFT_DOUBLE, 1));
    for (int i = 0; i + 1 < count; i++)
        make_separate(&w.by[i], m, n, i ? WEFT_ENGINE_FFTW : WEFT_ENGINE_AUTO,
                      i ? WEFT_MEASURE : WEFT_ESTIMATE);
    if (count > 1) check_results(&w, count, m * m * (m / 2 + 1));
    time_in_turn(count, rounds, run_way, &w, median);
    printf("%s,%lld,%d,%.3f,%.3f,%.3f,%.1f,%.1f\n", weft_engine_name(options.engine), (long long)m,
           options.threads, median[0], median[1], median[2], (double)memory.total / (1 << 20),
           (double)w.by[0].bytes / (1 << 20));
    fflush(stdout);
    for (int i = 0; i + 1 < count; i++) free_separate(&w.by[i]);
    weft_buffer_destroy(w.plan, &w.in);
    weft_buffer_destroy(w.plan, &w.out);
    weft_composition_destroy(&w.plan);
}

int main(int argc, char **argv) {
    const flags f = read_flags(argc, argv);
    must(weft_context_create(NULL, &ctx));
    printf("engine,m,threads,one_plan_ms,separate_ms,fftw_ms,one_plan_MiB,separate_MiB\n");
    for (int64_t m = 32; m <= f.most; m *= 2) compare(m, f.rounds);
    weft_context_destroy(&ctx);
    return 0;
}
