/*
 * Callers' arrays that are cropped, in plans whose transforms go in parts: the parts that lie
 * beyond what the caller keeps load nothing and store nothing, and no address is made for them.
 *
 *   cropped [--device opencl|simulated]
 */
#include "promised_device.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUTS = 3 };

static int rank, failures;
static weft_context ctx;

static bool succeeds(weft_status status) {
    if (status == WEFT_SUCCESS) return true;
    fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(ctx));
    failures++;
    return false;
}

static double value_at(const weft_box *box, const int64_t *n, int64_t i) {
    int64_t place = 0, index[3];
    for (int a = 2; a >= 0; a--, i /= box->n[a + 1]) index[a] = box->lo[a] + i % box->n[a];
    for (int a = 0; a < 3; a++) place = place * n[a] + index[a];
    return sin(1.0 + (double)place);
}

/* Forward and back gives N times what was given, of what the caller keeps. The arrays have a
 * storage of their own, though it is double as the transform's, for only such arrays end where the
 * caller's data ends: plans put nothing else there on the way. */
static void there_and_back(weft_device device, const int64_t *cut, int chunks) {
    const weft_problem problem = {.rank = 3,
                                  .n = {16, 4, 5},
                                  .kind = WEFT_R2C,
                                  .load_storage = WEFT_STORAGE_DOUBLE,
                                  .store_storage = WEFT_STORAGE_DOUBLE,
                                  .pad_from = {cut[0], cut[1], cut[2]}};
    const weft_options options = {.device = device,
                                  .decomposition = WEFT_PENCIL,
                                  .variant = WEFT_DEFAULT,
                                  .grid = {2, 1},
                                  .exchange = {WEFT_P2P_SYNC},
                                  .placement = WEFT_OUT_OF_PLACE,
                                  .chunks = chunks};
    weft_plan plan = NULL;
    weft_box box;
    size_t bytes, spectrum_bytes;
    if (!succeeds(weft_plan_create(ctx, &problem, &options, &plan))) return;
    weft_plan_box(plan, WEFT_INPUT, rank, &box);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &spectrum_bytes);
    const int64_t count = box.n[0] * box.n[1] * box.n[2];
    double *in = malloc(bytes + 1), *back = malloc(bytes + 1), worst = 0;
    void *on_device = NULL, *spectrum = NULL, *back_on_device = NULL;
    for (int64_t i = 0; i < count; i++) in[i] = value_at(&box, problem.n, i);
    memset(back, 0xff, bytes);
    if (succeeds(weft_buffer_create(plan, bytes, &on_device)) &&
        succeeds(weft_buffer_create(plan, spectrum_bytes, &spectrum)) &&
        succeeds(weft_buffer_create(plan, bytes, &back_on_device)) &&
        succeeds(weft_buffer_upload(plan, on_device, in, bytes)) &&
        succeeds(weft_execute(plan, WEFT_FORWARD, on_device, spectrum)) &&
        succeeds(weft_execute(plan, WEFT_INVERSE, spectrum, back_on_device)) &&
        succeeds(weft_buffer_download(plan, back, back_on_device, bytes)))
        for (int64_t i = 0; i < count; i++) {
            const double off = fabs(back[i] / (16 * 4 * 5) - in[i]);
            worst = off <= worst ? worst : off; /* also where it is NaN */
        }
    if (!(worst < 1e-13)) {
        fprintf(stderr, "rank %d: cut %d,%d,%d in %d parts: off by %g\n", rank, (int)cut[0],
                (int)cut[1], (int)cut[2], chunks, worst);
        failures++;
    }
    free(in);
    free(back);
    weft_buffer_destroy(plan, &on_device);
    weft_buffer_destroy(plan, &spectrum);
    weft_buffer_destroy(plan, &back_on_device);
    weft_plan_destroy(&plan);
}

int main(int argc, char **argv) {
    static const int64_t cuts[CUTS][3] = {{6, 2, 0}, {9, 0, 0}, {0, 1, 3}};
    weft_device device = argc == 3 && strcmp(argv[2], "opencl") == 0 ? WEFT_OPENCL : WEFT_SIMULATED;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (weft_device_probe(device, NULL) != WEFT_SUCCESS) {
        fprintf(stderr, "cropped: %s\n", weft_last_error(NULL));
        MPI_Finalize();
        return status_without(device);
    }
    if (!succeeds(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx))) return 1;
    for (int i = 0; i < CUTS; i++)
        for (int chunks = 1; chunks <= 3; chunks++) there_and_back(device, cuts[i], chunks);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
