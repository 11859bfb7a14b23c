/*
 * How fast cubes are transformed by cosine and sine transforms along all axes on a device, beside
 * r2c: data on the device, medians of whole calls of weft_execute, and the rate if every axis took
 * one pass over the data. CSV on standard output. Outputs are not checked here; test_r2r does that.
 * Usage:
 *   bench_real_to_real [--device cuda|opencl|host] [--single] [--runs R] SIZE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "measuring.h"

enum { MOST_RUNS = 1000, WARMUPS = 3, RANK = 3 };

static weft_context ctx;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_real_to_real: %s\n", weft_last_error(ctx));
    exit(1);
}

static void measure(const char *name, const weft_problem *problem, const weft_options *options,
                    int runs) {
    double seconds[MOST_RUNS];
    size_t bytes[2];
    weft_plan plan = NULL;
    void *in, *out;
    must(weft_plan_create(ctx, problem, options, &plan));
    must(weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]));
    must(weft_buffer_create(plan, bytes[0], &in));
    must(weft_buffer_create(plan, bytes[1], &out));
    must(upload_random(plan, in, bytes[0], problem->precision, 1));
    for (int run = -WARMUPS; run < runs; run++) {
        const double start = seconds_now();
        must(weft_execute(plan, WEFT_FORWARD, in, out));
        if (run >= 0) seconds[run] = seconds_now() - start;
    }
    const double median = median_of(seconds, runs);
    printf("%s,%lld,%s,%.4f,%.0f\n", name, (long long)problem->n[0],
           weft_precision_name(problem->precision), 1e3 * median,
           RANK * (double)(bytes[0] + bytes[1]) / median / 1e9);
    fflush(stdout);
    weft_buffer_destroy(plan, &in);
    weft_buffer_destroy(plan, &out);
    weft_plan_destroy(&plan);
}

static void measure_all(int64_t size, weft_precision precision, const weft_options *options,
                        int runs) {
    static const struct {
        const char *name;
        weft_axis type;
    } types[] = {{"r2c", WEFT_AXIS_OF_KIND}, {"dct1", WEFT_DCT1}, {"dct2", WEFT_DCT2},
                 {"dct3", WEFT_DCT3},        {"dct4", WEFT_DCT4}, {"dst1", WEFT_DST1},
                 {"dst2", WEFT_DST2},        {"dst3", WEFT_DST3}, {"dst4", WEFT_DST4}};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        weft_problem problem = {
            .rank = RANK, .kind = k == 0 ? WEFT_R2C : WEFT_R2R, .precision = precision};
        for (int a = 0; a < RANK; a++) {
            problem.n[a] = size;
            problem.axis[a] = types[k].type;
        }
        measure(types[k].name, &problem, options, runs);
    }
}

int main(int argc, char **argv) {
    weft_options options = {.device = WEFT_CUDA};
    weft_precision precision = WEFT_DOUBLE;
    int runs = 15;
    must(weft_context_create(NULL, &ctx));
    printf("transform,n,precision,median_ms,GB_per_s\n");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--single") == 0) {
            precision = WEFT_SINGLE;
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            i++;
            options.device = strcmp(argv[i], "host") == 0     ? WEFT_HOST
                             : strcmp(argv[i], "opencl") == 0 ? WEFT_OPENCL
                                                              : WEFT_CUDA;
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            i++;
            runs = atoi(argv[i]);
            if (runs < 1 || runs > MOST_RUNS) runs = MOST_RUNS;
        } else {
            measure_all(atoll(argv[i]), precision, &options, runs);
        }
    }
    weft_context_destroy(&ctx);
    return 0;
}
