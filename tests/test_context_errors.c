/* What went wrong in a context that several threads use: each is told its own failure, whole. The
 * thread sanitizer has a label for this. */
#include "one_context.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, TURNS = 500 };

/* A mistake, and what the sentence about it begins with. */
static const struct {
    weft_problem problem;
    const char *sentence;
} mistakes[THREADS] = {{{.rank = 77}, "problem.rank is 77"},
                       {{.rank = 2, .n = {3, -55}}, "problem.n[1] is -55"},
                       {{.rank = 1, .n = {4}, .batch = -66}, "problem.batch is -66"}};

static void *err(void *argument) {
    const int me = *(int *)argument;
    const weft_problem line = {.rank = 1, .n = {4}};
    const size_t length = strlen(mistakes[me].sentence);
    weft_plan plan = NULL;
    weft_box box;
    int told = 0;
    if (weft_plan_create(ctx, &line, NULL, &plan) != WEFT_SUCCESS) return argument;
    for (int i = 0; i < TURNS; i++) {
        const char *first = weft_last_error(ctx);
        if (strlen(first) > 1000) break; /* read while others write */
        weft_plan none = NULL;
        weft_plan_create(ctx, &mistakes[me].problem, NULL, &none);
        told += strncmp(weft_last_error(ctx), mistakes[me].sentence, length) == 0;
        weft_plan_box(plan, WEFT_INPUT, 100 + me, &box);
        told += strstr(weft_last_error(ctx), "weft_plan_box") != NULL;
        weft_execute(plan, WEFT_FORWARD, NULL, NULL);
        told += strstr(weft_last_error(ctx), "in is NULL") != NULL;
    }
    weft_plan_destroy(&plan);
    return told == 3 * TURNS ? NULL : argument;
}

static void each_thread_is_told_its_own_failure(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, err, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        if (failed) fail_msg("thread %d was told of another failure than its own", i);
    }
}

static void *err_once(void *context) {
    const weft_problem wrong = {.rank = 9};
    weft_plan plan = NULL;
    weft_plan_create(*(weft_context *)context, &wrong, NULL, &plan);
    return NULL;
}

/* As when a thread works and another one reports. */
static void failures_of_other_threads_are_told_where_there_is_no_own(void **state) {
    (void)state;
    pthread_t thread;
    weft_context shared = NULL;
    weft_plan plan = NULL;
    assert_int_equal(weft_context_create(NULL, &shared), WEFT_SUCCESS);
    assert_string_equal(weft_last_error(shared), "");
    assert_int_equal(pthread_create(&thread, NULL, err_once, &shared), 0);
    pthread_join(thread, NULL);
    const char *said = weft_last_error(shared);
    assert_non_null(strstr(said, "problem.rank is 9"));
    assert_int_equal(weft_plan_create(shared, NULL, NULL, &plan), WEFT_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(weft_last_error(shared), "problem is NULL"));
    weft_context_destroy(&shared);
}

/* Of two contexts in turn, and of one that has got the address of another. */
static void failures_stay_with_their_contexts(void **state) {
    (void)state;
    const weft_problem wrong = {.rank = 9};
    weft_plan plan = NULL;
    for (int i = 0; i < 20; i++) {
        weft_context one = NULL, other = NULL;
        assert_int_equal(weft_context_create(NULL, &one), WEFT_SUCCESS);
        assert_int_equal(weft_context_create(NULL, &other), WEFT_SUCCESS);
        assert_string_equal(weft_last_error(one), "");
        weft_plan_create(one, &wrong, NULL, &plan);
        assert_string_equal(weft_last_error(other), "");
        weft_plan_create(other, NULL, NULL, &plan);
        assert_non_null(strstr(weft_last_error(one), "rank is 9"));
        assert_non_null(strstr(weft_last_error(other), "problem is NULL"));
        weft_context_destroy(&other);
        weft_context_destroy(&one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_is_told_its_own_failure),
        cmocka_unit_test(failures_of_other_threads_are_told_where_there_is_no_own),
        cmocka_unit_test(failures_stay_with_their_contexts),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
