/*
 * How fast streamed plans of cubes are, over the ranks it is started on: whole calls of
 * weft_execute from and to page-locked host memory, forward and inverse in turn, medians of the
 * slowest rank's times. Modes: copies that overlap (stream), the same with a wire of single
 * precision (wire), arrays that the device holds (whole), where it does, one copy or transform
 * after another (sync); and on the processor with all its threads the engines native and FFTW
 * (native, fftw). The floor is what the link takes for the passes: bytes of the larger side of each
 * over the rate of copies in both directions at once, measured before. Each row is checked by what
 * the pairs of transforms leave of the input. CSV on standard output. Usage: [mpirun -n P]
 * bench_streaming [--device cuda] [--engine jit] [--limit BYTES] [--n 512,1024]
 *       [--kind r2c] [--modes stream,wire,whole,sync,native,fftw] [--runs 5] [--in-place 1]
 *       [--pageable 1] [--exchange p2p-type] [--threads N]
 * With --pageable 1 the arrays are plain memory. three_pairs_s is what three pairs of transforms
 * take one after another: three times the mean of the pairs that were run.
 */
#include "link.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef BENCH_MPI
#include <weft/weft_mpi.h>
#endif

enum { MOST_RUNS = 100, MOST_THREADS = 64 };

typedef struct bench {
    weft_context ctx;
    weft_options options;
    weft_kind kind;
    const char *extents, *modes;
    int runs, rank, ranks;
    bool pageable;
    double rate; /* bytes per second each way, both ways at once */
} bench;

/* ---- over the ranks ---- */

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_streaming: %s\n", weft_thread_error());
#ifdef BENCH_MPI
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    exit(1);
}

static void open_world(bench *b, int *argc, char ***argv) {
    b->ranks = 1;
#ifdef BENCH_MPI
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
#else
    (void)argc, (void)argv;
#endif
}

static void create_context(bench *b) {
#ifdef BENCH_MPI
    if (b->ranks > 1) {
        must(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &b->ctx));
        return;
    }
#endif
    must(weft_context_create(NULL, &b->ctx));
}

static void close_world(bench *b) {
    weft_context_destroy(&b->ctx);
#ifdef BENCH_MPI
    MPI_Finalize();
#endif
}

/* The largest value of any rank; waits for all. */
static double largest(double value) {
#ifdef BENCH_MPI
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
#endif
    return value;
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

/* ---- arrays ---- */

/* A share of an array for one thread: filled, or compared with what it was filled with. */
typedef struct share {
    double *data;
    size_t lo, hi;
    int rank;
    double scale; /* of the values to compare; 0: fill */
    double error, norm;
} share;

static double number(size_t i, int rank) {
    const uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(2 * rank + 1);
    return (double)((mixed ^ mixed >> 29) >> 11) * 0x1p-52 - 1;
}

static void *do_share(void *argument) {
    share *s = argument;
    for (size_t i = s->lo; i < s->hi; i++) {
        const double was = number(i, s->rank);
        if (s->scale == 0) {
            s->data[i] = was;
            continue;
        }
        const double d = s->data[i] * s->scale - was;
        s->error += d * d;
        s->norm += was * was;
    }
    return NULL;
}

/* Fills the array, or says by how much it differs, times a scale, from what filled it. */
static double in_threads(const bench *b, double *data, size_t count, double scale) {
    pthread_t thread[MOST_THREADS];
    share part[MOST_THREADS];
    int threads = b->options.threads;
    double error = 0, norm = 0;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    for (int t = 0; t < threads; t++) {
        part[t] = (share){.data = data,
                          .lo = count / (size_t)threads * (size_t)t,
                          .hi = t + 1 < threads ? count / (size_t)threads * (size_t)(t + 1) : count,
                          .rank = b->rank,
                          .scale = scale};
        if (pthread_create(&thread[t], NULL, do_share, &part[t]) != 0) exit(1);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(thread[t], NULL);
        error += part[t].error;
        norm += part[t].norm;
    }
    return norm > 0 ? sqrt(error / norm) : 0;
}

static void *array(const bench *b, weft_plan plan, size_t bytes) {
    void *memory = NULL;
    if (!b->pageable) must(weft_host_buffer_create(plan, bytes, &memory));
    if (b->pageable) memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!memory) must(weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for an array"));
    return memory;
}

static void release(const bench *b, weft_plan plan, void *memory) {
    if (b->pageable)
        free(memory);
    else
        weft_host_buffer_destroy(plan, &memory);
}

/* ---- modes ---- */

static double time_execution(weft_plan plan, weft_direction direction, const void *in, void *out) {
    largest(0);
    const double start = seconds_now();
    must(weft_execute(plan, direction, in, out));
    return largest(seconds_now() - start);
}

static void time_plan(const bench *b, int64_t n, const char *mode, weft_plan plan, double *in,
                      void *out, double bytes_of_output) {
    double forward[MOST_RUNS], inverse[MOST_RUNS], all = 0;
    weft_box box;
    must(weft_plan_box(plan, WEFT_INPUT, b->rank, &box));
    size_t numbers = b->kind == WEFT_R2C ? 1 : 2;
    for (int a = 0; a < 3; a++) numbers *= (size_t)box.n[a];
    in_threads(b, in, numbers, 0);
    must(weft_execute(plan, WEFT_FORWARD, in, out)); /* warm-up */
    must(weft_execute(plan, WEFT_INVERSE, out, in));
    for (int k = 0; k < b->runs; k++) {
        forward[k] = time_execution(plan, WEFT_FORWARD, in, out);
        inverse[k] = time_execution(plan, WEFT_INVERSE, out, in);
        all += forward[k] + inverse[k];
    }
    const double error = largest(in_threads(b, in, numbers, pow((double)n, -3.0 * (b->runs + 1))));
    const int passes = passes_of(plan);
    const double floor = (passes > 0 ? passes : 2) * largest(bytes_of_output) / b->rate;
    const double f = median_of(forward, b->runs), i = median_of(inverse, b->runs);
    if (b->rank > 0) return;
    printf("%lld,%s,%s,%d,%s,%.6f,%.6f,%.6f,%.6f,%.3f,%.3f,%.2e\n", (long long)n,
           weft_kind_name(b->kind), mode, b->ranks, in == out ? "in" : "out", f, i,
           3 * all / b->runs, floor, floor / f, floor / i, error);
    fflush(stdout);
}

enum { STREAM, WIRE, WHOLE, SYNC, NATIVE, FFTW, MODES };

/* Sets the options of a mode; false: there is no such mode. */
static bool set_mode(const bench *b, const char *mode, size_t length, weft_options *options) {
    static const char *const name[MODES] = {"stream", "wire", "whole", "sync", "native", "fftw"};
    int m = 0;
    while (m < MODES && (strlen(name[m]) != length || strncmp(name[m], mode, length) != 0)) m++;
    *options = b->options;
    if (m == STREAM || m == WIRE) options->stream = WEFT_STREAM_ON;
    if (m == WIRE) options->wire = WEFT_WIRE_SINGLE;
    if (m == WHOLE) options->stream = WEFT_STREAM_OFF;
    if (m == SYNC) options->stream = WEFT_STREAM_SYNC;
    if (m >= NATIVE) {
        options->device = WEFT_HOST;
        options->engine = m == NATIVE ? WEFT_ENGINE_NATIVE : WEFT_ENGINE_FFTW;
        options->exchange[0] = WEFT_EXCHANGE_AUTO;
    }
    if (m == WHOLE || m >= NATIVE) options->device_memory_limit = 0;
    return m < MODES;
}

/* The arrays of a size. They outlive the plans that are timed, so they are the memory of a plan of
 * eight points, which holds next to nothing. */
typedef struct arrays {
    weft_plan keeper;
    double *in;
    void *out;
    size_t bytes[2];
} arrays;

static void create_arrays(const bench *b, weft_plan plan, arrays *a) {
    const weft_problem tiny = {.rank = 3, .n = {2, 2, 2}, .kind = b->kind};
    weft_options options;
    set_mode(b, "stream", 6, &options);
    must(weft_plan_create(b->ctx, &tiny, &options, &a->keeper));
    for (int side = 0; side < 2; side++)
        must(weft_plan_bytes(plan, (weft_space)side, &a->bytes[side]));
    a->in = array(b, a->keeper, a->bytes[0]);
    a->out = options.placement == WEFT_IN_PLACE ? a->in : array(b, a->keeper, a->bytes[1]);
}

static void destroy_arrays(const bench *b, arrays *a) {
    if (!a->keeper) return;
    if (a->out != a->in) release(b, a->keeper, a->out);
    release(b, a->keeper, a->in);
    weft_plan_destroy(&a->keeper);
}

static void bench_cube(const bench *b, int64_t n) {
    const weft_problem problem = {.rank = 3, .n = {n, n, n}, .kind = b->kind};
    weft_options options;
    arrays a = {.keeper = NULL};
    for (const char *at = b->modes; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        char mode[16];
        weft_plan plan = NULL;
        snprintf(mode, sizeof mode, "%.*s", (int)length, at);
        if (!set_mode(b, at, length, &options)) {
            fprintf(stderr, "bench_streaming: there is no mode %s\n", mode);
            exit(2);
        }
        if (weft_plan_create(b->ctx, &problem, &options, &plan) == WEFT_SUCCESS) {
            if (!a.keeper) create_arrays(b, plan, &a);
            time_plan(b, n, mode, plan, a.in, a.out, (double)a.bytes[1]);
        } else if (b->rank == 0) {
            printf("# %lld %s %s: %s\n", (long long)n, weft_kind_name(b->kind), mode,
                   weft_last_error(b->ctx));
        }
        weft_plan_destroy(&plan);
    }
    destroy_arrays(b, &a);
}

/* ---- the command line ---- */

static void read_arguments(int argc, char **argv, bench *b) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *flag = argv[i], *value = argv[i + 1];
        if (strcmp(flag, "--device") == 0 && !find_device(value, &b->options.device))
            must(weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "--device %s: there is none", value));
        if (strcmp(flag, "--engine") == 0)
            for (int e = 0; strcmp(weft_engine_name((weft_engine)e), "?") != 0; e++)
                if (strcmp(weft_engine_name((weft_engine)e), value) == 0)
                    b->options.engine = (weft_engine)e;
        if (strcmp(flag, "--exchange") == 0)
            for (int e = 0; strcmp(weft_exchange_name((weft_exchange)e), "?") != 0; e++)
                if (strcmp(weft_exchange_name((weft_exchange)e), value) == 0)
                    b->options.exchange[0] = (weft_exchange)e;
        if (strcmp(flag, "--limit") == 0) b->options.device_memory_limit = (size_t)bytes_of(value);
        if (strcmp(flag, "--n") == 0) b->extents = value;
        if (strcmp(flag, "--modes") == 0) b->modes = value;
        if (strcmp(flag, "--kind") == 0) b->kind = strcmp(value, "c2c") == 0 ? WEFT_C2C : WEFT_R2C;
        if (strcmp(flag, "--runs") == 0) b->runs = atoi(value);
        if (strcmp(flag, "--pageable") == 0) b->pageable = atoi(value) != 0;
        if (strcmp(flag, "--in-place") == 0 && atoi(value) != 0)
            b->options.placement = WEFT_IN_PLACE;
        if (strcmp(flag, "--threads") == 0) b->options.threads = atoi(value);
    }
    if (b->runs < 1 || b->runs > 25) b->runs = 5; /* more pairs overflow */
    if (b->options.threads < 1) b->options.threads = 1;
}

int main(int argc, char **argv) {
    bench b = {.options = {.device = WEFT_CUDA,
                           .location = WEFT_LOCATION_HOST,
                           .placement = WEFT_OUT_OF_PLACE,
                           .device_memory_limit = (size_t)8 << 30},
               .kind = WEFT_R2C,
               .extents = "512,1024",
               .modes = "stream,whole,sync",
               .runs = 5};
    const char *description = NULL;
    open_world(&b, &argc, &argv);
    read_arguments(argc, argv, &b);
    must(weft_device_probe(b.options.device, &description));
    create_context(&b);
    b.rate = link_rate(b.options.device, must, largest);
    if (b.rank == 0) {
        printf("# %s; both ways at once %.1f GB/s each; limit %zu bytes; %s memory; %d threads\n",
               description, b.rate * 1e-9, b.options.device_memory_limit,
               b.pageable ? "plain" : "page-locked", b.options.threads);
        printf("n,kind,mode,ranks,placement,forward_s,inverse_s,three_pairs_s,floor_s,"
               "share_forward,share_inverse,error\n");
    }
    for (const char *at = b.extents; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        bench_cube(&b, strtoll(at, NULL, 10));
    close_world(&b);
    return 0;
}
