/*
 * Convolutions beside the same made of separate transforms: real fields in double precision, each
 * as one plan, by a forward transform, a multiplication and an inverse one of the same engine, and,
 * on the host, by FFTW's transforms (the engine fftw, measured plans). Where the field is padded,
 * "separate" pads by hand: zeros, a copy in, transforms of all, a copy out. Called in turn; CSV on
 * standard output: medians in milliseconds, their ratios, and bytes held beside the caller's field
 * and result.
 *
 *   bench_convolutions [--rounds R] [--threads T] [--device host|cuda] [--most N]
 *                      [--engine E] [--only cubes|elastic|fields]
 */
#include "one_process.h"

/* ---- by separate transforms ---- */

/* Two transforms of the padded shape, and the operators that multiply in between, which are a pass
 * of their own: a plan of the engine identity would do, but the library's multiplication is part of
 * a transform's store otherwise. Here it is a loop. */
typedef struct separate {
    weft_plan plan;
    int rank;
    int64_t n[3], padded[3], elements; /* of the spectrum */
    double *wide, *spectrum, *kernel;
    size_t bytes;
} separate;

static void make_separate(separate *s, const weft_convolution_problem *p, const int64_t *padded,
                          weft_engine engine, weft_effort effort) {
    weft_problem problem = {.rank = p->rank, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD};
    weft_options with = options;
    size_t in, out;
    memset(s, 0, sizeof *s);
    s->rank = p->rank;
    for (int a = 0; a < p->rank; a++) {
        problem.n[a] = s->padded[a] = padded[a];
        s->n[a] = p->n[a];
    }
    with.engine = engine;
    with.effort = effort;
    with.placement = WEFT_OUT_OF_PLACE;
    must(weft_plan_create(ctx, &problem, &with, &s->plan));
    must(weft_plan_bytes(s->plan, WEFT_INPUT, &in));
    must(weft_plan_bytes(s->plan, WEFT_OUTPUT, &out));
    s->wide = calloc(1, in);
    s->spectrum = malloc(out);
    s->kernel = malloc(out);
    if (!s->wide || !s->spectrum || !s->kernel) exit(1);
    s->elements = 1;
    for (int a = 0; a < s->rank; a++)
        s->elements *= a == s->rank - 1 ? padded[a] / 2 + 1 : padded[a];
    for (int64_t i = 0; i < 2 * s->elements; i++) s->kernel[i] = 1 / (double)(1 + i);
    weft_memory memory;
    must(weft_plan_memory(s->plan, &memory));
    s->bytes = in + 2 * out + memory.total;
}

static void copy_rows(const separate *s, const double *from, double *to, bool in) {
    const int64_t rows = s->n[0] * s->n[1];
    const size_t bytes = (size_t)s->n[2] * sizeof *from;
#ifdef _OPENMP
#pragma omp parallel for num_threads(options.threads) if (options.threads > 1)
#endif
    for (int64_t row = 0; row < rows; row++) {
        const int64_t wide = (row / s->n[1] * s->padded[1] + row % s->n[1]) * s->padded[2];
        memcpy(to + (in ? wide : row * s->n[2]), from + (in ? row * s->n[2] : wide), bytes);
    }
}

static void run_separate(const separate *s, const double *in, double *out) {
    const bool pads = memcmp(s->n, s->padded, (size_t)s->rank * sizeof *s->n) != 0;
    const int64_t count = s->elements;
    double *x = s->spectrum;
    const double *k = s->kernel;
    if (pads) {
        memset(s->wide, 0, (size_t)(s->padded[0] * s->padded[1] * s->padded[2]) * sizeof *s->wide);
        copy_rows(s, in, s->wide, true);
    }
    must(weft_execute(s->plan, WEFT_FORWARD, pads ? s->wide : in, s->spectrum));
#ifdef _OPENMP
#pragma omp parallel for num_threads(options.threads) if (options.threads > 1)
#endif
    for (int64_t i = 0; i < count; i++) {
        const double re = x[2 * i], im = x[2 * i + 1];
        x[2 * i] = re * k[2 * i] - im * k[2 * i + 1];
        x[2 * i + 1] = re * k[2 * i + 1] + im * k[2 * i];
    }
    must(weft_execute(s->plan, WEFT_INVERSE, s->spectrum, pads ? s->wide : out));
    if (pads) copy_rows(s, s->wide, out, false);
}

static void free_separate(separate *s) {
    weft_plan_destroy(&s->plan);
    free(s->wide);
    free(s->spectrum);
    free(s->kernel);
}

/* ---- cases ---- */

/* A convolution as one plan, and by separate transforms, of which there may be none. */
typedef struct ways {
    weft_convolution plan;
    void *in, *out;
    separate by[MOST_WAYS - 1];
} ways;

static void run_way(int way, void *argument) {
    ways *w = argument;
    if (way == 0)
        must(weft_convolution_execute(w->plan, w->in, w->out));
    else
        run_separate(&w->by[way - 1], w->in, w->out);
}

static void compare(const char *name, weft_convolution_problem p, const int64_t *padded,
                    int rounds) {
    ways w = {.plan = NULL};
    size_t in_bytes, out_bytes;
    weft_memory memory;
    double median[MOST_WAYS];
    const int count = options.device == WEFT_HOST ? MOST_WAYS : 1;
    must(weft_convolution_create(ctx, &p, &options, &w.plan));
    must(weft_plan_bytes(w.plan, WEFT_INPUT, &in_bytes));
    must(weft_plan_bytes(w.plan, WEFT_OUTPUT, &out_bytes));
    must(weft_plan_memory(w.plan, &memory));
    must(weft_buffer_create(w.plan, in_bytes, &w.in));
    must(weft_buffer_create(w.plan, out_bytes, &w.out));
    must(upload_random(w.plan, w.in, in_bytes, WEFT_DOUBLE, 1));
    for (int i = 0; i + 1 < count; i++)
        make_separate(&w.by[i], &p, padded, i ? WEFT_ENGINE_FFTW : WEFT_ENGINE_AUTO,
                      i ? WEFT_MEASURE : WEFT_ESTIMATE);
    time_in_turn(count, rounds, run_way, &w, median);
    printf("%s,%lld,%d,%.3f,%.3f,%.3f,%.2f,%.2f,%.1f,%.1f\n", name, (long long)p.n[0],
           options.threads, median[0], median[1], median[2], median[1] / median[0],
           median[2] / median[0], (double)memory.total / (1 << 20),
           (double)w.by[0].bytes / (1 << 20));
    fflush(stdout);
    for (int i = 0; i + 1 < count; i++) free_separate(&w.by[i]);
    weft_buffer_destroy(w.plan, &w.in);
    weft_buffer_destroy(w.plan, &w.out);
    weft_convolution_destroy(&w.plan);
}

static void compare_cube(int64_t n, int rounds) {
    static const double covariance[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    const weft_convolution_problem field = {.rank = 3, .n = {n, n, n}, .kind = WEFT_R2C};
    double *kernel = malloc((size_t)(n * n * n) * sizeof *kernel);
    if (!kernel) exit(1);
    for (int64_t i = 0; i < n * n * n; i++) kernel[i] = 1 / (double)(1 + i);
    weft_convolution_problem p = field;
    p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_GAUSSIAN, .covariance = covariance};
    compare("periodic Gaussian", p, field.n, rounds);
    p.kernel = (weft_convolution_kernel){.array = kernel, .n = {n, n, n}};
    compare("periodic array", p, field.n, rounds);
    if (n <= 256) {
        const int64_t padded[] = {2 * n, 2 * n, 2 * n};
        for (int a = 0; a < 3; a++) p.boundary[a] = WEFT_LINEAR;
        p.mode = WEFT_SAME;
        for (int a = 0; a < 3; a++) p.kernel.n[a] = n;
        if (n <= 128) compare("linear same", p, padded, rounds);
        for (int a = 0; a < 3; a++) p.boundary[a] = WEFT_FREE_SPACE;
        p.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_POISSON};
        if (n <= 128) compare("free-space Poisson", p, padded, rounds);
    }
    free(kernel);
}

/* ---- the elastic operator beside the six transforms there and back ---- */

static void compare_elastic(int64_t n, int rounds) {
    static double seconds[2][MOST_ROUNDS];
    const weft_problem six = {.rank = 3, .n = {n, n, n}, .kind = WEFT_R2C, .batch = 6};
    const weft_convolution_problem p = {.rank = 3,
                                        .n = {n, n, n},
                                        .kind = WEFT_R2C,
                                        .kernel = {.kind = WEFT_KERNEL_ELASTIC, .lame = {1, 1}}};
    weft_convolution elastic = NULL;
    weft_plan plan = NULL;
    size_t bytes, spectrum_bytes;
    void *in = NULL, *out = NULL, *spectrum = NULL;
    must(weft_convolution_create(ctx, &p, &options, &elastic));
    must(weft_plan_create(ctx, &six, &options, &plan));
    must(weft_plan_bytes(plan, WEFT_INPUT, &bytes));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &spectrum_bytes));
    must(weft_buffer_create(plan, bytes, &in));
    must(weft_buffer_create(plan, bytes, &out));
    must(weft_buffer_create(plan, spectrum_bytes, &spectrum));
    must(upload_random(plan, in, bytes, WEFT_DOUBLE, 1));
    for (int r = -2; r < rounds; r++)
        for (int way = 0; way < 2; way++) {
            const double begin = seconds_now();
            if (way == 0) {
                must(weft_convolution_execute(elastic, in, out));
            } else {
                must(weft_execute(plan, WEFT_FORWARD, in, spectrum));
                must(weft_execute(plan, WEFT_INVERSE, spectrum, out));
            }
            if (r >= 0) seconds[way][r] = seconds_now() - begin;
        }
    const double one = median_of(seconds[0], rounds), all = median_of(seconds[1], rounds);
    printf("elastic beside six transforms,%lld,%d,%.3f,%.3f,0,%.2f,0,0,0\n", (long long)n,
           options.threads, 1e3 * one, 1e3 * all, all / one);
    fflush(stdout);
    weft_buffer_destroy(plan, &in);
    weft_buffer_destroy(plan, &out);
    weft_buffer_destroy(plan, &spectrum);
    weft_plan_destroy(&plan);
    weft_convolution_destroy(&elastic);
}

/* ---- three fields in one plan beside three times one field ---- */

static void compare_fields(int64_t n, int rounds) {
    static double seconds[2][MOST_ROUNDS];
    static const double covariance[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    weft_convolution_problem p = {
        .rank = 3,
        .n = {n, n, n},
        .kind = WEFT_R2C,
        .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = covariance}};
    weft_convolution one = NULL, three = NULL;
    size_t bytes;
    void *in = NULL, *out = NULL;
    must(weft_convolution_create(ctx, &p, &options, &one));
    p.batch = 3;
    must(weft_convolution_create(ctx, &p, &options, &three));
    must(weft_plan_bytes(three, WEFT_INPUT, &bytes));
    must(weft_buffer_create(three, bytes, &in));
    must(weft_buffer_create(three, bytes, &out));
    must(upload_random(three, in, bytes, WEFT_DOUBLE, 1));
    for (int r = -2; r < rounds; r++)
        for (int way = 0; way < 2; way++) {
            const double begin = seconds_now();
            if (way == 0) must(weft_convolution_execute(three, in, out));
            for (size_t f = 0; f < 3 && way == 1; f++)
                must(weft_convolution_execute(one, (char *)in + f * (bytes / 3),
                                              (char *)out + f * (bytes / 3)));
            if (r >= 0) seconds[way][r] = seconds_now() - begin;
        }
    const double together = median_of(seconds[0], rounds), each = median_of(seconds[1], rounds);
    printf("three fields beside three times one,%lld,%d,%.3f,%.3f,0,%.2f,0,0,0\n", (long long)n,
           options.threads, 1e3 * together, 1e3 * each, each / together);
    fflush(stdout);
    weft_buffer_destroy(three, &in);
    weft_buffer_destroy(three, &out);
    weft_convolution_destroy(&one);
    weft_convolution_destroy(&three);
}

int main(int argc, char **argv) {
    const flags f = read_flags(argc, argv);
    const bool all = *f.only == 0;
    must(weft_context_create(NULL, &ctx));
    printf("case,n,threads,one_plan_ms,separate_ms,fftw_ms,separate_over_one,fftw_over_one,"
           "one_plan_MiB,separate_MiB\n");
    for (int64_t n = 64; n <= f.most; n *= 2) {
        if (all || strcmp(f.only, "cubes") == 0) compare_cube(n, f.rounds);
        if ((all || strcmp(f.only, "elastic") == 0) && n <= 256) compare_elastic(n, f.rounds);
        if (all || strcmp(f.only, "fields") == 0) compare_fields(n, f.rounds);
    }
    weft_context_destroy(&ctx);
    return 0;
}
