/*
 * The first program to read: a plane wave on a 181 x 217 x 181 grid, transformed forward and back
 * over all ranks. Checks the spectrum's peak and the round trip, and prints the phase times.
 *
 *   cc quickstart.c $(pkg-config --cflags --libs weft-mpi) -lm && mpirun -n 4 ./a.out
 */
#include <math.h>
#include <stdlib.h>
#include <weft/weft_mpi.h>

static const double two_pi = 6.28318530717958647692;

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "quickstart: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* cos(2 pi 3 x / n0) at element i of the box. */
static double wave(const weft_box *b, int64_t i) {
    return cos(two_pi * 3 * (double)(b->lo[0] + i / (b->n[1] * b->n[2])) / 181);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &rank); /* any level granted will do */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_problem problem = {.rank = 3, .n = {181, 217, 181}, .kind = WEFT_R2C};
    weft_options options = {.decomposition = WEFT_PENCIL,
                            .variant = WEFT_REALIGNED,
                            .exchange = {WEFT_P2P_STREAMS, WEFT_A2A_SYNC}};
    MPI_Dims_create(ranks, 2, options.grid); /* 4 ranks: 2 x 2 */
    require(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) == WEFT_SUCCESS &&
                weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS,
            weft_last_error(ctx));

    weft_box in, out; /* what this rank owns of the real array and of the spectrum */
    size_t in_bytes, out_bytes;
    weft_plan_box(plan, WEFT_INPUT, rank, &in);
    weft_plan_box(plan, WEFT_OUTPUT, rank, &out);
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes);
    double *real = malloc(in_bytes + 1);
    double(*spectrum)[2] = malloc(out_bytes + 1);
    require(real && spectrum, "out of memory");
    int64_t owned = in.n[0] * in.n[1] * in.n[2];
    double points = 181. * 217 * 181, peak = 0, error = 0;
    for (int64_t i = 0; i < owned; i++) real[i] = wave(&in, i);
    require(weft_execute(plan, WEFT_FORWARD, real, spectrum) == WEFT_SUCCESS, weft_last_error(ctx));
    for (int64_t i = 0; i < out.n[0] * out.n[1] * out.n[2]; i++) {
        peak = fmax(peak, hypot(spectrum[i][0], spectrum[i][1]));
    }
    require(weft_execute(plan, WEFT_INVERSE, spectrum, real) == WEFT_SUCCESS, weft_last_error(ctx));

    for (int64_t i = 0; i < owned; i++) { /* unscaled: back comes N times the input */
        error = fmax(error, fabs(real[i] / points - wave(&in, i)));
    }
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    peak /= points;
    weft_timings t;
    weft_plan_timings(plan, &t);
    if (rank == 0) {
        printf("%d ranks: peak %.15f (0.5), round trip error %.1e\n", ranks, peak, error);
        printf(
            "inverse %.4f s: fft %.4f pack %.4f exchange %.4f unpack %.4f copy %.4f local %.4f\n",
            t.total, t.fft, t.pack, t.exchange, t.unpack, t.copy, t.local);
    }
    free(real);
    free(spectrum);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return error < 1e-13 && fabs(peak - 0.5) < 1e-13 ? 0 : 1;
}
