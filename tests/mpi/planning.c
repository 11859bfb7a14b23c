/*
 * Planning on real ranks: candidates that cannot be built or run are left out on all ranks, methods
 * are honoured for the redistribution that they are given for, and the chain, with the bits of the
 * result, does not depend on the method. Started on 2 or more ranks; some tests want 4.
 */
#include <weft/weft_mpi.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const weft_exchange methods[] = {WEFT_EXCHANGE_AUTO, WEFT_P2P_SYNC, WEFT_P2P_STREAMS,
                                        WEFT_P2P_TYPE,      WEFT_A2A_SYNC, WEFT_A2A_TYPE,
                                        WEFT_PEER};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* Whether the plan's report says this. */
static bool explains(weft_plan plan, const char *word) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    weft_plan_explain(plan, stream, WEFT_TEXT);
    fclose(stream);
    bool found = strstr(text, word) != NULL;
    free(text);
    return found;
}

/* The workspace of the rank that has most. */
static long long workspace(weft_plan plan) {
    weft_memory memory = {0};
    weft_plan_memory(plan, &memory);
    long long bytes = (long long)memory.workspace;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return bytes;
}

/* The least that some candidate needs, and whether another one needs more. */
static long long least_workspace(const weft_problem *problem, bool *differ) {
    long long least = -1;
    *differ = false;
    for (int d = WEFT_SLAB_2D1D; d <= WEFT_SLAB_1D2D; d++)
        for (int v = WEFT_DEFAULT; v <= WEFT_REALIGNED; v++)
            for (int m = 1; m < METHODS; m++) {
                weft_plan plan = NULL;
                weft_options options = {.decomposition = (weft_decomposition)d,
                                        .variant = (weft_variant)v,
                                        .exchange = {methods[m]}};
                CHECK(weft_plan_create(ctx, problem, &options, &plan) == WEFT_SUCCESS);
                long long bytes = workspace(plan);
                *differ = *differ || (least >= 0 && bytes != least);
                if (least < 0 || bytes < least) least = bytes;
                weft_plan_destroy(&plan);
            }
    return least;
}

/* The transform of an array that is 1 at the origin is 1 everywhere. */
static void check_transform(weft_plan plan, const weft_problem *problem) {
    weft_box in_box, out_box;
    size_t in_bytes = 0, out_bytes = 0, points = 1;
    bool origin = true, right = true;
    weft_plan_box(plan, WEFT_INPUT, rank, &in_box);
    weft_plan_box(plan, WEFT_OUTPUT, rank, &out_box);
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes);
    double *in = calloc(1, in_bytes + 16), *out = calloc(1, out_bytes + 16);
    for (int a = 0; a < problem->rank; a++) {
        origin = origin && in_box.lo[a] == 0 && in_box.n[a] > 0;
        points *= (size_t)out_box.n[a];
    }
    if (origin) in[0] = 1;
    CHECK(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS);
    for (size_t i = 0; i < points; i++)
        right = right && fabs(out[2 * i] - 1) < 1e-12 && fabs(out[2 * i + 1]) < 1e-12;
    CHECK(right);
    free(in);
    free(out);
}

static void measuring_leaves_out_what_does_not_fit_and_plans_the_rest(void) {
    const weft_problem problem = {.rank = 3, .n = {16, 12, 20}, .kind = WEFT_R2C};
    bool differ;
    const long long least = least_workspace(&problem, &differ);
    CHECK(differ && least > 0);
    const int most = size == 2 ? WEFT_PATIENT : WEFT_MEASURE; /* the more ranks, the longer */
    for (int effort = WEFT_MEASURE; effort <= most; effort++) {
        weft_options options = {.effort = (weft_effort)effort,
                                .location = WEFT_LOCATION_HOST,
                                .device_memory_limit = (size_t)least};
        weft_plan plan = NULL;
        CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
        if (!plan) continue;
        CHECK(workspace(plan) <= least);
        CHECK(explains(plan, "left out: rank "));
        CHECK(explains(plan, "do not fit"));
        weft_plan_destroy(&plan);
    }
}

/* A limit just below what the best candidate needs. */
static void estimating_takes_the_next_candidate_where_the_best_does_not_fit(void) {
    static const weft_variant variants[] = {WEFT_VARIANT_AUTO, WEFT_DEFAULT, WEFT_REALIGNED};
    int replaced = 0;
    for (int i = 0; i < 12; i++) {
        const weft_problem problem = {
            .rank = 3, .n = {16, 12, 20}, .kind = i % 2 ? WEFT_C2C : WEFT_R2C};
        weft_options options = {.variant = variants[i / 2 % 3],
                                .placement = i < 6 ? WEFT_PLACEMENT_ANY : WEFT_OUT_OF_PLACE};
        weft_plan best = NULL, next = NULL;
        CHECK(weft_plan_create(ctx, &problem, &options, &best) == WEFT_SUCCESS);
        if (!best) continue;
        const long long bytes = workspace(best);
        weft_plan_destroy(&best);
        if (bytes < 2) continue;
        options.device_memory_limit = (size_t)bytes - 1;
        const weft_status status = weft_plan_create(ctx, &problem, &options, &next);
        CHECK(status == WEFT_SUCCESS || status == WEFT_ERROR_OUT_OF_MEMORY);
        if (!next) continue;
        replaced++;
        CHECK(workspace(next) < bytes);
        CHECK(explains(next, "left out: rank "));
        CHECK(explains(next, "do not fit"));
        check_transform(next, &problem);
        weft_plan_destroy(&next);
    }
    CHECK(replaced > 0);
}

static void planning_fails_with_the_first_reason_where_nothing_fits(void) {
    const weft_problem problem = {.rank = 3, .n = {16, 12, 20}, .kind = WEFT_R2C};
    for (int effort = WEFT_ESTIMATE; effort <= WEFT_PATIENT; effort++) {
        weft_options options = {.effort = (weft_effort)effort, .device_memory_limit = 16};
        weft_plan plan = NULL;
        CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_ERROR_OUT_OF_MEMORY);
        CHECK(plan == NULL);
        CHECK(strstr(weft_last_error(ctx), "rank ") != NULL);
        CHECK(strstr(weft_last_error(ctx), "limit") != NULL);
    }
}

static const weft_problem simulated_problem = {.rank = 3, .n = {8, 12, 20}, .kind = WEFT_C2C};

/* Plans on the simulated device, which does what `setting` says on rank 1. */
static weft_status plan_simulated_with(weft_options options, const char *setting, weft_plan *plan) {
    options.device = WEFT_SIMULATED;
    options.location = WEFT_LOCATION_HOST;
    setenv("WEFT_SIMULATE", setting, 1);
    weft_status status = weft_plan_create(ctx, &simulated_problem, &options, plan);
    unsetenv("WEFT_SIMULATE");
    return status;
}

static weft_status plan_simulated(const char *setting, weft_plan *plan) {
    const weft_options options = {
        .effort = WEFT_PATIENT, .variant = WEFT_DEFAULT, .exchange = {WEFT_P2P_SYNC}};
    return plan_simulated_with(options, setting, plan);
}

/* Candidates have more or fewer buffers and queues, and fail sooner or later, or not at all; one
 * that is built works. Other methods of the same chain are tried first. */
static void a_failure_on_one_rank_makes_all_ranks_try_the_same_candidates(void) {
    int planned = 0, skipped = 0;
    for (int i = 0; i < 32; i++) {
        const weft_options options = {.chunks = i & 2 ? 4 : 0};
        weft_options usual = {0}, chosen = {0};
        char setting[64];
        weft_plan plan = NULL;
        CHECK(plan_simulated_with(options, "", &plan) == WEFT_SUCCESS);
        if (plan) weft_plan_options(plan, &usual);
        weft_plan_destroy(&plan);
        snprintf(setting, sizeof setting, "fail=%s:%d,rank=1", i & 1 ? "queue" : "allocate",
                 i / 4 + 1);
        const weft_status status = plan_simulated_with(options, setting, &plan);
        CHECK((status == WEFT_SUCCESS) == (plan != NULL));
        if (status != WEFT_SUCCESS) CHECK(strstr(weft_last_error(ctx), "rank 1") != NULL);
        if (!plan) continue;
        planned++;
        skipped += explains(plan, "left out: rank 1");
        check_transform(plan, &simulated_problem);
        weft_plan_options(plan, &chosen);
        CHECK(chosen.decomposition == usual.decomposition && chosen.variant == usual.variant);
        CHECK(memcmp(chosen.grid, usual.grid, sizeof usual.grid) == 0);
        weft_plan_destroy(&plan);
    }
    CHECK(planned > 0 && skipped > 0);
}

static void a_candidate_that_fails_on_one_rank_is_left_out_on_all(void) {
    weft_plan plan = NULL;
    /* Four runs of a slab are eight transforms, of a pencil twelve. */
    CHECK(plan_simulated("fail=run:9,rank=1", &plan) == WEFT_SUCCESS);
    weft_options chosen = {0};
    if (!plan) return;
    weft_plan_options(plan, &chosen);
    CHECK(chosen.decomposition != WEFT_PENCIL);
    CHECK(explains(plan, "left out: rank 1") == (size >= 4));
    weft_plan_destroy(&plan);
}

static void a_device_that_always_fails_on_one_rank_fails_the_plan_on_all(void) {
    static const char *const settings[] = {"fail=run:1,rank=1", "fail=copy:1,rank=1",
                                           "fail=allocate:1,rank=1"};
    for (int i = 0; i < 3; i++) {
        weft_plan plan = NULL;
        CHECK(plan_simulated(settings[i], &plan) != WEFT_SUCCESS);
        CHECK(plan == NULL);
        CHECK(strstr(weft_last_error(ctx), "rank 1") != NULL);
        CHECK(plan_simulated("", &plan) == WEFT_SUCCESS);
        CHECK(!explains(plan, "left out"));
        weft_plan_destroy(&plan);
    }
}

/* A rank's result of the same input for all methods; the caller frees it. */
static double *transform(weft_plan plan, weft_precision precision, size_t *bytes) {
    size_t in_bytes = 0;
    weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
    weft_plan_bytes(plan, WEFT_OUTPUT, bytes);
    double *in = malloc(in_bytes + 16), *out = calloc(1, *bytes + 16);
    for (size_t i = 0; i < in_bytes / (precision == WEFT_SINGLE ? sizeof(float) : sizeof(double));
         i++) {
        const double value =
            (double)((i * 2654435761u + (size_t)rank * 40503u) % 1000003u) / 1000003.0;
        if (precision == WEFT_SINGLE)
            ((float *)(void *)in)[i] = (float)value;
        else
            in[i] = value;
    }
    CHECK(weft_execute(plan, WEFT_FORWARD, in, out) == WEFT_SUCCESS);
    free(in);
    return out;
}

/* The boxes of the input depend on the chain, and with it what `transform` makes of it. */
static void the_bits_do_not_depend_on_the_method_where_weft_chooses_the_chain(void) {
    static const weft_problem problems[] = {
        {.rank = 3, .n = {32, 32, 32}, .kind = WEFT_C2C},
        {.rank = 3, .n = {100, 6, 500}, .kind = WEFT_C2C},
        {.rank = 3, .n = {8, 8, 1024}, .kind = WEFT_R2C},
        {.rank = 2, .n = {120, 90}, .kind = WEFT_R2C, .precision = WEFT_SINGLE},
        {.rank = 4, .n = {12, 10, 14, 6}, .kind = WEFT_C2C},
    };
    for (size_t p = 0; p < sizeof problems / sizeof problems[0]; p++) {
        double *first = NULL;
        weft_options chain = {0};
        size_t first_bytes = 0;
        for (int m = 0; m < METHODS; m++) {
            weft_plan plan = NULL;
            weft_options options = {.exchange = {methods[m]}, .placement = WEFT_OUT_OF_PLACE};
            weft_options chosen = {0};
            size_t bytes = 0;
            CHECK(weft_plan_create(ctx, &problems[p], &options, &plan) == WEFT_SUCCESS);
            if (!plan) continue;
            weft_plan_options(plan, &chosen);
            double *result = transform(plan, problems[p].precision, &bytes);
            if (m == 0) {
                first = result;
                first_bytes = bytes;
                chain = chosen;
            } else {
                weft_box box;
                size_t stored = problems[p].precision == WEFT_SINGLE ? 8 : 16;
                weft_plan_box(plan, WEFT_OUTPUT, rank, &box);
                for (int a = 0; a < problems[p].rank; a++) stored *= (size_t)box.n[a];
                CHECK(chosen.decomposition == chain.decomposition);
                CHECK(chosen.variant == chain.variant);
                CHECK(memcmp(chosen.grid, chain.grid, sizeof chain.grid) == 0);
                CHECK(stored <= bytes && stored <= first_bytes &&
                      memcmp(result, first, stored) == 0);
                free(result);
            }
            weft_plan_destroy(&plan);
        }
        free(first);
    }
}

static void a_method_given_for_the_second_redistribution_is_used_there(void) {
    const weft_problem problem = {.rank = 3, .n = {16, 12, 20}, .kind = WEFT_C2C};
    double *expected = NULL;
    if (size < 4 || size % 2 != 0) return;
    for (int m = 0; m < METHODS; m++) {
        weft_plan plan = NULL;
        weft_options options = {.decomposition = WEFT_PENCIL,
                                .variant = WEFT_DEFAULT,
                                .grid = {2, size / 2},
                                .exchange = {WEFT_EXCHANGE_AUTO, methods[m]}};
        weft_options chosen = {0};
        size_t bytes = 0;
        CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
        if (!plan) continue;
        weft_plan_options(plan, &chosen);
        CHECK(chosen.exchange[0] != WEFT_EXCHANGE_AUTO);
        CHECK(methods[m] == WEFT_EXCHANGE_AUTO || chosen.exchange[1] == methods[m]);
        CHECK(methods[m] != WEFT_PEER || explains(plan, "partners read"));
        double *result = transform(plan, problem.precision, &bytes);
        if (expected) {
            weft_box box;
            weft_plan_box(plan, WEFT_OUTPUT, rank, &box);
            CHECK(memcmp(result, expected, (size_t)(box.n[0] * box.n[1] * box.n[2]) * 16) == 0);
            free(result);
        } else {
            expected = result;
        }
        weft_plan_destroy(&plan);
    }
    free(expected);
}

static void a_method_that_cannot_be_used_is_refused_by_its_entry(void) {
    const weft_problem problem = {.rank = 3, .n = {16, 12, 20}, .kind = WEFT_C2C};
    const weft_options options = {.exchange = {WEFT_EXCHANGE_AUTO, WEFT_NCCL}};
    weft_plan plan = NULL;
    CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_ERROR_UNSUPPORTED);
    CHECK(strstr(weft_last_error(ctx), "options.exchange[1]") != NULL);
}

/* A context with a record that rank 0 alone has. */
static weft_context context_with(const char *record) {
    char path[] = "/tmp/weft-machine-XXXXXX";
    const int descriptor = rank == 0 ? mkstemp(path) : -1;
    weft_context made = NULL;
    if (rank == 0) CHECK(write(descriptor, record, strlen(record)) == (ssize_t)strlen(record));
    setenv("WEFT_MACHINE", rank == 0 ? path : "/nowhere/at/all", 1);
    CHECK(weft_mpi_context_create(MPI_COMM_WORLD, NULL, &made) == WEFT_SUCCESS);
    unsetenv("WEFT_MACHINE");
    if (rank == 0) unlink(path);
    if (rank == 0) close(descriptor);
    return made;
}

static void all_ranks_predict_by_the_record_of_rank_0(void) {
    const weft_problem problem = {.rank = 3, .n = {16, 12, 20}, .kind = WEFT_C2C};
    const weft_options options = {.exchange = {WEFT_P2P_SYNC}};
    weft_context tuned = context_with("{\"rate\": {\"latency\": 7}}"); /* seconds */
    weft_plan plan = NULL;
    CHECK(weft_plan_create(tuned, &problem, &options, &plan) == WEFT_SUCCESS);
    CHECK(explains(plan, "predicted by machine file /tmp/weft-machine-"));
    CHECK(explains(plan, size == 2 ? "predicted 7e+03 ms" : "e+0"));
    weft_plan_destroy(&plan);
    weft_context_destroy(&tuned);
}

/* Boxes of planes; of rank 0 in another memory order where `turned`. */
static weft_plan plan_of_bricks(int64_t first, bool turned) {
    const int64_t rest = 24 - first, lo = rank == 0 ? 0 : first + rest * (rank - 1) / (size - 1);
    const int64_t end = rank == 0 ? first : first + rest * rank / (size - 1);
    const weft_brick brick = {
        .box = {.lo = {lo}, .n = {end - lo, 6, 8}},
        .order = {0, turned && rank == 0 ? 2 : 1, turned && rank == 0 ? 1 : 2}};
    const weft_problem problem = {.rank = 3, .n = {24, 6, 8}, .kind = WEFT_C2C, .input = &brick};
    const weft_options options = {.effort = WEFT_MEASURE};
    weft_plan plan = NULL;
    CHECK(weft_plan_create(ctx, &problem, &options, &plan) == WEFT_SUCCESS);
    return plan;
}

/* What was measured with the bricks of all ranks is known the next time, and with no others. */
static void wisdom_knows_bricks(void) {
    char folder[] = "/tmp/weft-wisdom-XXXXXX", file[64];
    if (rank == 0) CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("WEFT_WISDOM_DIR", folder, 1);
    for (int i = 0; i < 6; i++) {
        weft_plan plan = plan_of_bricks(i / 2 == 1 ? 5 : 4, i / 2 == 2);
        CHECK(explains(plan, "measured before") == (i % 2 == 1));
        weft_plan_destroy(&plan);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    setenv("WEFT_WISDOM_DIR", "", 1);
    for (int i = 0; i < 2 && rank == 0; i++) {
        snprintf(file, sizeof file, "%s/wisdom.json%s", folder, i == 0 ? "" : ".lock");
        unlink(file);
    }
    if (rank == 0) CHECK(rmdir(folder) == 0);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ctx = context_with("{\"search\": {\"seconds\": 0, \"rounds\": 1}}"); /* candidates run three
                                                                            times, and once more */
    measuring_leaves_out_what_does_not_fit_and_plans_the_rest();
    estimating_takes_the_next_candidate_where_the_best_does_not_fit();
    a_failure_on_one_rank_makes_all_ranks_try_the_same_candidates();
    planning_fails_with_the_first_reason_where_nothing_fits();
    a_candidate_that_fails_on_one_rank_is_left_out_on_all();
    a_device_that_always_fails_on_one_rank_fails_the_plan_on_all();
    the_bits_do_not_depend_on_the_method_where_weft_chooses_the_chain();
    a_method_given_for_the_second_redistribution_is_used_there();
    a_method_that_cannot_be_used_is_refused_by_its_entry();
    all_ranks_predict_by_the_record_of_rank_0();
    wisdom_knows_bricks();
    weft_context_destroy(&ctx);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && failures > 0) printf("planning: %d ranks, %d failed checks\n", size, failures);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
