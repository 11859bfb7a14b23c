/* The public interface on one process: misuse of every kind, options by version, plans of 1 to 8
 * axes. */
#include "one_context.h"
#include "support/host_memory.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static weft_problem cube(void) {
    return (weft_problem){.rank = 3, .n = {4, 5, 6}, .kind = WEFT_C2C};
}

/* A wrong problem or option, and a word that the sentence must contain. */
typedef struct misuse {
    const char *word;
    weft_status status;
    weft_problem problem;
    weft_options options;
} misuse;

static const weft_brick outside = {.box = {.lo = {0, 0, 1}, .n = {4, 5, 6}}};
static const weft_brick far_out = {.box = {.lo = {1LL << 62, 0, 0}, .n = {1LL << 62, 5, 6}}};
static const weft_brick part = {.box = {.n = {4, 5, 3}}};
static const weft_brick twice_x = {.box = {.n = {4, 5, 6}}, .order = {0, 0, 1}};

#define CUBE .rank = 3, .n = {4, 5, 6}

static const misuse misuses[] = {
    {"rank", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 0}, {0}},
    {"rank", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 9}, {0}},
    {"n[1]", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 2, .n = {3, 0}}, {0}},
    {"n[0]", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 1, .n = {-4}}, {0}},
    {"2^60", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 2, .n = {1LL << 40, 1LL << 40}}, {0}},
    {"2^60", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 1, .n = {1LL << 56}}, {0}},
    {"2^60", WEFT_ERROR_INVALID_ARGUMENT, {.rank = 1, .n = {INT64_MAX}, .batch = 3}, {0}},
    {"2^60", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .batch = INT64_MAX}, {0}},
    {"batch", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .batch = -1}, {0}},
    {"kind", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .kind = (weft_kind)7}, {0}},
    {"axis[0]", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .kind = WEFT_R2R}, {0}},
    {"placement",
     WEFT_ERROR_UNSUPPORTED,
     {CUBE, .precision = WEFT_HALF},
     {.placement = WEFT_IN_PLACE}},
    {"norm", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .norm = (weft_norm)9}, {0}},
    {"struct_size", WEFT_ERROR_INVALID_ARGUMENT, {.struct_size = 3, CUBE}, {0}},
    {"input->box", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .input = &outside}, {0}},
    {"4611686018427387904 indices from 4611686018427387904 on",
     WEFT_ERROR_INVALID_ARGUMENT,
     {CUBE, .input = &far_out},
     {0}},
    {"cover", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .input = &part}, {0}},
    {"permutation", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .output = &twice_x}, {0}},
    {"brick", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.decomposition = WEFT_BRICK}},
    {"decomposition",
     WEFT_ERROR_INVALID_ARGUMENT,
     {CUBE},
     {.decomposition = (weft_decomposition)42}},
    {"grid", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.decomposition = WEFT_PENCIL, .grid = {2, 2}}},
    {"grid", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.grid = {-1, 2}}},
    {"grid[2]", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.grid = {1, 0, 1}}},
    {"exchange", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.exchange = {(weft_exchange)77}}},
    {"nccl", WEFT_ERROR_UNSUPPORTED, {CUBE}, {.exchange = {WEFT_NCCL}}},
    {"variant", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.variant = (weft_variant)5}},
    {"cuFFT", WEFT_ERROR_UNSUPPORTED, {CUBE}, {.engine = WEFT_ENGINE_CUFFT}},
    {"engine", WEFT_ERROR_UNSUPPORTED, {CUBE}, {.engine = WEFT_ENGINE_OPENMP}},
    {"chunks", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.chunks = -1}},
    {"threads", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.threads = -2}},
    {"device_aware",
     WEFT_ERROR_UNSUPPORTED,
     {CUBE},
     {.device = WEFT_SIMULATED, .device_aware = WEFT_AWARE}},
    {"fields_fastest is 2", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .fields_fastest = 2}, {0}},
    {"not with a batch of 3",
     WEFT_ERROR_UNSUPPORTED,
     {CUBE, .fields = 2, .fields_fastest = 1, .batch = 3},
     {0}},
    {"crop_to[0] is 5", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .crop_to = {5}}, {0}},
    {"truncate_to[0] is 5", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .truncate_to = {5}}, {0}},
    {"truncate_to[1] is -1", WEFT_ERROR_INVALID_ARGUMENT, {CUBE, .truncate_to = {2, -1}}, {0}},
    {"truncate_to[1] is 3, but problem.axis[1]",
     WEFT_ERROR_UNSUPPORTED,
     {CUBE, .truncate_to = {0, 3}, .axis = {0, WEFT_AXIS_NONE}},
     {0}},
    {"cropped or truncated",
     WEFT_ERROR_UNSUPPORTED,
     {CUBE, .truncate_to = {3, 3, 3}},
     {.placement = WEFT_IN_PLACE}},
    {"device_number is -1", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.device_number = -1}},
    {"device_number is for", WEFT_ERROR_UNSUPPORTED, {CUBE}, {.device_number = 1}},
    {"direction is 3", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.direction = 1 + WEFT_CONVOLVE}},
    {"direction is -1", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.direction = -1}},
    {"direction is for", WEFT_ERROR_INVALID_ARGUMENT, {CUBE}, {.direction = 1, .convolve = 1}},
};

static void every_misuse_is_refused_in_one_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        weft_plan plan = (weft_plan)(void *)&plan;
        weft_status status = weft_plan_create(ctx, &misuses[i].problem, &misuses[i].options, &plan);
        const char *said = weft_last_error(ctx);
        if (status != misuses[i].status || !strstr(said, misuses[i].word))
            fail_msg("misuse %zu (%s): %s: %s", i, misuses[i].word, weft_status_name(status), said);
        assert_ptr_equal(plan, (weft_plan)(void *)&plan); /* outputs only on success */
        assert_null(strchr(said, '\n'));
    }
}

static void null_arguments_are_refused(void **state) {
    (void)state;
    weft_problem problem = cube();
    weft_plan plan = NULL;
    weft_box box;
    size_t bytes;
    assert_int_equal(weft_context_create(NULL, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_create(NULL, &problem, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_create(ctx, NULL, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_box(NULL, WEFT_INPUT, 0, &box), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_bytes(NULL, WEFT_INPUT, &bytes), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(NULL, WEFT_FORWARD, NULL, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_timings(NULL, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_memory(NULL, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_explain(NULL, stdout, WEFT_TEXT), WEFT_ERROR_INVALID_ARGUMENT);
    weft_plan_destroy(NULL);
    weft_plan_destroy(&plan);
    weft_context_destroy(NULL);

    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_box(plan, WEFT_INPUT, 1, &box), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_box(plan, WEFT_INPUT, -1, &box), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_box(plan, WEFT_INPUT, 0, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_bytes(plan, WEFT_INPUT, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_timings(plan, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_plan_explain(plan, NULL, WEFT_TEXT), WEFT_ERROR_INVALID_ARGUMENT);
    weft_plan_destroy(&plan);
    assert_null(plan);
}

static void wrong_buffers_are_refused_by_execute(void **state) {
    (void)state;
    weft_problem problem = cube();
    weft_plan plan = NULL;
    static double complex data[400];
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, NULL, data), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, data, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, data, data + 1), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "overlap"));
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, (char *)data + 1, data + 200),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, (weft_direction)3, data, data),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, data, data + 200), WEFT_SUCCESS);
    weft_plan_destroy(&plan);

    weft_options options = {.placement = WEFT_IN_PLACE};
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, data, data + 200),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, data, data), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

static void a_workspace_over_the_limit_is_refused(void **state) {
    (void)state;
    weft_problem problem = {.rank = 3, .n = {32, 32, 32}, .kind = WEFT_R2C};
    weft_options options = {.device_memory_limit = 4096, .placement = WEFT_IN_PLACE};
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_ERROR_OUT_OF_MEMORY);
    assert_null(plan);
}

static void options_come_back_filled_in(void **state) {
    (void)state;
    weft_problem problem = cube();
    weft_plan plan = NULL;
    weft_options chosen = {0};
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_options(plan, &chosen), WEFT_SUCCESS);
    assert_int_not_equal(chosen.decomposition, WEFT_DECOMPOSITION_AUTO);
    assert_int_not_equal(chosen.variant, WEFT_VARIANT_AUTO);
    assert_int_not_equal(chosen.engine, WEFT_ENGINE_AUTO);
    weft_plan_destroy(&plan);
}

/* Impulse at the origin -> all ones, and back to N times the impulse, for each rank 1..8 and kind.
 */
static void an_impulse_becomes_ones_in_one_to_eight_dimensions(void **state) {
    (void)state;
    for (int rank = 1; rank <= WEFT_MAX_RANK; rank++)
        for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++)
            for (int choice = 0; choice < 2 * (WEFT_PENCIL + 1); choice++) {
                int in_place = choice % 2;
                weft_options options = {.decomposition = (weft_decomposition)(choice / 2)};
                weft_problem problem = {.rank = rank, .kind = (weft_kind)kind};
                int64_t points = 1, half = 1;
                for (int a = 0; a < rank; a++) {
                    problem.n[a] = a == rank - 1 ? 5 : 2 + a % 2;
                    points *= problem.n[a];
                    half *= a == rank - 1 && kind == WEFT_R2C ? 3 : problem.n[a];
                }
                weft_plan plan = NULL;
                size_t in_bytes, out_bytes;
                assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
                weft_plan_bytes(plan, WEFT_INPUT, &in_bytes);
                weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes);
                size_t both = in_bytes > out_bytes ? in_bytes : out_bytes;
                double *in = calloc(1, both), *out = in_place ? in : malloc(both);
                in[0] = 1;
                assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
                for (int64_t i = 0; i < half; i++) {
                    assert_true(fabs(out[2 * i] - 1) < 1e-14);
                    assert_true(fabs(out[2 * i + 1]) < 1e-14);
                }
                assert_int_equal(weft_execute(plan, WEFT_INVERSE, out, in), WEFT_SUCCESS);
                assert_true(fabs(in[0] - (double)points) < 1e-14 * (double)points);
                assert_true(fabs(in[1]) < 1e-14 * (double)points);
                if (!in_place) free(out);
                free(in);
                weft_plan_destroy(&plan);
            }
}

static void the_norms_are_those_of_numpy(void **state) {
    (void)state;
    static const double forward[] = {1, 1, 0.25, 0.0625}, inverse[] = {1, 0.0625, 0.25, 1};
    for (int norm = 0; norm < 4; norm++) {
        weft_problem problem = {.rank = 2, .n = {4, 4}, .norm = (weft_norm)norm};
        weft_plan plan = NULL;
        double complex in[16] = {1}, out[16];
        assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_SUCCESS);
        assert_int_equal(weft_execute(plan, WEFT_FORWARD, in, out), WEFT_SUCCESS);
        assert_true(cabs(out[5] - forward[norm]) < 1e-15);
        assert_int_equal(weft_execute(plan, WEFT_INVERSE, in, out), WEFT_SUCCESS);
        assert_true(cabs(out[5] - inverse[norm]) < 1e-15);
        weft_plan_destroy(&plan);
    }
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Refused in no time, in one sentence with the bytes that it would take at least. */
static void expect_no_memory(const weft_problem *problem, const weft_options *options) {
    const double most_seconds = 2.5; /* it took up to a minute once */
    weft_plan plan = NULL;
    double start = seconds_now();
    weft_status status = weft_plan_create(ctx, problem, options, &plan);
    double took = seconds_now() - start;
    const char *said = weft_last_error(ctx);
    if (status != WEFT_ERROR_OUT_OF_MEMORY || took > most_seconds || !strstr(said, "bytes"))
        fail_msg("2^%g points, kind %d, engine %s: %s after %.2g s: %s",
                 log2((double)problem->n[0] * (double)problem->n[1]), (int)problem->kind,
                 weft_engine_name(options->engine), weft_status_name(status), took, said);
    assert_null(plan);
    assert_null(strchr(said, '\n'));
}

/* Of one prime factor, of many, and none of them large. */
static void lines_that_no_machine_can_hold_are_refused_at_once(void **state) {
    (void)state;
    static const int64_t lengths[] = {1LL << 40, (1LL << 40) + 15, 1000LL << 30, 3LL << 45};
    static const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_NATIVE, WEFT_ENGINE_FFTW};
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (int what = 0; what < 24; what++) {
            const weft_options options = {.engine = engines[what / 8],
                                          .placement =
                                              what & 4 ? WEFT_IN_PLACE : WEFT_PLACEMENT_ANY};
            weft_problem problem = {.rank = 1 + (what >> 1 & 1),
                                    .kind = what & 1 ? WEFT_R2C : WEFT_C2C};
            problem.n[0] = problem.rank == 2 ? 3 : lengths[l];
            problem.n[1] = problem.rank == 2 ? lengths[l] : 1;
            if (weft_engine_probe(options.engine, NULL) == WEFT_ERROR_UNSUPPORTED &&
                options.engine != WEFT_ENGINE_AUTO)
                continue;
            expect_no_memory(&problem, &options);
        }
}

/* 2^32 points are 64 GiB, and so are a plan's own buffers for them. */
static void a_line_that_this_machine_cannot_hold_is_refused_at_once(void **state) {
    (void)state;
    const weft_options options = {.engine = WEFT_ENGINE_NATIVE};
    const weft_problem small = {.rank = 1, .n = {1 << 20}};
    weft_problem problem = {.rank = 1, .n = {1LL << 32, 1}};
    weft_plan plan = NULL;
    while (weft_host_memory() >= (size_t)problem.n[0] * 16) problem.n[0] *= 2;
    expect_no_memory(&problem, &options);
    problem.n[0] += 15; /* 2^32 + 15 is a prime number */
    expect_no_memory(&problem, &options);
    assert_int_equal(weft_plan_create(ctx, &small, &options, &plan), WEFT_SUCCESS);
    weft_plan_destroy(&plan);
}

/* 1024 x 16 parts, and for each of them several spans with each of the partners. */
static void the_chain_of_simulated_ranks_does_not_depend_on_the_method(void **state) {
    (void)state;
    static const int ranks[] = {2, 6, 8, 24};
    static const weft_exchange methods[] = {WEFT_EXCHANGE_AUTO, WEFT_P2P_SYNC, WEFT_P2P_STREAMS,
                                            WEFT_P2P_TYPE,      WEFT_A2A_SYNC, WEFT_A2A_TYPE,
                                            WEFT_PEER};
    for (size_t r = 0; r < sizeof ranks / sizeof ranks[0]; r++) {
        weft_context_options opt = {.simulated_ranks = ranks[r]};
        const weft_problem problem = {.rank = 3, .n = {100, 30, 500}};
        weft_options first = {0};
        weft_context many = NULL;
        assert_int_equal(weft_context_create(&opt, &many), WEFT_SUCCESS);
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            weft_options options = {.exchange = {methods[m]}}, chosen = {0};
            weft_plan plan = NULL;
            assert_int_equal(weft_plan_create(many, &problem, &options, &plan), WEFT_SUCCESS);
            assert_int_equal(weft_plan_options(plan, &chosen), WEFT_SUCCESS);
            if (m == 0) first = chosen;
            assert_int_equal(chosen.decomposition, first.decomposition);
            assert_int_equal(chosen.variant, first.variant);
            assert_memory_equal(chosen.grid, first.grid, sizeof first.grid);
            if (m > 0) assert_int_equal(chosen.exchange[0], methods[m]);
            weft_plan_destroy(&plan);
        }
        weft_context_destroy(&many);
    }
}

static void plans_over_simulated_ranks_are_explained_but_not_executed(void **state) {
    (void)state;
    weft_context_options opt = {.simulated_ranks = 4096};
    weft_context many = NULL;
    weft_plan plan = NULL;
    weft_problem problem = {.rank = 3, .n = {1024, 1024, 1024}, .kind = WEFT_R2C};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(weft_context_create(&opt, &many), WEFT_SUCCESS);
    assert_int_equal(weft_plan_create(many, &problem, NULL, &plan), WEFT_SUCCESS);
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(weft_plan_explain(plan, stream, WEFT_TEXT), WEFT_SUCCESS);
    fclose(stream);
    assert_non_null(strstr(text, "4096 simulated ranks"));
    assert_non_null(strstr(text, "rejected"));
    free(text);
    assert_int_equal(weft_execute(plan, WEFT_FORWARD, NULL, NULL), WEFT_ERROR_UNSUPPORTED);
    weft_plan_destroy(&plan);
    weft_context_destroy(&many);
}

static void peer_over_simulated_ranks_is_explained_where_it_is_asked_for(void **state) {
    (void)state;
    weft_context_options opt = {.simulated_ranks = 8};
    weft_context many = NULL;
    weft_plan plan = NULL;
    weft_problem problem = {.rank = 3, .n = {64, 64, 64}, .kind = WEFT_R2C};
    weft_options options = {.exchange = {WEFT_PEER}};
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(weft_context_create(&opt, &many), WEFT_SUCCESS);
    for (int asked = 0; asked < 2; asked++) { /* whether they share a node is not known */
        assert_int_equal(weft_plan_create(many, &problem, asked ? &options : NULL, &plan),
                         WEFT_SUCCESS);
        FILE *stream = open_memstream(&text, &size);
        assert_int_equal(weft_plan_explain(plan, stream, WEFT_TEXT), WEFT_SUCCESS);
        fclose(stream);
        assert_int_equal(strstr(text, "partners read") != NULL, asked);
        free(text);
        weft_plan_destroy(&plan);
    }
    weft_context_destroy(&many);
}

/* Filters n x n points, and returns them. */
static float *filtered(int64_t n, int threads) {
    const weft_problem problem = {.rank = 2,
                                  .n = {n, n},
                                  .kind = WEFT_R2C,
                                  .precision = WEFT_SINGLE,
                                  .norm = WEFT_NORM_BACKWARD};
    const weft_options options = {.threads = threads, .convolve = 1, .engine = WEFT_ENGINE_NATIVE};
    weft_plan plan = NULL;
    size_t bytes;
    assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_bytes(plan, WEFT_INPUT, &bytes), WEFT_SUCCESS);
    float *array = malloc(bytes), *result = malloc(bytes);
    for (int64_t i = 0; i < n * n; i++) array[i] = (float)(i * 7919 % 1009);
    assert_int_equal(weft_execute(plan, WEFT_CONVOLVE, array, result), WEFT_SUCCESS);
    free(array);
    weft_plan_destroy(&plan);
    return result;
}

/* In builds without OpenMP, too, where the calling thread is the only one. */
static void two_threads_give_the_bits_of_one(void **state) {
    (void)state;
    for (int64_t n = 64; n <= 1024; n *= 2) {
        float *one = filtered(n, 1), *two = filtered(n, 2);
        assert_memory_equal(one, two, (size_t)(n * n) * sizeof *one);
        free(one);
        free(two);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_misuse_is_refused_in_one_sentence),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(wrong_buffers_are_refused_by_execute),
        cmocka_unit_test(a_workspace_over_the_limit_is_refused),
        cmocka_unit_test(options_come_back_filled_in),
        cmocka_unit_test(an_impulse_becomes_ones_in_one_to_eight_dimensions),
        cmocka_unit_test(the_norms_are_those_of_numpy),
        cmocka_unit_test(lines_that_no_machine_can_hold_are_refused_at_once),
        cmocka_unit_test(a_line_that_this_machine_cannot_hold_is_refused_at_once),
        cmocka_unit_test(the_chain_of_simulated_ranks_does_not_depend_on_the_method),
        cmocka_unit_test(plans_over_simulated_ranks_are_explained_but_not_executed),
        cmocka_unit_test(peer_over_simulated_ranks_is_explained_where_it_is_asked_for),
        cmocka_unit_test(two_threads_give_the_bits_of_one),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
