/*
 * Devices with kernels, besides copies (copies.c) and kernels (kernels.c): queues, events,
 * callbacks, scaling, memory and its limit. tests/test_device.c tests more on the host and the
 * simulated device, which run functions of the host.
 */
#include "device_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { COUNT = 1000, LIMIT = 1 << 20 };

typedef struct fixture {
    const weft_device_ops *ops;
    weft_device_state *device;
    weft_queue *queue, *other;
    double *a, *b;       /* on the device */
    double *host, *back; /* page-locked */
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ops = tested_ops();
    f->device = open_device(f->ops, LIMIT);
    ok(f->ops->queue_create(f->device, false, &f->queue));
    ok(f->ops->queue_create(f->device, false, &f->other));
    size_t bytes = COUNT * sizeof(double);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->a));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->b));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->host));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->back));
    for (int i = 0; i < COUNT; ++i) f->host[i] = i;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    f->ops->queue_destroy(f->device, f->queue);
    f->ops->queue_destroy(f->device, f->other);
    f->ops->close(f->device); /* frees what is left */
    free(f);
    return 0;
}

static void copy_all(const fixture *f, weft_queue *queue, const void *src, void *dst,
                     weft_transfer transfer) {
    weft_copy copy = weft_copy_of_run(COUNT, sizeof(double));
    ok(f->ops->copy(f->device, queue, &copy, src, dst, transfer));
}

static void scale(const fixture *f, weft_queue *queue, double *data, double factor) {
    ok(f->ops->scale(f->device, queue, WEFT_DOUBLE, data, COUNT, factor));
}

static void expect_back(const fixture *f, double factor) {
    for (int i = 0; i < COUNT; ++i)
        if (f->back[i] != i * factor)
            fail_msg("element %d is %g, not %g", i, f->back[i], i * factor);
}

static void chain_on(fixture *f, weft_queue *queue) {
    copy_all(f, queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    for (int i = 0; i < 20; ++i) {
        scale(f, queue, f->a, 2);
        copy_all(f, queue, f->a, f->b, WEFT_DEVICE_TO_DEVICE);
        scale(f, queue, f->b, 0.5);
        copy_all(f, queue, f->b, f->a, WEFT_DEVICE_TO_DEVICE);
    }
    scale(f, queue, f->a, 3);
    copy_all(f, queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, queue));
    expect_back(f, 3);
}

static void work_of_a_queue_runs_in_order(void **state) {
    fixture *f = *state;
    chain_on(f, f->queue);
    memset(f->back, 0, COUNT * sizeof(double));
    chain_on(f, NULL);
}

static void event_orders_two_queues(void **state) {
    fixture *f = *state;
    weft_event *ready = NULL, *taken = NULL;
    ok(f->ops->event_create(f->device, &ready));
    ok(f->ops->event_create(f->device, &taken));
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    for (int i = 0; i < 40; ++i) {
        scale(f, f->queue, f->a, 2);
        ok(f->ops->event_record(f->device, f->queue, ready));
        ok(f->ops->event_await(f->device, f->other, ready));
        copy_all(f, f->other, f->a, f->b, WEFT_DEVICE_TO_DEVICE);
        scale(f, f->other, f->b, 0.5);
        ok(f->ops->event_record(f->device, f->other, taken));
        ok(f->ops->event_await(f->device, f->queue, taken));
        copy_all(f, f->queue, f->b, f->a, WEFT_DEVICE_TO_DEVICE);
    }
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, f->queue));
    expect_back(f, 1);
    f->ops->event_destroy(f->device, ready);
    f->ops->event_destroy(f->device, taken);
}

static void event_never_recorded_is_not_waited_for(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    ok(f->ops->event_await(f->device, f->queue, event));
    ok(f->ops->queue_wait(f->device, f->queue));
    f->ops->event_destroy(f->device, event);
}

typedef struct seen {
    const double *back;
    double value;
    pthread_t thread;
} seen;

static void look(void *argument) {
    seen *s = argument;
    s->value = s->back[COUNT - 1];
    s->thread = pthread_self();
}

static void callback_sees_what_came_before_it(void **state) {
    fixture *f = *state;
    seen s = {.back = f->back};
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    scale(f, f->queue, f->a, 5);
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->callback(f->device, f->queue, look, &s));
    ok(f->ops->queue_wait(f->device, f->queue));
    assert_true(s.value == 5 * (COUNT - 1));
    /* OpenCL may call the function on this thread if all work is done already. */
    if (f->ops->id == WEFT_CUDA) assert_false(pthread_equal(s.thread, pthread_self()));
}

static void single_precision_scales_with_one_rounding(void **state) {
    fixture *f = *state;
    float *values = (float *)f->host;
    for (int i = 0; i < COUNT; ++i) values[i] = (float)(1 + i * 0.1);
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    ok(f->ops->scale(f->device, f->queue, WEFT_SINGLE, f->a, COUNT - 3, 1.0 / 3));
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, f->queue));
    for (int i = 0; i < COUNT; ++i) {
        float expected = i < COUNT - 3 ? (float)((double)values[i] * (1.0 / 3)) : values[i];
        assert_true(((float *)f->back)[i] == expected);
    }
    assert_int_equal(f->ops->scale(f->device, f->queue, WEFT_HALF, f->a, COUNT, 2),
                     WEFT_ERROR_UNSUPPORTED);
}

static void work_on_nothing_is_accepted(void **state) {
    fixture *f = *state;
    weft_copy none = {.element_bytes = 8};
    void *memory = f;
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 0, &memory));
    assert_null(memory);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, memory);
    ok(f->ops->copy(f->device, f->queue, &none, NULL, NULL, WEFT_DEVICE_TO_DEVICE));
    ok(f->ops->scale(f->device, f->queue, WEFT_DOUBLE, NULL, 0, 2));
    ok(f->ops->queue_wait(f->device, f->queue));
}

static void memory_limit_is_kept(void **state) {
    fixture *f = *state;
    void *most = NULL, *more = f, *host = NULL;
    size_t taken = 2 * COUNT * sizeof(double);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
    assert_int_equal(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 1, &more),
                     WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_thread_error(), "limit"));
    assert_ptr_equal(more, f);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, 2 * LIMIT, &host));
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, host);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, most);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
}

static void too_much_memory_is_refused_with_a_sentence(void **state) {
    (void)state;
    const weft_device_ops *ops = tested_ops();
    weft_device_state *device = open_device(ops, 0);
    void *memory = NULL;
    assert_int_equal(ops->allocate(device, WEFT_MEMORY_DEVICE, (size_t)1 << 62, &memory),
                     WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_thread_error(), "device memory"));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, 100, &memory));
    ops->close(device);
}

static void too_much_memory_leaves_the_queues_as_they_were(void **state) {
    fixture *f = *state;
    void *memory = NULL;
    copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    scale(f, f->queue, f->a, 3);
    assert_int_equal(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 2 * (size_t)LIMIT, &memory),
                     WEFT_ERROR_OUT_OF_MEMORY);
    copy_all(f, f->queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, f->queue));
    expect_back(f, 3);
}

static void count_call(void *argument) {
    atomic_fetch_add((atomic_int *)argument, 1);
}

static void every_callback_has_come_when_the_queue_was_waited_for(void **state) {
    fixture *f = *state;
    atomic_int calls = 0;
    for (int i = 0; i < 50; ++i) {
        scale(f, i % 2 ? f->queue : NULL, i % 2 ? f->a : f->b, 1);
        ok(f->ops->callback(f->device, i % 2 ? f->queue : NULL, count_call, &calls));
    }
    ok(f->ops->queue_wait(f->device, f->queue));
    ok(f->ops->queue_wait(f->device, NULL));
    assert_int_equal(atomic_load(&calls), 50);
}

static void event_is_done_once_its_queue_was_waited_for(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    for (int i = 0; i < 5; ++i) {
        copy_all(f, f->queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
        ok(f->ops->event_record(f->device, f->queue, event));
        while (i % 2 && !f->ops->event_done(f->device, event)) continue;
        ok(f->ops->queue_wait(f->device, f->queue));
        assert_true(f->ops->event_done(f->device, event));
    }
    f->ops->event_destroy(f->device, event);
}

static void destroyed_queue_finishes_its_work(void **state) {
    fixture *f = *state;
    weft_queue *queue = NULL;
    atomic_int calls = 0;
    ok(f->ops->queue_create(f->device, false, &queue));
    copy_all(f, queue, f->host, f->a, WEFT_HOST_TO_DEVICE);
    scale(f, queue, f->a, 2);
    copy_all(f, queue, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->callback(f->device, queue, count_call, &calls));
    f->ops->queue_destroy(f->device, queue);
    assert_int_equal(atomic_load(&calls), 1);
    expect_back(f, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(work_of_a_queue_runs_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(event_orders_two_queues, setup, teardown),
        cmocka_unit_test_setup_teardown(event_never_recorded_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(callback_sees_what_came_before_it, setup, teardown),
        cmocka_unit_test_setup_teardown(single_precision_scales_with_one_rounding, setup, teardown),
        cmocka_unit_test_setup_teardown(work_on_nothing_is_accepted, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_limit_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(too_much_memory_leaves_the_queues_as_they_were, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_callback_has_come_when_the_queue_was_waited_for,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(event_is_done_once_its_queue_was_waited_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(destroyed_queue_finishes_its_work, setup, teardown),
        cmocka_unit_test(too_much_memory_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
