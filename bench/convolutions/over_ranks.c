/*
 * Convolutions of real fields over ranks, in double precision: as one plan, by a forward transform,
 * a multiplication and an inverse one of weft's plans, and by FFTW-MPI's transforms (measured
 * plans, transposed spectra). In free space the last two pad by hand: zeros, a copy in, transforms
 * of all, a copy out; there FFTW's field lies where the padded array has it, so nothing is
 * sent for it. Called in turn; CSV on standard output, written by rank 0: medians over rounds of
 * the slowest rank's milliseconds.
 *
 *   mpiexec -n 2 bench_convolutions_over_ranks [--rounds R] [--most N]
 */
#include "bench/fftw_builds.h"
#include "bench/fftw_mpi_library.h"

#include "ranks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_PLAN, SEPARATE, FFTW, WAYS };

static const double deviation = 2; /* of the Gaussian, in spacings */

/* A case: a cube of n^3 points, transformed as one of `wide`^3. */
typedef struct cube {
    const char *name;
    int64_t n, wide;
    weft_convolution_problem problem;
} cube;

/* What the spectrum is multiplied by at index (x, y, z) of the wide cube. In free space any numbers
 * do: only the time counts. */
static double factor(const cube *c, int64_t x, int64_t y, int64_t z) {
    const int64_t index[3] = {x, y, z}, w = c->wide;
    double square = 0;
    for (int a = 0; a < 3; a++) {
        const int64_t f = 2 * index[a] > w ? index[a] - w : index[a];
        square += (double)(f * f);
    }
    const double k = 2 * 3.14159265358979323846 / (double)w;
    return exp(-square * k * k * deviation * deviation / 2) / (double)(w * w * w);
}

/* The field's value at a point. */
static double value(int64_t x, int64_t y, int64_t z) {
    uint64_t state = (uint64_t)((x * 4099 + y) * 4111 + z) * UINT64_C(0x9e3779b97f4a7c15);
    state = (state ^ (state >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (double)(state >> 11) * 0x1p-52 - 1;
}

/* Planes of the field, of a box of it or of a padded array: element (x, y, z) of the box is at
 * (x * pitch[0] + y) * pitch[1] + z. */
typedef struct view {
    double *data;
    int64_t lo[3], n[3], pitch[2];
} view;

static double *row_of(const view *v, int64_t x, int64_t y) {
    return v->data + (x * v->pitch[0] + y) * v->pitch[1];
}

static void fill(const view *v) {
    for (int64_t x = 0; x < v->n[0]; x++)
        for (int64_t y = 0; y < v->n[1]; y++)
            for (int64_t z = 0; z < v->n[2]; z++)
                row_of(v, x, y)[z] = value(v->lo[0] + x, v->lo[1] + y, v->lo[2] + z);
}

static void copy(const view *from, const view *to) {
    for (int64_t x = 0; x < from->n[0]; x++)
        for (int64_t y = 0; y < from->n[1]; y++)
            memcpy(row_of(to, x, y), row_of(from, x, y), (size_t)from->n[2] * sizeof(double));
}

static view view_of(double *data, const weft_box *box) {
    view v = {.data = data, .pitch = {box->n[1], box->n[2]}};
    memcpy(v.lo, box->lo, sizeof v.lo);
    memcpy(v.n, box->n, sizeof v.n);
    return v;
}

static void multiply(double *spectrum, const double *factors, int64_t elements) {
    for (int64_t i = 0; i < elements; i++) {
        spectrum[2 * i] *= factors[i];
        spectrum[2 * i + 1] *= factors[i];
    }
}

/* One of the ways, ready to run. */
typedef struct way {
    weft_plan plan; /* of a convolution, or of a transform; NULL for FFTW's */
    const fftw_mpi_library *library;
    weft_fftw_plan forward, inverse;
    double *in, *out, *wide, *spectrum, *factors;
    view field, result, padded;
    int64_t elements, wide_numbers;
} way;

/* The part of the field that lies in a padded array, whose rank has the planes from lo[0] on. */
static view inside(const cube *c, double *data, const int64_t *lo, const int64_t *n,
                   const int64_t *pitch) {
    view v = {.data = data, .pitch = {pitch[0], pitch[1]}};
    for (int a = 0; a < 3; a++) {
        v.lo[a] = lo[a];
        v.n[a] = lo[a] + n[a] <= c->n ? n[a] : lo[a] < c->n ? c->n - lo[a] : 0;
    }
    return v;
}

/* Tells where the field lies in w->wide, an array of so many bytes, and fills it in. Where that is
 * padded, field and result are kept beside it; otherwise the result is an array like it. */
static void place_field(const cube *c, way *w, size_t bytes, const int64_t *lo, const int64_t *n,
                        const int64_t *pitch) {
    w->padded = inside(c, w->wide, lo, n, pitch);
    if (c->wide == c->n) {
        w->out = allocate(bytes);
        w->field = w->padded;
        w->result = inside(c, w->out, lo, n, pitch);
    } else {
        const int64_t *here = w->padded.n;
        const weft_box box = {{lo[0], lo[1], lo[2]}, {here[0], here[1], here[2]}};
        const size_t dense = (size_t)(here[0] * here[1] * here[2]) * sizeof(double);
        w->in = allocate(dense);
        w->out = allocate(dense);
        w->field = view_of(w->in, &box);
        w->result = view_of(w->out, &box);
    }
    fill(&w->field);
}

static way one_plan(const cube *c) {
    const weft_options options = {.threads = 1, .placement = WEFT_OUT_OF_PLACE};
    way w = {.plan = NULL};
    weft_box box[2];
    size_t bytes[2];
    ok(weft_convolution_create(ctx, &c->problem, &options, &w.plan));
    ok(weft_plan_bytes(w.plan, WEFT_INPUT, &bytes[0]));
    ok(weft_plan_bytes(w.plan, WEFT_OUTPUT, &bytes[1]));
    ok(weft_plan_box(w.plan, WEFT_INPUT, rank, &box[0]));
    ok(weft_plan_box(w.plan, WEFT_OUTPUT, rank, &box[1]));
    w.in = allocate(bytes[0]);
    w.out = allocate(bytes[1]);
    w.field = view_of(w.in, &box[0]);
    w.result = view_of(w.out, &box[1]);
    fill(&w.field);
    return w;
}

static way separate(const cube *c) {
    const weft_problem problem = {.rank = 3, .n = {c->wide, c->wide, c->wide}, .kind = WEFT_R2C};
    const weft_options options = {.threads = 1, .placement = WEFT_OUT_OF_PLACE};
    way w = {.plan = NULL};
    weft_box box, spectrum;
    size_t bytes[2];
    ok(weft_plan_create(ctx, &problem, &options, &w.plan));
    ok(weft_plan_bytes(w.plan, WEFT_INPUT, &bytes[0]));
    ok(weft_plan_bytes(w.plan, WEFT_OUTPUT, &bytes[1]));
    ok(weft_plan_box(w.plan, WEFT_INPUT, rank, &box));
    ok(weft_plan_box(w.plan, WEFT_OUTPUT, rank, &spectrum));
    w.wide = allocate(bytes[0]);
    w.wide_numbers = box.n[0] * box.n[1] * box.n[2];
    w.spectrum = allocate(bytes[1]);
    w.elements = spectrum.n[0] * spectrum.n[1] * spectrum.n[2];
    w.factors = allocate((size_t)w.elements * sizeof(double));
    for (int64_t i = 0; i < w.elements; i++)
        w.factors[i] = factor(c, spectrum.lo[0] + i / spectrum.n[2] / spectrum.n[1],
                              spectrum.lo[1] + i / spectrum.n[2] % spectrum.n[1],
                              spectrum.lo[2] + i % spectrum.n[2]);
    place_field(c, &w, bytes[0], box.lo, box.n, &box.n[1]);
    return w;
}

static way by_fftw(const cube *c) {
    const ptrdiff_t n[3] = {(ptrdiff_t)c->wide, (ptrdiff_t)c->wide, (ptrdiff_t)c->wide};
    const ptrdiff_t half[3] = {n[0], n[1], n[2] / 2 + 1};
    ptrdiff_t n0, start0, n1, start1;
    way w = {.library = fftw_mpi_open("fftw-mpi", WEFT_DOUBLE)};
    must(w.library, "no FFTW-MPI: install libfftw3-mpi-dev");
    const size_t numbers = 2 * (size_t)w.library->local_size(3, half, 1, 0, 0, MPI_COMM_WORLD, &n0,
                                                             &start0, &n1, &start1);
    w.wide = allocate(numbers * sizeof(double));
    w.spectrum = allocate(numbers * sizeof(double));
    w.wide_numbers = n0 * n[1] * 2 * half[2];
    w.forward = w.library->plan_r2c(3, n, 1, 0, 0, w.wide, w.spectrum, MPI_COMM_WORLD,
                                    FFTW_MPI_TRANSPOSED_OUT_FLAG);
    w.inverse = w.library->plan_c2r(3, n, 1, 0, 0, w.spectrum, w.wide, MPI_COMM_WORLD,
                                    FFTW_MPI_TRANSPOSED_IN_FLAG);
    must(w.forward && w.inverse, "FFTW-MPI made no plan");
    memset(w.wide, 0, numbers * sizeof(double));
    w.elements = n1 * n[0] * half[2];
    w.factors = allocate((size_t)w.elements * sizeof(double));
    for (int64_t i = 0; i < w.elements; i++)
        w.factors[i] = factor(c, i / half[2] % n[0], start1 + i / half[2] / n[0], i % half[2]);
    const int64_t lo[3] = {start0, 0, 0}, here[3] = {n0, n[1], n[2]},
                  pitch[2] = {n[1], 2 * half[2]};
    place_field(c, &w, numbers * sizeof(double), lo, here, pitch);
    return w;
}

static void run(const cube *c, way *w) {
    const bool pads = c->wide > c->n;
    double *out = pads ? w->wide : w->out;
    if (!w->spectrum) { /* the convolution as one plan */
        ok(weft_convolution_execute(w->plan, w->in, w->out));
        return;
    }
    if (pads) {
        memset(w->wide, 0, (size_t)w->wide_numbers * sizeof(double));
        copy(&w->field, &w->padded);
    }
    if (w->library)
        w->library->execute_r2c(w->forward, w->wide, w->spectrum);
    else
        ok(weft_execute(w->plan, WEFT_FORWARD, w->wide, w->spectrum));
    multiply(w->spectrum, w->factors, w->elements);
    if (w->library)
        w->library->execute_c2r(w->inverse, w->spectrum, out);
    else
        ok(weft_execute(w->plan, WEFT_INVERSE, w->spectrum, out));
    if (pads) copy(&w->padded, &w->result);
}

/* The ways of one cube. */
typedef struct contest {
    const cube *cube;
    way *ways;
} contest;

static void run_number(void *of, int i) {
    const contest *c = of;
    run(c->cube, &c->ways[i]);
}

/* The sum of the result times the field's values, by which the ways are compared: their boxes
 * differ. */
static double digest(const way *w) {
    const view *v = &w->result;
    double sum = 0;
    for (int64_t x = 0; x < v->n[0]; x++)
        for (int64_t y = 0; y < v->n[1]; y++)
            for (int64_t z = 0; z < v->n[2]; z++)
                sum += row_of(v, x, y)[z] * value(v->lo[0] + x, v->lo[1] + y, v->lo[2] + z);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void compare(const cube *c, int rounds) {
    way ways[WAYS] = {one_plan(c), separate(c), by_fftw(c)};
    contest of = {c, ways};
    double median[WAYS], sum[WAYS];
    time_in_turn(WAYS, run_number, &of, rounds, median);
    for (int i = 0; i < WAYS; i++) sum[i] = digest(&ways[i]);
    for (int i = SEPARATE; i < WAYS; i++) /* of free space only FFTW and separate agree */
        must(fabs(sum[i] - sum[c->wide == c->n ? ONE_PLAN : SEPARATE]) <= 1e-9 * fabs(sum[i]),
             "the ways do not agree");
    if (rank == 0)
        printf("%s,%lld,%.3f,%.3f,%.3f,%.2f,%.2f\n", c->name, (long long)c->n,
               1e3 * median[ONE_PLAN], 1e3 * median[SEPARATE], 1e3 * median[FFTW],
               median[SEPARATE] / median[ONE_PLAN], median[FFTW] / median[ONE_PLAN]);
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) {
        weft_plan_destroy(&ways[i].plan);
        free(ways[i].in);
        free(ways[i].out);
        free(ways[i].wide);
        free(ways[i].spectrum);
        free(ways[i].factors);
    }
}

int main(int argc, char **argv) {
    static const double covariance[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    int rounds = 9;
    int64_t most = 256;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--most") == 0) most = atoi(argv[i + 1]);
    }
    if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
    fftw_build_open("fftw-mpi", WEFT_DOUBLE);
    begin_ranks(&argc, &argv);
    if (rank == 0)
        printf("case on %d ranks,n,one_plan_ms,separate_ms,fftw_mpi_ms,separate_over_one,"
               "fftw_over_one\n",
               ranks);
    for (int64_t n = 64; n <= most; n *= 2) {
        cube c = {.name = "periodic Gaussian",
                  .n = n,
                  .wide = n,
                  .problem = {.rank = 3,
                              .n = {n, n, n},
                              .kind = WEFT_R2C,
                              .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = covariance}}};
        compare(&c, rounds);
        if (n > 128) continue;
        c.name = "free-space Poisson";
        c.wide = 2 * n;
        for (int a = 0; a < 3; a++) c.problem.boundary[a] = WEFT_FREE_SPACE;
        c.problem.kernel = (weft_convolution_kernel){.kind = WEFT_KERNEL_POISSON};
        compare(&c, rounds);
    }
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
