/*
 * Convolutions of lines over ranks with a Gaussian, in double precision: as one plan, whose
 * spectrum is scattered, so that there are four exchanges; by weft's forward transform, a
 * multiplication and the inverse, six exchanges; and by FFTW-MPI's complex transforms with
 * scrambled spectra (measured plans), which has no real ones of lines. FFTW's spectrum is
 * multiplied by 1/n, for its order is its own, so that its result is the field. Called in turn; CSV
 * on standard output, written by rank 0: medians over rounds of the slowest rank's milliseconds.
 *
 *   mpiexec -n 2 bench_lines_over_ranks [--rounds R] [--most LOG2]
 */
#include "bench/fftw_builds.h"
#include "bench/fftw_mpi_library.h"

#include "gaussian_line.h"
#include "ranks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_PLAN, SEPARATE, FFTW, WAYS };
enum { SCRAMBLED_IN = 1u << 27, SCRAMBLED_OUT = 1u << 28 };

static double *allocate_numbers(int64_t numbers) {
    return allocate((size_t)numbers * sizeof(double));
}

/* One of the ways, ready to run. */
typedef struct way {
    weft_plan plan; /* of a convolution, or of a transform; NULL for FFTW's */
    const fftw_mpi_library *library;
    weft_fftw_plan forward, inverse;
    double *in, *out, *spectrum, *factors;
    int64_t lo, points, elements; /* of the field here; of the spectrum here */
    int numbers;                  /* of a point of the field */
} way;

/* The field's numbers from point `lo` on. Of complex arrays with real values the imaginary parts
 * are 0. */
static void fill(way *w, bool real) {
    for (int64_t i = 0; i < w->points * w->numbers; i++) {
        uint64_t state = (uint64_t)(w->lo * w->numbers + i) * UINT64_C(0x9e3779b97f4a7c15);
        state = (state ^ (state >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
        w->in[i] = real && w->numbers == 2 && i % 2 ? 0 : (double)(state >> 11) * 0x1p-52 - 1;
    }
}

static int64_t numbers_of(weft_plan plan, weft_space space) {
    size_t bytes;
    ok(weft_plan_bytes(plan, space, &bytes));
    return (int64_t)(bytes / sizeof(double));
}

static void take_field(way *w, bool real, weft_space result) {
    weft_box box;
    ok(weft_plan_box(w->plan, WEFT_INPUT, rank, &box));
    w->numbers = real ? 1 : 2;
    w->lo = box.lo[0];
    w->points = box.n[0];
    w->in = allocate_numbers(numbers_of(w->plan, WEFT_INPUT));
    w->out = allocate_numbers(numbers_of(w->plan, result));
    fill(w, real);
}

static way one_plan(int64_t n, bool real) {
    const weft_convolution_problem problem = {
        .rank = 1,
        .n = {n},
        .kind = real ? WEFT_R2C : WEFT_C2C,
        .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = covariance}};
    const weft_options options = {.threads = 1, .placement = WEFT_OUT_OF_PLACE};
    way w = {.plan = NULL};
    ok(weft_convolution_create(ctx, &problem, &options, &w.plan));
    take_field(&w, real, WEFT_OUTPUT);
    return w;
}

static way separate(int64_t n, bool real) {
    const weft_problem problem = {.rank = 1, .n = {n}, .kind = real ? WEFT_R2C : WEFT_C2C};
    const weft_options options = {.threads = 1, .placement = WEFT_OUT_OF_PLACE};
    way w = {.plan = NULL};
    weft_box spectrum;
    ok(weft_plan_create(ctx, &problem, &options, &w.plan));
    take_field(&w, real, WEFT_INPUT);
    ok(weft_plan_box(w.plan, WEFT_OUTPUT, rank, &spectrum));
    w.spectrum = allocate_numbers(numbers_of(w.plan, WEFT_OUTPUT));
    w.elements = spectrum.n[0];
    w.factors = allocate_numbers(w.elements);
    for (int64_t i = 0; i < w.elements; i++) {
        w.factors[i] = gaussian_factor(spectrum.lo[0] + i, n);
    }
    return w;
}

static way by_fftw(int64_t n, bool real) {
    ptrdiff_t here, start, out_n, out_start;
    way w = {.library = fftw_mpi_open("fftw-mpi", WEFT_DOUBLE), .numbers = 2};
    must(w.library, "no FFTW-MPI: install libfftw3-mpi-dev");
    const int64_t numbers =
        2 * (int64_t)w.library->local_size_1d((ptrdiff_t)n, MPI_COMM_WORLD, -1, SCRAMBLED_OUT,
                                              &here, &start, &out_n, &out_start);
    w.in = allocate_numbers(numbers);
    w.out = allocate_numbers(numbers);
    w.spectrum = allocate_numbers(numbers);
    w.forward =
        w.library->plan_c2c_1d((ptrdiff_t)n, w.in, w.spectrum, MPI_COMM_WORLD, -1, SCRAMBLED_OUT);
    w.inverse =
        w.library->plan_c2c_1d((ptrdiff_t)n, w.spectrum, w.out, MPI_COMM_WORLD, 1, SCRAMBLED_IN);
    must(w.forward && w.inverse, "FFTW-MPI made no plan");
    w.lo = start;
    w.points = here;
    w.elements = out_n;
    w.factors = allocate_numbers(w.elements);
    for (int64_t i = 0; i < w.elements; i++) w.factors[i] = 1 / (double)n;
    fill(&w, real);
    return w;
}

static void run(void *ways, int i) {
    const way *w = (way *)ways + i;
    if (!w->spectrum) { /* the convolution as one plan */
        ok(weft_convolution_execute(w->plan, w->in, w->out));
        return;
    }
    if (w->library)
        w->library->execute_c2c(w->forward, w->in, w->spectrum);
    else
        ok(weft_execute(w->plan, WEFT_FORWARD, w->in, w->spectrum));
    for (int64_t e = 0; e < w->elements; e++) {
        w->spectrum[2 * e] *= w->factors[e];
        w->spectrum[2 * e + 1] *= w->factors[e];
    }
    if (w->library)
        w->library->execute_c2c(w->inverse, w->spectrum, w->out);
    else
        ok(weft_execute(w->plan, WEFT_INVERSE, w->spectrum, w->out));
}

/* The largest difference of two arrays of this rank, on all ranks. */
static double largest_difference(const double *a, const double *b, int64_t numbers) {
    double most = 0;
    for (int64_t i = 0; i < numbers; i++) most = fmax(most, fabs(a[i] - b[i]));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void release(way *w) {
    weft_plan_destroy(&w->plan);
    free(w->in);
    free(w->out);
    free(w->spectrum);
    free(w->factors);
}

static void compare(int64_t n, bool real, int rounds) {
    way ways[WAYS] = {one_plan(n, real), separate(n, real), by_fftw(n, real)};
    double median[WAYS];
    time_in_turn(WAYS, run, ways, rounds, median);
    const way *one = &ways[ONE_PLAN], *apart = &ways[SEPARATE], *fftw = &ways[FFTW];
    must(one->lo == apart->lo && one->points == apart->points, "the boxes differ");
    must(largest_difference(one->out, apart->out, one->points * one->numbers) < 1e-12 &&
             largest_difference(fftw->in, fftw->out, fftw->points * 2) < 1e-12,
         "the results are wrong");
    if (rank == 0)
        printf("%s,%lld,%.3f,%.3f,%.3f,%.2f,%.2f\n", real ? "real" : "complex", (long long)n,
               1e3 * median[ONE_PLAN], 1e3 * median[SEPARATE], 1e3 * median[FFTW],
               median[SEPARATE] / median[ONE_PLAN], median[FFTW] / median[ONE_PLAN]);
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) release(&ways[i]);
}

int main(int argc, char **argv) {
    int rounds = 15, most = 26;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--most") == 0) most = atoi(argv[i + 1]);
    }
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    fftw_build_open("fftw-mpi", WEFT_DOUBLE);
    begin_ranks(&argc, &argv);
    if (rank == 0)
        printf("field,n,one_plan_ms,separate_ms,fftw_mpi_ms,separate_over_one,fftw_over_one\n");
    for (int log2n = 16; log2n <= most; log2n += 2)
        for (int real = 0; real < 2; real++) compare((int64_t)1 << log2n, real, rounds);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
