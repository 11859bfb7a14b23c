/*
 * Convolutions of real fields with small kernels over ranks, in double precision: of the whole
 * field, tile by tile, and as weft chooses. Linear along all axes, mode `same`. Called in turn; CSV
 * on standard output, written by rank 0: medians over rounds of the slowest rank's milliseconds,
 * and the bytes that this rank sends.
 *
 *   mpiexec -n 2 bench_tiles_over_ranks [--rounds R] [--threads T]
 */
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE, TILES, CHOSEN, WAYS };

typedef struct shape {
    int rank;
    int64_t n, kernel;
} shape;

/* One of the ways, ready to run. */
typedef struct way {
    weft_convolution plan;
    void *in, *out;
    size_t bytes; /* of the result */
} way;

static way make(const shape *s, int i, const double *kernel, int threads) {
    static const weft_convolution_method methods[WAYS] = {WEFT_WHOLE, WEFT_OVERLAP_SAVE,
                                                          WEFT_METHOD_AUTO};
    weft_convolution_problem problem = {.rank = s->rank,
                                        .kind = WEFT_R2C,
                                        .mode = WEFT_SAME,
                                        .kernel = {.array = kernel},
                                        .method = methods[i]};
    const weft_options options = {.threads = threads, .placement = WEFT_OUT_OF_PLACE};
    way w = {.plan = NULL};
    size_t bytes;
    for (int a = 0; a < s->rank; a++) {
        problem.n[a] = s->n;
        problem.boundary[a] = WEFT_LINEAR;
        problem.kernel.n[a] = s->kernel;
    }
    ok(weft_convolution_create(ctx, &problem, &options, &w.plan));
    ok(weft_plan_bytes(w.plan, WEFT_INPUT, &bytes));
    ok(weft_plan_bytes(w.plan, WEFT_OUTPUT, &w.bytes));
    ok(weft_buffer_create(w.plan, bytes, &w.in));
    ok(weft_buffer_create(w.plan, w.bytes, &w.out));
    ok(upload_random(w.plan, w.in, bytes, WEFT_DOUBLE, 1 + (uint64_t)rank));
    return w;
}

static int64_t bytes_sent(const way *w) {
    weft_timings timings;
    ok(weft_plan_timings(w->plan, &timings));
    return timings.bytes_sent;
}

static void run(void *ways, int i) {
    const way *w = (way *)ways + i;
    ok(weft_convolution_execute(w->plan, w->in, w->out));
}

static void measure(const shape *s, int rounds, int threads) {
    const int64_t points = s->rank == 2 ? s->kernel * s->kernel : s->kernel * s->kernel * s->kernel;
    double *kernel = malloc((size_t)points * sizeof *kernel), median[WAYS], off = 0;
    way ways[WAYS];
    must(kernel, "no memory");
    for (int64_t i = 0; i < points; i++) kernel[i] = sin(0.37 * (double)i) / (double)points;
    for (int i = 0; i < WAYS; i++) ways[i] = make(s, i, kernel, threads);
    time_in_turn(WAYS, run, ways, rounds, median);
    must(ways[WHOLE].bytes == ways[TILES].bytes, "the boxes differ");
    for (size_t i = 0; i < ways[WHOLE].bytes / sizeof(double); i++)
        off = fmax(off, fabs(((double *)ways[WHOLE].out)[i] - ((double *)ways[TILES].out)[i]));
    must(off < 1e-12, "the results differ");
    const bool tiles = bytes_sent(&ways[CHOSEN]) == bytes_sent(&ways[TILES]);
    if (rank == 0)
        printf("%d,%d,%lld,%lld,%d,%.3f,%.3f,%.3f,%s,%lld,%lld\n", ranks, s->rank, (long long)s->n,
               (long long)s->kernel, threads, 1e3 * median[WHOLE], 1e3 * median[TILES],
               1e3 * median[CHOSEN], tiles ? "tiles" : "whole", (long long)bytes_sent(&ways[WHOLE]),
               (long long)bytes_sent(&ways[TILES]));
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) {
        weft_buffer_destroy(ways[i].plan, &ways[i].in);
        weft_buffer_destroy(ways[i].plan, &ways[i].out);
        weft_convolution_destroy(&ways[i].plan);
    }
    free(kernel);
}

int main(int argc, char **argv) {
    static const shape shapes[] = {
        {2, 512, 5},   {2, 512, 31},   {2, 1024, 5},  {2, 1024, 31},  {2, 1024, 129}, {2, 2048, 5},
        {2, 2048, 31}, {2, 2048, 129}, {2, 4096, 31}, {2, 4096, 257}, {3, 64, 3},     {3, 64, 9},
        {3, 128, 3},   {3, 128, 9},    {3, 256, 5},   {3, 256, 11},   {3, 256, 21}};
    int rounds = 9, threads = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(argv[i + 1]);
    }
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    begin_ranks(&argc, &argv);
    must(ranks > 1, "start it on several ranks");
    if (rank == 0)
        printf("ranks,axes,n,kernel,threads,whole_ms,tiles_ms,chosen_ms,chosen,whole_bytes,"
               "tiles_bytes\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure(&shapes[i], rounds, threads);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
