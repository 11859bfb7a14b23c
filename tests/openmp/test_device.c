/*
 * The OpenMP device's own: which device it is, how it copies, its queues, what it refuses, and a
 * cube there and back. tests/test_device.c and tests/devices/copies.c hold it to what all devices
 * promise.
 */
#include "devices/device_test.h"

#include <weft/weft.h>

#include <complex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "device/openmp/queue.h"

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

/* ---- queues ---- */

enum { PIECES = 300 /* more than there is room for at a time */ };

/* Work that a thread of a library's ends, late. */
typedef struct late {
    weft_device_state *device;
    pthread_t thread;
    const weft_work *work;
    int *next; /* the number of the piece that is to run next */
    int number;
    bool fails, in_order;
} late;

static void *end_late(void *argument) {
    late *l = argument;
    const struct timespec moment = {.tv_nsec = 200000};
    nanosleep(&moment, NULL);
    l->in_order = (*l->next)++ == l->number;
    weft_openmp_work_end(l->work,
                         l->fails ? weft_fail(WEFT_ERROR_ENGINE, "late and lost") : WEFT_SUCCESS);
    return NULL;
}

static weft_status begin_late(void *piece, const weft_work *work) {
    late *l = piece;
    l->work = work;
    if (pthread_create(&l->thread, NULL, end_late, l) != 0)
        return weft_fail(WEFT_ERROR_SYSTEM, "no thread");
    return WEFT_SUCCESS;
}

static weft_status refuse_late(void *piece, const weft_work *work) {
    (void)piece, (void)work;
    return weft_fail(WEFT_ERROR_UNSUPPORTED, "not begun");
}

/* A callback between pieces. */
static void look_late(void *argument) {
    late *l = argument;
    l->in_order = (*l->next)++ == l->number;
}

static void begin(weft_queue *queue, late *l) {
    const weft_work work = {.kind = WEFT_WORK_BEGIN, .own = begin_late, .context = l};
    weft_openmp_queue_put(queue, &work);
}

/* On three queues, each of which waits now and then for the one before. */
static void work_that_ends_late_keeps_its_place(void **state) {
    (void)state;
    static late pieces[3][PIECES];
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    weft_queue *queue[3];
    weft_event *event[3];
    int next[3] = {0};
    for (int q = 0; q < 3; q++) {
        ok(ops->queue_create(device, false, &queue[q]));
        ok(ops->event_create(device, &event[q]));
    }
    for (int i = 0; i < PIECES; i++)
        for (int q = 0; q < 3; q++) {
            late *l = &pieces[q][i];
            *l = (late){.device = device, .next = &next[q], .number = i};
            if (i % 4 == q)
                ok(ops->callback(device, queue[q], look_late, l));
            else
                begin(queue[q], l);
            if (i % 5 == 0) {
                ok(ops->event_record(device, queue[q], event[q]));
                ok(ops->event_await(device, queue[(q + 1) % 3], event[q]));
            }
        }
    for (int q = 0; q < 3; q++) {
        ok(ops->queue_wait(device, queue[q]));
        assert_int_equal(next[q], PIECES);
        for (int i = 0; i < PIECES; i++) {
            if (i % 4 != q) pthread_join(pieces[q][i].thread, NULL);
            assert_true(pieces[q][i].in_order);
        }
        assert_true(ops->event_done(device, event[q]));
        ops->event_destroy(device, event[q]);
        ops->queue_destroy(device, queue[q]);
    }
    ops->close(device);
}

static void work_that_fails_late_or_is_not_begun_fails_its_queue(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    weft_queue *queue;
    int next = 0;
    late lost = {.device = device, .next = &next, .fails = true}, skipped = lost, after = lost;
    const weft_work refused = {.kind = WEFT_WORK_BEGIN, .own = refuse_late};
    ok(ops->queue_create(device, false, &queue));
    begin(queue, &lost);
    begin(queue, &skipped);
    assert_int_equal(ops->queue_wait(device, queue), WEFT_ERROR_ENGINE);
    assert_string_equal(weft_thread_error(), "late and lost");
    pthread_join(lost.thread, NULL);
    assert_null(skipped.work);
    weft_openmp_queue_put(queue, &refused);
    assert_int_equal(ops->queue_wait(device, queue), WEFT_ERROR_UNSUPPORTED);
    assert_string_equal(weft_thread_error(), "not begun");
    after.fails = false;
    begin(queue, &after);
    ok(ops->queue_wait(device, queue));
    pthread_join(after.thread, NULL);
    ops->queue_destroy(device, queue);
    ops->close(device);
}

/* Waits for its like on the other queue, for a fifth of a second if there is no hope. */
static void meet(void *argument) {
    atomic_int *here = argument;
    const bool alone = getenv("OMP_THREAD_LIMIT") != NULL;
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_fetch_add(here, 1);
    for (int i = 0; atomic_load(here) < 2 && i < (alone ? 200 : 60000); i++)
        nanosleep(&moment, NULL);
    if (atomic_load(here) >= 2) atomic_fetch_add(here, 10);
}

static void queues_work_at_the_same_time(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    weft_queue *queue;
    atomic_int here = 0;
    ok(ops->queue_create(device, false, &queue));
    ok(ops->callback(device, NULL, meet, &here));
    ok(ops->callback(device, queue, meet, &here));
    ok(ops->queue_wait(device, queue));
    ok(ops->queue_wait(device, NULL));
    assert_int_equal(atomic_load(&here), getenv("OMP_THREAD_LIMIT") ? 12 : 22);
    ops->queue_destroy(device, queue);
    ops->close(device);
}

/* ---- plans ---- */

static weft_status plan_with(const weft_problem *problem, weft_options options, weft_plan *plan) {
    options.device = WEFT_OPENMP;
    options.location = WEFT_LOCATION_HOST;
    return weft_plan_create(context, problem, &options, plan);
}

/* Code is the host's function: nothing compiles a snippet. */
static void snippets_and_engines_of_the_host_are_refused(void **state) {
    (void)state;
    const weft_operator snippet = {.kind = WEFT_OPERATOR_FUNCTION, .snippet = "value.x += 1;"};
    const weft_problem operated = {.rank = 1, .n = {8}, .load = {&snippet, 1}};
    const weft_problem plain = {.rank = 1, .n = {8}};
    weft_plan plan = NULL;
    weft_status status = plan_with(&operated, (weft_options){0}, &plan);
    expect_refused(status, WEFT_ERROR_UNSUPPORTED, weft_last_error(context), "device openmp");
    status = plan_with(&plain, (weft_options){.engine = WEFT_ENGINE_NATIVE}, &plan);
    expect_refused(status, WEFT_ERROR_UNSUPPORTED, weft_last_error(context), "openmp");
    assert_null(plan);
}

/* With the stand-in for CUDA, which does not know this memory, or without any. */
static void cufft_is_refused_where_memory_is_no_gpus(void **state) {
    (void)state;
    const weft_problem plain = {.rank = 1, .n = {8}};
    weft_plan plan = NULL;
    setenv("WEFT_OPENMP_DEVICE", "host", 1);
    const weft_status status =
        plan_with(&plain, (weft_options){.engine = WEFT_ENGINE_CUFFT}, &plan);
    expect_refused(status, WEFT_ERROR_UNSUPPORTED, weft_last_error(context),
                   getenv("WEFT_CUDA_LIBRARY_PATH") ? "not that of an NVIDIA GPU" : "");
    assert_null(plan);
    unsetenv("WEFT_OPENMP_DEVICE");
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
        cmocka_unit_test(work_that_ends_late_keeps_its_place),
        cmocka_unit_test(work_that_fails_late_or_is_not_begun_fails_its_queue),
        cmocka_unit_test(queues_work_at_the_same_time),
        cmocka_unit_test(snippets_and_engines_of_the_host_are_refused),
        cmocka_unit_test(cufft_is_refused_where_memory_is_no_gpus),
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
