/*
 * A Gaussian filter of a volume, and its derivative along x, as operators of a plan that goes
 * there and back in one call: the program never holds a spectrum, and does no index arithmetic for
 * whatever part of one a rank would have. Exit status 0 where both agree with the filtered waves
 * that the volume is made of.
 *
 *   cc filter_volume.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 2 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

enum { WAVES = 4 };

static const int64_t n[3] = {60, 48, 50};
static const double two_pi = 6.28318530717958647692, sigma = 2.5; /* in voxels */

/* Frequency, in cycles along the volume, and phase of each wave. */
static const double wave[WAVES][4] = {{0, 0, 0, 0.3}, {3, 1, 2, 0.1}, {-5, 2, 7, 1}, {9, -4, 1, 2}};

static void require(weft_status status, weft_context ctx) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "filter: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Signed frequency of index k of an axis of n points: 0, 1, ..., -2, -1. */
static double frequency(int64_t k, int64_t points) {
    return (double)(k <= points / 2 ? k : k - points);
}

/* The transform of a Gaussian of width sigma, at `cycles` along an axis. */
static double gaussian(double cycles, int64_t points) {
    const double omega = two_pi * cycles / (double)points;
    return exp(-omega * omega * sigma * sigma / 2);
}

/* The caller's function: times i omega_x, in radians per voxel. It gets a few neighbours along one
 * axis, and where they are in the whole spectrum; threads call it at the same time. */
static void differentiate(const weft_operator_run *run, void *argument) {
    double(*c)[2] = run->data; /* the plan is double precision, and a spectrum complex */
    (void)argument;
    for (int64_t i = 0; i < run->count; i++) {
        const int64_t kx = run->index[0] + (run->axis == 0 ? i : 0);
        const double omega = 2 * kx == n[0] ? 0 : two_pi * frequency(kx, n[0]) / (double)n[0];
        const double re = c[i][0];
        c[i][0] = -omega * c[i][1];
        c[i][1] = omega * re;
    }
}

/* The sum of the waves at element i of a box, each times its factor of the filter; or the
 * derivative of that. */
static double expected(const weft_box *b, int64_t i, int filtered, int derivative) {
    const int64_t x = b->lo[0] + i / (b->n[1] * b->n[2]), y = b->lo[1] + i / b->n[2] % b->n[1];
    const int64_t z = b->lo[2] + i % b->n[2];
    double sum = 0;
    for (int w = 0; w < WAVES; w++) {
        const double *k = wave[w], omega = two_pi * k[0] / (double)n[0];
        const double phase =
            k[3] + omega * (double)x +
            two_pi * (k[1] * (double)y / (double)n[1] + k[2] * (double)z / (double)n[2]);
        const double factor =
            filtered ? gaussian(k[0], n[0]) * gaussian(k[1], n[1]) * gaussian(k[2], n[2]) : 1;
        sum += factor * (derivative ? -omega * sin(phase) : cos(phase));
    }
    return sum;
}

/* Filters the volume and returns the largest error. */
static double filter(weft_context ctx, int rank, const weft_operator *spectral, int count) {
    weft_plan plan = NULL;
    weft_box box;
    size_t bytes;
    double error = 0;
    weft_problem problem = {.rank = 3,
                            .n = {n[0], n[1], n[2]},
                            .kind = WEFT_R2C,
                            .norm = WEFT_NORM_BACKWARD,
                            .spectral = {spectral, count}};
    const weft_options options = {.convolve = 1};
    require(weft_plan_create(ctx, &problem, &options, &plan), ctx);
    require(weft_plan_box(plan, WEFT_INPUT, rank, &box), ctx);
    require(weft_plan_bytes(plan, WEFT_INPUT, &bytes), ctx);
    double *volume = malloc(bytes + 1);
    if (!volume) MPI_Abort(MPI_COMM_WORLD, 1);
    const int64_t owned = box.n[0] * box.n[1] * box.n[2];
    for (int64_t i = 0; i < owned; i++) volume[i] = expected(&box, i, 0, 0);
    require(weft_execute(plan, WEFT_CONVOLVE, volume, volume), ctx);
    for (int64_t i = 0; i < owned; i++)
        error = fmax(error, fabs(volume[i] - expected(&box, i, 1, count > 1)));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    free(volume);
    weft_plan_destroy(&plan);
    return error;
}

int main(int argc, char **argv) {
    int rank;
    double *table[3];
    weft_context ctx = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), ctx);
    /* A Gaussian is a product over the axes: a table for each is all it takes. The axis that real
     * data halves has n/2+1 frequencies. */
    for (int a = 0; a < 3; a++) {
        const int64_t count = a == 2 ? n[a] / 2 + 1 : n[a];
        table[a] = malloc((size_t)count * sizeof(double));
        if (!table[a]) MPI_Abort(MPI_COMM_WORLD, 1);
        for (int64_t k = 0; k < count; k++) table[a][k] = gaussian(frequency(k, n[a]), n[a]);
    }
    const weft_operator operators[] = {
        {.kind = WEFT_OPERATOR_TABLE, .table = {table[0], table[1], table[2]}},
        {.kind = WEFT_OPERATOR_FUNCTION, .function = differentiate}};
    const double smooth = filter(ctx, rank, operators, 1);
    const double derivative = filter(ctx, rank, operators, 2);
    for (int a = 0; a < 3; a++) free(table[a]); /* the plans have copies */
    if (rank == 0)
        printf("largest error of the filtered volume: %.2e, of its derivative: %.2e\n", smooth,
               derivative);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return smooth < 1e-13 && derivative < 1e-13 ? 0 : 1;
}
