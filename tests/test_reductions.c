/*
 * Reductions on one process: they see the elements as they are at their place in the list, change
 * nothing, tell of NaN, and lose no digits in large arrays. WEFT_TEST_DEVICE names another device
 * than the host. tests/mpi/reductions.c compares them with direct sums on several ranks.
 */
#include "one_context.h"
#include "promised_device.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NX = 6, NY = 50, POINTS = NX * NY };

static weft_device device;

static void good(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

/* A plan, executed forward on `in`, of which `out` gets the result; its arrays may be larger. */
static weft_plan execute(const weft_problem *problem, weft_options options, const void *in,
                         size_t in_size, void *out, size_t out_size) {
    weft_plan plan = NULL;
    void *from, *to;
    size_t in_bytes, out_bytes;
    options.device = device;
    good(weft_plan_create(ctx, problem, &options, &plan));
    good(weft_plan_bytes(plan, WEFT_INPUT, &in_bytes));
    good(weft_plan_bytes(plan, WEFT_OUTPUT, &out_bytes));
    good(weft_buffer_create(plan, in_bytes, &from));
    good(weft_buffer_create(plan, out_bytes, &to));
    assert_true(in_size <= in_bytes && out_size <= out_bytes);
    good(weft_buffer_upload(plan, from, in, in_size));
    good(weft_execute(plan, WEFT_FORWARD, from, to));
    good(weft_buffer_download(plan, out, to, out_size));
    weft_buffer_destroy(plan, &from);
    weft_buffer_destroy(plan, &to);
    return plan;
}

static void expect(weft_plan plan, int number, double x, double y) {
    double value[2];
    good(weft_plan_reduction(plan, number, value));
    if (!(fabs(value[0] - x) <= 1e-14 * fabs(x) && fabs(value[1] - y) <= 1e-14 * fabs(y)))
        fail_msg("reduction %d is %.17g %.17g, not %.17g %.17g", number, value[0], value[1], x, y);
}

static void subtract_one(const weft_operator_run *run, void *argument) {
    (void)argument;
    for (int64_t i = 0; i < run->count; i++) ((double *)run->data)[2 * i] -= 1;
}

static void reductions_see_the_elements_at_their_place(void **state) {
    (void)state;
    const weft_operator list[] = {
        {.kind = WEFT_OPERATOR_REDUCE, .array = 15},
        {.kind = WEFT_OPERATOR_SCALE, .factor = 2},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 0},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 1, .reduction = WEFT_NORM},
        {.kind = WEFT_OPERATOR_FUNCTION, .function = subtract_one, .snippet = "value.x -= 1;"},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 2},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 3, .reduction = WEFT_MAX}};
    const weft_problem problem = {.rank = 2, .n = {NX, NY}, .load = {list, 7}};
    double in[2 * POINTS], out[2 * POINTS];
    for (int i = 0; i < POINTS; i++) in[2 * i] = i, in[2 * i + 1] = -1;
    weft_plan plan = execute(&problem, (weft_options){.engine = WEFT_ENGINE_IDENTITY}, in,
                             sizeof in, out, sizeof out);
    const double sum = (POINTS - 1) * POINTS / 2.0, squares = sum * (2 * POINTS - 1) / 3 + POINTS;
    expect(plan, 15, sum, -POINTS);
    expect(plan, 0, 2 * sum, -2 * POINTS);
    expect(plan, 1, 2 * sqrt(squares), 0);
    expect(plan, 2, 2 * sum - POINTS, -2 * POINTS);
    expect(plan, 3, hypot(2 * (POINTS - 1) - 1, 2), 0);
    for (int i = 0; i < POINTS; i++) assert_true(out[2 * i] == 2 * i - 1 && out[2 * i + 1] == -2);
    weft_plan_destroy(&plan);
}

static void what_is_no_number_shows(void **state) {
    (void)state;
    const weft_operator list[] = {
        {.kind = WEFT_OPERATOR_REDUCE},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 1, .reduction = WEFT_NORM},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 2, .reduction = WEFT_MAX}};
    const weft_problem problem = {.rank = 2, .n = {NX, NY}, .kind = WEFT_R2C, .load = {list, 3}};
    for (int at = 0; at < POINTS; at += 37)
        for (int infinite = 0; infinite < 2; infinite++) {
            double in[POINTS], out[NX * (NY + 2)], value[2];
            for (int i = 0; i < POINTS; i++) in[i] = i;
            in[at] = infinite ? -INFINITY : NAN;
            weft_plan plan = execute(&problem, (weft_options){0}, in, sizeof in, out, sizeof out);
            for (int number = 0; number < 3; number++) {
                good(weft_plan_reduction(plan, number, value));
                if (infinite)
                    assert_true(value[0] == (number == 0 ? -INFINITY : INFINITY));
                else
                    assert_true(isnan(value[0]));
            }
            weft_plan_destroy(&plan);
        }
}

/* Conversions come before what `load` does, and after what `spectral` does. */
static void reductions_see_the_numbers_of_the_transform(void **state) {
    (void)state;
    const weft_operator load = {.kind = WEFT_OPERATOR_REDUCE};
    const weft_operator spectral = {
        .kind = WEFT_OPERATOR_REDUCE, .array = 1, .reduction = WEFT_MAX};
    const weft_problem problem = {.rank = 2,
                                  .n = {NX, NY},
                                  .kind = WEFT_R2C,
                                  .precision = WEFT_SINGLE,
                                  .load = {&load, 1},
                                  .spectral = {&spectral, 1},
                                  .load_storage = WEFT_STORAGE_U8,
                                  .spectral_storage = WEFT_STORAGE_DECIBEL_U8,
                                  .decibels = {-1, 1}};
    unsigned char in[POINTS], out[NX * (NY / 2 + 1)];
    double sum = 0;
    for (int i = 0; i < POINTS; i++) sum += in[i] = (unsigned char)(i * 7 % 251);
    weft_plan plan = execute(&problem, (weft_options){0}, in, sizeof in, out, sizeof out);
    expect(plan, 0, sum, 0);
    double value[2];
    good(weft_plan_reduction(plan, 1, value));
    assert_true(fabs(value[0] - sum) <= 1e-6 * sum); /* element 0 of the spectrum */
    weft_plan_destroy(&plan);
}

/* 0.1f is no multiple of a power of two, and a single sum in that precision would be 8 % off. */
static void large_arrays_cost_no_digits(void **state) {
    (void)state;
    enum { LINES = 30000, POINTS_OF_LINE = 64 };
    const weft_operator list[] = {
        {.kind = WEFT_OPERATOR_REDUCE},
        {.kind = WEFT_OPERATOR_REDUCE, .array = 1, .reduction = WEFT_NORM}};
    const weft_problem problem = {.rank = 1,
                                  .n = {POINTS_OF_LINE},
                                  .precision = WEFT_SINGLE,
                                  .batch = LINES,
                                  .load = {list, 2}};
    const size_t numbers = 2 * (size_t)LINES * POINTS_OF_LINE;
    float *in = malloc(numbers * sizeof *in), *out = malloc(numbers * sizeof *out);
    const double all = (double)numbers / 2, x = (double)0.1f;
    for (size_t i = 0; i < numbers; i++) in[i] = 0.1f;
    for (int threads = 1; threads <= (device == WEFT_HOST ? 3 : 1); threads++) {
        weft_plan plan =
            execute(&problem, (weft_options){.engine = WEFT_ENGINE_IDENTITY, .threads = threads},
                    in, numbers * sizeof *in, out, numbers * sizeof *in);
        expect(plan, 0, all * x, all * x);
        expect(plan, 1, sqrt(2 * all * x * x), 0);
        assert_memory_equal(in, out, numbers * sizeof *in);
        weft_plan_destroy(&plan);
    }
    free(in);
    free(out);
}

static void explain_tells_of_reductions(void **state) {
    (void)state;
    const weft_operator norm = {.kind = WEFT_OPERATOR_REDUCE, .array = 7, .reduction = WEFT_NORM};
    const weft_problem problem = {.rank = 2, .n = {NX, NY}, .spectral = {&norm, 1}};
    const weft_options options = {.device = device, .convolve = 1};
    weft_plan plan = NULL;
    good(weft_plan_create(ctx, &problem, &options, &plan));
    for (int format = WEFT_TEXT; format <= WEFT_JSON; format++) {
        static char text[1 << 16];
        FILE *stream = fmemopen(text, sizeof text, "w");
        good(weft_plan_explain(plan, stream, (weft_format)format));
        fclose(stream);
        assert_non_null(strstr(text, "pointwise"));
        assert_non_null(
            strstr(text, format == WEFT_TEXT ? "reduce 7 to norm" : "\"reduction\": \"norm\""));
    }
    weft_plan_destroy(&plan);
}

static void no_matrix(const weft_fields_run *run, void *argument) {
    (void)run, (void)argument;
}

static void a_matrix_goes_without_reductions(void **state) {
    (void)state;
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_MATRIX, .matrix = no_matrix},
                                  {.kind = WEFT_OPERATOR_REDUCE}};
    const weft_problem problem = {.rank = 1, .n = {8}, .spectral = {list, 2}};
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &problem, NULL, &plan), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "goes together with scalings only"));
}

static void plans_over_simulated_ranks_have_none(void **state) {
    (void)state;
    const weft_operator sum = {.kind = WEFT_OPERATOR_REDUCE};
    const weft_problem problem = {.rank = 2, .n = {NX, NY}, .load = {&sum, 1}};
    const weft_context_options options = {.simulated_ranks = 4};
    weft_context simulated = NULL;
    weft_plan plan = NULL;
    double value[2];
    good(weft_context_create(&options, &simulated));
    assert_int_equal(weft_plan_create(simulated, &problem, NULL, &plan), WEFT_SUCCESS);
    assert_int_equal(weft_plan_reduction(plan, 0, value), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(simulated), "execute the plan first"));
    assert_int_equal(weft_plan_reduction(NULL, 0, value), WEFT_ERROR_INVALID_ARGUMENT);
    weft_plan_destroy(&plan);
    weft_context_destroy(&simulated);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_see_the_elements_at_their_place),
        cmocka_unit_test(what_is_no_number_shows),
        cmocka_unit_test(reductions_see_the_numbers_of_the_transform),
        cmocka_unit_test(large_arrays_cost_no_digits),
        cmocka_unit_test(explain_tells_of_reductions),
        cmocka_unit_test(a_matrix_goes_without_reductions),
        cmocka_unit_test(plans_over_simulated_ranks_have_none),
    };
    if (!find_device(&device)) return status_without(device);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
