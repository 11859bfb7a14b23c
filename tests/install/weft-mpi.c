/*
 * A user's MPI program for the install test, C and C++: the transform of a constant is its sum, at
 * the origin alone.
 */
#include <stdlib.h>
#include <string.h>
#include <weft/weft_mpi.h>

int main(int argc, char **argv) {
    weft_problem problem;
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_box box;
    size_t in_bytes = 0, out_bytes = 0;
    int rank = 0, wrong = 0;
    memset(&problem, 0, sizeof problem);
    problem.rank = 2;
    problem.n[0] = 12;
    problem.n[1] = 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        weft_plan_create(ctx, &problem, NULL, &plan) != WEFT_SUCCESS ||
        weft_plan_box(plan, WEFT_OUTPUT, rank, &box) != WEFT_SUCCESS ||
        weft_plan_bytes(plan, WEFT_INPUT, &in_bytes) != WEFT_SUCCESS ||
        weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    double *in = (double *)calloc(1, in_bytes + 1), *out = (double *)calloc(1, out_bytes + 1);
    for (size_t i = 0; i < in_bytes / 16; i++) in[2 * i] = 1;
    wrong += weft_execute(plan, WEFT_FORWARD, in, out) != WEFT_SUCCESS;
    for (int64_t i = 0; i < box.n[0] * box.n[1]; i++) {
        int origin = i == 0 && box.lo[0] == 0 && box.lo[1] == 0;
        wrong += out[2 * i] > (origin ? 120 : 0) + 1e-12 || out[2 * i] < (origin ? 120 : 0) - 1e-12;
    }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return wrong ? 1 : 0;
}
