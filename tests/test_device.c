/*
 * The contract of every device (device/device.h), tested on the host, the simulated device and,
 * where the library has it, the OpenMP device on the host. test_device_simulated.c tests what only
 * the simulated device does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device/allocations.h"
#include "device/device.h"
#include "support/error.h"
#ifdef WEFT_OPENMP_DEVICE
#include "device/openmp/openmp.h"
#endif

enum { COUNT = 1000, LIMIT = 1 << 20 };

/* One device, two arrays of doubles on it, one on the host. */
typedef struct fixture {
    const weft_device_ops *ops;
    weft_device_state *device;
    weft_queue *queue, *other;
    double *a, *b;       /* on the device */
    double *host, *back; /* page-locked */
} fixture;

static const weft_device tested[] = {WEFT_HOST, WEFT_SIMULATED, WEFT_OPENMP};

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    unsetenv("WEFT_SIMULATE");
    setenv("WEFT_OPENMP_DEVICE", "host", 1); /* where functions of this program can run */
    weft_device_settings settings = {.threads = 2, .memory_limit = LIMIT};
    f->ops = weft_device_find(*(const weft_device *)*state);
    assert_non_null(f->ops);
    ok(f->ops->open(&settings, &f->device));
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
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, f->a);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, f->b);
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, f->host);
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, f->back);
    f->ops->close(f->device);
    free(f);
    return 0;
}

/* ---- Work to put on queues. ---- */

static weft_copy run_of(int64_t elements) {
    return (weft_copy){.axes = 1,
                       .element_bytes = sizeof(double),
                       .elements = elements,
                       .n = {elements},
                       .src_stride = {1},
                       .dst_stride = {1}};
}

static void copy_all(const fixture *f, weft_queue *queue, const void *src, void *dst,
                     weft_transfer transfer) {
    weft_copy copy = run_of(COUNT);
    ok(f->ops->copy(f->device, queue, &copy, src, dst, transfer));
}

static void upload(const fixture *f, weft_queue *queue, double *dst) {
    copy_all(f, queue, f->host, dst, WEFT_HOST_TO_DEVICE);
}

static void download(const fixture *f, weft_queue *queue, const double *src) {
    copy_all(f, queue, src, f->back, WEFT_DEVICE_TO_HOST);
}

static void scale(const fixture *f, weft_queue *queue, double *data, double factor) {
    ok(f->ops->scale(f->device, queue, WEFT_DOUBLE, data, COUNT, factor));
}

static weft_status add_one(void *argument, const void *in, void *out) {
    (void)argument;
    for (int i = 0; i < COUNT; ++i) ((double *)out)[i] = ((const double *)in)[i] + 1;
    return WEFT_SUCCESS;
}

static weft_status add_one_late(void *argument, const void *in, void *out) {
    struct timespec delay = {0, 500000};
    nanosleep(&delay, NULL);
    return add_one(argument, in, out);
}

static weft_status fail_with_reason(void *argument, const void *in, void *out) {
    (void)in, (void)out;
    return weft_fail(WEFT_ERROR_ENGINE, "%s", (const char *)argument);
}

static weft_status fail_without_reason(void *argument, const void *in, void *out) {
    (void)argument, (void)in, (void)out;
    return WEFT_ERROR_ENGINE;
}

static void count_call(void *argument) {
    atomic_fetch_add((atomic_int *)argument, 1);
}

static void run(const fixture *f, weft_queue *queue, weft_device_function function, void *argument,
                const double *in, double *out) {
#ifdef WEFT_OPENMP_DEVICE
    if (f->ops->id == WEFT_OPENMP) { /* what its engine uses; the host's functions it has not */
        assert_null(f->ops->run);
        ok(weft_openmp_enqueue(f->device, queue, function, argument, in, out));
        return;
    }
#endif
    ok(f->ops->run(f->device, queue, function, argument, in, out));
}

static void expect_back(const fixture *f, double factor, double summand) {
    for (int i = 0; i < COUNT; ++i)
        if (f->back[i] != i * factor + summand)
            fail_msg("element %d is %g, not %g", i, f->back[i], i * factor + summand);
}

/* ---- Queues. ---- */

static void chain_on(fixture *f, weft_queue *queue) {
    upload(f, queue, f->a);
    for (int i = 0; i < 100; ++i) {
        run(f, queue, add_one, NULL, f->a, f->b);
        copy_all(f, queue, f->b, f->a, WEFT_DEVICE_TO_DEVICE);
    }
    scale(f, queue, f->a, 2);
    download(f, queue, f->a);
    ok(f->ops->queue_wait(f->device, queue));
    expect_back(f, 2, 200);
}

/* The queue gets more work than it has room for. */
static void work_of_a_queue_runs_in_order(void **state) {
    fixture *f = *state;
    chain_on(f, f->queue);
    memset(f->back, 0, COUNT * sizeof(double));
    chain_on(f, f->queue);
}

static void no_queue_stands_for_one_that_runs_in_order(void **state) {
    fixture *f = *state;
    chain_on(f, NULL);
}

static void waiting_for_an_idle_queue_returns(void **state) {
    fixture *f = *state;
    ok(f->ops->queue_wait(f->device, f->queue));
    ok(f->ops->queue_wait(f->device, NULL));
}

static void destroyed_queue_finishes_its_work(void **state) {
    fixture *f = *state;
    weft_queue *queue = NULL;
    ok(f->ops->queue_create(f->device, false, &queue));
    upload(f, queue, f->a);
    run(f, queue, add_one_late, NULL, f->a, f->a);
    download(f, queue, f->a);
    f->ops->queue_destroy(f->device, queue);
    expect_back(f, 1, 1);
}

static void single_precision_scales_with_one_rounding(void **state) {
    fixture *f = *state;
    float *values = (float *)f->host;
    for (int i = 0; i < COUNT; ++i) values[i] = (float)(1 + i * 0.1);
    upload(f, f->queue, f->a);
    ok(f->ops->scale(f->device, f->queue, WEFT_SINGLE, f->a, COUNT, 1.0 / 3));
    download(f, f->queue, f->a);
    ok(f->ops->queue_wait(f->device, f->queue));
    for (int i = 0; i < COUNT; ++i)
        assert_true(((float *)f->back)[i] == (float)((double)values[i] * (1.0 / 3)));
}

static void half_precision_is_not_scaled(void **state) {
    fixture *f = *state;
    weft_status status = f->ops->scale(f->device, f->queue, WEFT_HALF, f->a, COUNT, 2);
    assert_int_equal(status, WEFT_ERROR_UNSUPPORTED);
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

/* ---- Events. ---- */

static void event_orders_two_queues(void **state) {
    fixture *f = *state;
    weft_event *ready = NULL, *taken = NULL;
    ok(f->ops->event_create(f->device, &ready));
    ok(f->ops->event_create(f->device, &taken));
    upload(f, f->queue, f->a);
    for (int i = 0; i < 50; ++i) {
        run(f, f->queue, i % 10 ? add_one : add_one_late, NULL, f->a, f->a);
        ok(f->ops->event_record(f->device, f->queue, ready));
        ok(f->ops->event_await(f->device, f->other, ready));
        run(f, f->other, i % 10 == 5 ? add_one_late : add_one, NULL, f->a, f->a);
        ok(f->ops->event_record(f->device, f->other, taken));
        ok(f->ops->event_await(f->device, f->queue, taken));
    }
    download(f, f->queue, f->a);
    ok(f->ops->queue_wait(f->device, f->queue));
    ok(f->ops->queue_wait(f->device, f->other));
    expect_back(f, 1, 100);
    f->ops->event_destroy(f->device, ready);
    f->ops->event_destroy(f->device, taken);
}

static void event_carries_work_between_a_queue_and_none(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    upload(f, f->queue, f->a);
    run(f, f->queue, add_one_late, NULL, f->a, f->a);
    ok(f->ops->event_record(f->device, f->queue, event));
    ok(f->ops->event_await(f->device, NULL, event));
    run(f, NULL, add_one, NULL, f->a, f->a);
    ok(f->ops->event_record(f->device, NULL, event));
    ok(f->ops->event_await(f->device, f->other, event));
    download(f, f->other, f->a);
    ok(f->ops->queue_wait(f->device, f->other));
    ok(f->ops->queue_wait(f->device, f->queue));
    ok(f->ops->queue_wait(f->device, NULL));
    expect_back(f, 1, 2);
    f->ops->event_destroy(f->device, event);
}

static void event_never_recorded_is_not_waited_for(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    ok(f->ops->event_await(f->device, f->queue, event));
    ok(f->ops->queue_wait(f->device, f->queue));
    f->ops->event_destroy(f->device, event);
}

static void event_recorded_after_a_failure_releases_the_other_queue(void **state) {
    fixture *f = *state;
    weft_event *event = NULL;
    ok(f->ops->event_create(f->device, &event));
    run(f, f->queue, fail_with_reason, "no luck", f->a, f->a);
    ok(f->ops->event_record(f->device, f->queue, event));
    ok(f->ops->event_await(f->device, f->other, event));
    ok(f->ops->queue_wait(f->device, f->other));
    assert_int_equal(f->ops->queue_wait(f->device, f->queue), WEFT_ERROR_ENGINE);
    f->ops->event_destroy(f->device, event);
}

/* ---- Failures and callbacks. ---- */

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
    upload(f, f->queue, f->a);
    run(f, f->queue, add_one_late, NULL, f->a, f->a);
    download(f, f->queue, f->a);
    ok(f->ops->callback(f->device, f->queue, look, &s));
    ok(f->ops->queue_wait(f->device, f->queue));
    assert_true(s.value == COUNT);
    assert_false(pthread_equal(s.thread, pthread_self()));
}

static void failure_skips_what_follows_until_the_wait_but_not_callbacks(void **state) {
    fixture *f = *state;
    atomic_int calls = 0;
    upload(f, f->queue, f->a);
    download(f, f->queue, f->a);
    run(f, f->queue, fail_with_reason, "the first reason", f->a, f->a);
    ok(f->ops->callback(f->device, f->queue, count_call, &calls));
    run(f, f->queue, fail_with_reason, "the second reason", f->a, f->a);
    run(f, f->queue, add_one, NULL, f->a, f->a);
    download(f, f->queue, f->a);
    ok(f->ops->callback(f->device, f->queue, count_call, &calls));
    weft_thread_error_set("");
    assert_int_equal(f->ops->queue_wait(f->device, f->queue), WEFT_ERROR_ENGINE);
    assert_string_equal(weft_thread_error(), "the first reason");
    assert_int_equal(atomic_load(&calls), 2);
    expect_back(f, 1, 0);
}

static void queue_works_again_after_its_failure_was_reported(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 3; ++i) {
        run(f, f->queue, fail_with_reason, "again", f->a, f->a);
        assert_int_equal(f->ops->queue_wait(f->device, f->queue), WEFT_ERROR_ENGINE);
        ok(f->ops->queue_wait(f->device, f->queue));
        chain_on(f, f->queue);
    }
}

static void failure_stays_on_its_queue(void **state) {
    fixture *f = *state;
    run(f, f->queue, fail_with_reason, "mine", f->a, f->a);
    chain_on(f, f->other);
    assert_int_equal(f->ops->queue_wait(f->device, f->queue), WEFT_ERROR_ENGINE);
}

static void failure_without_a_reason_still_has_a_sentence(void **state) {
    fixture *f = *state;
    run(f, f->queue, fail_with_reason, "an old reason", f->a, f->a);
    (void)f->ops->queue_wait(f->device, f->queue);
    run(f, f->queue, fail_without_reason, NULL, f->a, f->a);
    weft_thread_error_set("");
    assert_int_equal(f->ops->queue_wait(f->device, f->queue), WEFT_ERROR_ENGINE);
    assert_string_not_equal(weft_thread_error(), "");
    assert_string_not_equal(weft_thread_error(), "an old reason");
}

/* ---- Memory and the table of devices. ---- */

static void memory_limit_is_kept(void **state) {
    fixture *f = *state;
    void *most = NULL, *more = f, *host = NULL;
    size_t taken = 2 * COUNT * sizeof(double);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
    weft_status status = f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 1, &more);
    assert_int_equal(status, WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_thread_error(), "limit"));
    assert_ptr_equal(more, f);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, 2 * LIMIT, &host));
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, host);
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, most);
    status = f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, SIZE_MAX, &more);
    assert_int_equal(status, WEFT_ERROR_OUT_OF_MEMORY);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, LIMIT - taken, &most));
    f->ops->free(f->device, WEFT_MEMORY_DEVICE, most);
}

static void memory_is_aligned_for_vectors_and_huge_pages(void **state) {
    fixture *f = *state;
    if (f->ops->id != WEFT_OPENMP) assert_int_equal((uintptr_t)f->a % 64, 0);
    assert_int_equal((uintptr_t)f->host % 64, 0);
    void *large = NULL;
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, (5 << 20) + 1, &large));
    assert_int_equal((uintptr_t)large % (2 << 20), 0);
    ((char *)large)[5 << 20] = 1;
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, large);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, 4 << 20, &large));
    assert_int_equal((uintptr_t)large % (2 << 20), 0);
    f->ops->free(f->device, WEFT_MEMORY_PAGE_LOCKED, large);
}

/* Whether the operating system was asked for huge pages at this address. */
static bool advised(const void *address) {
    char line[512];
    bool here = false, found = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long first, end;
        if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
            here = (uintptr_t)address >= first && (uintptr_t)address < end;
        found = here && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL;
    }
    if (maps) fclose(maps);
    return found;
}

static void huge_pages_are_asked_for_where_whole_ones_fit(void **state) {
    (void)state;
    enum { HUGE = 2 << 20, PAGE = 4096 };
    if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) skip();
    char *memory = mmap(NULL, 4 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    char *first = memory + (HUGE - (uintptr_t)memory % HUGE) % HUGE;
    weft_storage_advise(first + PAGE, 2 * HUGE - 2 * PAGE); /* none fits */
    assert_false(advised(first + PAGE));
    weft_storage_advise(first + PAGE, 2 * HUGE - PAGE);
    assert_false(advised(first + PAGE));
    assert_true(advised(first + HUGE));
    munmap(memory, 4 * HUGE);
    char *stored = weft_storage_allocate(2 * HUGE);
    assert_true(advised(stored));
    free(stored);
}

static void what_is_left_allocated_is_freed_on_close(void **state) {
    fixture *f = *state;
    void *left = NULL;
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, 1000, &left));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, 1000, &left));
}

static void device_is_found_by_its_id(void **state) {
    fixture *f = *state;
    const char *description = NULL;
    assert_ptr_equal(weft_device_find(f->ops->id), f->ops);
    assert_null(weft_device_find((weft_device)999));
    ok(f->ops->probe(&description));
    assert_non_null(description);
    ok(f->ops->probe(NULL));
}

#define ON_DEVICE(test, number, name)                                                              \
    { #test " (" name ")", test, setup, teardown, (void *)&tested[number] }
#ifdef WEFT_OPENMP_DEVICE
#define EACH_DEVICE(test)                                                                          \
    ON_DEVICE(test, 0, "host"), ON_DEVICE(test, 1, "simulated"), ON_DEVICE(test, 2, "openmp")
#else
#define EACH_DEVICE(test) ON_DEVICE(test, 0, "host"), ON_DEVICE(test, 1, "simulated")
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        EACH_DEVICE(device_is_found_by_its_id),
        EACH_DEVICE(work_of_a_queue_runs_in_order),
        EACH_DEVICE(no_queue_stands_for_one_that_runs_in_order),
        EACH_DEVICE(waiting_for_an_idle_queue_returns),
        EACH_DEVICE(destroyed_queue_finishes_its_work),
        EACH_DEVICE(single_precision_scales_with_one_rounding),
        EACH_DEVICE(half_precision_is_not_scaled),
        EACH_DEVICE(work_on_nothing_is_accepted),
        EACH_DEVICE(event_orders_two_queues),
        EACH_DEVICE(event_carries_work_between_a_queue_and_none),
        EACH_DEVICE(event_never_recorded_is_not_waited_for),
        EACH_DEVICE(event_recorded_after_a_failure_releases_the_other_queue),
        EACH_DEVICE(callback_sees_what_came_before_it),
        EACH_DEVICE(failure_skips_what_follows_until_the_wait_but_not_callbacks),
        EACH_DEVICE(queue_works_again_after_its_failure_was_reported),
        EACH_DEVICE(failure_stays_on_its_queue),
        EACH_DEVICE(failure_without_a_reason_still_has_a_sentence),
        EACH_DEVICE(memory_limit_is_kept),
        EACH_DEVICE(memory_is_aligned_for_vectors_and_huge_pages),
        cmocka_unit_test(huge_pages_are_asked_for_where_whole_ones_fit),
        EACH_DEVICE(what_is_left_allocated_is_freed_on_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
