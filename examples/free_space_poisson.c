/*
 * Poisson's equation in unbounded space: -lap u = f, u -> 0 far away, for a Gaussian charge f. One
 * convolution solves it: the field is f on its box, the kernel 1 / (4 pi r), and nothing outside of
 * the box is stored. Exit status 0 where u is the closed form erf(r / (sqrt(2) s)) / (4 pi r) to 10
 * digits.
 *
 *   cc free_space_poisson.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 2 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

static const double pi = 3.14159265358979323846;
static const double width = 0.25; /* s, the standard deviation of the charge: 2.5 grid spacings */

/* The box: its edges are 8 s away from the charge or more, where that is below 1e-13 of its peak.
 */
static const int64_t n[3] = {48, 44, 40};
static const double length[3] = {4.8, 4.4, 4.0};

static void require(weft_status status, weft_context ctx) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "free space: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* How far element i of a box is from the charge, in the middle of the whole box. Points are the
 * middles of cells, and n is even, so none of them lies there. */
static double distance(const weft_box *b, int64_t i) {
    const int64_t index[3] = {b->lo[0] + i / (b->n[1] * b->n[2]), b->lo[1] + i / b->n[2] % b->n[1],
                              b->lo[2] + i % b->n[2]};
    double square = 0;
    for (int a = 0; a < 3; a++) {
        const double x = ((double)index[a] + 0.5) * length[a] / (double)n[a] - length[a] / 2;
        square += x * x;
    }
    return sqrt(square);
}

/* A charge of 1 in all. */
static double charge(double r) {
    return exp(-r * r / (2 * width * width)) / pow(2 * pi * width * width, 1.5);
}

static double potential(double r) {
    return erf(r / (sqrt(2) * width)) / (4 * pi * r);
}

int main(int argc, char **argv) {
    int rank;
    weft_context ctx = NULL;
    weft_convolution poisson = NULL;
    weft_box mine;
    size_t f_bytes, u_bytes;
    double error = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx), ctx);

    const weft_convolution_problem problem = {
        .rank = 3,
        .n = {n[0], n[1], n[2]},
        .length = {length[0], length[1], length[2]},
        .kind = WEFT_R2C,
        .boundary = {WEFT_FREE_SPACE, WEFT_FREE_SPACE, WEFT_FREE_SPACE},
        .kernel = {.kind = WEFT_KERNEL_POISSON}};
    require(weft_convolution_create(ctx, &problem, NULL, &poisson), ctx);
    /* A convolution is a plan, so plans' functions tell this rank's part. Field and result have the
     * same box here, but may need room of different sizes. */
    require(weft_plan_box(poisson, WEFT_INPUT, rank, &mine), ctx);
    require(weft_plan_bytes(poisson, WEFT_INPUT, &f_bytes), ctx);
    require(weft_plan_bytes(poisson, WEFT_OUTPUT, &u_bytes), ctx);
    double *f = malloc(f_bytes + 1), *u = malloc(u_bytes + 1);
    if (!f || !u) MPI_Abort(MPI_COMM_WORLD, 1);

    const int64_t owned = mine.n[0] * mine.n[1] * mine.n[2];
    for (int64_t i = 0; i < owned; i++) f[i] = charge(distance(&mine, i));
    require(weft_convolution_execute(poisson, f, u), ctx);
    for (int64_t i = 0; i < owned; i++) {
        const double off = fabs(u[i] - potential(distance(&mine, i)));
        error = fmax(error, isnan(off) ? INFINITY : off);
    }
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("largest error: %.2e of a potential up to %.3f\n", error, potential(1e-9));
    free(f);
    free(u);
    weft_convolution_destroy(&poisson);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return error < 1e-10 ? 0 : 1;
}
