/*
 * The potential of charges in a periodic box, -lap u = f, with little communication: each rank
 * convolves its own part of f, and of the result it sends samples only, from which the others
 * interpolate it. Beside it the exact method, which exchanges whole arrays. Prints the error and
 * the bytes that all ranks send; exit status 0 where the error is what was asked for.
 *
 *   cc few_messages.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 4 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

enum { N = 64 };
static weft_context ctx;

static void require(weft_status status) {
    if (status == WEFT_SUCCESS) return;
    fprintf(stderr, "few messages: %s\n", weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Two charges that are opposite and have no edge. */
static double charge(const weft_box *b, int64_t i) {
    const int64_t index[3] = {b->lo[0] + i / (b->n[1] * b->n[2]), b->lo[1] + i / b->n[2] % b->n[1],
                              b->lo[2] + i % b->n[2]};
    double near = 0, far = 0;
    for (int a = 0; a < 3; a++) {
        near += pow((double)index[a] - N / 4.0, 2);
        far += pow((double)index[a] - 3 * N / 4.0, 2);
    }
    return exp(-near / 32) - exp(-far / 32);
}

/* Solves the equation; returns the bytes that this rank has sent. */
static int64_t solve(const weft_convolution_problem *problem, const double *f, double *u) {
    const weft_options options = {.decomposition = WEFT_PENCIL}; /* boxes with little surface */
    weft_convolution poisson = NULL;
    weft_timings timings;
    require(weft_convolution_create(ctx, problem, &options, &poisson));
    require(weft_convolution_execute(poisson, f, u));
    require(weft_plan_timings(poisson, &timings));
    weft_convolution_destroy(&poisson);
    return timings.bytes_sent;
}

int main(int argc, char **argv) {
    static const double mean_zero[2] = {0, 0};
    const weft_options options = {.decomposition = WEFT_PENCIL};
    weft_convolution plan = NULL;
    weft_box mine;
    size_t bytes;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx));

    weft_convolution_problem problem = {.rank = 3,
                                        .n = {N, N, N},
                                        .kind = WEFT_R2C,
                                        .kernel = {.kind = WEFT_KERNEL_POISSON,
                                                   .zero = mean_zero,
                                                   .discretization = WEFT_STAGGERED}};
    require(weft_convolution_create(ctx, &problem, &options, &plan));
    require(weft_plan_box(plan, WEFT_INPUT, rank, &mine));
    require(weft_plan_bytes(plan, WEFT_INPUT, &bytes));
    weft_convolution_destroy(&plan);

    const int64_t points = mine.n[0] * mine.n[1] * mine.n[2];
    double *f = malloc(bytes + 8), *exact = malloc(bytes + 8), *u = malloc(bytes + 8);
    for (int64_t i = 0; i < points; i++) f[i] = charge(&mine, i);
    int64_t sent[2];
    sent[0] = solve(&problem, f, exact);
    problem.method = WEFT_SAMPLES;
    problem.tolerance = 1e-3;
    sent[1] = solve(&problem, f, u);

    double sums[2] = {0, 0};
    for (int64_t i = 0; i < points; i++) {
        sums[0] += (u[i] - exact[i]) * (u[i] - exact[i]);
        sums[1] += exact[i] * exact[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const double error = sqrt(sums[0] / sums[1]);
    if (rank == 0)
        printf("relative error %.1e; %lld bytes sent, %lld by the exact method\n", error,
               (long long)sent[1], (long long)sent[0]);
    free(f);
    free(exact);
    free(u);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return error <= problem.tolerance ? 0 : 1;
}
