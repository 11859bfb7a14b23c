/*
 * The little of cmocka that the tests of engines and of the CUDA device use, for machines that have
 * none: those that run in an emulator (tests/neon/run), GPU machines (-DWEFT_GPU_TESTS=ON).
 */
#ifndef WEFT_TESTS_NEON_CMOCKA_H
#define WEFT_TESTS_NEON_CMOCKA_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*set_up)(void **state), (*tear_down)(void **state);
    void *initial_state;
};

enum { CMOCKA_FAILED = 1, CMOCKA_SKIPPED = 2 };
static jmp_buf cmocka_end_of_test;

#define print_message(...) ((void)printf(__VA_ARGS__))
#define print_error(...) ((void)fprintf(stderr, __VA_ARGS__))
#define skip() longjmp(cmocka_end_of_test, CMOCKA_SKIPPED)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("%s:%d: ", __FILE__, __LINE__);                                                     \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        longjmp(cmocka_end_of_test, CMOCKA_FAILED);                                                \
    } while (0)
#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) fail_msg("%s", #condition);                                              \
    } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_non_null(a) assert_true((a) != NULL)
#define assert_null(a) assert_true((a) == NULL)
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp(a, b, size) == 0)

#define cmocka_unit_test(function)                                                                 \
    { #function, function, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(function, set_up, tear_down)                               \
    { #function, function, set_up, tear_down, NULL }

/* A function of its own, so that no variable of the loop is lost in the jump. */
static inline int cmocka_run_test(const struct CMUnitTest *test) {
    int end = setjmp(cmocka_end_of_test);
    if (end != 0) return end;
    void *state = test->initial_state;
    if (test->set_up && test->set_up(&state) != 0) return CMOCKA_FAILED;
    test->test(&state);
    if (test->tear_down && test->tear_down(&state) != 0) return CMOCKA_FAILED;
    return 0;
}

static inline int cmocka_run_tests(const struct CMUnitTest *tests, size_t count,
                                   int (*set_up)(void **), int (*tear_down)(void **)) {
    static const char *const verdict[] = {"ok", "FAILED", "skipped"};
    int failed = 0;
    void *state = NULL;
    if (set_up && set_up(&state) != 0) {
        printf("FAILED  what the tests begin with\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        const int end = cmocka_run_test(&tests[i]);
        printf("%-7s %s\n", verdict[end], tests[i].name);
        failed += end == CMOCKA_FAILED;
    }
    if (tear_down && tear_down(&state) != 0) failed++;
    return failed;
}
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    cmocka_run_tests(tests, sizeof(tests) / sizeof(tests)[0], set_up, tear_down)

#endif
