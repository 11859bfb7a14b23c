/* The short check of a call lets pass what the full one does, and nothing else. */
#include "exec/arguments.h"
#include "one_context.h"

#include <stdlib.h>
#include <string.h>

static void compare_checks(weft_plan plan, weft_direction dir, const char *in, const char *out) {
    const bool fits = weft_arguments_fit(plan, dir, in, out);
    const bool valid = weft_arguments_check(plan, dir, in, NULL, out) == WEFT_SUCCESS;
    if (fits != valid)
        fail_msg("direction %d, in %p, out %p: the short check says %s, the full one %s", (int)dir,
                 (const void *)in, (const void *)out, fits ? "valid" : "not",
                 valid ? "valid" : "not");
}

/* All pairs of addresses around the ends of either array, and NULL. */
static void compare_around(weft_plan plan, weft_direction dir, const char *room) {
    enum { NEAR = 3 };
    static const ptrdiff_t near[] = {-16, -8, -4, -1, 0, 1, 4, 8, 16};
    const int nears = sizeof near / sizeof near[0];
    size_t bytes[2];
    weft_plan_bytes(plan, WEFT_INPUT, &bytes[0]);
    weft_plan_bytes(plan, WEFT_OUTPUT, &bytes[1]);
    const ptrdiff_t from[] = {0, (ptrdiff_t)bytes[0], (ptrdiff_t)bytes[1]};
    compare_checks(plan, dir, NULL, NULL);
    compare_checks(plan, dir, room, NULL);
    compare_checks(plan, dir, NULL, room);
    for (int f = 0; f < NEAR; f++)
        for (int i = 0; i < nears; i++) {
            compare_checks(plan, dir, room, room + from[f] + near[i]);
            compare_checks(plan, dir, room + from[f] + near[i], room);
            compare_checks(plan, dir, room + near[i], room + near[i]);
        }
}

static void both_checks_say_the_same(void **state) {
    (void)state;
    static const weft_placement placement[] = {WEFT_PLACEMENT_ANY, WEFT_IN_PLACE,
                                               WEFT_OUT_OF_PLACE};
    static const weft_kind kind[] = {WEFT_C2C, WEFT_R2C};
    static const weft_precision precision[] = {WEFT_DOUBLE, WEFT_SINGLE};
    char *storage = malloc(8192), *room = storage + 4096 - (uintptr_t)storage % 64;
    assert_non_null(storage);
    for (int i = 0; i < 3 * 2 * 2 * 4; i++) {
        const weft_problem problem = {
            .rank = 2, .n = {3, 8}, .kind = kind[i / 3 % 2], .precision = precision[i / 6 % 2]};
        const int only = i / 12; /* 1: convolve, too; 2, 3: one direction alone */
        const weft_options options = {.placement = placement[i % 3],
                                      .convolve = only == 1,
                                      .direction = only > 1 ? only - 1 : 0};
        weft_plan plan = NULL;
        assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
        for (int dir = -1; dir <= WEFT_DIRECTIONS; dir++)
            compare_around(plan, (weft_direction)dir, room);
        weft_plan_destroy(&plan);
    }
    free(storage);
}

/* What is planned for one direction is what is planned for it beside the other one. */
static void plans_of_one_direction_execute_that_alone(void **state) {
    (void)state;
    enum { X = 6, Y = 10, HALF = X * (Y / 2 + 1) * 2 };
    double in[HALF], out[2][HALF];
    const weft_problem problem = {.rank = 2, .n = {X, Y}, .kind = WEFT_R2C};
    for (int i = 0; i < HALF; i++) in[i] = (i * 7) % 11 - 5;
    for (int dir = WEFT_FORWARD; dir <= WEFT_INVERSE; dir++) {
        const weft_direction other = dir == WEFT_FORWARD ? WEFT_INVERSE : WEFT_FORWARD;
        weft_options options = {.direction = 1 + dir};
        weft_plan any = NULL, one = NULL;
        assert_int_equal(weft_plan_create(ctx, &problem, NULL, &any), WEFT_SUCCESS);
        assert_int_equal(weft_plan_create(ctx, &problem, &options, &one), WEFT_SUCCESS);
        memset(out, 0x5a, sizeof out);
        assert_int_equal(weft_execute(any, (weft_direction)dir, in, out[0]), WEFT_SUCCESS);
        assert_int_equal(weft_execute(one, (weft_direction)dir, in, out[1]), WEFT_SUCCESS);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_int_equal(weft_execute(one, other, in, out[1]), WEFT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(weft_last_error(ctx), "options.direction"));
        options = (weft_options){.struct_size = sizeof options};
        assert_int_equal(weft_plan_options(one, &options), WEFT_SUCCESS);
        assert_int_equal(options.direction, 1 + dir);
        weft_plan_destroy(&any);
        weft_plan_destroy(&one);
    }
}

static void convolutions_are_refused_one_direction(void **state) {
    (void)state;
    const double covariance = 1;
    const weft_convolution_problem problem = {
        .rank = 1, .n = {8}, .kernel = {.kind = WEFT_KERNEL_GAUSSIAN, .covariance = &covariance}};
    const weft_options options = {.direction = 1 + WEFT_FORWARD};
    weft_plan plan = NULL;
    assert_int_equal(weft_convolution_create(ctx, &problem, &options, &plan),
                     WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(ctx), "options.direction"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_checks_say_the_same),
        cmocka_unit_test(plans_of_one_direction_execute_that_alone),
        cmocka_unit_test(convolutions_are_refused_one_direction),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
