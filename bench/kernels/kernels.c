/*
 * How fast the engines of one device transform, side by side, as CSV: milliseconds, GB/s if every
 * axis took one pass, the share of a contiguous copy's, and how far the result is from the first
 * engine's (relative, L2, of its first bytes). Usage:
 *   bench_kernels [--device cuda] [--engines cufft,jit,vkfft] [--precision double] [--bytes N]
 *                 [--only TEXT]        cases whose names hold the text
 *                 [--lengths N,... [--kind c2c]]   lines of these lengths instead of the list
 *                 [--milliseconds N]   of a series of runs, by default 50
 *                 [--FIELD N,...]      of the jit engine's tuning (src/engine/jit/tuning.h):
 *     values, cluster-values, threads, least-threads, across-bytes, least-across-bytes,
 *     run-bytes, large-stride-threads, registers, across-registers, alternates, whole-bytes,
 * local-bytes, longest, work-bytes (-1: no limit), folds, rader; of several numbers all
 * combinations are tried N bytes are the most of each of two arrays, by default 1 GiB. Engines that
 * are not there are left out, vkfft where it was built without VkFFT (WEFT_VKFFT).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "engine/jit/tuning.h"
#include "support/clock.h"
#include "support/error.h"
#ifdef WEFT_VKFFT
#include "vkfft_engine.h"
#endif

enum { MOST_CASES = 128, COMPARED_BYTES = 1 << 24, MOST_NUMBERS = 16 };

/* Numbers to try. */
typedef struct numbers {
    int count, at; /* the one that is tried */
    int64_t number[MOST_NUMBERS];
} numbers;

/* The tuning, as options name them. */
#define TUNING(FIELD)                                                                              \
    FIELD("values", values, int)                                                                   \
    FIELD("cluster-values", cluster_values, int)                                                   \
    FIELD("threads", threads, int)                                                                 \
    FIELD("least-threads", least_threads, int)                                                     \
    FIELD("across-bytes", across_bytes, int)                                                       \
    FIELD("least-across-bytes", least_across_bytes, int)                                           \
    FIELD("run-bytes", run_bytes, int)                                                             \
    FIELD("large-stride-threads", large_stride_threads, int)                                       \
    FIELD("registers", registers, int)                                                             \
    FIELD("across-registers", across_registers, int)                                               \
    FIELD("alternates", alternates, int)                                                           \
    FIELD("whole-bytes", whole_bytes, size_t)                                                      \
    FIELD("local-bytes", local_bytes, size_t)                                                      \
    FIELD("longest", longest, int)                                                                 \
    FIELD("work-bytes", longest_work, size_t)                                                      \
    FIELD("folds", folds, bool)                                                                    \
    FIELD("rader", rader, int)

#define COUNTED(name, field, type) +1
enum { TUNING_COUNT = TUNING(COUNTED) };
#define NAMED(name, field, type) name,
static const char *const tuning_names[] = {TUNING(NAMED)};

typedef struct bench {
    weft_device_handle device;
    const char *engines, *only;
    weft_precision precision;
    int64_t bytes;
    void *in, *out;
    double *given;        /* COMPARED_BYTES of random numbers */
    void *first, *result; /* COMPARED_BYTES of outputs */
    double copy_rate;     /* bytes per second of a plain copy */
    double series;        /* seconds of one */
    weft_transform_kind kind;
    numbers lengths;             /* none: the list of cases */
    numbers asked[TUNING_COUNT]; /* none: the engine's own */
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
#ifdef WEFT_VKFFT
    vkfft_wait();
#endif
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
        if (series < 0) repeats = spent < b->series ? (int)fmin(ceil(b->series / spent), 500) : 1;
    }
    return best;
}

/* The same numbers all over the input, again after a distance that is no multiple of what lies
 * between neighbours along any axis: a line has as many different numbers as points. */
static void fill_input(const bench *b, int64_t bytes) {
    const int64_t period = COMPARED_BYTES - 48;
    copy_bytes(b, b->given, b->in, COMPARED_BYTES, WEFT_HOST_TO_DEVICE);
    for (int64_t at = period; at < bytes; at += period)
        copy_bytes(b, b->in, (char *)b->in + at, bytes - at < period ? bytes - at : period,
                   WEFT_DEVICE_TO_DEVICE);
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

static void set_tuning(const bench *b, weft_jit_tuning *tuning) {
    const numbers *asked = b->asked;
#define SET(name, from, type)                                                                      \
    if (asked->count > 0) tuning->from = (type)asked->number[asked->at];                           \
    asked++;
    TUNING(SET)
}

/* The next combination; false: that was the last one, and the first one is next. */
static bool next_tuning(bench *b) {
    for (int h = 0; h < TUNING_COUNT; h++) {
        if (b->asked[h].count == 0) continue;
        if (++b->asked[h].at < b->asked[h].count) return true;
        b->asked[h].at = 0;
    }
    return false;
}

static void print_tuning(const bench *b) {
    for (int h = 0; h < TUNING_COUNT; h++)
        if (b->asked[h].count > 0)
            printf(" %s=%lld", tuning_names[h], (long long)b->asked[h].number[b->asked[h].at]);
}

static weft_status plan_case(const bench *b, const weft_engine_ops *engine, const weft_transform *t,
                             weft_engine_plan **plan) {
    size_t bytes = 0;
    if (engine->id != WEFT_ENGINE_JIT) return engine->plan(t, &b->device, plan, &bytes);
    weft_kernel_limits limits;
    WEFT_TRY(b->device.ops->kernel_limits(b->device.state, &limits));
    weft_jit_tuning tuning = weft_jit_tuning_of(t->precision, &limits);
    set_tuning(b, &tuning);
    return weft_jit_plan_with(t, &b->device, &tuning, plan, &bytes);
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
    if (first || c->transform.in_place || c->transform.kind == WEFT_TRANSFORM_C2R)
        fill_input(&here, c->in_bytes);
    run(&here, &s);
    wait_for(&here);
    const int64_t compared = c->out_bytes < COMPARED_BYTES ? c->out_bytes : COMPARED_BYTES;
    copy_bytes(&here, here.out, first ? b->first : b->result, compared, WEFT_DEVICE_TO_HOST);
    wait_for(&here);
    const double seconds = time_runs(&here, &s), rate = (double)c->moved / seconds;
    printf("%s,%s,%s,%.4f,%.0f,%.3f,%.2g,", c->name, weft_precision_name(b->precision),
           engine->name, seconds * 1e3, rate * 1e-9, rate / b->copy_rate,
           first ? 0 : difference(b, compared));
    if (engine->id == WEFT_ENGINE_JIT) print_tuning(b);
    printf("\n");
    fflush(stdout);
    engine->destroy(s.plan);
    return true;
}

static const weft_engine_ops *engine_named(const char *name) {
#ifdef WEFT_VKFFT
    if (strcmp(name, "vkfft") == 0) return &vkfft_engine;
#endif
    for (int id = WEFT_ENGINE_NATIVE; id <= WEFT_ENGINE_REFERENCE; id++) {
        const weft_engine_ops *engine = weft_engine_find((weft_engine)id);
        if (engine && strcmp(engine->name, name) == 0) return engine;
    }
    return NULL;
}

static void print_versions(const bench *b) {
    char names[128];
    const char *description = "";
    snprintf(names, sizeof names, "%s", b->engines);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const weft_engine_ops *engine = engine_named(name);
        if (engine && engine->probe(&description) == WEFT_SUCCESS)
            printf("# %s: %s\n", name, description);
    }
}

static void measure_case(bench *b, const bench_case *c) {
    char names[128];
    bool first = true;
    snprintf(names, sizeof names, "%s", b->engines);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const weft_engine_ops *engine = engine_named(name);
        if (!engine) continue;
        do {
            if (measure(b, c, engine, first)) first = false;
        } while (engine->id == WEFT_ENGINE_JIT && next_tuning(b));
    }
}

static void read_numbers(const char *text, numbers *n) {
    char *end = (char *)(uintptr_t)text;
    for (n->count = 0; n->count < MOST_NUMBERS; text = end + 1) {
        n->number[n->count++] = strtoll(text, &end, 10);
        if (*end != ',') break;
    }
}

static bool read_option(const char *name, const char *value, bench *b) {
    if (strcmp(name, "--bytes") == 0) return b->bytes = strtoll(value, NULL, 10), true;
    if (strcmp(name, "--milliseconds") == 0)
        return b->series = (double)strtoll(value, NULL, 10) * 1e-3, true;
    if (strcmp(name, "--lengths") == 0) return read_numbers(value, &b->lengths), true;
    for (int h = 0; h < TUNING_COUNT && strncmp(name, "--", 2) == 0; h++)
        if (strcmp(name + 2, tuning_names[h]) == 0) return read_numbers(value, &b->asked[h]), true;
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
        else if (strcmp(name, "--kind") == 0)
            b->kind = strcmp(value, "r2c") == 0   ? WEFT_TRANSFORM_R2C
                      : strcmp(value, "c2r") == 0 ? WEFT_TRANSFORM_C2R
                                                  : WEFT_TRANSFORM_C2C;
        else if (!read_option(name, value, b)) {
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
               .engines = "cufft,jit,vkfft",
               .only = "",
               .series = 0.05,
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
    print_versions(&b);
    printf("case,precision,engine,ms,GB/s,share,difference,tuning\n");
    const numbers *n = &b.lengths;
    const int count = n->count > 0 ? bench_list_lengths(b.precision, b.bytes, b.kind, n->number,
                                                        n->count, list, MOST_CASES)
                                   : bench_list_cases(b.precision, b.bytes, list, MOST_CASES);
    for (int i = 0; i < count; i++)
        if (strstr(list[i].name, b.only)) measure_case(&b, &list[i]);
    free(b.result);
    free(b.first);
    free(b.given);
    b.device.ops->close(b.device.state);
    return 0;
}
