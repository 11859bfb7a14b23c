/*
 * How long a transform of a cube takes over the ranks it is started on, data on the device: for
 * each number of parts given, forward and inverse, with --convolve a convolution with a Gaussian,
 * too (forward, a factor for each wavenumber, inverse; from array to array and in place), median,
 * least and 90th percentile of the slowest rank's times, the phases of rank 0's last run, and
 * whether messages, where the method sends any, go through page-locked memory. CSV on standard
 * output. Outputs are not checked here; `weft validate` does that. Usage: mpirun -n P
 * bench_exchanges [--size N] [--kind c2c|r2c]
 *     [--exchange M] [--engine E] [--device D] [--single] [--runs R] [--staged]
 *     [--convolve] CHUNKS...
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

#include "measuring.h"

enum { MOST_RUNS = 1000, WARMUPS = 3, LARGEST = 1 << 12 };

typedef struct setting {
    weft_problem problem;
    weft_options options;
    int runs;
} setting;

static void must(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "bench_exchanges: %s\n", weft_last_error(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char *direction_name(weft_direction direction, bool in_place) {
    return direction == WEFT_FORWARD   ? "forward"
           : direction == WEFT_INVERSE ? "inverse"
           : in_place                  ? "convolve in place"
                                       : "convolve";
}

static void time_direction(const setting *s, weft_plan plan, weft_direction direction,
                           const void *in, void *out) {
    double seconds[MOST_RUNS];
    int rank, ranks;
    weft_timings t;
    weft_options used = {0};
    for (int run = -WARMUPS; run < s->runs; run++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime(), took;
        must(weft_execute(plan, direction, in, out));
        took = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (run >= 0) seconds[run] = took;
    }
    const double median = median_of(seconds, s->runs);
    must(weft_plan_timings(plan, &t));
    must(weft_plan_options(plan, &used));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0) return;
    printf("%s,%d,%lld,%s,%s,%s,%s,%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%d\n",
           weft_engine_name(used.engine), ranks, (long long)s->problem.n[0],
           weft_kind_name(s->problem.kind), weft_precision_name(s->problem.precision),
           weft_exchange_name(used.exchange[0]), direction_name(direction, in == out), used.chunks,
           1e3 * median, 1e3 * seconds[0], 1e3 * seconds[s->runs * 9 / 10], 1e3 * t.fft,
           1e3 * t.pack, 1e3 * t.exchange, 1e3 * t.unpack, 1e3 * t.local,
           used.device_aware == WEFT_STAGED);
    fflush(stdout);
}

static void time_plan(const setting *s) {
    static double gaussian[LARGEST];
    weft_operator filter = {.kind = WEFT_OPERATOR_TABLE};
    weft_problem problem = s->problem;
    weft_context context = NULL;
    weft_plan plan = NULL;
    size_t in_bytes, out_bytes;
    void *in, *out;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int a = 0; a < problem.rank; a++) filter.table[a] = gaussian;
    for (int64_t k = 0; k < LARGEST; k++) {
        const double wave = (double)(k < problem.n[0] - k ? k : problem.n[0] - k);
        gaussian[k] = exp(-wave * wave / 200);
    }
    if (s->options.convolve) problem.spectral = (weft_operators){&filter, 1};
    must(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &context));
    must(weft_plan_create(context, &problem, &s->options, &plan));
    must(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes));
    must(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes));
    must(weft_buffer_create(plan, in_bytes, &in));
    must(weft_buffer_create(plan, out_bytes, &out));
    must(upload_random(plan, in, in_bytes, s->problem.precision, (uint64_t)rank));
    time_direction(s, plan, WEFT_FORWARD, in, out);
    time_direction(s, plan, WEFT_INVERSE, out, in);
    if (s->options.convolve) {
        void *result;
        weft_buffer_destroy(plan, &out);
        must(weft_buffer_create(plan, in_bytes, &result));
        time_direction(s, plan, WEFT_CONVOLVE, in, result);
        time_direction(s, plan, WEFT_CONVOLVE, in, in);
        weft_buffer_destroy(plan, &result);
    }
    weft_buffer_destroy(plan, &in);
    weft_buffer_destroy(plan, &out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&context);
}

static weft_exchange method_named(const char *name) {
    for (int e = WEFT_EXCHANGE_AUTO; strcmp(weft_exchange_name((weft_exchange)e), "?") != 0; e++)
        if (strcmp(weft_exchange_name((weft_exchange)e), name) == 0) return (weft_exchange)e;
    fprintf(stderr, "bench_exchanges: no exchange is called %s\n", name);
    exit(2);
}

static void set(setting *s, const char *flag, const char *value) {
    if (strcmp(flag, "--size") == 0)
        for (int a = 0; a < 3; a++) s->problem.n[a] = atoll(value);
    else if (strcmp(flag, "--kind") == 0)
        s->problem.kind = strcmp(value, "r2c") == 0 ? WEFT_R2C : WEFT_C2C;
    else if (strcmp(flag, "--exchange") == 0)
        s->options.exchange[0] = method_named(value);
    else if (strcmp(flag, "--engine") == 0)
        s->options.engine = engine_named(value);
    else if (strcmp(flag, "--device") == 0)
        s->options.device = strcmp(value, "host") == 0 ? WEFT_HOST : WEFT_CUDA;
    else if (strcmp(flag, "--runs") == 0)
        s->runs = atoi(value);
}

int main(int argc, char **argv) {
    setting s = {
        .problem = {.rank = 3, .n = {256, 256, 256}, .norm = WEFT_NORM_BACKWARD},
        .options = {.decomposition = WEFT_SLAB_2D1D, .variant = WEFT_DEFAULT, .device = WEFT_CUDA},
        .runs = 15};
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("engine,ranks,n,kind,precision,exchange,direction,chunks,median_ms,least_ms,p90_ms,"
               "fft,pack,exchange_ms,unpack,local,staged\n");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--single") == 0) {
            s.problem.precision = WEFT_SINGLE;
        } else if (strcmp(argv[i], "--staged") == 0) {
            s.options.device_aware = WEFT_STAGED;
        } else if (strcmp(argv[i], "--convolve") == 0) {
            s.options.convolve = 1;
        } else if (argv[i][0] == '-' && i + 1 < argc) {
            set(&s, argv[i], argv[i + 1]);
            i++;
        } else {
            s.options.chunks = atoi(argv[i]);
            if (s.runs > 0 && s.runs <= MOST_RUNS) time_plan(&s);
        }
    }
    MPI_Finalize();
    return 0;
}
