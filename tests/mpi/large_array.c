/*
 * More than 2^31 elements: a real single-precision array of 2048 x 1024 x 1025, transformed in
 * place on 2 ranks, with messages above 2 GiB. An impulse beyond element 2^31 becomes a plane wave,
 * and the way back is the impulse. Needs 18 GiB, so it is built always and run with
 * -DWEFT_LARGE_TESTS=ON or by hand.
 */
#include <weft/weft_mpi.h>

#include <math.h>
#include <stdlib.h>

static const int64_t n[3] = {2048, 1024, 1025}, place[3] = {2047, 1022, 1020};

static const double two_pi = 6.28318530717958647692;

/* Elements of the spectrum that are not the plane wave. */
static int64_t wrong_waves(const weft_box *box, const float *spectrum) {
    int64_t wrong = 0;
    for (int64_t x = 0; x < box->n[0]; x++)
        for (int64_t y = 0; y < box->n[1]; y++)
            for (int64_t z = 0; z < box->n[2]; z++) {
                double turns = (double)((x + box->lo[0]) * place[0] % n[0]) / (double)n[0] +
                               (double)((y + box->lo[1]) * place[1] % n[1]) / (double)n[1] +
                               (double)((z + box->lo[2]) * place[2] % n[2]) / (double)n[2];
                const float *value = spectrum + 2 * ((x * box->n[1] + y) * box->n[2] + z);
                wrong += !(fabs(value[0] - cos(two_pi * turns)) < 1e-5 &&
                           fabs(value[1] + sin(two_pi * turns)) < 1e-5);
            }
    return wrong;
}

static int64_t wrong_impulse(const weft_box *box, const float *real) {
    int64_t wrong = 0;
    for (int64_t x = 0; x < box->n[0]; x++)
        for (int64_t y = 0; y < box->n[1]; y++)
            for (int64_t z = 0; z < box->n[2]; z++) {
                float want = x + box->lo[0] == place[0] && y + box->lo[1] == place[1] &&
                             z + box->lo[2] == place[2];
                wrong += !(fabsf(real[(x * box->n[1] + y) * box->n[2] + z] - want) < 1e-5f);
            }
    return wrong;
}

int main(int argc, char **argv) {
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    weft_problem problem = {.rank = 3,
                            .n = {n[0], n[1], n[2]},
                            .kind = WEFT_R2C,
                            .precision = WEFT_SINGLE,
                            .norm = WEFT_NORM_BACKWARD};
    weft_options options = {
        .decomposition = WEFT_SLAB_2D1D, .exchange = {WEFT_A2A_TYPE}, .placement = WEFT_IN_PLACE};
    weft_box in, out;
    size_t bytes;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS ||
        weft_plan_create(ctx, &problem, &options, &plan) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    weft_plan_box(plan, WEFT_INPUT, rank, &in);
    weft_plan_box(plan, WEFT_OUTPUT, rank, &out);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes);
    float *data = calloc(1, bytes);
    if (!data) MPI_Abort(MPI_COMM_WORLD, 1);
    if (place[0] >= in.lo[0] && place[0] < in.lo[0] + in.n[0])
        data[((place[0] - in.lo[0]) * in.n[1] + place[1]) * in.n[2] + place[2]] = 1;
    int64_t wrong = weft_execute(plan, WEFT_FORWARD, data, data) != WEFT_SUCCESS;
    wrong += wrong_waves(&out, data);
    wrong += weft_execute(plan, WEFT_INVERSE, data, data) != WEFT_SUCCESS;
    wrong += wrong_impulse(&in, data);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("large array: %lld elements, %lld wrong\n", (long long)(n[0] * n[1] * n[2]),
               (long long)wrong);
    free(data);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
