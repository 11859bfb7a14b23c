/*
 * What operators and convolutions cost on a device, data on the device: medians of whole calls of
 * weft_execute, launches and the wait at the end included, and for each case the time with
 * operators over the time without (of the image filter: with the picture and without). CSV on
 * standard output; outputs are not checked here, the tests do that. Usage:
 *   bench_operators [--device cuda|opencl] [--engine E] [--runs R] [--small]
 *                   [--only TEXT]   cases whose names hold the text
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"

enum { MOST_RUNS = 1000, WARMUPS = 3 };

typedef struct bench {
    weft_context ctx;
    weft_options options;
    int runs;
    const char *only;
} bench;

static void must(const bench *b, weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_operators: %s\n", weft_last_error(b->ctx));
    exit(1);
}

/* Milliseconds; of a convolution with the spectrum kept, if that is to be stored as something. */
static double time_problem(const bench *b, const weft_problem *problem, weft_direction direction) {
    weft_options options = b->options;
    const bool keeps = direction == WEFT_CONVOLVE && problem->spectral_storage != WEFT_STORAGE_SAME;
    weft_plan plan = NULL;
    size_t bytes[2];
    void *in = NULL, *out = NULL, *spectrum = NULL;
    double seconds[MOST_RUNS];
    options.convolve = direction == WEFT_CONVOLVE;
    options.keep_spectrum = keeps;
    must(b, weft_plan_create(b->ctx, problem, &options, &plan));
    must(b, weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]));
    must(b, weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]));
    must(b, weft_buffer_create(plan, bytes[0], &in));
    must(b, weft_buffer_create(plan, bytes[direction != WEFT_CONVOLVE], &out));
    if (keeps) must(b, weft_buffer_create(plan, bytes[1], &spectrum));
    must(b, upload_random(plan, in, bytes[0], problem->precision, 0));
    for (int run = -WARMUPS; run < b->runs; run++) {
        double start = seconds_now();
        must(b, keeps ? weft_convolve(plan, in, spectrum, out)
                      : weft_execute(plan, direction, in, out));
        if (run >= 0) seconds[run] = seconds_now() - start;
    }
    weft_buffer_destroy(plan, &in);
    weft_buffer_destroy(plan, &out);
    weft_buffer_destroy(plan, &spectrum);
    weft_plan_destroy(&plan);
    return 1e3 * median_of(seconds, b->runs);
}

static void compare(const bench *b, const char *name, const weft_problem *plain,
                    const weft_problem *operated, weft_direction direction) {
    if (!strstr(name, b->only)) return;
    const double without = time_problem(b, plain, direction);
    const double with = time_problem(b, operated, direction);
    printf("%s,%s,%s,%.4f,%.4f,%.3f\n", name, weft_engine_name(b->options.engine),
           weft_precision_name(plain->precision), without, with, with / without);
    fflush(stdout);
}

/* Lines of a power of two, with a Hann window as they are loaded. */
static void windows(const bench *b, weft_precision precision, bool small) {
    const weft_operator hann = {.kind = WEFT_OPERATOR_WINDOW,
                                .window = {{.kind = WEFT_WINDOW_HANN}}};
    for (int64_t n = 256; n <= 4096; n *= 4) {
        weft_problem p = {.rank = 1,
                          .n = {n},
                          .batch = (INT64_C(1) << (small ? 16 : 27)) / n,
                          .kind = WEFT_C2C,
                          .precision = precision};
        weft_problem windowed = p;
        char name[64];
        windowed.load = (weft_operators){&hann, 1};
        snprintf(name, sizeof name, "Hann window; lines of %lld", (long long)n);
        compare(b, name, &p, &windowed, WEFT_FORWARD);
    }
}

/* A Gaussian in real space with a width of two points, by its formula. */
static const char gaussian[] =
    "real sum = 0;\n"
    "for (int a = 0; a < RANK; a++) {\n"
    "    const long64 k = 2 * index[a] > n[a] ? n[a] - index[a] : index[a];\n"
    "    const real w = (real)k / (a + 1 == RANK ? 2 * (n[a] - 1) : n[a]);\n"
    "    sum += w * w;\n"
    "}\n"
    "value = complex_scale(value, exp((real)-78.9568352087149 * sum));\n";

static void convolution(const bench *b, int rank, int64_t n, weft_precision precision) {
    char text[sizeof gaussian + 64], name[64];
    snprintf(text, sizeof text, "#define RANK %d\n%s", rank, gaussian);
    const weft_operator filter = {.kind = WEFT_OPERATOR_FUNCTION, .snippet = text};
    weft_problem p = {
        .rank = rank, .kind = WEFT_R2C, .precision = precision, .norm = WEFT_NORM_BACKWARD};
    for (int a = 0; a < rank; a++) p.n[a] = n;
    weft_problem filtered = p;
    filtered.spectral = (weft_operators){&filter, 1};
    snprintf(name, sizeof name, "there and back with a Gaussian; %d axes of %lld", rank,
             (long long)n);
    compare(b, name, &p, &filtered, WEFT_CONVOLVE);
}

/* Of an image of bytes to one of bytes, a Gaussian filter; and besides the picture of what is left
 * of its spectrum. */
static void image_filter(const bench *b, bool small) {
    char text[sizeof gaussian + 64];
    snprintf(text, sizeof text, "#define RANK 2\n%s", gaussian);
    const weft_operator filter = {.kind = WEFT_OPERATOR_FUNCTION, .snippet = text};
    const int64_t n = small ? 64 : 1024;
    const weft_problem p = {.rank = 2,
                            .n = {n, n},
                            .kind = WEFT_R2C,
                            .precision = WEFT_SINGLE,
                            .norm = WEFT_NORM_BACKWARD,
                            .spectral = {&filter, 1},
                            .load_storage = WEFT_STORAGE_U8,
                            .store_storage = WEFT_STORAGE_U8};
    weft_problem pictured = p;
    pictured.spectral_storage = WEFT_STORAGE_DECIBEL_U8;
    pictured.decibels[1] = 160;
    compare(b, "image filter; with a picture of the spectrum", &p, &pictured, WEFT_CONVOLVE);
}

/* An engine of the flags, or jit and cuFFT. */
static void time_all(bench *b, weft_engine only, bool small) {
    static const weft_engine all[] = {WEFT_ENGINE_JIT, WEFT_ENGINE_CUFFT};
    const int engines = b->options.device == WEFT_OPENCL ? 1 : 2;
    for (int e = 0; e < engines; e++) {
        if (only != WEFT_ENGINE_AUTO && only != all[e]) continue;
        b->options.engine = all[e];
        for (int p = WEFT_DOUBLE; p <= WEFT_SINGLE; p++) {
            windows(b, (weft_precision)p, small);
            convolution(b, 2, small ? 64 : 1024, (weft_precision)p);
            for (int64_t n = small ? 32 : 256; n <= (small ? 32 : 512); n *= 2)
                convolution(b, 3, n, (weft_precision)p);
        }
        image_filter(b, small);
    }
}

int main(int argc, char **argv) {
    bench b = {.options = {.device = WEFT_CUDA}, .runs = 15, .only = ""};
    weft_engine only = WEFT_ENGINE_AUTO;
    bool small = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--small") == 0) small = true;
        if (strcmp(argv[i], "--device") == 0 && strcmp(value, "opencl") == 0)
            b.options.device = WEFT_OPENCL;
        if (strcmp(argv[i], "--engine") == 0)
            only = strcmp(value, "cufft") == 0 ? WEFT_ENGINE_CUFFT : WEFT_ENGINE_JIT;
        if (strcmp(argv[i], "--only") == 0) b.only = value;
        if (strcmp(argv[i], "--runs") == 0) b.runs = atoi(value);
    }
    if (b.runs < 1 || b.runs > MOST_RUNS) return 2;
    must(&b, weft_context_create(NULL, &b.ctx));
    printf("case,engine,precision,without_ms,with_ms,ratio\n");
    time_all(&b, only, small);
    weft_context_destroy(&b.ctx);
    return 0;
}
