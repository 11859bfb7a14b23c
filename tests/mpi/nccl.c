/*
 * The exchange method nccl: where it is refused, what weft chooses, and failures of NCCL, which
 * fail on all ranks alike and leave none waiting. That its results are right is for the product
 * test. Started on 2 or more ranks; without a GPU for each of them it tests refusals only. Failures
 * need the NCCL of tests/cuda (WEFT_TEST_HOST_CUDA), which injects them.
 *
 *   nccl [--missing 1]     the latter where no usable libnccl is to be found
 */
#include <weft/weft_mpi.h>

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

static const weft_problem cube = {.rank = 3, .n = {8, 6, 10}, .kind = WEFT_C2C};
static const weft_options by_nccl = {.device = WEFT_CUDA,
                                     .decomposition = WEFT_SLAB_2D1D,
                                     .variant = WEFT_DEFAULT,
                                     .location = WEFT_LOCATION_HOST,
                                     .exchange = {WEFT_NCCL}};

static weft_status create(const weft_options *options, weft_plan *plan) {
    *plan = NULL;
    return weft_plan_create(ctx, &cube, options, plan);
}

static void expect_refusal(const weft_options *options, weft_status status, const char *word) {
    weft_plan plan;
    CHECK(create(options, &plan) == status);
    CHECK(plan == NULL);
    CHECK(strstr(weft_last_error(ctx), word) != NULL);
    weft_plan_destroy(&plan);
}

/* Runs the plan in one direction; the status, which is the same on all ranks. */
static weft_status run_in(weft_plan plan, weft_direction direction) {
    size_t bytes[2];
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[direction == WEFT_INVERSE]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[direction != WEFT_INVERSE]);
    void *in = calloc(1, bytes[0] + 1), *out = calloc(1, bytes[1] + 1);
    weft_status status = weft_execute(plan, direction, in, out);
    int seen[2] = {(int)status, -(int)status};
    MPI_Allreduce(MPI_IN_PLACE, seen, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(seen[0] == -seen[1]);
    free(in);
    free(out);
    return status;
}

static weft_status run(weft_plan plan) {
    return run_in(plan, WEFT_FORWARD);
}

static weft_status run_both(weft_plan plan) {
    const weft_status forward = run(plan);
    return forward != WEFT_SUCCESS ? forward : run_in(plan, WEFT_INVERSE);
}

static void expect_to_work(const weft_options *options) {
    weft_plan plan;
    CHECK(create(options, &plan) == WEFT_SUCCESS);
    if (plan) CHECK(run(plan) == WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

/* What the plan says about itself; the caller frees it. */
static char *explain(const weft_options *options) {
    char *text = NULL;
    size_t length = 0;
    weft_plan plan;
    CHECK(create(options, &plan) == WEFT_SUCCESS);
    FILE *stream = open_memstream(&text, &length);
    CHECK(weft_plan_explain(plan, stream, WEFT_TEXT) == WEFT_SUCCESS);
    fclose(stream);
    weft_plan_destroy(&plan);
    return text;
}

static bool says(const weft_options *options, const char *word) {
    char *text = explain(options);
    bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}

static void other_devices_refuse_it(void) {
    weft_options options = {.exchange = {WEFT_P2P_SYNC, WEFT_NCCL}};
    expect_refusal(&options, WEFT_ERROR_UNSUPPORTED, "needs GPUs");
    options.device = WEFT_SIMULATED;
    expect_refusal(&options, WEFT_ERROR_UNSUPPORTED, "needs GPUs");
}

static void simulated_ranks_refuse_it(void) {
    const weft_context_options many = {.simulated_ranks = 4};
    weft_context simulated = NULL;
    weft_plan plan = NULL;
    CHECK(weft_context_create(&many, &simulated) == WEFT_SUCCESS);
    CHECK(weft_plan_create(simulated, &cube, &by_nccl, &plan) == WEFT_ERROR_UNSUPPORTED);
    CHECK(strstr(weft_last_error(simulated), "simulated ranks") != NULL);
    weft_context_destroy(&simulated);
}

static void without_the_library_it_is_refused_and_never_chosen(void) {
    weft_options any = {.device = WEFT_CUDA, .effort = WEFT_MEASURE};
    expect_refusal(&by_nccl, WEFT_ERROR_UNSUPPORTED, "install NCCL");
    CHECK(weft_exchange_probe(WEFT_NCCL, NULL) == WEFT_ERROR_UNSUPPORTED);
    CHECK(!says(&any, "nccl"));
}

/* Two ranks on one GPU, which NCCL finds out late. Peer does with any number of them. */
static void ranks_that_share_a_gpu_are_refused_with_advice(void) {
    weft_options any = {.device = WEFT_CUDA, .effort = WEFT_MEASURE}, peer = by_nccl;
    peer.exchange[0] = WEFT_PEER;
    setenv("WEFT_CUDA_DEVICE", "0", 1);
    expect_refusal(&by_nccl, WEFT_ERROR_UNSUPPORTED, "ranks 0 and 1 of one redistribution");
    CHECK(strstr(weft_last_error(ctx), "peer") != NULL);
    expect_to_work(&peer);
    CHECK(!says(&any, "nccl"));
    unsetenv("WEFT_CUDA_DEVICE");
}

static void it_is_chosen_only_by_who_measures(void) {
    weft_options any = {.device = WEFT_CUDA};
    CHECK(!says(&any, "nccl"));
    any.effort = WEFT_MEASURE;
    CHECK(says(&any, "nccl"));
    any.device_aware = WEFT_STAGED;
    CHECK(!says(&any, "nccl"));
}

static void plans_tell_the_library_and_what_is_sent(void) {
    weft_plan plan;
    weft_memory memory;
    weft_timings timings;
    weft_options options = by_nccl;
    CHECK(says(&by_nccl, "nccl (NCCL "));
    CHECK(!says(&by_nccl, "staged"));
    for (options.chunks = 1; options.chunks < 4; options.chunks += 2) {
        CHECK(create(&options, &plan) == WEFT_SUCCESS);
        CHECK(run(plan) == WEFT_SUCCESS);
        weft_plan_memory(plan, &memory);
        weft_plan_timings(plan, &timings);
        CHECK(memory.page_locked == 0);
        CHECK(timings.bytes_sent > 0 && timings.messages_sent > 0);
        CHECK(timings.first_message > 0 && timings.first_message < timings.last_message);
        CHECK(timings.exchange > 0 && timings.last_message <= timings.total);
        weft_plan_destroy(&plan);
    }
}

static void plans_take_turns(void) {
    weft_plan plan[2];
    weft_options options[2] = {by_nccl, by_nccl};
    options[1].variant = WEFT_REALIGNED;
    for (int i = 0; i < 2; i++) CHECK(create(&options[i], &plan[i]) == WEFT_SUCCESS);
    for (int turn = 0; turn < 6; turn++) CHECK(run(plan[turn % 2]) == WEFT_SUCCESS);
    for (int i = 0; i < 2; i++) weft_plan_destroy(&plan[i]);
}

/* Exchanges by the GPUs, in tiles or not, and by MPI, in either order. Rank 1 has the whole array,
 * so that it sends others more by MPI than leaves without the help of its calling thread. */
enum { MIXTURES = 12 };
static weft_status create_mixture(int k, weft_plan *plan) {
    static const weft_exchange others[] = {WEFT_P2P_TYPE, WEFT_P2P_STREAMS, WEFT_P2P_SYNC};
    const weft_brick whole = {.box = {.n = {16, 16, 16}}}, none = {0};
    const weft_brick *brick = rank == 1 ? &whole : &none;
    const weft_problem problem = {
        .rank = 3, .n = {16, 16, 16}, .kind = WEFT_C2C, .input = brick, .output = brick};
    weft_options options = by_nccl;
    options.decomposition = WEFT_PENCIL;
    options.grid[k % 2] = size;
    options.grid[1 - k % 2] = 1;
    options.chunks = k / 2 % 2 ? 5 : 1;
    options.exchange[0] = k % 2 ? others[k / 4] : WEFT_NCCL;
    options.exchange[1] = k % 2 ? WEFT_NCCL : others[k / 4];
    *plan = NULL;
    return weft_plan_create(ctx, &problem, &options, plan);
}

static void messages_leave_while_gpus_exchange(void) {
    for (int k = 0; k < MIXTURES; k++) {
        weft_plan plan;
        CHECK(create_mixture(k, &plan) == WEFT_SUCCESS);
        for (int turn = 0; turn < 3 && plan; turn++) CHECK(run_both(plan) == WEFT_SUCCESS);
        weft_plan_destroy(&plan);
    }
}

/* ---- injected failures: every one is followed by something that works ---- */

static void a_member_that_cannot_join_fails_all(void) {
    static const char *const how[] = {"init:1", "init-now:1", "init:0", "group:1:1", "split:1"};
    for (int i = 0; i < 5; i++) {
        setenv("WEFT_TEST_NCCL_FAIL", how[i], 1);
        expect_refusal(&by_nccl, WEFT_ERROR_DEVICE, "NCCL");
        unsetenv("WEFT_TEST_NCCL_FAIL");
        expect_to_work(&by_nccl);
    }
}

/* In whole exchanges and in parts, in the first and in the second redistribution of a pencil. */
static void messages_that_fail_fail_on_all_ranks_and_end_the_plan(void) {
    for (int k = 0; k < 8; k++) {
        weft_plan plan;
        weft_options options = by_nccl;
        char how[32];
        options.chunks = k % 2 ? 3 : 0;
        if (size == 4) options.decomposition = WEFT_PENCIL;
        CHECK(create(&options, &plan) == WEFT_SUCCESS);
        CHECK(run(plan) == WEFT_SUCCESS);
        /* groups 1 connected, then one for each part */
        snprintf(how, sizeof how, "group:%d:%d", k / 2 % 2, k % 2 ? 5 + k / 4 : 3);
        setenv("WEFT_TEST_NCCL_FAIL", how, 1);
        CHECK(run(plan) == WEFT_ERROR_DEVICE);
        CHECK(strstr(weft_last_error(ctx), "messages between GPUs") != NULL);
        unsetenv("WEFT_TEST_NCCL_FAIL");
        CHECK(run(plan) == WEFT_ERROR_DEVICE);
        CHECK(strstr(weft_last_error(ctx), "make a new one") != NULL);
        weft_plan_destroy(&plan);
        expect_to_work(&by_nccl);
    }
}

/* What is behind an exchange that fails is awaited by the calling thread: blocks to be sent by MPI.
 */
static void messages_that_fail_before_others_fail_on_all_ranks(void) {
    for (int k = 0; k < MIXTURES; k++) {
        weft_plan plan;
        CHECK(create_mixture(k, &plan) == WEFT_SUCCESS);
        setenv("WEFT_TEST_NCCL_FAIL", "group:1:2", 1); /* the first after connecting */
        const weft_status status = run_both(plan);
        CHECK(status == WEFT_ERROR_DEVICE);
        CHECK(strstr(weft_last_error(ctx), "messages between GPUs") != NULL);
        unsetenv("WEFT_TEST_NCCL_FAIL");
        weft_plan_destroy(&plan);
    }
}

/* The k-th kernel of an execution is not launched on one rank: its partners get their messages all
 * the same. */
static void a_failure_on_one_rank_leaves_no_partner_waiting(void) {
    for (int k = 1; k <= 3; k++) {
        weft_plan plan;
        char which[16];
        snprintf(which, sizeof which, "%d", k);
        CHECK(create(&by_nccl, &plan) == WEFT_SUCCESS);
        if (rank == 1) setenv("WEFT_TEST_LAUNCH_FAIL", which, 1);
        weft_status status = run(plan);
        CHECK(status == WEFT_SUCCESS || status == WEFT_ERROR_DEVICE);
        if (k == 1) CHECK(status == WEFT_ERROR_DEVICE);
        unsetenv("WEFT_TEST_LAUNCH_FAIL");
        CHECK(run(plan) == WEFT_SUCCESS);
        weft_plan_destroy(&plan);
    }
}

static void test_all(bool missing) {
    weft_plan plan;
    const bool on_host = getenv("WEFT_TEST_HOST_CUDA") != NULL;
    other_devices_refuse_it();
    if (missing || (!on_host && weft_exchange_probe(WEFT_NCCL, NULL) != WEFT_SUCCESS)) {
        without_the_library_it_is_refused_and_never_chosen();
        return;
    }
    simulated_ranks_refuse_it();
    ranks_that_share_a_gpu_are_refused_with_advice();
    if (create(&by_nccl, &plan) != WEFT_SUCCESS) {
        CHECK(!on_host && strstr(weft_last_error(ctx), "same GPU") != NULL);
        return;
    }
    weft_plan_destroy(&plan);
    it_is_chosen_only_by_who_measures();
    plans_tell_the_library_and_what_is_sent();
    plans_take_turns();
    messages_leave_while_gpus_exchange();
    if (!on_host) return;
    a_member_that_cannot_join_fails_all();
    messages_that_fail_fail_on_all_ranks_and_end_the_plan();
    messages_that_fail_before_others_fail_on_all_ranks();
    a_failure_on_one_rank_leaves_no_partner_waiting();
}

int main(int argc, char **argv) {
    int provided;
    bool missing = argc > 1 && strcmp(argv[1], "--missing") == 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &ctx) == WEFT_SUCCESS);
    test_all(missing);
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("nccl: %d ranks, %d failed checks\n", size, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
