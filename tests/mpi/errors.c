/*
 * Collective misuse and failures: what is wrong on one rank fails on all ranks alike, without a
 * hang, and the sentence names rank and argument. Started on 2 or more ranks.
 */
#include <weft/weft_mpi.h>

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, failures;
static weft_context ctx;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d: %s:%d: %s (last error: %s)\n", rank, __func__, __LINE__,     \
                    #condition, weft_last_error(ctx));                                             \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static weft_problem cube(void) {
    return (weft_problem){.rank = 3, .n = {8, 6, 10}, .kind = WEFT_R2C};
}

/* Every rank must get this status, and a sentence with this word; a good call right after must
 * work. */
static void expect(const weft_problem *problem, const weft_options *options, weft_status status,
                   const char *word) {
    weft_plan plan = NULL;
    weft_problem good = cube();
    CHECK(weft_plan_create(ctx, problem, options, &plan) == status);
    CHECK(plan == NULL);
    CHECK(strstr(weft_last_error(ctx), word) != NULL);
    CHECK(weft_plan_create(ctx, &good, NULL, &plan) == WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

static void one_rank_with_another_shape_is_named_on_all_ranks(void) {
    weft_problem problem = cube();
    if (rank == size - 1) problem.n[1] = 7;
    expect(&problem, NULL, WEFT_ERROR_MISMATCH, "problem.n");
    char who[32];
    snprintf(who, sizeof who, "rank %d", size - 1);
    CHECK(strstr(weft_last_error(ctx), who) != NULL);
}

static void one_rank_with_other_options_is_named_on_all_ranks(void) {
    weft_problem problem = cube();
    weft_options options = {.exchange = {WEFT_A2A_SYNC}};
    if (rank == 1) options.exchange[0] = WEFT_P2P_TYPE;
    expect(&problem, &options, WEFT_ERROR_MISMATCH, "options.exchange");
    options = (weft_options){.convolve = rank == 1};
    expect(&problem, &options, WEFT_ERROR_MISMATCH, "options.convolve");
}

static void one_rank_with_an_invalid_argument_fails_on_all_ranks(void) {
    weft_problem problem = cube();
    expect(rank == 1 ? NULL : &problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "rank 1");
    if (rank == 0) problem.rank = 12;
    expect(&problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "rank 0");
}

static void a_grid_of_the_wrong_size_is_refused(void) {
    weft_problem problem = cube();
    weft_options options = {.decomposition = WEFT_PENCIL, .grid = {size + 1, 1}};
    expect(&problem, &options, WEFT_ERROR_INVALID_ARGUMENT, "grid");
    options = (weft_options){.decomposition = WEFT_SLAB_2D1D, .grid = {1, size}};
    expect(&problem, &options, WEFT_ERROR_INVALID_ARGUMENT, "grid");
    options = (weft_options){.decomposition = WEFT_PENCIL, .grid = {1, 1, size}};
    expect(&problem, &options, WEFT_ERROR_INVALID_ARGUMENT, "grid");
}

static void what_a_line_over_ranks_does_not_have_is_unsupported(void) {
    const weft_brick brick = {.box = {.n = {rank == 0 ? 64 : 0}}};
    const weft_problem refused[] = {{.rank = 1, .n = {64}, .axis = {WEFT_DCT2}},
                                    {.rank = 1, .n = {64}, .kind = WEFT_R2R, .axis = {WEFT_DST1}},
                                    {.rank = 1, .n = {64}, .input = &brick},
                                    {.rank = 1, .n = {64}, .output = &brick},
                                    {.rank = 1, .n = {64}, .fields = 2, .fields_fastest = 1}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect(&refused[i], NULL, WEFT_ERROR_UNSUPPORTED, "1-D transform runs on one process");
    const weft_problem line = {.rank = 1, .n = {64}};
    weft_options options = {.convolve = 1, .keep_spectrum = 1};
    expect(&line, &options, WEFT_ERROR_UNSUPPORTED, "options.keep_spectrum: a 1-D");
    options = (weft_options){.engine = WEFT_ENGINE_IDENTITY};
    expect(&line, &options, WEFT_ERROR_UNSUPPORTED, "options.engine identity: a 1-D");
    options = (weft_options){.grid = {size, 1}};
    expect(&line, &options, WEFT_ERROR_INVALID_ARGUMENT, "grid");
    const weft_problem other = {.rank = 1, .n = {rank == 0 ? 100 : 101}};
    expect(&other, NULL, WEFT_ERROR_MISMATCH, "problem.n");
    weft_problem square = {.rank = rank == 0 ? 1 : 2, .n = {rank == 0 ? 100 : 10, 10}};
    expect(&square, NULL, WEFT_ERROR_MISMATCH, "problem.rank");
}

static void boxes_that_overlap_or_leave_gaps_are_refused(void) {
    weft_problem problem = cube();
    weft_brick brick = {.box = {.n = {8, 6, 10}}};
    problem.input = &brick; /* everybody owns everything */
    expect(&problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "overlap");
    brick.box.n[0] = rank == 0 ? 7 : 0;
    expect(&problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "cover");
    brick.box.n[0] = rank == 0 ? 8 : 0;
    brick.box.lo[2] = rank == 1 ? 3 : 0;
    expect(&problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "rank 1");
    brick.box.lo[2] = 0;
    if (rank == 1) problem.input = NULL;
    expect(&problem, NULL, WEFT_ERROR_MISMATCH, "input");
}

static void no_function(const weft_operator_run *run, void *argument) {
    (void)run;
    (void)argument;
}

/* What rank 1 gives otherwise, and the word that names it. */
static void other_operators_on_one_rank_are_named_on_all_ranks(void) {
    for (int what = 0; what < 8; what++) {
        static const char *const words[] = {"problem.load.count",
                                            "scale operator in problem.load",
                                            "window operator in problem.store",
                                            "table operator in problem.load",
                                            "operator in problem.spectral",
                                            "shift operator",
                                            "function operator in problem.spectral",
                                            "function operator in problem.spectral"};
        weft_problem problem = cube();
        const bool other = rank == 1;
        double table[8] = {1, 2, 3, 4, 5, 6, 7, what == 3 && other ? 9 : 8};
        weft_operator load[] = {
            {.kind = WEFT_OPERATOR_SCALE, .factor = what == 1 && other ? 3 : 2},
            {.kind = WEFT_OPERATOR_TABLE, .table = {table}},
            {.kind = WEFT_OPERATOR_SHIFT, .shift = {what == 5 && other ? 4 : 0, 3}}};
        weft_operator spectral = {.kind = WEFT_OPERATOR_FUNCTION,
                                  .function = no_function,
                                  .parameters = what == 7 && other,
                                  .snippet = what == 6 && other ? "value.x = 0;" : "value.x = 1;"};
        weft_operator store = {
            .kind = WEFT_OPERATOR_WINDOW,
            .window = {{.kind = WEFT_WINDOW_TUKEY, .parameter = what == 2 && other ? 0.5 : 0.4}}};
        if (what == 4 && other)
            spectral = (weft_operator){.kind = WEFT_OPERATOR_SCALE, .factor = 1};
        problem.load = (weft_operators){load, what == 0 && other ? 2 : 3};
        problem.spectral = (weft_operators){&spectral, 1};
        problem.store = (weft_operators){&store, 1};
        expect(&problem, NULL, WEFT_ERROR_MISMATCH, words[what]);
    }
}

static void an_operator_that_is_wrong_on_one_rank_fails_on_all_ranks(void) {
    weft_problem problem = cube();
    weft_operator scale = {.kind = WEFT_OPERATOR_SCALE, .factor = rank == 1 ? INFINITY : 2};
    problem.store = (weft_operators){&scale, 1};
    expect(&problem, NULL, WEFT_ERROR_INVALID_ARGUMENT, "rank 1");
}

static void a_null_buffer_on_one_rank_fails_on_all_ranks(void) {
    weft_problem problem = cube();
    weft_plan plan = NULL;
    size_t in_bytes, out_bytes;
    CHECK(weft_plan_create(ctx, &problem, NULL, &plan) == WEFT_SUCCESS);
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes);
    void *in = calloc(1, in_bytes + 1), *out = calloc(1, out_bytes + 1);
    weft_status status = weft_execute(plan, WEFT_FORWARD, rank == 1 ? NULL : in, out);
    CHECK(status == WEFT_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(weft_last_error(ctx), "rank 1") != NULL);
    CHECK(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS);
    free(in);
    free(out);
    weft_plan_destroy(&plan);
}

/* A device that fails once on rank 1, at the k-th piece of work of each kind, for every exchange
 * method. */
static void another_direction_on_one_rank_is_named_on_all_ranks(void) {
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        weft_problem problem = cube();
        weft_options options = {.exchange = {methods[m]}, .convolve = 1};
        weft_plan plan = NULL;
        double in[1024] = {0}, out[1024];
        char who[64];
        snprintf(who, sizeof who, "rank %d passes weft_execute the direction 2", size - 1);
        CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
        for (int direction = WEFT_FORWARD; direction <= WEFT_INVERSE; direction++) {
            const weft_direction mine =
                rank == size - 1 ? WEFT_CONVOLVE : (weft_direction)direction;
            CHECK(weft_execute(plan, mine, in, out) == WEFT_ERROR_MISMATCH);
            CHECK(strstr(weft_last_error(ctx), who) != NULL);
            CHECK(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS);
        }
        weft_plan_destroy(&plan);
    }
}

/* The two lend different workspaces for one redistribution. */
static void a_convolution_right_after_a_forward_transform_waits_for_nobody_for_ever(void) {
    weft_problem problem = {.rank = 3, .n = {64, 64, 64}};
    weft_options options = {.convolve = 1};
    weft_plan plan = NULL;
    size_t bytes[2] = {0};
    CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
    const size_t larger = bytes[0] > bytes[1] ? bytes[0] : bytes[1];
    double *in = calloc(1, larger + 1), *out = malloc(larger + 1);
    for (int i = 0; i < 4; i++) {
        CHECK(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS);
        CHECK(weft_execute(plan, WEFT_CONVOLVE, in, out) == WEFT_SUCCESS);
    }
    free(in);
    free(out);
    weft_plan_destroy(&plan);
}

static void a_device_failure_on_one_rank_fails_on_all_ranks_and_hangs_none(void) {
    static const char *const kinds[] = {"copy", "run"};
    weft_problem problem = cube();
    problem.kind = WEFT_C2C;
    static const weft_exchange methods[] = {WEFT_P2P_SYNC, WEFT_P2P_STREAMS, WEFT_P2P_TYPE,
                                            WEFT_A2A_SYNC, WEFT_A2A_TYPE,    WEFT_PEER};
    for (int method = 0; method < 6; method++)
        for (int kind = 0; kind < 2; kind++)
            for (int k = 1; k <= 4; k++) {
                char setting[64];
                weft_plan plan = NULL;
                weft_options options = {.device = WEFT_SIMULATED,
                                        .location = WEFT_LOCATION_HOST,
                                        .decomposition = WEFT_SLAB_2D1D,
                                        .exchange = {methods[method]}};
                snprintf(setting, sizeof setting, "fail=%s:%d,rank=1", kinds[kind], k);
                setenv("WEFT_SIMULATE", setting, 1);
                CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
                unsetenv("WEFT_SIMULATE");
                void *in = calloc(480, 16), *out = calloc(480, 16);
                weft_status statuses[3];
                int failed = 0;
                for (int i = 0; i < 3; i++) {
                    statuses[i] = weft_execute(plan, WEFT_FORWARD, in, out);
                    failed += statuses[i] == WEFT_ERROR_DEVICE;
                    if (statuses[i] == WEFT_ERROR_DEVICE)
                        CHECK(strstr(weft_last_error(ctx), "rank 1") != NULL);
                }
                CHECK(failed == 1); /* the injected one; later runs work again */
                CHECK(statuses[2] == WEFT_SUCCESS);
                free(in);
                free(out);
                weft_plan_destroy(&plan);
            }
}

/* What ranks share counts against the limit too. */
static void shared_workspaces_beyond_the_limit_fail_on_all_ranks(void) {
    weft_problem problem = cube();
    weft_options options = {.exchange = {WEFT_PEER}, .device_memory_limit = 64};
    expect(&problem, &options, WEFT_ERROR_OUT_OF_MEMORY, "share");
}

static void a_device_that_is_too_small_on_one_rank_fails_on_all_ranks(void) {
    weft_problem problem = cube();
    weft_plan plan = NULL;
    weft_options options = {.device = WEFT_SIMULATED, .location = WEFT_LOCATION_HOST};
    if (rank == 1) setenv("WEFT_SIMULATE", "memory=64", 1);
    CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_ERROR_OUT_OF_MEMORY);
    unsetenv("WEFT_SIMULATE");
    CHECK(strstr(weft_last_error(ctx), "rank 1") != NULL);
}

static void a_context_needs_a_communicator(void) {
    weft_context none = NULL;
    CHECK(weft_mpi_context_create(MPI_COMM_NULL, NULL, &none) == WEFT_ERROR_INVALID_ARGUMENT);
    CHECK(none == NULL);
    CHECK(strstr(weft_last_error(NULL), "MPI_COMM_NULL") != NULL);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, NULL) == WEFT_ERROR_INVALID_ARGUMENT);
}

typedef struct worker {
    weft_plan plan;
    double *in, *out;
    int bad;
} worker;

static void *round_trips(void *argument) {
    worker *w = argument;
    for (int i = 0; i < 20; i++) {
        w->bad += weft_execute(w->plan, WEFT_FORWARD, w->in, w->out) != WEFT_SUCCESS;
        w->bad += weft_execute(w->plan, WEFT_INVERSE, w->out, w->in) != WEFT_SUCCESS;
    }
    return NULL;
}

/* Two plans of one context, each in a thread of its own, do not meet. */
static void plans_of_two_threads_run_at_the_same_time(void) {
    int level;
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE) return; /* the caller may not do this then */
    weft_problem problem = cube();
    problem.norm = WEFT_NORM_BACKWARD;
    worker workers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        weft_options options = {.exchange = {i ? WEFT_PEER : WEFT_A2A_SYNC}};
        size_t bytes;
        memset(&workers[i], 0, sizeof workers[i]);
        CHECK(weft_plan_create(ctx, &problem, &options, &workers[i].plan) == WEFT_SUCCESS);
        weft_plan_bytes(workers[i].plan, WEFT_INPUT, &bytes);
        workers[i].in = calloc(1, bytes + 16);
        if (bytes >= 8) workers[i].in[0] = 1 + i;
        weft_plan_bytes(workers[i].plan, WEFT_OUTPUT, &bytes);
        workers[i].out = calloc(1, bytes + 16);
    }
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, round_trips, &workers[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        weft_box box;
        weft_plan_box(workers[i].plan, WEFT_INPUT, rank, &box);
        CHECK(workers[i].bad == 0);
        if (box.n[0] > 0)
            CHECK(workers[i].in[0] > 0.999 * (1 + i) && workers[i].in[0] < 1.001 * (1 + i));
        weft_plan_destroy(&workers[i].plan);
        free(workers[i].in);
        free(workers[i].out);
    }
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) == WEFT_SUCCESS);
    one_rank_with_another_shape_is_named_on_all_ranks();
    one_rank_with_other_options_is_named_on_all_ranks();
    one_rank_with_an_invalid_argument_fails_on_all_ranks();
    a_grid_of_the_wrong_size_is_refused();
    what_a_line_over_ranks_does_not_have_is_unsupported();
    boxes_that_overlap_or_leave_gaps_are_refused();
    other_operators_on_one_rank_are_named_on_all_ranks();
    an_operator_that_is_wrong_on_one_rank_fails_on_all_ranks();
    a_null_buffer_on_one_rank_fails_on_all_ranks();
    another_direction_on_one_rank_is_named_on_all_ranks();
    a_convolution_right_after_a_forward_transform_waits_for_nobody_for_ever();
    a_device_failure_on_one_rank_fails_on_all_ranks_and_hangs_none();
    shared_workspaces_beyond_the_limit_fail_on_all_ranks();
    a_device_that_is_too_small_on_one_rank_fails_on_all_ranks();
    a_context_needs_a_communicator();
    plans_of_two_threads_run_at_the_same_time();
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("errors: %d ranks, %d failed checks\n", size, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
