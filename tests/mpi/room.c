/*
 * Ranks whose devices have different amounts of memory free come to one decision, by the smallest;
 * ranks that share a device have equal parts of it. On the simulated device, of which each rank has
 * its own, or on the stand-in for CUDA.
 *
 *   room [--device cuda]
 */
#include "device_memory.h"
#include "exec/plan.h"
#include "promised_device.h"

#include <weft/weft_mpi.h>

#include <string.h>

static weft_context ctx;
static weft_device device = WEFT_SIMULATED;
static int rank, size, failed;

static void check(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "rank %d of %d: %s (%s)\n", rank, size, what, weft_last_error(ctx));
    failed++;
}

static bool agreed(int64_t mine) {
    int64_t range[2] = {mine, -mine};
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return range[0] == -range[1];
}

static weft_plan plan_of_cube(void) {
    const weft_problem cube = {.rank = 3, .n = {40, 30, 20}, .kind = WEFT_C2C};
    const weft_options options = {
        .device = device, .location = WEFT_LOCATION_HOST, .exchange = {WEFT_P2P_TYPE}};
    weft_plan plan = NULL;
    check(weft_plan_create(ctx, &cube, &options, &plan) == WEFT_SUCCESS, "no plan");
    return plan;
}

static void check_plan(int64_t room, bool streamed) {
    weft_plan plan = plan_of_cube();
    weft_options chosen = {.struct_size = sizeof chosen};
    if (!plan) return;
    weft_plan_options(plan, &chosen);
    check(agreed(plan->planner.room), "ranks count on different amounts of memory");
    check(room < 0 || plan->planner.room == room, "another amount of memory than is free");
    check((chosen.stream == WEFT_STREAM_ON) == streamed,
          "streams or not, and should not or should");
    weft_plan_destroy(&plan);
}

/* The last rank has little, the others plenty. */
static void the_least_of_the_ranks_counts(void) {
    enum { LITTLE = 240000 };
    const bool last = rank == size - 1;
    set_device_memory(device, last ? LITTLE : 64 << 20);
    check_plan(LITTLE - LITTLE / 8, true);
    set_device_memory(device, last ? 0 : 64 << 20);
    check_plan(size > 1 ? (64 << 20) - (64 << 20) / 8 : 0, false);
}

/* As many GPUs as ranks, then one for all. */
static void ranks_that_share_a_device_share_its_memory(void) {
    enum { MEMORY = 64 << 20 };
    set_device_memory(device, MEMORY);
    setenv("WEFT_CUDA_DEVICE", rank % 2 ? "1" : "0", 1);
    const int sharers = (size + 1) / 2;
    check_plan(MEMORY / sharers - MEMORY / sharers / 8, false);
    setenv("WEFT_CUDA_DEVICE", "0", 1);
    check_plan(MEMORY / size - MEMORY / size / 8, false);
    unsetenv("WEFT_CUDA_DEVICE");
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 3 && strcmp(argv[1], "--device") == 0) device = device_named(argv[2]);
    if (weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) != WEFT_SUCCESS) {
        fprintf(stderr, "%s\n", weft_last_error(NULL));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (device == WEFT_SIMULATED)
        the_least_of_the_ranks_counts();
    else if (set_device_memory(device, 0))
        ranks_that_share_a_device_share_its_memory();
    else
        check_plan(-1, false); /* a GPU, which has more than that */
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("room: %d ranks, %d failed\n", size, failed);
    MPI_Finalize();
    return failed > 0;
}
