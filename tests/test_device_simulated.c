/*
 * What the simulated device catches, and the failures that WEFT_SIMULATE asks it for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "support/clock.h"
#include "support/error.h"

enum { COUNT = 1000, BYTES = COUNT * 8 };

static const weft_device_ops *ops;
static weft_device_state *device;
static double *memory;      /* on the device */
static double *page_locked; /* registered host memory */
static double pageable[COUNT];

static void ok(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_thread_error());
}

static weft_status open_with(const char *simulate, size_t limit) {
    weft_device_settings settings = {.threads = 1, .memory_limit = limit};
    if (simulate)
        setenv("WEFT_SIMULATE", simulate, 1);
    else
        unsetenv("WEFT_SIMULATE");
    return ops->open(&settings, &device);
}

static int setup(void **state) {
    (void)state;
    ops = weft_device_find(WEFT_SIMULATED);
    assert_non_null(ops);
    ok(open_with(NULL, 0));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, BYTES, (void **)&memory));
    ok(ops->allocate(device, WEFT_MEMORY_PAGE_LOCKED, BYTES, (void **)&page_locked));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    ops->close(device);
    unsetenv("WEFT_SIMULATE");
    return 0;
}

static weft_status copy_run(int64_t elements, const void *src, void *dst, weft_transfer transfer) {
    weft_copy copy = {.axes = 1,
                      .element_bytes = 8,
                      .elements = elements,
                      .n = {elements},
                      .src_stride = {1},
                      .dst_stride = {1}};
    return ops->copy(device, NULL, &copy, src, dst, transfer);
}

static weft_status do_nothing(void *argument, const void *in, void *out) {
    (void)argument, (void)in, (void)out;
    return WEFT_SUCCESS;
}

/* ---- Its address space. ---- */

static void device_needs_staging_and_copies(void **state) {
    (void)state;
    assert_false(ops->host_addressable);
    assert_false(ops->transport_aware);
    assert_true(ops->can_fail);
}

static void new_memory_is_nan_at_every_precision(void **state) {
    (void)state;
    ok(copy_run(COUNT, memory, pageable, WEFT_DEVICE_TO_HOST));
    ok(ops->queue_wait(device, NULL));
    for (int i = 0; i < COUNT; ++i) assert_true(isnan(pageable[i]) && isnan(page_locked[i]));
    float halves[2];
    memcpy(halves, pageable, sizeof halves);
    assert_true(isnan(halves[0]) && isnan(halves[1]));
}

/* A system call reads the memory, so that the test need not crash to find out. */
static void cpu_cannot_read_device_memory(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    errno = 0;
    ssize_t written = write(ends[1], memory, 1);
    assert_true(written == -1 && errno == EFAULT);
    close(ends[0]);
    close(ends[1]);
}

typedef struct refusal {
    const char *what;
    int64_t elements;
    const void *src;
    void *dst;
    weft_transfer transfer;
} refusal;

static void misused_addresses_are_refused(void **state) {
    (void)state;
    double *end = (double *)((uintptr_t)memory + BYTES),
           *inside = (double *)((uintptr_t)memory + 8);
    double *before = (double *)((uintptr_t)memory - 8);
    const refusal table[] = {
        {"host pointer as source on the device", 1, pageable, memory, WEFT_DEVICE_TO_DEVICE},
        {"host pointer as destination on the device", 1, memory, pageable, WEFT_DEVICE_TO_DEVICE},
        {"page-locked pointer as destination on the device", 1, pageable, page_locked,
         WEFT_HOST_TO_DEVICE},
        {"page-locked pointer as source on the device", 1, page_locked, pageable,
         WEFT_DEVICE_TO_HOST},
        {"device address as host destination", 1, memory, inside, WEFT_DEVICE_TO_HOST},
        {"device address as host source", 1, memory, inside, WEFT_HOST_TO_DEVICE},
        {"source past the end", 1, end, pageable, WEFT_DEVICE_TO_HOST},
        {"destination past the end", 1, pageable, end, WEFT_HOST_TO_DEVICE},
        {"source before the start", 1, before, pageable, WEFT_DEVICE_TO_HOST},
        {"source that ends past the end", COUNT, inside, pageable, WEFT_DEVICE_TO_HOST},
        {"destination that ends past the end", COUNT, page_locked, inside, WEFT_HOST_TO_DEVICE},
        {"page-locked source that is too short", COUNT, page_locked + 1, memory,
         WEFT_HOST_TO_DEVICE},
        {"page-locked destination that is too short", COUNT, memory, page_locked + 1,
         WEFT_DEVICE_TO_HOST},
        {"no address", 1, NULL, memory, WEFT_DEVICE_TO_DEVICE},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        weft_thread_error_set("");
        weft_status status =
            copy_run(table[i].elements, table[i].src, table[i].dst, table[i].transfer);
        if (status != WEFT_ERROR_DEVICE || !strstr(weft_thread_error(), "simulated device"))
            fail_msg("%s: status %d, \"%s\"", table[i].what, (int)status, weft_thread_error());
    }
    assert_int_equal(ops->run(device, NULL, do_nothing, NULL, pageable, memory), WEFT_ERROR_DEVICE);
    assert_int_equal(ops->run(device, NULL, do_nothing, NULL, memory, end), WEFT_ERROR_DEVICE);
    assert_int_equal(ops->scale(device, NULL, WEFT_DOUBLE, pageable, 1, 2), WEFT_ERROR_DEVICE);
    assert_int_equal(ops->scale(device, NULL, WEFT_DOUBLE, memory, COUNT + 1, 2),
                     WEFT_ERROR_DEVICE);
    ok(ops->queue_wait(device, NULL));
}

/* A strided copy reaches from its offset to its last element. */
static void extent_of_a_strided_copy_is_checked(void **state) {
    (void)state;
    weft_copy copy = {.axes = 2,
                      .element_bytes = 8,
                      .elements = 12,
                      .n = {3, 4},
                      .src_offset = COUNT - 24,
                      .src_stride = {10, 1},
                      .dst_stride = {4, 1}};
    ok(ops->copy(device, NULL, &copy, memory, pageable, WEFT_DEVICE_TO_HOST));
    copy.src_offset += 1;
    weft_status status = ops->copy(device, NULL, &copy, memory, pageable, WEFT_DEVICE_TO_HOST);
    assert_int_equal(status, WEFT_ERROR_DEVICE);
    ok(ops->queue_wait(device, NULL));
}

static void addresses_inside_an_allocation_are_accepted(void **state) {
    (void)state;
    double *middle = (double *)((uintptr_t)memory + BYTES / 2);
    for (int i = 0; i < COUNT; ++i) page_locked[i] = i;
    ok(copy_run(COUNT / 2, page_locked + COUNT / 2, middle, WEFT_HOST_TO_DEVICE));
    ok(copy_run(COUNT / 2, middle, memory, WEFT_DEVICE_TO_DEVICE));
    ok(ops->scale(device, NULL, WEFT_DOUBLE, middle, COUNT / 2, 2));
    ok(ops->run(device, NULL, do_nothing, NULL, NULL, NULL));
    ok(copy_run(COUNT, memory, pageable, WEFT_DEVICE_TO_HOST));
    ok(ops->queue_wait(device, NULL));
    for (int i = 0; i < COUNT / 2; ++i) {
        assert_true(pageable[i] == COUNT / 2 + i);
        assert_true(pageable[COUNT / 2 + i] == 2 * (COUNT / 2 + i));
    }
}

static void freed_memory_is_refused(void **state) {
    (void)state;
    ops->free(device, WEFT_MEMORY_DEVICE, memory);
    assert_int_equal(copy_run(1, memory, pageable, WEFT_DEVICE_TO_HOST), WEFT_ERROR_DEVICE);
}

/* ---- Injected failures. ---- */

/* Opens the device, does three pieces of each kind of work, waiting after each, and writes
 * "kind:number " for each that failed. */
static void failures_with(const char *simulate, char *failures, size_t size) {
    void *block = NULL, *blocks[3] = {NULL};
    weft_queue *queues[3] = {NULL};
    *failures = '\0';
    ok(open_with(simulate, 0));
    for (int i = 0; i < 3; ++i) {
        weft_status allocated = ops->allocate(device, WEFT_MEMORY_DEVICE, 64, &blocks[i]);
        weft_status queue = ops->queue_create(device, false, &queues[i]);
        block = blocks[i] ? blocks[i] : blocks[0];
        ok(copy_run(8, pageable, block, WEFT_HOST_TO_DEVICE));
        weft_status copied = ops->queue_wait(device, NULL);
        ok(ops->run(device, NULL, do_nothing, NULL, block, block));
        weft_status ran = ops->queue_wait(device, NULL);
        ok(ops->scale(device, NULL, WEFT_DOUBLE, block, 8, 2));
        weft_status scaled = ops->queue_wait(device, NULL);
        const struct {
            const char *kind;
            weft_status status, expected;
        } outcome[] = {{"allocate", allocated, WEFT_ERROR_OUT_OF_MEMORY},
                       {"queue", queue, WEFT_ERROR_DEVICE},
                       {"copy", copied, WEFT_ERROR_DEVICE},
                       {"run", ran, WEFT_ERROR_DEVICE},
                       {"scale", scaled, WEFT_ERROR_DEVICE}};
        for (int k = 0; k < 5; ++k) {
            if (outcome[k].status == WEFT_SUCCESS) continue;
            assert_int_equal(outcome[k].status, outcome[k].expected);
            assert_non_null(strstr(weft_thread_error(), "WEFT_SIMULATE"));
            size_t used = strlen(failures);
            snprintf(failures + used, size - used, "%s:%d ", outcome[k].kind, i + 1);
        }
    }
    for (int i = 0; i < 3; ++i) ops->queue_destroy(device, queues[i]);
    ops->close(device);
}

static void the_failures_asked_for_happen_and_no_others(void **state) {
    (void)state;
    static const struct {
        const char *simulate, *failures;
    } table[] = {
        {NULL, ""},
        {"", ""},
        {"fail=copy:1", "copy:1 "},
        {"fail=copy:3", "copy:3 "},
        {"fail=run:2", "run:2 "},
        {"fail=scale:2", "scale:2 "},
        {"fail=allocate:2", "allocate:2 "},
        {"fail=queue:3", "queue:3 "},
        {"fail=copy:4", ""},
        {"seed=7,delay_us=200,fail=copy:2,fail=run:3", "copy:2 run:3 "},
        {"rank=3,fail=copy:2", "copy:2 "},
        {"fail=copy:2,rank=2", ""},
    };
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        char failures[200];
        failures_with(table[i].simulate, failures, sizeof failures);
        assert_string_equal(failures, table[i].failures);
    }
    unsetenv("OMPI_COMM_WORLD_RANK");
}

static void process_without_a_launcher_is_rank_0(void **state) {
    (void)state;
    char failures[200];
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    failures_with("fail=copy:2,rank=0", failures, sizeof failures);
    assert_string_equal(failures, "copy:2 ");
    setenv("PMI_RANK", "1", 1);
    failures_with("fail=copy:2,rank=0", failures, sizeof failures);
    assert_string_equal(failures, "");
    unsetenv("PMI_RANK");
}

static void malformed_requests_are_refused(void **state) {
    (void)state;
    static const char *const malformed[] = {
        "seed",         "seed=",     "seed=x",      "seed=1,",       ",seed=1",
        "seed=-1",      "seed= 1",   "seed=1 ",     "delay_us=1.5",  "delay_us=1000001",
        "memory=1G",    "fail=copy", "fail=copy:0", "fail=copy:-1",  "fail=callback:1",
        "fail=:1",      "rank=",     "speed=1",     "seed=1;rank=0", "seed=18446744073709551616",
        "fail=copy:1x",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; ++i) {
        device = NULL;
        weft_status status = open_with(malformed[i], 0);
        if (status != WEFT_ERROR_INVALID_ARGUMENT || !strstr(weft_thread_error(), "WEFT_SIMULATE"))
            fail_msg("\"%s\": status %d, \"%s\"", malformed[i], (int)status, weft_thread_error());
        assert_null(device);
    }
}

static void smaller_of_the_two_memory_limits_holds(void **state) {
    (void)state;
    static const struct {
        const char *simulate;
        size_t limit, holds;
    } table[] = {{NULL, 5000, 5000},
                 {"memory=3000", 0, 3000},
                 {"memory=3000", 5000, 3000},
                 {"memory=9000", 5000, 5000}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        void *block = NULL;
        ok(open_with(table[i].simulate, table[i].limit));
        weft_status status = ops->allocate(device, WEFT_MEMORY_DEVICE, table[i].holds + 1, &block);
        assert_int_equal(status, WEFT_ERROR_OUT_OF_MEMORY);
        ok(ops->allocate(device, WEFT_MEMORY_DEVICE, table[i].holds, &block));
        ops->close(device);
    }
}

/* Delays must be short, since thousands of tests run on this device. */
static void delays_stay_short(void **state) {
    (void)state;
    double start = weft_clock();
    for (int i = 0; i < 1000; ++i) ok(copy_run(8, pageable, memory, WEFT_HOST_TO_DEVICE));
    ok(ops->queue_wait(device, NULL));
    assert_true(weft_clock() - start < 5);
}

#define ON_A_DEVICE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static int find_ops(void **state) {
    (void)state;
    ops = weft_device_find(WEFT_SIMULATED);
    return ops ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_A_DEVICE(device_needs_staging_and_copies),
        ON_A_DEVICE(new_memory_is_nan_at_every_precision),
        ON_A_DEVICE(cpu_cannot_read_device_memory),
        ON_A_DEVICE(misused_addresses_are_refused),
        ON_A_DEVICE(extent_of_a_strided_copy_is_checked),
        ON_A_DEVICE(addresses_inside_an_allocation_are_accepted),
        ON_A_DEVICE(freed_memory_is_refused),
        ON_A_DEVICE(delays_stay_short),
        cmocka_unit_test(the_failures_asked_for_happen_and_no_others),
        cmocka_unit_test(process_without_a_launcher_is_rank_0),
        cmocka_unit_test(malformed_requests_are_refused),
        cmocka_unit_test(smaller_of_the_two_memory_limits_holds),
    };
    return cmocka_run_group_tests(tests, find_ops, NULL);
}
