/*
 * What operators cost on the host, with the native engine and one thread: a norm on an inverse
 * transform, a Hann window along every axis as a forward transform loads, and a convolution with a
 * table for each axis beside a forward and an inverse transform. Both are called in turn; seconds
 * are the thread's own, so that others on the machine disturb less. CSV on standard output: medians
 * in microseconds, and the median of the ratios. Usage: bench_host_operators [--rounds R]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

#include "measuring.h"

enum { MOST_ROUNDS = 1000, WARMUPS = 2, LONGEST = 1 << 12, POINTS_OF_A_ROUND = 1 << 20 };

typedef enum what { NORM, WINDOW, CONVOLUTION } what;

static weft_context ctx;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_host_operators: %s\n", weft_last_error(ctx));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(what w, bool with, weft_plan plan, void *in, void *out) {
    if (w == NORM || (w == CONVOLUTION && !with)) must(weft_execute(plan, WEFT_INVERSE, out, in));
    if (w == WINDOW || (w == CONVOLUTION && !with)) must(weft_execute(plan, WEFT_FORWARD, in, out));
    if (w == CONVOLUTION && with) must(weft_execute(plan, WEFT_CONVOLVE, in, in));
}

static void compare(what w, weft_problem plain, int rounds) {
    static const char *const names[] = {"norm", "Hann window", "convolution"};
    static double table[LONGEST], seconds[2][MOST_ROUNDS], ratio[MOST_ROUNDS];
    weft_operator window = {.kind = WEFT_OPERATOR_WINDOW}, filter = {.kind = WEFT_OPERATOR_TABLE};
    weft_problem problem[2] = {plain, plain};
    weft_options options = {.engine = WEFT_ENGINE_NATIVE, .threads = 1};
    weft_plan plan[2] = {NULL};
    size_t bytes[2];
    int64_t points = 1;
    for (int i = 0; i < LONGEST; i++) table[i] = 1.0 / (1 + i);
    for (int a = 0; a < plain.rank; a++) {
        window.window[a].kind = WEFT_WINDOW_HANN;
        filter.table[a] = table;
        points *= plain.n[a];
    }
    if (w == NORM) problem[1].norm = WEFT_NORM_ORTHO;
    if (w == WINDOW) problem[1].load = (weft_operators){&window, 1};
    if (w == CONVOLUTION) problem[1].spectral = (weft_operators){&filter, 1};
    for (int v = 0; v < 2; v++) {
        options.convolve = w == CONVOLUTION && v == 1;
        must(weft_plan_create(ctx, &problem[v], &options, &plan[v]));
    }
    must(weft_plan_bytes(plan[0], WEFT_INPUT, &bytes[0]));
    must(weft_plan_bytes(plan[0], WEFT_OUTPUT, &bytes[1]));
    void *in = NULL, *out = NULL;
    must(weft_buffer_create(plan[0], bytes[0], &in));
    must(weft_buffer_create(plan[0], bytes[1], &out));
    memset(in, 0, bytes[0]);
    memset(out, 0, bytes[1]);
    const int calls = points < POINTS_OF_A_ROUND ? (int)(POINTS_OF_A_ROUND / points) : 1;
    for (int r = -WARMUPS; r < rounds; r++)
        for (int k = 0; k < 2; k++) {
            const int v = (k + r) & 1;
            const double start = now();
            for (int i = 0; i < calls; i++) run(w, v == 1, plan[v], in, out);
            if (r >= 0) seconds[v][r] = (now() - start) / calls;
        }
    for (int r = 0; r < rounds; r++) ratio[r] = seconds[1][r] / seconds[0][r];
    printf("%s,%s,%s,%lld", names[w], plain.kind == WEFT_R2C ? "r2c" : "c2c",
           weft_precision_name(plain.precision), (long long)plain.n[0]);
    for (int a = 1; a < plain.rank; a++) printf("x%lld", (long long)plain.n[a]);
    const double without = median_of(seconds[0], rounds), with = median_of(seconds[1], rounds);
    printf(",%.3f,%.3f,%.3f\n", 1e6 * without, 1e6 * with, median_of(ratio, rounds));
    fflush(stdout);
    weft_buffer_destroy(plan[0], &in);
    weft_buffer_destroy(plan[0], &out);
    for (int v = 0; v < 2; v++) weft_plan_destroy(&plan[v]);
}

int main(int argc, char **argv) {
    static const weft_problem problems[] = {
        {.rank = 1, .n = {64}},
        {.rank = 1, .n = {64}, .kind = WEFT_R2C},
        {.rank = 1, .n = {1024}},
        {.rank = 1, .n = {1000}, .precision = WEFT_SINGLE},
        {.rank = 2, .n = {256, 256}},
        {.rank = 2, .n = {256, 256}, .kind = WEFT_R2C},
        {.rank = 3, .n = {64, 64, 64}, .kind = WEFT_R2C},
        {.rank = 2, .n = {1024, 1024}, .kind = WEFT_R2C},
        {.rank = 3, .n = {128, 128, 128}, .kind = WEFT_R2C},
        {.rank = 3, .n = {128, 128, 128}},
        {.rank = 3, .n = {256, 256, 256}, .kind = WEFT_R2C},
    };
    const int rounds = argc > 2 && strcmp(argv[1], "--rounds") == 0 ? atoi(argv[2]) : 41;
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    must(weft_context_create(NULL, &ctx));
    printf("operator,kind,precision,n,without_us,with_us,ratio\n");
    for (int w = NORM; w <= CONVOLUTION; w++)
        for (size_t p = 0; p < sizeof problems / sizeof problems[0]; p++)
            compare((what)w, problems[p], rounds);
    weft_context_destroy(&ctx);
    return 0;
}
