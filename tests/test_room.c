/*
 * What a device has free decides, where the caller gives no limit, whether a plan streams and what
 * stays on the device between passes. On the simulated device, or on the one that WEFT_TEST_DEVICE
 * names.
 */
#include "device_memory.h"
#include "exec/plan.h"
#include "one_context.h"
#include "promised_device.h"

#include <string.h>

static weft_device device;

enum { TABLES = 16 << 10 }; /* bytes that a plan may have beside its workspaces */
enum { INPUT = 40 * 30 * 20, SPECTRUM = 40 * 30 * 11 * 2 }; /* numbers of the arrays of `cube` */
static const weft_problem cube = {.rank = 3, .n = {40, 30, 20}, .kind = WEFT_R2C};

static weft_status create(weft_options options, weft_plan *plan) {
    options.device = device;
    options.location = WEFT_LOCATION_HOST;
    *plan = NULL;
    return weft_plan_create(ctx, &cube, &options, plan);
}

static weft_plan plan_with(weft_options options) {
    weft_plan plan;
    if (create(options, &plan) != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
    return plan;
}

static bool is_streamed(weft_plan plan) {
    weft_options chosen = {.struct_size = sizeof chosen};
    assert_int_equal(weft_plan_options(plan, &chosen), WEFT_SUCCESS);
    return chosen.stream == WEFT_STREAM_ON;
}

static size_t resident_bytes(weft_plan plan) {
    return plan->build->buffers.bytes[WEFT_BUFFER_RESIDENT];
}

static void a_device_says_what_it_has_free(void **state) {
    (void)state;
    enum { LIMIT = 1 << 20, BYTES = 300000 };
    const weft_device_ops *ops = weft_device_find(device);
    const weft_device_settings settings = {.threads = 1, .memory_limit = LIMIT};
    weft_device_state *opened;
    size_t before, during, after;
    void *memory;
    assert_int_equal(ops->open(&settings, &opened), WEFT_SUCCESS);
    assert_int_equal(ops->memory_free(opened, &before), WEFT_SUCCESS);
    assert_int_equal(ops->allocate(opened, WEFT_MEMORY_DEVICE, BYTES, &memory), WEFT_SUCCESS);
    assert_int_equal(ops->memory_free(opened, &during), WEFT_SUCCESS);
    ops->free(opened, WEFT_MEMORY_DEVICE, memory);
    assert_int_equal(ops->memory_free(opened, &after), WEFT_SUCCESS);
    assert_int_equal(before, LIMIT);
    assert_int_equal(during, LIMIT - BYTES);
    assert_int_equal(after, LIMIT);
    ops->close(opened);
}

static void a_driver_says_what_others_have_left(void **state) {
    (void)state;
    if (device != WEFT_CUDA || !set_device_memory(device, 1 << 20)) skip();
    const weft_device_ops *ops = weft_device_find(device);
    const weft_device_settings settings = {.threads = 1};
    weft_device_state *opened, *other;
    size_t bytes;
    void *memory;
    assert_int_equal(ops->open(&settings, &opened), WEFT_SUCCESS);
    assert_int_equal(ops->open(&settings, &other), WEFT_SUCCESS);
    assert_int_equal(ops->allocate(other, WEFT_MEMORY_DEVICE, 1000, &memory), WEFT_SUCCESS);
    assert_int_equal(ops->memory_free(opened, &bytes), WEFT_SUCCESS);
    assert_int_equal(bytes, (1 << 20) - 1000);
    ops->close(other);
    ops->close(opened);
    set_device_memory(device, 0);
}

static void plans_stream_where_free_memory_does_not_hold_the_arrays(void **state) {
    (void)state;
    const struct {
        size_t memory;
        weft_effort effort;
        bool streamed;
    } rows[] = {{0, WEFT_ESTIMATE, false},     {4 << 20, WEFT_ESTIMATE, false},
                {300000, WEFT_ESTIMATE, true}, {4 << 20, WEFT_MEASURE, false},
                {300000, WEFT_MEASURE, true},  {300000, WEFT_PATIENT, true}};
    if (!set_device_memory(device, 0)) skip();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_device_memory(device, rows[i].memory);
        weft_plan plan = plan_with((weft_options){.effort = rows[i].effort});
        assert_int_equal(is_streamed(plan), rows[i].streamed);
        assert_false(plan->planner.candidates[0].left_out); /* it was not found by failing */
        for (int c = 0; c < plan->planner.count; c++)
            assert_null(plan->planner.candidates[c].reason);
        weft_plan_destroy(&plan);
    }
    set_device_memory(device, 0);
}

static void a_margin_is_left(void **state) {
    (void)state;
    if (!set_device_memory(device, 0)) skip();
    weft_plan plan = plan_with((weft_options){.stream = WEFT_STREAM_OFF});
    const size_t needed = plan->build->memory.workspace;
    weft_plan_destroy(&plan);
    for (int margin = 0; margin < 2; margin++) {
        const size_t memory = needed + (margin ? needed / 2 : TABLES);
        set_device_memory(device, memory);
        plan = plan_with((weft_options){.stream = WEFT_STREAM_AUTO});
        assert_int_equal(is_streamed(plan), !margin);
        assert_true(plan->planner.room <= (int64_t)(memory - memory / 8));
        weft_plan_destroy(&plan);
        plan = plan_with((weft_options){.stream = WEFT_STREAM_OFF}); /* may have all of it */
        weft_plan_destroy(&plan);
    }
    set_device_memory(device, 0);
}

static void what_cannot_be_streamed_may_have_all_that_is_free(void **state) {
    (void)state;
    if (!set_device_memory(device, 0)) skip();
    const weft_problem mixed = {
        .rank = 2, .n = {64, 64}, .axis = {WEFT_DCT2}, .kind = WEFT_C2C}; /* and Fourier */
    const weft_options options = {.device = device, .location = WEFT_LOCATION_HOST};
    weft_plan plan = NULL;
    assert_int_equal(weft_plan_create(ctx, &mixed, &options, &plan), WEFT_SUCCESS);
    const size_t needed = plan->build->memory.workspace;
    weft_plan_destroy(&plan);
    set_device_memory(device, needed + TABLES);
    assert_int_equal(weft_plan_create(ctx, &mixed, &options, &plan), WEFT_SUCCESS);
    assert_false(is_streamed(plan));
    weft_plan_destroy(&plan);
    set_device_memory(device, 0);
}

static void execute(weft_plan plan, const double *in, double *out) {
    if (weft_execute(plan, WEFT_FORWARD, in, out) != WEFT_SUCCESS)
        fail_msg("%s", weft_last_error(ctx));
}

static void what_fits_beside_the_slots_stays(void **state) {
    (void)state;
    static double in[INPUT], expected[SPECTRUM], found[SPECTRUM];
    const size_t memory[] = {190000, 500000, 1000000}, all = sizeof expected;
    if (!set_device_memory(device, 0)) skip();
    for (int i = 0; i < INPUT; i++) in[i] = (i * 7919 % 1009) / 1009.0;
    weft_plan whole = plan_with((weft_options){.stream = WEFT_STREAM_OFF});
    execute(whole, in, expected);
    weft_plan_destroy(&whole);
    for (int i = 0; i < 3; i++) {
        set_device_memory(device, memory[i]);
        weft_plan plan = plan_with((weft_options){.stream = WEFT_STREAM_ON});
        const size_t stays = resident_bytes(plan);
        assert_true(plan->build->memory.workspace <= memory[i] - memory[i] / 8);
        assert_true(i == 0 ? stays == 0 : i == 1 ? stays > 0 && stays < all : stays == all);
        memset(found, 0xff, sizeof found);
        execute(plan, in, found);
        assert_memory_equal(found, expected, sizeof found);
        weft_plan_destroy(&plan);
    }
    set_device_memory(device, 0);
}

static void a_limit_counts_whatever_is_free(void **state) {
    (void)state;
    if (!set_device_memory(device, 64 << 20)) skip();
    weft_plan plan = plan_with((weft_options){.device_memory_limit = 300000});
    assert_true(is_streamed(plan));
    assert_int_equal(plan->planner.room, 300000);
    weft_plan_destroy(&plan);
    set_device_memory(device, 0);
}

static void where_nothing_fits_the_sentence_says_what_is_free(void **state) {
    (void)state;
    weft_plan plan;
    if (!set_device_memory(device, 8000)) skip();
    assert_int_equal(create((weft_options){.stream = WEFT_STREAM_ON}, &plan),
                     WEFT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(weft_last_error(ctx), "within what the device has free"));
    assert_int_equal(create((weft_options){.stream = WEFT_STREAM_AUTO}, &plan),
                     WEFT_ERROR_OUT_OF_MEMORY);
    set_device_memory(device, 0);
}

static void a_plan_streams_where_an_allocation_fails_that_should_have_fit(void **state) {
    (void)state;
    enum { MEMORY = 700000 };
    if (device != WEFT_CUDA || !set_device_memory(device, MEMORY)) skip();
    setenv("WEFT_TEST_CUDA_LARGEST", "150000", 1);
    weft_plan plan = plan_with((weft_options){.stream = WEFT_STREAM_AUTO});
    assert_true(is_streamed(plan));
    assert_true((int64_t)plan->build->memory.workspace < plan->planner.room / 4);
    weft_plan_destroy(&plan);
    unsetenv("WEFT_TEST_CUDA_LARGEST");
    plan = plan_with((weft_options){.stream = WEFT_STREAM_AUTO});
    assert_false(is_streamed(plan));
    weft_plan_destroy(&plan);
    set_device_memory(device, 0);
}

/* The spectrum of a convolution's kernel, which each execution reads once, lies in page-locked
 * memory where the limit leaves no room for it beside the workspaces. Results are the same. */
static void a_kernel_lies_on_the_host_where_the_device_has_no_room(void **state) {
    (void)state;
    enum { POINTS = 40 * 30 * 20, KERNEL = 5 * 4 * 3, LESS = 1000 };
    static double field[POINTS], result[2][POINTS], kernel[KERNEL];
    const weft_convolution_problem problem = {.rank = 3,
                                              .n = {40, 30, 20},
                                              .kind = WEFT_R2C,
                                              .boundary = {WEFT_LINEAR, WEFT_LINEAR, WEFT_LINEAR},
                                              .mode = WEFT_SAME,
                                              .kernel = {.array = kernel, .n = {5, 4, 3}}};
    weft_options options = {
        .device = device, .location = WEFT_LOCATION_HOST, .stream = WEFT_STREAM_OFF};
    weft_memory memory[2];
    for (int i = 0; i < POINTS; i++) field[i] = i * 37 % 101;
    for (int i = 0; i < KERNEL; i++) kernel[i] = i * 11 % 17;
    for (int limited = 0; limited < 2; limited++) {
        weft_convolution plan = NULL;
        if (limited) options.device_memory_limit = memory[0].workspace - LESS;
        if (weft_convolution_create(ctx, &problem, &options, &plan) != WEFT_SUCCESS)
            fail_msg("%s", weft_last_error(ctx));
        assert_int_equal(weft_plan_memory(plan, &memory[limited]), WEFT_SUCCESS);
        memset(result[limited], 0xA5, sizeof result[limited]);
        assert_int_equal(weft_convolution_execute(plan, field, result[limited]), WEFT_SUCCESS);
        weft_convolution_destroy(&plan);
    }
    const size_t moved = memory[0].workspace - memory[1].workspace;
    assert_true(moved > LESS);
    assert_int_equal(memory[1].page_locked - memory[0].page_locked, moved);
    assert_memory_equal(result[0], result[1], sizeof result[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_says_what_it_has_free),
        cmocka_unit_test(a_kernel_lies_on_the_host_where_the_device_has_no_room),
        cmocka_unit_test(a_driver_says_what_others_have_left),
        cmocka_unit_test(plans_stream_where_free_memory_does_not_hold_the_arrays),
        cmocka_unit_test(a_margin_is_left),
        cmocka_unit_test(what_cannot_be_streamed_may_have_all_that_is_free),
        cmocka_unit_test(what_fits_beside_the_slots_stays),
        cmocka_unit_test(a_limit_counts_whatever_is_free),
        cmocka_unit_test(where_nothing_fits_the_sentence_says_what_is_free),
        cmocka_unit_test(a_plan_streams_where_an_allocation_fails_that_should_have_fit),
    };
    if (!getenv("WEFT_TEST_DEVICE")) setenv("WEFT_TEST_DEVICE", "simulated", 1);
    if (!find_device(&device)) return status_without(device);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
