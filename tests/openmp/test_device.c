/*
 * The OpenMP device's own: which device it is, how it copies, what it refuses, and a cube there and
 * back. tests/test_device.c and tests/devices/copies.c hold it to what all devices promise.
 */
#include "devices/device_test.h"

#include <weft/weft.h>

#include <complex.h>
#include <stdio.h>

static weft_context context;

static void expect_refused(weft_status status, weft_status wanted, const char *said,
                           const char *word) {
    if (status != wanted || !strstr(said, word))
        fail_msg("%s instead of %s: %s", weft_status_name(status), weft_status_name(wanted), said);
}

/* ---- the environment ---- */

static void a_number_that_openmp_does_not_have_is_refused(void **state) {
    (void)state;
    setenv("WEFT_OPENMP_DEVICE", "9999", 1);
    weft_status status = weft_device_probe(WEFT_OPENMP, NULL);
    expect_refused(status, WEFT_ERROR_INVALID_ARGUMENT, weft_thread_error(), "WEFT_OPENMP_DEVICE");
    setenv("WEFT_OPENMP_DEVICE", "some", 1);
    status = weft_device_probe(WEFT_OPENMP, NULL);
    expect_refused(status, WEFT_ERROR_INVALID_ARGUMENT, weft_thread_error(), "WEFT_OPENMP_DEVICE");
    unsetenv("WEFT_OPENMP_DEVICE");
    const weft_problem problem = {.rank = 1, .n = {8}};
    const weft_options options = {.device = WEFT_OPENMP, .device_number = 9999};
    weft_plan plan = NULL;
    status = weft_plan_create(context, &problem, &options, &plan);
    expect_refused(status, WEFT_ERROR_INVALID_ARGUMENT, weft_last_error(context), "device_number");
}

static void the_host_is_a_device(void **state) {
    (void)state;
    const char *description = NULL;
    setenv("WEFT_OPENMP_DEVICE", "host", 1);
    ok(weft_device_probe(WEFT_OPENMP, &description));
    assert_non_null(strstr(description, "on the host"));
    unsetenv("WEFT_OPENMP_DEVICE");
}

static void copies_have_two_names(void **state) {
    (void)state;
    setenv("WEFT_OPENMP_COPIES", "fast", 1);
    weft_status status = weft_device_probe(WEFT_OPENMP, NULL);
    expect_refused(status, WEFT_ERROR_INVALID_ARGUMENT, weft_thread_error(), "WEFT_OPENMP_COPIES");
    setenv("WEFT_OPENMP_COPIES", "packed", 1);
    ok(weft_device_probe(WEFT_OPENMP, NULL));
    unsetenv("WEFT_OPENMP_COPIES");
}

/* ---- plans ---- */

static weft_status plan_with(const weft_problem *problem, weft_options options, weft_plan *plan) {
    options.device = WEFT_OPENMP;
    options.location = WEFT_LOCATION_HOST;
    return weft_plan_create(context, problem, &options, plan);
}

static void what_it_does_not_have_is_refused(void **state) {
    (void)state;
    const weft_operator function[] = {{.kind = WEFT_OPERATOR_FUNCTION, .snippet = "value.x += 1;"}};
    const weft_problem refused[] = {
        {.rank = 1, .n = {8}, .load = {function, 1}},
        {.rank = 1, .n = {8}, .load_storage = WEFT_STORAGE_FLOAT},
        {.rank = 1, .n = {8}, .pad_from = {6}},
        {.rank = 1, .n = {8}, .kind = WEFT_R2R, .axis = {WEFT_DCT2}},
    };
    weft_plan plan = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const weft_status status = plan_with(&refused[i], (weft_options){0}, &plan);
        expect_refused(status, WEFT_ERROR_UNSUPPORTED, weft_last_error(context), "device openmp");
    }
    const weft_problem plain = {.rank = 1, .n = {8}};
    const weft_status status =
        plan_with(&plain, (weft_options){.engine = WEFT_ENGINE_NATIVE}, &plan);
    expect_refused(status, WEFT_ERROR_UNSUPPORTED, weft_last_error(context), "openmp");
    assert_null(plan);
}

/* A norm on the way back, which scales where the data lies or as it is copied. */
static void a_cube_goes_there_and_back(void **state) {
    (void)state;
    enum { N = 12, ALL = N * N * N };
    static double complex x[ALL], spectrum[ALL], y[ALL];
    const weft_problem problem = {
        .rank = 3, .n = {N, N, N}, .kind = WEFT_C2C, .norm = WEFT_NORM_BACKWARD};
    weft_plan plan = NULL;
    for (int i = 0; i < ALL; i++) x[i] = (i * 37 % 101) / 101.0 + I * ((i * 53 % 97) / 97.0);
    for (int threads = 1; threads <= 2; threads++) {
        if (plan_with(&problem, (weft_options){.threads = threads}, &plan) != WEFT_SUCCESS)
            fail_msg("%s", weft_last_error(context));
        assert_int_equal(weft_execute(plan, WEFT_FORWARD, x, spectrum), WEFT_SUCCESS);
        assert_int_equal(weft_execute(plan, WEFT_INVERSE, spectrum, y), WEFT_SUCCESS);
        for (int i = 0; i < ALL; i++) assert_true(cabs(y[i] - x[i]) < 1e-14);
        weft_plan_destroy(&plan);
    }
}

static void a_limit_of_device_memory_is_kept(void **state) {
    (void)state;
    const weft_problem problem = {.rank = 2, .n = {64, 64}};
    weft_plan plan = NULL;
    const weft_status status =
        plan_with(&problem, (weft_options){.device_memory_limit = 1 << 12}, &plan);
    expect_refused(status, WEFT_ERROR_OUT_OF_MEMORY, weft_last_error(context), "limit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_openmp_does_not_have_is_refused),
        cmocka_unit_test(the_host_is_a_device),
        cmocka_unit_test(copies_have_two_names),
        cmocka_unit_test(what_it_does_not_have_is_refused),
        cmocka_unit_test(a_cube_goes_there_and_back),
        cmocka_unit_test(a_limit_of_device_memory_is_kept),
    };
    setenv("WEFT_TEST_DEVICE", "openmp", 1);
    (void)tested_ops();
    if (weft_context_create(NULL, &context) != WEFT_SUCCESS) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&context);
    return failed;
}
