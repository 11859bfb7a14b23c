/*
 * Copies from partners keep in step: whatever delays ranks, each copies a tile of the exchange
 * `peer` from the next rank first, then from the one after it, so that no two ranks that work side
 * by side read from the same one. Started on 3 or more ranks, with a GPU or the stand-in for one.
 */
#include <weft/weft_mpi.h>

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXECUTIONS = 20, LONGEST_DELAY = 3000 /* microseconds */ };

static int rank, size, failures;

static void check(bool holds, const char *what, int execution) {
    if (holds) return;
    fprintf(stderr, "rank %d, execution %d: %s\n", rank, execution, what);
    failures++;
}

/* Spans of copies have the partner's number; those of waiting have none. */
static void check_order(weft_plan plan, int execution) {
    const weft_span *span;
    int spans, copies = 0;
    check(weft_plan_trace(plan, &span, &spans) == WEFT_SUCCESS, "no trace", execution);
    for (int i = 0; i < spans; i++) {
        if (span[i].phase != WEFT_PHASE_UNPACK || span[i].partner < 0) continue;
        check(span[i].partner == (rank + 1 + copies % (size - 1)) % size, "a copy is out of turn",
              execution);
        copies++;
    }
    check(copies >= size - 1 && copies % (size - 1) == 0, "tiles are not copied whole", execution);
}

int main(int argc, char **argv) {
    const weft_problem problem = {.rank = 3, .n = {24, 20, 16}, .kind = WEFT_C2C};
    const weft_options options = {.device = WEFT_CUDA,
                                  .engine = WEFT_ENGINE_JIT,
                                  .decomposition = WEFT_SLAB_2D1D,
                                  .variant = WEFT_DEFAULT,
                                  .location = WEFT_LOCATION_HOST,
                                  .placement = WEFT_OUT_OF_PLACE,
                                  .exchange = {WEFT_PEER},
                                  .chunks = 6,
                                  .trace = 1};
    weft_context ctx = NULL;
    weft_plan plan = NULL;
    size_t bytes[2] = {0, 0};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank + 1);
    weft_status status = weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx);
    if (status == WEFT_SUCCESS) status = weft_plan_create(ctx, &problem, &options, &plan);
    if (status != WEFT_SUCCESS) {
        fprintf(stderr, "rank %d: %s\n", rank, weft_last_error(ctx));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int side = 0; side < 2; side++) weft_plan_bytes(plan, (weft_space)side, &bytes[side]);
    void *in = calloc(1, bytes[0] + 1), *out = calloc(1, bytes[1] + 1);
    for (int k = 0; k < EXECUTIONS; k++) {
        usleep((unsigned)(rand() % LONGEST_DELAY));
        check(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS, "it fails", k);
        check_order(plan, k);
    }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("in_step: %d ranks, %d failed\n", size, failures);
    MPI_Finalize();
    return failures > 0;
}
