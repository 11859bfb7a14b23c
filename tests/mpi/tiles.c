/*
 * Convolutions by tiles over ranks: where they are chosen, what they send and hold, and what
 * weft_plan_explain tells; and kernels whose boxes do not fit together. That results are right, of
 * any kernel and boxes, is convolve.c's.
 */
#include "random_numbers.h"

#include <weft/weft_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;
static weft_context ctx;

static void fail(const char *what) {
    fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
    failures++;
}

static void make(const weft_convolution_problem *problem, weft_convolution *plan) {
    if (weft_convolution_create(ctx, problem, NULL, plan) == WEFT_SUCCESS) return;
    fail(weft_last_error(ctx));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static char *explained(weft_convolution plan) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    weft_plan_explain(plan, stream, WEFT_TEXT);
    fclose(stream);
    return text;
}

/* Large fields with small kernels are done by tiles, which send little. */
static void large_fields_with_small_kernels_are_done_by_tiles(void) {
    static const double kernel[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    weft_timings by_tiles, of_whole;
    weft_convolution tiles = NULL, whole = NULL;
    weft_convolution_problem problem = {.rank = 2,
                                        .n = {768, 1024},
                                        .kind = WEFT_R2C,
                                        .boundary = {WEFT_LINEAR, WEFT_LINEAR},
                                        .mode = WEFT_SAME,
                                        .kernel = {.array = kernel, .n = {3, 3}}};
    size_t bytes = 0, held = 0;
    weft_memory memory[2];
    make(&problem, &tiles);
    problem.method = WEFT_WHOLE;
    make(&problem, &whole);
    weft_plan_bytes(tiles, WEFT_INPUT, &bytes);
    weft_plan_bytes(whole, WEFT_INPUT, &held);
    if (bytes != held) fail("tiles have other boxes than the whole");
    double *in = malloc(bytes + 1), *out[2] = {malloc(bytes + 1), malloc(bytes + 1)};
    for (size_t i = 0; i < bytes / sizeof *in; i++) in[i] = random_number();
    if (weft_convolution_execute(tiles, in, out[0]) != WEFT_SUCCESS ||
        weft_convolution_execute(whole, in, out[1]) != WEFT_SUCCESS)
        fail(weft_last_error(ctx));
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        if (fabs(out[0][i] - out[1][i]) > 1e-12) {
            fail("tiles and the whole differ");
            break;
        }
    weft_plan_timings(tiles, &by_tiles);
    weft_plan_timings(whole, &of_whole);
    weft_plan_memory(tiles, &memory[0]);
    weft_plan_memory(whole, &memory[1]);
    if (ranks > 1 && by_tiles.bytes_sent * 20 > of_whole.bytes_sent)
        fail("tiles send more than a twentieth of the bytes");
    if (memory[0].total >= memory[1].total) fail("tiles take more memory than the whole");
    char *text = explained(tiles);
    const char *words[] = {"overlap-save: field of", "method overlap-save of these estimates",
                           "with the exact method", "the exact method, not built:"};
    for (int i = 0; i < (ranks > 1 ? 4 : 1); i++)
        if (!strstr(text, words[i])) fail(words[i]);
    if (ranks > 1 && bytes > 0 &&
        weft_convolution_execute(tiles, in, in) != WEFT_ERROR_INVALID_ARGUMENT)
        fail("tiles are done in place");
    weft_convolution_destroy(&tiles);
    weft_convolution_destroy(&whole);
    free(text);
    free(in);
    free(out[0]);
    free(out[1]);
}

static void expect(weft_status found, weft_status right, const char *words) {
    if (found != right) fail("another status was expected");
    if (!strstr(weft_last_error(ctx), words)) fail(weft_last_error(ctx));
}

/* Ranks whose boxes of the kernel do not fit together learn of it alike. */
static void boxes_that_do_not_fit_are_refused_on_all_ranks(void) {
    static const double kernel[12] = {1};
    weft_convolution plan = NULL;
    weft_box box = {.lo = {rank < 3 ? rank : 0}, .n = {rank < 3, 4}};
    weft_convolution_problem problem = {
        .rank = 2,
        .n = {12, 12},
        .kind = WEFT_R2C,
        .kernel = {.array = kernel, .n = {ranks < 3 ? ranks : 3, 4}, .box = &box}};
    const weft_convolution_problem fit = problem;
    if (ranks == 1) return;
    make(&problem, &plan);
    expect(weft_convolution_set_kernel(plan, rank == 1 ? NULL : kernel),
           WEFT_ERROR_INVALID_ARGUMENT, "rank 1: weft_convolution_set_kernel: array is NULL");
    weft_convolution_destroy(&plan);
    if (rank == 1) problem.kernel.array = NULL;
    expect(weft_convolution_create(ctx, &problem, NULL, &plan), WEFT_ERROR_MISMATCH,
           "problem.kernel.array is NULL on some ranks");
    problem = fit;
    if (rank == 1) problem.kernel.box = NULL;
    expect(weft_convolution_create(ctx, &problem, NULL, &plan), WEFT_ERROR_MISMATCH, "checksum");
    problem = fit;
    if (rank == 1) box.lo[0] = 0;
    expect(weft_convolution_create(ctx, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT,
           "problem.kernel boxes of ranks 0 and 1 overlap");
    if (plan) fail("a plan was made");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) return 1;
    large_fields_with_small_kernels_are_done_by_tiles();
    boxes_that_do_not_fit_are_refused_on_all_ranks();
    weft_context_destroy(&ctx);
    MPI_Finalize();
    return failures > 0;
}
