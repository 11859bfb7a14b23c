/*
 * Convolutions of lines with a Gaussian over ranks, each with a device, in double precision: as one
 * plan, and by a forward transform that multiplies its spectrum by an array as it stores, and the
 * inverse. Arrays lie on the devices. Called in turn; CSV on standard output, written by rank 0:
 * medians over rounds of the slowest rank's milliseconds.
 *
 *   mpiexec -n 2 bench_lines_on_devices [--device cuda] [--rounds R] [--most LOG2]
 */
#include "gaussian_line.h"
#include "ranks.h"

#include <math.h>
#include <string.h>

enum { ONE_PLAN, SEPARATE, WAYS };

static weft_device device = WEFT_CUDA;

/* One of the ways; arrays of the device. */
typedef struct way {
    weft_plan plan;
    void *in, *out, *spectrum, *factors; /* the last two: of separate transforms */
    size_t bytes;                        /* of the field, and of the result */
} way;

static weft_options options_of_all(void) {
    return (weft_options){.device = device, .threads = 1, .placement = WEFT_OUT_OF_PLACE};
}

static void make_field(way *w) {
    ok(weft_plan_bytes(w->plan, WEFT_INPUT, &w->bytes));
    ok(weft_buffer_create(w->plan, w->bytes, &w->in));
    ok(weft_buffer_create(w->plan, w->bytes, &w->out));
    ok(upload_random(w->plan, w->in, w->bytes, WEFT_DOUBLE, 1 + (uint64_t)rank));
}

static way one_plan(int64_t n, weft_kind kind) {
    const weft_convolution_problem problem = {
        .rank = 1,
        .n = {n},
        .kind = kind,
        .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = covariance}};
    const weft_options options = options_of_all();
    way w = {.plan = NULL};
    ok(weft_convolution_create(ctx, &problem, &options, &w.plan));
    make_field(&w);
    return w;
}

/* The Gaussian's spectrum over n, on this rank's part. */
static void make_factors(way *w, int64_t n) {
    weft_box box;
    ok(weft_plan_box(w->plan, WEFT_OUTPUT, rank, &box));
    const size_t bytes = (size_t)box.n[0] * sizeof(double);
    double *factors = allocate(bytes);
    for (int64_t i = 0; i < box.n[0]; i++) {
        factors[i] = gaussian_factor(box.lo[0] + i, n);
    }
    ok(weft_buffer_create(w->plan, bytes, &w->factors));
    ok(weft_buffer_upload(w->plan, w->factors, factors, bytes));
    ok(weft_plan_set_array(w->plan, 0, w->factors));
    free(factors);
}

static way separate(int64_t n, weft_kind kind) {
    const weft_operator multiply = {.kind = WEFT_OPERATOR_ARRAY};
    const weft_problem problem = {.rank = 1, .n = {n}, .kind = kind, .spectral = {&multiply, 1}};
    const weft_options options = options_of_all();
    way w = {.plan = NULL};
    size_t bytes;
    ok(weft_plan_create(ctx, &problem, &options, &w.plan));
    make_field(&w);
    ok(weft_plan_bytes(w.plan, WEFT_OUTPUT, &bytes));
    ok(weft_buffer_create(w.plan, bytes, &w.spectrum));
    make_factors(&w, n);
    return w;
}

static void run(void *ways, int i) {
    const way *w = (way *)ways + i;
    if (!w->spectrum) {
        ok(weft_convolution_execute(w->plan, w->in, w->out));
        return;
    }
    ok(weft_execute(w->plan, WEFT_FORWARD, w->in, w->spectrum));
    ok(weft_execute(w->plan, WEFT_INVERSE, w->spectrum, w->out));
}

static void compare_results(const way *ways) {
    double *result[WAYS], most = 0;
    must(ways[0].bytes == ways[1].bytes, "the boxes differ");
    for (int i = 0; i < WAYS; i++) {
        result[i] = allocate(ways[i].bytes);
        ok(weft_buffer_download(ways[i].plan, result[i], ways[i].out, ways[i].bytes));
    }
    for (size_t i = 0; i < ways[0].bytes / sizeof(double); i++)
        most = fmax(most, fabs(result[0][i] - result[1][i]));
    must(most < 1e-12, "the results differ");
    for (int i = 0; i < WAYS; i++) free(result[i]);
}

static void release(way *w) {
    void **array[] = {&w->in, &w->out, &w->spectrum, &w->factors};
    for (int i = 0; i < 4; i++)
        if (*array[i]) weft_buffer_destroy(w->plan, array[i]);
    weft_plan_destroy(&w->plan);
}

static void compare(int64_t n, weft_kind kind, int rounds) {
    way ways[WAYS] = {one_plan(n, kind), separate(n, kind)};
    double median[WAYS];
    time_in_turn(WAYS, run, ways, rounds, median);
    compare_results(ways);
    if (rank == 0)
        printf("%s,%lld,%.3f,%.3f,%.2f\n", kind == WEFT_R2C ? "real" : "complex", (long long)n,
               1e3 * median[ONE_PLAN], 1e3 * median[SEPARATE], median[SEPARATE] / median[ONE_PLAN]);
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) release(&ways[i]);
}

int main(int argc, char **argv) {
    int rounds = 21, most = 26;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--most") == 0) most = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--device") == 0 && !find_device(argv[i + 1], &device)) return 2;
    }
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    begin_ranks(&argc, &argv);
    if (rank == 0) printf("field,n,one_plan_ms,separate_ms,separate_over_one\n");
    for (int log2n = 16; log2n <= most; log2n += 2) {
        compare((int64_t)1 << log2n, WEFT_C2C, rounds);
        compare((int64_t)1 << log2n, WEFT_R2C, rounds);
    }
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
