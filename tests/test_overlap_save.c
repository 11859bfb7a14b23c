/* Convolutions by overlap-save beside those of the whole field: random shapes, kernels, modes,
 * kinds, precisions, batches and threads (WEFT_TEST_SEED); which of the two is chosen; what plans
 * tell of it; what is refused. Direct sums: tests/mpi/convolve.c. */
#include "convolutions.h"
#include "random_numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

static bool is_single(const weft_convolution_problem *p) {
    return p->precision == WEFT_SINGLE;
}

static void *random_array(const weft_convolution_problem *p, size_t numbers) {
    double *made = malloc(numbers * sizeof *made + 1);
    assert_non_null(made);
    for (size_t i = 0; i < numbers; i++) {
        const double x = random_number();
        if (is_single(p))
            ((float *)made)[i] = (float)x;
        else
            made[i] = x;
    }
    return made;
}

static double number_at(const weft_convolution_problem *p, const void *array, size_t i) {
    return is_single(p) ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static size_t numbers_of(const weft_convolution_problem *p, const int64_t *n) {
    size_t count = p->kind == WEFT_C2C ? 2 : 1;
    for (int a = 0; a < p->rank; a++) count *= (size_t)n[a];
    return count;
}

static weft_convolution made_by(weft_convolution_problem p, int64_t method, int threads) {
    const weft_options options = {.threads = threads};
    weft_convolution made = NULL;
    p.method = method;
    ok(weft_convolution_create(ctx, &p, &options, &made));
    return made;
}

/* The result, which the caller frees. */
static void *result_of(weft_convolution made, const void *in, size_t *bytes) {
    ok(weft_plan_bytes(made, WEFT_OUTPUT, bytes));
    void *out = malloc(*bytes + 1);
    assert_non_null(out);
    memset(out, 0xff, *bytes);
    ok(weft_convolution_execute(made, in, out));
    return out;
}

static bool is_by_tiles(weft_convolution made) {
    return explanation_has(made, WEFT_TEXT, "overlap-save");
}

/* ---- results ---- */

static weft_convolution_problem random_problem(void) {
    static const int most[] = {3000, 120, 24};
    const int rank = 1 + random_below(3);
    weft_convolution_problem p = {.rank = rank,
                                  .kind = random_below(2) ? WEFT_R2C : WEFT_C2C,
                                  .precision = random_below(2) ? WEFT_DOUBLE : WEFT_SINGLE,
                                  .batch = random_below(4),
                                  .mode = (weft_convolution_mode)random_below(3),
                                  .correlate = random_below(2)};
    for (int a = 0; a < rank; a++) {
        p.n[a] = 1 + random_below(random_below(4) ? most[rank - 1] : 4);
        p.kernel.n[a] = 1 + random_below(random_below(4) ? 1 + most[rank - 1] / 8 : 40);
        p.boundary[a] = WEFT_LINEAR;
    }
    if (random_below(8) == 0) {
        p.n[0] = p.kernel.n[0] = 1;
        p.boundary[0] = (weft_boundary)random_below(5);
    }
    return p;
}

static void tiles_give_what_the_whole_gives_with_the_same_bits_on_any_number_of_threads(void **s) {
    (void)s;
    for (int number = 0; number < 150; number++) {
        const weft_convolution_problem p = random_problem();
        const size_t members = p.batch > 0 ? (size_t)p.batch : 1;
        void *kernel = random_array(&p, numbers_of(&p, p.kernel.n));
        void *in = random_array(&p, members * numbers_of(&p, p.n)), *out[4] = {NULL};
        size_t bytes = 0, whole_bytes = 0;
        for (int threads = 0; threads < 4; threads++) { /* 0: the whole */
            weft_convolution made =
                made_by(p, threads ? WEFT_OVERLAP_SAVE : WEFT_WHOLE, threads ? threads : 1);
            assert_int_equal(is_by_tiles(made), threads > 0);
            ok(weft_convolution_set_kernel(made, kernel));
            out[threads] = result_of(made, in, threads ? &bytes : &whole_bytes);
            weft_convolution_destroy(&made);
        }
        assert_int_equal(bytes, whole_bytes);
        double most = 1e-3, off = 0;
        for (size_t i = 0; i < bytes / (is_single(&p) ? 4 : 8); i++) {
            const double want = number_at(&p, out[0], i), got = number_at(&p, out[1], i);
            most = fmax(most, fabs(want));
            off = fmax(off, isnan(got) ? INFINITY : fabs(got - want));
        }
        if (!(off <= (is_single(&p) ? 1e-5 : 1e-13) * most))
            fail_msg("case %d: off by %g of %g", number, off, most);
        for (int threads = 2; threads < 4; threads++)
            assert_memory_equal(out[threads], out[1], bytes);
        for (int i = 0; i < 4; i++) free(out[i]);
        free(kernel);
        free(in);
    }
}

/* ---- the choice ---- */

static void tiles_are_chosen_for_small_kernels_on_large_fields(void **state) {
    (void)state;
    static const struct {
        int rank;
        int64_t n, kernel;
        bool tiles;
    } cases[] = {{2, 2048, 3, true},    {1, 1 << 22, 15, true}, {3, 256, 3, true},
                 {2, 256, 255, false},  {2, 32, 3, false},      {1, 1000, 900, false},
                 {2, 1024, 1023, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft_convolution_problem p = {
            .rank = cases[i].rank, .kind = WEFT_R2C, .mode = WEFT_SAME, .kernel = {.array = NULL}};
        for (int a = 0; a < p.rank; a++) {
            p.n[a] = cases[i].n;
            p.kernel.n[a] = cases[i].kernel;
            p.boundary[a] = WEFT_LINEAR;
        }
        for (int threads = 1; threads < 3; threads++) {
            weft_convolution made = made_by(p, WEFT_METHOD_AUTO, threads);
            if (is_by_tiles(made) != cases[i].tiles) fail_msg("case %d", (int)i);
            weft_convolution_destroy(&made);
        }
        p.boundary[0] = WEFT_FREE_SPACE;
        weft_convolution made = made_by(p, WEFT_METHOD_AUTO, 1);
        assert_false(is_by_tiles(made));
        weft_convolution_destroy(&made);
    }
}

/* ---- plans ---- */

static void plans_tell_of_the_whole_and_explain_a_tile(void **state) {
    (void)state;
    const weft_convolution_problem p = {.rank = 2,
                                        .n = {400, 300},
                                        .kind = WEFT_R2C,
                                        .batch = 3,
                                        .boundary = {WEFT_LINEAR, WEFT_LINEAR},
                                        .kernel = {.n = {11, 7}}};
    weft_convolution one = made_by(p, WEFT_OVERLAP_SAVE, 1),
                     three = made_by(p, WEFT_OVERLAP_SAVE, 3);
    weft_box box;
    size_t bytes;
    weft_memory of_one, of_three;
    weft_options options = {.struct_size = 0};
    weft_timings timings;
    ok(weft_plan_box(three, WEFT_INPUT, 0, &box));
    assert_true(box.n[0] == 400 && box.n[1] == 300 && box.lo[0] == 0);
    ok(weft_plan_box(three, WEFT_OUTPUT, 0, &box));
    assert_true(box.n[0] == 410 && box.n[1] == 306 && box.n[2] == 1);
    ok(weft_plan_bytes(three, WEFT_INPUT, &bytes));
    assert_int_equal(bytes, 3 * 400 * 300 * sizeof(double));
    ok(weft_plan_bytes(three, WEFT_OUTPUT, &bytes));
    assert_int_equal(bytes, 3 * 410 * 306 * sizeof(double));
    ok(weft_plan_memory(one, &of_one));
    ok(weft_plan_memory(three, &of_three));
    assert_true(of_three.workspace > of_one.workspace && of_three.tables > of_one.tables);
    assert_int_equal(of_three.total, of_three.workspace + of_three.tables);
    ok(weft_plan_options(three, &options));
    assert_int_equal(options.threads, 3);
    assert_true(explanation_has(
        three, WEFT_TEXT, "overlap-save: field of 400 x 300, result of 410 x 306, batch 3, "));
    assert_true(explanation_has(three, WEFT_TEXT, "threads 3"));
    assert_true(explanation_has(three, WEFT_JSON, "\"overlap_save\": {"));
    double *kernel = random_array(&p, 77), *in = random_array(&p, 3 * 400 * 300);
    ok(weft_convolution_set_kernel(three, kernel));
    double *out = result_of(three, in, &bytes);
    ok(weft_plan_timings(three, &timings));
    assert_true(timings.total > 0 && timings.fft == timings.total);
    assert_int_equal(weft_convolution_execute(three, in, in), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "give two"));
    assert_int_equal(weft_convolution_execute(three, in, in + 1), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_convolution_execute(one, in, out), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "weft_convolution_set_kernel"));
    weft_convolution_destroy(&one);
    weft_convolution_destroy(&three);
    free(kernel);
    free(in);
    free(out);
}

/* ---- refusals ---- */

static void what_tiles_cannot_do_is_refused_in_one_sentence(void **state) {
    (void)state;
    const weft_convolution_problem p = {.rank = 2,
                                        .n = {40, 30},
                                        .kind = WEFT_R2C,
                                        .boundary = {WEFT_LINEAR, WEFT_LINEAR},
                                        .kernel = {.n = {5, 5}},
                                        .method = WEFT_OVERLAP_SAVE};
    const weft_options plain = {.threads = 2};
    weft_options o = plain;
    weft_convolution_problem q = p;
    q.boundary[1] = WEFT_PERIODIC;
    refused(q, plain, WEFT_ERROR_UNSUPPORTED, "is not linear");
    q = p;
    q.deconvolve = 1;
    refused(q, plain, WEFT_ERROR_UNSUPPORTED, "problem.deconvolve is set");
    q = p;
    q.boundary[0] = q.boundary[1] = WEFT_PERIODIC;
    q.kernel.kind = WEFT_KERNEL_HEAT;
    refused(q, plain, WEFT_ERROR_UNSUPPORTED, "is not an array");
    o.device = WEFT_SIMULATED;
    refused(p, o, WEFT_ERROR_UNSUPPORTED, "is not the host");
    o = plain;
    o.placement = WEFT_IN_PLACE;
    refused(p, o, WEFT_ERROR_UNSUPPORTED, "is in place");
    o = plain;
    o.device_memory_limit = 10000;
    refused(p, o, WEFT_ERROR_OUT_OF_MEMORY, "limit");
    o = plain;
    o.threads = 5000;
    refused(p, o, WEFT_ERROR_INVALID_ARGUMENT, "options.threads is 5000");
    q = p;
    q.method = 5;
    refused(q, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.method is 5");
    q.method = INT64_C(1) << 32;
    refused(q, plain, WEFT_ERROR_INVALID_ARGUMENT, "problem.method is 4294967296");
    q = p;
    q.n[0] = q.n[1] = INT64_C(1) << 35;
    refused(q, plain, WEFT_ERROR_INVALID_ARGUMENT, "2^60 bytes");
    assert_string_equal(weft_convolution_method_name(WEFT_OVERLAP_SAVE), "overlap-save");
    assert_string_equal(weft_convolution_method_name((weft_convolution_method)5), "?");
}

static void plans_over_simulated_ranks_are_of_the_whole(void **state) {
    (void)state;
    const weft_context_options of_context = {.simulated_ranks = 1};
    weft_convolution_problem p = {.rank = 1,
                                  .n = {1 << 22},
                                  .kind = WEFT_R2C,
                                  .boundary = {WEFT_LINEAR},
                                  .kernel = {.n = {5}}};
    weft_context simulated = NULL;
    weft_convolution made = NULL;
    ok(weft_context_create(&of_context, &simulated));
    ok(weft_convolution_create(simulated, &p, NULL, &made));
    assert_false(is_by_tiles(made));
    weft_convolution_destroy(&made);
    p.method = WEFT_OVERLAP_SAVE;
    assert_int_equal(weft_convolution_create(simulated, &p, NULL, &made), WEFT_ERROR_UNSUPPORTED);
    weft_context_destroy(&simulated);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            tiles_give_what_the_whole_gives_with_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(tiles_are_chosen_for_small_kernels_on_large_fields),
        cmocka_unit_test(plans_tell_of_the_whole_and_explain_a_tile),
        cmocka_unit_test(what_tiles_cannot_do_is_refused_in_one_sentence),
        cmocka_unit_test(plans_over_simulated_ranks_are_of_the_whole),
    };
    const char *seed = getenv("WEFT_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003u;
    print_message("WEFT_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
