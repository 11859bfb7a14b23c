/* The short check of a call lets pass what the full one does, and nothing else. */
#include "exec/arguments.h"
#include "one_context.h"

#include <stdlib.h>

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
    for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
        const weft_problem problem = {
            .rank = 2, .n = {3, 8}, .kind = kind[i / 3 % 2], .precision = precision[i / 6 % 2]};
        const weft_options options = {.placement = placement[i % 3], .convolve = i / 12};
        weft_plan plan = NULL;
        assert_int_equal(weft_plan_create(ctx, &problem, &options, &plan), WEFT_SUCCESS);
        for (int dir = -1; dir <= WEFT_DIRECTIONS; dir++)
            compare_around(plan, (weft_direction)dir, room);
        weft_plan_destroy(&plan);
    }
    free(storage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_checks_say_the_same),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
