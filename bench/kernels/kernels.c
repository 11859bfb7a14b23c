/*
 * How fast the engines of one device transform, side by side, as CSV: milliseconds, GB/s if every
 * axis took one pass, the share of a contiguous copy's, and how far the result is from the first
 * engine's (relative, L2, of its first bytes). Usage:
 *   bench_kernels [--device cuda] [--engines cufft,jit] [--precision double] [--bytes N]
 *                 [--only TEXT]   cases whose names hold the text
 *                 [--values N] [--threads N] [--least-threads N] [--across-bytes N]
 *                 [--registers N] [--whole-bytes N] [--local-bytes N] [--work-bytes N]   habits of
 * the jit engine to try N bytes are the most of each of two arrays, by default 1 GiB.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "engine/jit/habits.h"
#include "support/clock.h"
#include "support/error.h"

enum { MOST_CASES = 128, COMPARED_BYTES = 1 << 24 };

typedef struct bench {
    weft_device_handle device;
    const char *engines, *only;
    weft_precision precision;
    int64_t bytes;
    void *in, *out;
    double *given;         /* COMPARED_BYTES of random numbers */
    void *first, *result;  /* COMPARED_BYTES of outputs */
    double copy_rate;      /* bytes per second of a plain copy */
    weft_jit_habits asked; /* zeros: the engine's own */
} bench;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_kernels: %s\n", weft_thread_error());
    exit(1);
}

static void copy_bytes(const bench *b, const void *src, void *dst, int64_t bytes,
                       weft_transfer transfer) {
    const weft_copy copy = weft_copy_of_run(bytes, 1);
    must(b->device.ops->copy(b->device.state, NULL, &copy, src, dst, transfer));
}

static void wait_for(const bench *b) {
    must(b->device.ops->queue_wait(b->device.state, NULL));
}

/* One run of what is measured. */
typedef struct subject {
    const weft_engine_ops *engine; /* NULL: a copy */
    weft_engine_plan *plan;
    int64_t bytes;
} subject;

static void run(const bench *b, const subject *s) {
    if (s->engine)
        must(s->engine->execute(s->plan, &b->device, NULL, b->in, b->out));
    else
        copy_bytes(b, b->in, b->out, s->bytes, WEFT_DEVICE_TO_DEVICE);
}

/* Seconds of one run: the best of five series, each long enough for the clock. */
static double time_runs(const bench *b, const subject *s) {
    double best = INFINITY;
    int repeats = 1;
    for (int series = -1; series < 5; series++) { /* the first is not counted */
        const double start = weft_clock();
        for (int i = 0; i < repeats; i++) run(b, s);
        wait_for(b);
        const double spent = (weft_clock() - start) / repeats;
        if (series >= 0 && spent < best) best = spent;
        if (series < 0) repeats = spent < 0.05 ? (int)fmin(ceil(0.05 / spent), 500) : 1;
    }
    return best;
}

/* The same numbers all over the input. */
static void fill_input(const bench *b, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += COMPARED_BYTES)
        copy_bytes(b, b->given, (char *)b->in + at,
                   bytes - at < COMPARED_BYTES ? bytes - at : COMPARED_BYTES, WEFT_HOST_TO_DEVICE);
    wait_for(b);
}

static double number_at(const bench *b, const void *data, int64_t i) {
    return b->precision == WEFT_SINGLE ? (double)((const float *)data)[i]
                                       : ((const double *)data)[i];
}

static double difference(const bench *b, int64_t bytes) {
    const int64_t number = b->precision == WEFT_SINGLE ? 4 : 8;
    double off = 0, norm = 0;
    for (int64_t i = 0; i < bytes / number; i++) {
        const double a = number_at(b, b->first, i), d = number_at(b, b->result, i) - a;
        off += d * d;
        norm += a * a;
    }
    return sqrt(off / norm);
}

static weft_status plan_case(const bench *b, const weft_engine_ops *engine, const weft_transform *t,
                             weft_engine_plan **plan) {
    size_t bytes = 0;
    if (engine->id != WEFT_ENGINE_JIT) return engine->plan(t, &b->device, plan, &bytes);
    weft_kernel_limits limits;
    WEFT_TRY(b->device.ops->kernel_limits(b->device.state, &limits));
    weft_jit_habits habits = weft_jit_habits_of(t->precision, &limits);
    const weft_jit_habits *asked = &b->asked;
    if (asked->values) habits.values = asked->values;
    if (asked->threads) habits.threads = asked->threads;
    if (asked->least_threads) habits.least_threads = asked->least_threads;
    if (asked->across_bytes) habits.across_bytes = asked->across_bytes;
    if (asked->registers) habits.registers = asked->registers;
    if (asked->whole_bytes) habits.whole_bytes = asked->whole_bytes;
    if (asked->local_bytes) habits.local_bytes = asked->local_bytes;
    if (asked->longest_work) habits.longest_work = asked->longest_work;
    return weft_jit_plan_with(t, &b->device, &habits, plan, &bytes);
}

/* `first`: nothing to compare with yet. Returns whether the engine could. In place numbers grow
 * until they overflow, which takes no longer. */
static bool measure(const bench *b, const bench_case *c, const weft_engine_ops *engine,
                    bool first) {
    subject s = {.engine = engine};
    if (plan_case(b, engine, &c->transform, &s.plan) != WEFT_SUCCESS) {
        printf("%s,%s,%s,,,,\"%s\"\n", c->name, weft_precision_name(b->precision), engine->name,
               weft_thread_error());
        return false;
    }
    bench here = *b;
    if (c->transform.in_place) here.out = here.in;
    fill_input(&here, c->in_bytes);
    run(&here, &s);
    const int64_t compared = c->out_bytes < COMPARED_BYTES ? c->out_bytes : COMPARED_BYTES;
    copy_bytes(&here, here.out, first ? b->first : b->result, compared, WEFT_DEVICE_TO_HOST);
    wait_for(&here);
    const double seconds = time_runs(&here, &s), rate = (double)c->moved / seconds;
    printf("%s,%s,%s,%.4f,%.0f,%.3f,%.2g\n", c->name, weft_precision_name(b->precision),
           engine->name, seconds * 1e3, rate * 1e-9, rate / b->copy_rate,
           first ? 0 : difference(b, compared));
    fflush(stdout);
    engine->destroy(s.plan);
    return true;
}

static void measure_case(const bench *b, const bench_case *c) {
    char names[128];
    bool first = true;
    snprintf(names, sizeof names, "%s", b->engines);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
        for (int id = WEFT_ENGINE_NATIVE; id <= WEFT_ENGINE_REFERENCE; id++) {
            const weft_engine_ops *engine = weft_engine_find((weft_engine)id);
            if (!engine || strcmp(engine->name, name) != 0) continue;
            if (measure(b, c, engine, first)) first = false;
        }
}

static bool read_number(const char *name, int64_t value, bench *b) {
    weft_jit_habits *h = &b->asked;
    if (strcmp(name, "--bytes") == 0) return b->bytes = value, true;
    if (strcmp(name, "--values") == 0) return h->values = (int)value, true;
    if (strcmp(name, "--threads") == 0) return h->threads = (int)value, true;
    if (strcmp(name, "--least-threads") == 0) return h->least_threads = (int)value, true;
    if (strcmp(name, "--across-bytes") == 0) return h->across_bytes = (int)value, true;
    if (strcmp(name, "--registers") == 0) return h->registers = (int)value, true;
    if (strcmp(name, "--whole-bytes") == 0) return h->whole_bytes = (size_t)value, true;
    if (strcmp(name, "--local-bytes") == 0) return h->local_bytes = (size_t)value, true;
    if (strcmp(name, "--work-bytes") == 0) return h->longest_work = (size_t)value, true;
    return false;
}

static void read_arguments(int argc, char **argv, bench *b) {
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--device") == 0)
            b->device.ops =
                weft_device_find(strcmp(value, "opencl") == 0 ? WEFT_OPENCL : WEFT_CUDA);
        else if (strcmp(name, "--engines") == 0)
            b->engines = value;
        else if (strcmp(name, "--only") == 0)
            b->only = value;
        else if (strcmp(name, "--precision") == 0)
            b->precision = strcmp(value, "single") == 0 ? WEFT_SINGLE : WEFT_DOUBLE;
        else if (!read_number(name, strtoll(value, NULL, 10), b)) {
            fprintf(stderr, "bench_kernels: %s is no option\n", name);
            exit(2);
        }
    }
}

int main(int argc, char **argv) {
    static bench_case list[MOST_CASES];
    const weft_device_settings settings = {.threads = 1};
    const char *description = "";
    bench b = {.device.ops = weft_device_find(WEFT_CUDA),
               .engines = "cufft,jit",
               .only = "",
               .bytes = INT64_C(1) << 30};
    read_arguments(argc, argv, &b);
    must(b.device.ops->probe(&description));
    must(b.device.ops->open(&settings, &b.device.state));
    const size_t room = (size_t)b.bytes + (1 << 20);
    must(b.device.ops->allocate(b.device.state, WEFT_MEMORY_DEVICE, room, &b.in));
    must(b.device.ops->allocate(b.device.state, WEFT_MEMORY_DEVICE, room, &b.out));
    b.given = malloc(COMPARED_BYTES);
    b.first = malloc(COMPARED_BYTES);
    b.result = malloc(COMPARED_BYTES);
    if (!b.given || !b.first || !b.result) return 1;
    for (int64_t i = 0; i < COMPARED_BYTES / 8; i++) {
        const double number = (double)rand() / RAND_MAX - 0.5;
        if (b.precision == WEFT_DOUBLE)
            b.given[i] = number;
        else
            ((float *)b.given)[2 * i] = (float)number, ((float *)b.given)[2 * i + 1] =
                                                           (float)(rand() % 1000) * 1e-3f - 0.5f;
    }
    const subject copy = {.bytes = b.bytes};
    b.copy_rate = 2 * (double)b.bytes / time_runs(&b, &copy);
    printf("# %s; a contiguous copy: %.0f GB/s\n", description, b.copy_rate * 1e-9);
    printf("case,precision,engine,ms,GB/s,share,difference\n");
    const int count = bench_list_cases(b.precision, b.bytes, list, MOST_CASES);
    for (int i = 0; i < count; i++)
        if (strstr(list[i].name, b.only)) measure_case(&b, &list[i]);
    free(b.result);
    free(b.first);
    free(b.given);
    b.device.ops->close(b.device.state);
    return 0;
}
