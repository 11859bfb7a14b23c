/*
 * Plans in a program, or a thread, that has chosen a locale with a decimal comma: kernels are text,
 * and must be the same text. Results are compared, bit by bit, with those of the C locale. The
 * locale de_DE.UTF-8 must be there (LOCPATH; the tests' fixture `locales` makes it).
 */
#include "device_test.h"

#include <locale.h>
#include <stdio.h>

static weft_context ctx;

static void ok_here(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

enum { N = 30, BYTES = N * 16 };

/* Operators for every kind of number in a kernel's text: factors of both precisions, and a range of
 * decibels. */
static const weft_operator scale[] = {{.kind = WEFT_OPERATOR_SCALE, .factor = 1.25e-3}};
static const weft_problem problems[] = {
    {.rank = 1, .n = {N}, .load = {scale, 1}, .norm = WEFT_NORM_FORWARD},
    {.rank = 1, .n = {N}, .precision = WEFT_SINGLE, .load = {scale, 1}},
    {.rank = 1, .n = {N}, .kind = WEFT_R2C, .spectral = {scale, 1}, .norm = WEFT_NORM_ORTHO},
    {.rank = 1,
     .n = {N},
     .kind = WEFT_R2C,
     .spectral_storage = WEFT_STORAGE_DECIBEL_U8,
     .decibels = {-12.625, 37.75}}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void transform(const weft_problem *problem, weft_engine engine, char result[BYTES]) {
    const weft_options options = {.device = tested_id(),
                                  .engine = engine,
                                  .location = WEFT_LOCATION_HOST,
                                  .placement = WEFT_OUT_OF_PLACE};
    weft_plan plan = NULL;
    union {
        double numbers[BYTES / 8];
        float singles[BYTES / 4];
    } in = {{0}};
    for (int i = 0; i < BYTES / 8; i++) in.numbers[i] = i * 37 % 20 - 9.5;
    for (int i = 0; i < BYTES / 4 && problem->precision == WEFT_SINGLE; i++)
        in.singles[i] = (float)(i * 37 % 20) - 9.5f;
    memset(result, 0, BYTES);
    ok_here(weft_plan_create(ctx, problem, &options, &plan));
    ok_here(weft_execute(plan, WEFT_FORWARD, &in, result));
    weft_plan_destroy(&plan);
}

static bool has_comma(void) {
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    return strcmp(text, "0,5") == 0;
}

/* Sets the locale of the program, or of this thread alone. */
static void begin_comma(bool of_thread) {
    setlocale(LC_ALL, "de_DE.UTF-8");
    if (of_thread) { /* not by newlocale, which loses memory where there is LOCPATH (glibc 2.36) */
        uselocale(duplocale(LC_GLOBAL_LOCALE));
        setlocale(LC_ALL, "C");
    }
    if (!has_comma()) fail_msg("the locale de_DE.UTF-8 is not there; LOCPATH names its folder");
}

static void end_comma(void) {
    const locale_t used = uselocale(LC_GLOBAL_LOCALE);
    if (used != LC_GLOBAL_LOCALE) freelocale(used);
    setlocale(LC_ALL, "C");
}

static void results_are_the_same_in_every_locale(void **state) {
    (void)state;
    static char expected[PROBLEMS][2][BYTES], result[BYTES];
    const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_JIT};
    for (int of_thread = -1; of_thread < 2; of_thread++)
        for (int i = 0; i < PROBLEMS; i++)
            for (int e = 0; e < 2; e++) {
                if (of_thread >= 0) begin_comma(of_thread);
                transform(&problems[i], engines[e], of_thread < 0 ? expected[i][e] : result);
                end_comma();
                if (of_thread >= 0 && memcmp(result, expected[i][e], BYTES) != 0)
                    fail_msg("problem %d, engine %d: with a decimal comma %s the result is another",
                             i, e, of_thread ? "of the thread" : "of the program");
            }
}

static void a_sentence_has_points_in_every_locale(void **state) {
    (void)state;
    const weft_operator window[] = {
        {.kind = WEFT_OPERATOR_WINDOW,
         .window = {{.kind = WEFT_WINDOW_GAUSSIAN, .parameter = -0.5}}}};
    const weft_problem problem = {.rank = 1, .n = {N}, .load = {window, 1}};
    weft_plan plan = NULL;
    begin_comma(false);
    const weft_status status = weft_plan_create(ctx, &problem, NULL, &plan);
    end_comma();
    assert_int_equal(status, WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), " -0.5;"));
}

static void a_plan_is_explained_with_points_in_every_locale(void **state) {
    (void)state;
    static char text[2][1 << 16];
    for (int format = WEFT_TEXT; format <= WEFT_JSON; format++) {
        weft_plan plan = NULL;
        ok_here(weft_plan_create(ctx, &problems[0], NULL, &plan));
        for (int comma = 0; comma < 2; comma++) {
            memset(text[comma], 0, sizeof text[comma]);
            FILE *stream = fmemopen(text[comma], sizeof text[comma], "w");
            assert_non_null(stream);
            if (comma) begin_comma(true);
            ok_here(weft_plan_explain(plan, stream, (weft_format)format));
            end_comma();
            fclose(stream);
        }
        assert_string_equal(text[0], text[1]);
        assert_non_null(strstr(text[0], "0.00125"));
        weft_plan_destroy(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_same_in_every_locale),
        cmocka_unit_test(a_sentence_has_points_in_every_locale),
        cmocka_unit_test(a_plan_is_explained_with_points_in_every_locale),
    };
    (void)tested_ops(); /* skipped where there is none */
    if (weft_context_create(NULL, &ctx) != WEFT_SUCCESS) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return failed;
}
