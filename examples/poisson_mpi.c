/*
 * Periodic Poisson's equation on the unit cube, -lap u = sin 2 pi x . sin 4 pi y . sin 6 pi z,
 * whose solution is the right side over 4 pi^2 (1 + 4 + 9). One forward transform, a division by 4
 * pi^2 |k|^2, one inverse, in place. Exit status 0 where the error is near round-off.
 *
 *   cc poisson_mpi.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 2 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

static const int64_t n[3] = {96, 80, 75};
static const double two_pi = 6.28318530717958647692;

static void require(weft_status status, weft_context ctx) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "poisson: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Signed frequency of index k of an axis of n points: 0, 1, ..., -2, -1. */
static double frequency(int64_t k, int64_t points) {
    return (double)(k <= points / 2 ? k : k - points);
}

static double right_side(const weft_box *b, int64_t i) {
    double x = (double)(b->lo[0] + i / (b->n[1] * b->n[2])) / (double)n[0];
    double y = (double)(b->lo[1] + i / b->n[2] % b->n[1]) / (double)n[1];
    double z = (double)(b->lo[2] + i % b->n[2]) / (double)n[2];
    return sin(two_pi * x) * sin(two_pi * 2 * y) * sin(two_pi * 3 * z);
}

/* Divides by 4 pi^2 |k|^2; the mean, which the equation leaves open, becomes 0. */
static void solve(const weft_box *b, double (*u)[2]) {
    for (int64_t i = 0; i < b->n[0] * b->n[1] * b->n[2]; i++) {
        double kx = frequency(b->lo[0] + i / (b->n[1] * b->n[2]), n[0]);
        double ky = frequency(b->lo[1] + i / b->n[2] % b->n[1], n[1]);
        double kz = (double)(b->lo[2] + i % b->n[2]); /* the halved axis has no negative ones */
        double square = two_pi * two_pi * (kx * kx + ky * ky + kz * kz);
        u[i][0] = square > 0 ? u[i][0] / square : 0;
        u[i][1] = square > 0 ? u[i][1] / square : 0;
    }
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_box in, out;
    size_t in_bytes, out_bytes;
    weft_problem problem = {
        .rank = 3, .n = {n[0], n[1], n[2]}, .kind = WEFT_R2C, .norm = WEFT_NORM_BACKWARD};
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), ctx);
    require(weft_plan_create(ctx, &problem, NULL, &plan), ctx);
    require(weft_plan_box(plan, WEFT_INPUT, rank, &in), ctx);
    require(weft_plan_box(plan, WEFT_OUTPUT, rank, &out), ctx);
    require(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes), ctx);
    require(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes), ctx);
    double *u = malloc((in_bytes > out_bytes ? in_bytes : out_bytes) + 1);
    if (!u) MPI_Abort(MPI_COMM_WORLD, 1);
    int64_t owned = in.n[0] * in.n[1] * in.n[2];
    for (int64_t i = 0; i < owned; i++) u[i] = right_side(&in, i);
    require(weft_execute(plan, WEFT_FORWARD, u, u), ctx);
    solve(&out, (double(*)[2])u);
    require(weft_execute(plan, WEFT_INVERSE, u, u), ctx);

    double error = 0, scale = two_pi * two_pi * 14;
    for (int64_t i = 0; i < owned; i++)
        error = fmax(error, fabs(u[i] * scale - right_side(&in, i)));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("largest relative error of u: %.2e\n", error);
    free(u);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return error < 1e-13 ? 0 : 1;
}
