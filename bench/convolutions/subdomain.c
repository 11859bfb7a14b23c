/*
 * One sub-domain of a convolution by samples (src/sampled): a cube of edge K in a grid of N^3,
 * Poisson's kernel on the staggered grid, from K^3 sources in host memory to the samples of its
 * octree there. The N^3 points of the result exist nowhere. Medians of whole calls, bytes that the
 * plan holds, and how far the samples are from those of the processor (--check 1). CSV on standard
 * output.
 *
 *   bench_subdomain [--n 1024] [--edge 32] [--device cuda] [--threads 1] [--runs 5] [--check 0]
 *       [--opening 0.25] [--points 4] [--fixed 0] [--elastic 0]
 */
#include "measuring.h"
#include "sampled/local.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>

enum { MOST_RUNS = 100 };

typedef struct setup {
    int64_t n, edge;
    int points, runs, check, fixed, elastic;
    double opening;
    weft_options options;
} setup;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_subdomain: %s\n", weft_thread_error());
    exit(1);
}

static void read_flags(setup *s, int argc, char **argv) {
    *s = (setup){.n = 1024, .edge = 32, .points = 4, .runs = 5, .opening = 0.25};
    s->options = (weft_options){.device = WEFT_CUDA, .threads = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (strcmp(flag, "--n") == 0) s->n = atoll(value);
        if (strcmp(flag, "--edge") == 0) s->edge = atoll(value);
        if (strcmp(flag, "--points") == 0) s->points = atoi(value);
        if (strcmp(flag, "--opening") == 0) s->opening = atof(value);
        if (strcmp(flag, "--runs") == 0) s->runs = atoi(value);
        if (strcmp(flag, "--check") == 0) s->check = atoi(value);
        if (strcmp(flag, "--fixed") == 0) s->fixed = atoi(value);
        if (strcmp(flag, "--elastic") == 0) s->elastic = atoi(value);
        if (strcmp(flag, "--threads") == 0) s->options.threads = atoi(value);
        if (strcmp(flag, "--device") == 0 && !find_device(value, &s->options.device)) exit(2);
    }
    if (s->runs > MOST_RUNS) s->runs = MOST_RUNS;
    if (s->options.device != WEFT_HOST) s->options.location = WEFT_LOCATION_HOST;
}

static weft_tree tree_of(const setup *s) {
    const int64_t period[WEFT_TREE_AXES] = {s->n, s->n, s->n},
                  edge[WEFT_TREE_AXES] = {s->edge, s->edge, s->edge};
    return s->fixed ? weft_tree_fixed(period, edge, 2)
                    : weft_tree_graded(period, edge, s->points, s->opening);
}

static void make_values(const weft_tree *tree, int fields, double **values) {
    for (int i = 0; i < tree->levels; i++) {
        const int64_t *n = tree->level[i].n;
        values[i] = calloc((size_t)(n[0] * n[1] * n[2] * fields), sizeof **values);
    }
}

/* The largest difference from what the processor makes, relative to the largest number. */
static double error_of(const setup *s, const weft_convolved *c, const weft_tree *tree,
                       const int64_t *lo, const double *sources, double *const *found) {
    const weft_options host = {.threads = s->options.threads};
    const int fields = weft_convolved_fields(c, true);
    weft_local *local = NULL;
    double *right[WEFT_TREE_LEVELS] = {NULL}, off = 0, largest = 0;
    make_values(tree, fields, right);
    must(weft_local_create(c, tree, &host, &local));
    must(weft_local_run(local, lo, sources, right));
    for (int i = 0; i < tree->levels; i++) {
        const int64_t *n = tree->level[i].n;
        for (int64_t k = 0; k < n[0] * n[1] * n[2] * fields; k++) {
            off = fmax(off, fabs(found[i][k] - right[i][k]));
            largest = fmax(largest, fabs(right[i][k]));
        }
        free(right[i]);
    }
    weft_local_destroy(local);
    return off / largest;
}

int main(int argc, char **argv) {
    static const double zero[2] = {0, 0};
    setup s;
    weft_local *local = NULL;
    weft_convolved *c = calloc(1, sizeof *c);
    double *values[WEFT_TREE_LEVELS] = {NULL}, seconds[MOST_RUNS];
    read_flags(&s, argc, argv);
    const weft_convolution_problem problem = {
        .rank = 3,
        .n = {s.n, s.n, s.n},
        .kind = WEFT_R2C,
        .kernel = {.kind = s.elastic ? WEFT_KERNEL_ELASTIC : WEFT_KERNEL_POISSON,
                   .zero = zero,
                   .lame = {1, 1},
                   .discretization = WEFT_STAGGERED}};
    const int64_t lo[WEFT_TREE_AXES] = {s.n / 3, s.n / 2 + 1, s.n - s.edge / 2};
    must(weft_convolved_read(&problem, c));
    const weft_tree tree = tree_of(&s);
    const int64_t numbers = s.edge * s.edge * s.edge * weft_convolved_fields(c, false);
    double *sources = malloc((size_t)numbers * sizeof *sources);
    for (int64_t i = 0; i < numbers; i++) sources[i] = (double)(i * 7919 % 1000) / 1000 - 0.3;
    make_values(&tree, weft_convolved_fields(c, true), values);
    const double begin = seconds_now();
    must(weft_local_create(c, &tree, &s.options, &local));
    const double planned = seconds_now() - begin;
    for (int i = -1; i < s.runs; i++) {
        const double before = seconds_now();
        must(weft_local_run(local, lo, sources, values));
        if (i >= 0) seconds[i] = seconds_now() - before;
    }
    puts("n,edge,kernel,pattern,opening,points,device,threads,samples,bytes,plan_s,run_ms,error");
    printf("%lld,%lld,%s,%s,%g,%d,%s,%d,%lld,%zu,%.2f,%.2f,%.2g\n", (long long)s.n,
           (long long)s.edge, weft_kernel_kind_name(problem.kernel.kind),
           s.fixed ? "fixed" : "graded", s.fixed ? 0 : s.opening, s.fixed ? 2 : s.points,
           weft_device_name(s.options.device), s.options.threads,
           (long long)weft_tree_samples(&tree), weft_local_bytes(local), planned,
           1e3 * median_of(seconds, s.runs),
           s.check ? error_of(&s, c, &tree, lo, sources, values) : NAN);
    for (int i = 0; i < tree.levels; i++) free(values[i]);
    free(sources);
    weft_local_destroy(local);
    weft_convolved_release(c);
    return 0;
}
