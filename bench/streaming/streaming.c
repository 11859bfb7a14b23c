/*
 * How fast streamed plans of cubes are: medians of whole calls of weft_execute from and to
 * page-locked host memory, with copies that overlap (stream), one after another (sync), and with
 * arrays that the device holds (whole), where it does. The floor is what the link takes for the
 * passes: bytes of the larger side of each over the rate of copies in both directions at once. Each
 * row is checked by transforming back. Usage:
 *   bench_streaming [--device cuda] [--engine jit] [--limit BYTES] [--n 512,1024] [--kind r2c]
 *                   [--runs 5] [--pageable 1] [--threads N]
 * With --pageable 1 the arrays are plain memory.
 */
#include "device/device.h"
#include "measuring.h"
#include "support/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 100 };

typedef struct bench {
    weft_context ctx;
    weft_options options;
    weft_kind kind;
    const char *extents;
    int runs;
    bool pageable;
    double rate; /* bytes per second each way, both ways at once */
} bench;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_streaming: %s\n", weft_thread_error());
    exit(1);
}

/* Copies to the device and from it at once, on two queues. */
static double link_rate(weft_device id) {
    const weft_device_ops *ops = weft_device_find(id);
    const weft_device_settings settings = {.threads = 1};
    const int64_t bytes = INT64_C(256) << 20;
    const weft_copy copy = weft_copy_of_run(bytes, 1);
    weft_device_state *device = NULL;
    weft_queue *queue[2];
    void *there[2], *here[2];
    double seconds[5];
    if (!ops) must(weft_fail(WEFT_ERROR_UNSUPPORTED, "this device is not in this build"));
    must(ops->probe(NULL));
    must(ops->open(&settings, &device));
    for (int i = 0; i < 2; i++) {
        must(ops->queue_create(device, false, &queue[i]));
        must(ops->allocate(device, WEFT_MEMORY_DEVICE, (size_t)bytes, &there[i]));
        must(ops->allocate(device, WEFT_MEMORY_PAGE_LOCKED, (size_t)bytes, &here[i]));
        memset(here[i], 0, (size_t)bytes);
    }
    for (int k = 0; k < 5; k++) {
        const double start = seconds_now();
        must(ops->copy(device, queue[0], &copy, here[0], there[0], WEFT_HOST_TO_DEVICE));
        must(ops->copy(device, queue[1], &copy, there[1], here[1], WEFT_DEVICE_TO_HOST));
        for (int i = 0; i < 2; i++) must(ops->queue_wait(device, queue[i]));
        seconds[k] = seconds_now() - start;
    }
    for (int i = 0; i < 2; i++) {
        ops->queue_destroy(device, queue[i]);
        ops->free(device, WEFT_MEMORY_DEVICE, there[i]);
        ops->free(device, WEFT_MEMORY_PAGE_LOCKED, here[i]);
    }
    ops->close(device);
    return (double)bytes / median_of(seconds, 5);
}

/* Passes of each direction, which are the same forward and back; 0: it is not streamed. */
static int passes_of(weft_plan plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    int passes = 0;
    if (!stream) exit(1);
    must(weft_plan_explain(plan, stream, WEFT_TEXT));
    fclose(stream);
    const char *end = strstr(text, "buffers:");
    for (const char *at = text; (at = strstr(at + 1, "streamed: steps")) && at < end;) passes++;
    free(text);
    return passes;
}

static void *array(const bench *b, weft_plan plan, size_t bytes) {
    void *memory = NULL;
    if (!b->pageable) must(weft_host_buffer_create(plan, bytes, &memory));
    if (b->pageable) memory = malloc(bytes);
    if (!memory) must(weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an array"));
    memset(memory, 0, bytes);
    return memory;
}

static void release(const bench *b, weft_plan plan, void *memory) {
    if (b->pageable)
        free(memory);
    else
        weft_host_buffer_destroy(plan, &memory);
}

static double number(size_t i) {
    return (double)(i * UINT64_C(0x9e3779b97f4a7c15) >> 11) * 0x1p-52 - 1;
}

static double time_direction(const bench *b, weft_plan plan, weft_direction direction,
                             const void *in, void *out) {
    double seconds[MOST_RUNS];
    must(weft_execute(plan, direction, in, out));
    for (int k = 0; k < b->runs; k++) {
        const double start = seconds_now();
        must(weft_execute(plan, direction, in, out));
        seconds[k] = seconds_now() - start;
    }
    return median_of(seconds, b->runs);
}

static void bench_mode(const bench *b, int64_t n, weft_stream mode) {
    static const char *const names[] = {"auto", "stream", "whole", "sync"};
    const weft_problem problem = {.rank = 3, .n = {n, n, n}, .kind = b->kind};
    weft_options options = b->options;
    weft_plan plan = NULL;
    size_t bytes[2];
    options.stream = mode;
    if (mode == WEFT_STREAM_OFF) options.device_memory_limit = 0;
    if (weft_plan_create(b->ctx, &problem, &options, &plan) != WEFT_SUCCESS) {
        printf("%lld,%s,%s,,,,,%s\n", (long long)n, weft_kind_name(b->kind), names[mode],
               weft_last_error(b->ctx));
        return;
    }
    must(weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]));
    double *in = array(b, plan, bytes[0]);
    void *out = array(b, plan, bytes[1]);
    const size_t points = (size_t)(n * n * n) * (b->kind == WEFT_C2C ? 2 : 1);
    for (size_t i = 0; i < points; i++) in[i] = number(i);
    const double forward = time_direction(b, plan, WEFT_FORWARD, in, out);
    const double inverse = time_direction(b, plan, WEFT_INVERSE, out, in);
    const double scale = (double)n * (double)n * (double)n;
    double error = 0, norm = 0;
    for (size_t i = 0; i < points; i++) {
        const double d = in[i] / scale - number(i);
        error += d * d;
        norm += number(i) * number(i);
    }
    const int passes = passes_of(plan);
    const double floor = (passes > 0 ? passes : 1) * (double)bytes[1] / b->rate;
    printf("%lld,%s,%s,%.6f,%.6f,%.6f,%.3f,%.2e\n", (long long)n, weft_kind_name(b->kind),
           names[mode], forward, inverse, floor, floor / forward, sqrt(error / norm));
    fflush(stdout);
    release(b, plan, in);
    release(b, plan, out);
    weft_plan_destroy(&plan);
}

static int64_t bytes_of(const char *text) {
    char *end;
    const int64_t value = strtoll(text, &end, 10);
    return value << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

static void read_arguments(int argc, char **argv, bench *b) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (strcmp(flag, "--device") == 0 && !find_device(value, &b->options.device))
            must(weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--device %s: there is none", value));
        if (strcmp(flag, "--engine") == 0 && strcmp(value, "jit") == 0)
            b->options.engine = WEFT_ENGINE_JIT;
        if (strcmp(flag, "--engine") == 0 && strcmp(value, "cufft") == 0)
            b->options.engine = WEFT_ENGINE_CUFFT;
        if (strcmp(flag, "--limit") == 0) b->options.device_memory_limit = (size_t)bytes_of(value);
        if (strcmp(flag, "--n") == 0) b->extents = value;
        if (strcmp(flag, "--kind") == 0) b->kind = strcmp(value, "c2c") == 0 ? WEFT_C2C : WEFT_R2C;
        if (strcmp(flag, "--runs") == 0) b->runs = atoi(value);
        if (strcmp(flag, "--pageable") == 0) b->pageable = atoi(value) != 0;
        if (strcmp(flag, "--threads") == 0) b->options.threads = atoi(value);
    }
    if (b->runs < 1 || b->runs > MOST_RUNS) b->runs = 5;
}

int main(int argc, char **argv) {
    bench b = {.options = {.device = WEFT_CUDA,
                           .location = WEFT_LOCATION_HOST,
                           .placement = WEFT_OUT_OF_PLACE,
                           .device_memory_limit = (size_t)8 << 30},
               .kind = WEFT_R2C,
               .extents = "512,1024",
               .runs = 5};
    const char *description = NULL;
    read_arguments(argc, argv, &b);
    must(weft_device_probe(b.options.device, &description));
    must(weft_context_create(NULL, &b.ctx));
    b.rate = link_rate(b.options.device);
    printf("# %s; both ways at once %.1f GB/s each; limit %zu bytes; %s memory\n", description,
           b.rate * 1e-9, b.options.device_memory_limit, b.pageable ? "plain" : "page-locked");
    printf("n,kind,mode,forward_s,inverse_s,floor_s,share_of_floor,error\n");
    for (const char *at = b.extents; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (int mode = WEFT_STREAM_ON; mode <= WEFT_STREAM_SYNC; mode++)
            bench_mode(&b, strtoll(at, NULL, 10), (weft_stream)mode);
    weft_context_destroy(&b.ctx);
    return 0;
}
