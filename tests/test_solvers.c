/* Explanations name the solver and the radices of each pass of the native engine. */
#include "one_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The explanation of a plan on one thread, for the caller to free. */
static char *explain(const weft_problem *problem, weft_engine engine, weft_format format) {
    const weft_options options = {.engine = engine, .device = WEFT_HOST, .threads = 1};
    weft_plan plan = NULL;
    if (weft_plan_create(ctx, problem, &options, &plan) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(weft_plan_explain(plan, stream, format), WEFT_SUCCESS);
    assert_int_equal(fclose(stream), 0);
    weft_plan_destroy(&plan);
    return text;
}

static void assert_says(const weft_problem *problem, const char *what) {
    char *text = explain(problem, WEFT_ENGINE_NATIVE, WEFT_TEXT);
    if (!strstr(text, what)) fail_msg("there is no \"%s\" in:\n%s", what, text);
    free(text);
}

/* The product of the radices that follow. */
static long long product_of_radices(const char *text) {
    long long product = 1;
    const char *at = strstr(text, "radices ");
    assert_non_null(at);
    at += strlen("radices ");
    for (char *end;; at = end + 3) {
        product *= strtoll(at, &end, 10);
        if (strncmp(end, " x ", 3) != 0) return product;
    }
}

static void radices_of_a_line_are_its_factors(void **state) {
    (void)state;
    int codelets = 0, stages = 0, convolutions = 0;
    for (int n = 2; n <= 600; n++) {
        const weft_problem line = {.rank = 1, .n = {n}};
        char *text = explain(&line, WEFT_ENGINE_NATIVE, WEFT_TEXT), begun[64];
        snprintf(begun, sizeof begun, "1 line of %d points one by one, ", n);
        const char *found = strstr(text, begun);
        if (!found) fail_msg("there is no \"%s\" in:\n%s", begun, text);
        found += strlen(begun);
        const char *convolution = "Bluestein's convolution of ";
        if (strncmp(found, "one codelet\n", 12) == 0) {
            codelets++;
        } else if (strncmp(found, convolution, strlen(convolution)) == 0) {
            const long long length = strtoll(found + strlen(convolution), NULL, 10);
            assert_true(length >= 2 * n - 1);
            assert_int_equal(product_of_radices(found), length);
            convolutions++;
        } else {
            assert_int_equal(product_of_radices(found), n);
            stages++;
        }
        free(text);
    }
    assert_true(codelets > 10 && stages > 100 && convolutions > 100);
}

static void each_kind_of_pass_has_its_words(void **state) {
    (void)state;
    assert_says(&(weft_problem){.rank = 1, .n = {1 << 20}},
                "\n      1 line of 1048576 points as a matrix of 1024 x 1024 points, radices ");
    assert_says(&(weft_problem){.rank = 1, .n = {1009 * 1013}},
                "\n      1 line of 1022117 points by Bluestein's convolution of ");
    assert_says(&(weft_problem){.rank = 1, .n = {100}, .kind = WEFT_R2C},
                "\n      1 line of 100 real points as 50 complex ones one by one, ");
    assert_says(&(weft_problem){.rank = 1, .n = {101}, .kind = WEFT_R2C},
                "\n      1 line of 101 real points one by one, Bluestein's convolution of ");
    assert_says(&(weft_problem){.rank = 1, .n = {1000}, .batch = 10000},
                "\n      10000 lines of 1000 points in tiles, radices 10 x 10 x 10\n");
    assert_says(&(weft_problem){.rank = 2, .n = {30, 1009}},
                " lines of 1009 points in tiles, Rader's convolution of 1008 points, radices ");
    assert_says(&(weft_problem){.rank = 2, .n = {30, 107}},
                " lines of 107 points in tiles, Bluestein's convolution of ");
    assert_says(
        &(weft_problem){.rank = 2, .n = {40, 50}, .kind = WEFT_R2R, .axis = {WEFT_DCT2, WEFT_DST4}},
        " lines of 50 real points as 25 complex ones in tiles, radices ");
}

static void reports_in_json_have_them_too(void **state) {
    (void)state;
    char *text = explain(&(weft_problem){.rank = 1, .n = {100}}, WEFT_ENGINE_NATIVE, WEFT_JSON);
    const char *solvers = strstr(text, "\"solvers\": [");
    assert_non_null(solvers);
    assert_non_null(strstr(solvers, "\"1 line of 100 points one by one, radices "));
    free(text);
}

static void other_engines_say_nothing(void **state) {
    (void)state;
    char *text = explain(&(weft_problem){.rank = 1, .n = {100}}, WEFT_ENGINE_REFERENCE, WEFT_JSON);
    assert_null(strstr(text, "solvers"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radices_of_a_line_are_its_factors),
        cmocka_unit_test(each_kind_of_pass_has_its_words),
        cmocka_unit_test(reports_in_json_have_them_too),
        cmocka_unit_test(other_engines_say_nothing),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
