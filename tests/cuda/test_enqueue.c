/*
 * Executions in the order of a caller's stream (weft_enqueue), on the CUDA device: they begin after
 * what the caller has put there and before what the caller puts there next, whatever the streams
 * and the graphs that repeated work becomes; and plans for one GPU of several.
 */
#include "device/cuda/gpu.h"
#include "devices/device_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { X = 6, Y = 5, Z = 8, POINTS = X * Y * Z, NUMBERS = 2 * POINTS, BULK_COPIES = 50 };

static weft_context ctx;
static const weft_problem cube = {.rank = 3, .n = {X, Y, Z}};

static void driver_ok(int result) {
    ok(weft_cuda_check(result, "the caller"));
}

/* The caller: streams and memory of its own. `bulk` is to be busy with. */
typedef struct caller {
    const weft_cuda_gpu *gpu;
    weft_cuda_stream stream[3]; /* the last one is the legacy default stream, as NULL */
    weft_cuda_address bulk, given, in, out, result;
    size_t bulk_bytes;
} caller;

static caller become_caller(void) {
    /* Streams of host_cuda.h are late by themselves. */
    caller c = {.bulk_bytes = (size_t)1 << (getenv("WEFT_TEST_HOST_CUDA") ? 10 : 26)};
    ok(weft_cuda_gpu_open(0, &c.gpu));
    const weft_cuda_driver *driver = c.gpu->driver;
    weft_cuda_address *array[] = {&c.given, &c.in, &c.out, &c.result};
    ok(weft_cuda_enter(c.gpu));
    for (int i = 0; i < 2; i++)
        driver_ok(driver->stream_create(&c.stream[i], WEFT_CUDA_STREAM_NON_BLOCKING, 0));
    driver_ok(driver->allocate(&c.bulk, 2 * c.bulk_bytes));
    for (int i = 0; i < 4; i++) driver_ok(driver->allocate(array[i], NUMBERS * sizeof(double)));
    weft_cuda_leave(c.gpu);
    return c;
}

static void end_caller(const caller *c) {
    const weft_cuda_driver *driver = c->gpu->driver;
    ok(weft_cuda_enter(c->gpu));
    for (int i = 0; i < 2; i++) driver_ok(driver->stream_destroy(c->stream[i]));
    const weft_cuda_address array[] = {c->bulk, c->given, c->in, c->out, c->result};
    for (int i = 0; i < 5; i++) driver_ok(driver->release(array[i]));
    weft_cuda_leave(c->gpu);
}

static weft_cuda_stream handle_of(weft_cuda_stream stream) {
    return stream ? stream : WEFT_CUDA_LEGACY_STREAM;
}

static void put_copy(const caller *c, weft_cuda_address to, weft_cuda_address from,
                     weft_cuda_stream stream) {
    ok(weft_cuda_enter(c->gpu));
    driver_ok(c->gpu->driver->copy(to, from, NUMBERS * sizeof(double), handle_of(stream)));
    weft_cuda_leave(c->gpu);
}

/* A few milliseconds of work. */
static void be_busy(const caller *c, weft_cuda_stream stream) {
    ok(weft_cuda_enter(c->gpu));
    for (int i = 0; i < BULK_COPIES; i++)
        driver_ok(c->gpu->driver->copy(c->bulk, c->bulk + c->bulk_bytes, c->bulk_bytes,
                                       handle_of(stream)));
    weft_cuda_leave(c->gpu);
}

static void finish(const caller *c, weft_cuda_stream stream) {
    ok(weft_cuda_enter(c->gpu));
    driver_ok(c->gpu->driver->stream_synchronize(handle_of(stream)));
    weft_cuda_leave(c->gpu);
}

static weft_plan plan_with(weft_options options) {
    weft_plan plan = NULL;
    options.device = WEFT_CUDA;
    ok(weft_plan_create(ctx, &cube, &options, &plan));
    return plan;
}

static void make_numbers(double *numbers, double *transformed, int round) {
    weft_plan host = NULL;
    for (int i = 0; i < NUMBERS; i++) numbers[i] = sin(1.1 * i * (round + 1));
    ok(weft_plan_create(ctx, &cube, NULL, &host));
    ok(weft_execute(host, WEFT_FORWARD, numbers, transformed));
    weft_plan_destroy(&host);
}

static void expect(weft_plan plan, weft_cuda_address result, const double *wanted) {
    static double got[NUMBERS];
    ok(weft_buffer_download(plan, got, (void *)(uintptr_t)result, sizeof got));
    for (int i = 0; i < NUMBERS; i++)
        if (!(fabs(got[i] - wanted[i]) < 1e-11))
            fail_msg("number %d is %g, not %g", i, got[i], wanted[i]);
}

static void *at(weft_cuda_address address) {
    return (void *)(uintptr_t)address;
}

/* Rounds from the third one on are graphs; odd ones in place. */
static void transforms_take_their_place_in_the_callers_stream(void **state) {
    (void)state;
    static double given[NUMBERS], wanted[NUMBERS];
    const weft_engine engines[] = {WEFT_ENGINE_JIT, WEFT_ENGINE_CUFFT};
    caller c = become_caller();
    for (int e = 0; e < 2; e++) {
        weft_plan plan = plan_with((weft_options){.engine = engines[e]});
        for (int round = 0; round < 12; round++) {
            weft_cuda_stream stream = c.stream[round % 3];
            const weft_cuda_address out = round % 2 ? c.in : c.out;
            make_numbers(given, wanted, round);
            ok(weft_buffer_upload(plan, at(c.given), given, sizeof given));
            be_busy(&c, stream);
            put_copy(&c, c.in, c.given, stream);
            ok(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(out), stream));
            put_copy(&c, c.result, out, stream);
            finish(&c, stream);
            expect(plan, c.result, wanted);
        }
        weft_plan_destroy(&plan);
    }
    end_caller(&c);
}

/* One plan for two streams, which have an array of their own each. */
static void a_plan_serves_several_streams_without_a_wait(void **state) {
    (void)state;
    static double given[2][NUMBERS], wanted[2][NUMBERS], scaled[NUMBERS];
    caller c = become_caller();
    const weft_cuda_address array[] = {c.in, c.out};
    weft_plan plan = plan_with((weft_options){.engine = WEFT_ENGINE_JIT});
    for (int i = 0; i < 2; i++) {
        make_numbers(given[i], wanted[i], i);
        ok(weft_buffer_upload(plan, at(array[i]), given[i], sizeof given[i]));
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            be_busy(&c, c.stream[i]);
            const weft_direction direction = round % 2 ? WEFT_INVERSE : WEFT_FORWARD;
            ok(weft_enqueue(plan, direction, at(array[i]), at(array[i]), c.stream[i]));
        }
    for (int i = 0; i < 2; i++) {
        finish(&c, c.stream[i]);
        for (int k = 0; k < NUMBERS; k++) scaled[k] = POINTS * wanted[i][k];
        static double got[NUMBERS];
        ok(weft_buffer_download(plan, got, at(array[i]), sizeof got));
        for (int k = 0; k < NUMBERS; k++) assert_true(fabs(got[k] - scaled[k]) < 1e-8);
    }
    weft_plan_destroy(&plan);
    end_caller(&c);
}

/* The plan's own memory is used by both, so the execution waits for what was enqueued, on a stream
 * that is destroyed meanwhile. */
static void executions_come_behind_what_is_enqueued(void **state) {
    (void)state;
    static double given[2][NUMBERS], wanted[2][NUMBERS];
    caller c = become_caller();
    const weft_cuda_driver *driver = c.gpu->driver;
    weft_plan plan = plan_with((weft_options){.engine = WEFT_ENGINE_JIT});
    for (int round = 0; round < 4; round++) {
        weft_cuda_stream stream;
        for (int i = 0; i < 2; i++) make_numbers(given[i], wanted[i], 2 * round + i);
        ok(weft_buffer_upload(plan, at(c.in), given[0], sizeof given[0]));
        ok(weft_buffer_upload(plan, at(c.given), given[1], sizeof given[1]));
        ok(weft_cuda_enter(c.gpu));
        driver_ok(driver->stream_create(&stream, WEFT_CUDA_STREAM_NON_BLOCKING, 0));
        weft_cuda_leave(c.gpu);
        be_busy(&c, stream);
        ok(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(c.out), stream));
        ok(weft_cuda_enter(c.gpu));
        driver_ok(driver->stream_destroy(stream));
        weft_cuda_leave(c.gpu);
        ok(weft_execute(plan, WEFT_FORWARD, at(c.given), at(c.result)));
        expect(plan, c.out, wanted[0]);
        expect(plan, c.result, wanted[1]);
    }
    weft_plan_destroy(&plan);
    end_caller(&c);
}

/* Rounds are two of each value; the second is a graph. */
static void what_is_enqueued_keeps_the_parameters_of_its_time(void **state) {
    (void)state;
    static double given[NUMBERS], wanted[NUMBERS], scaled[NUMBERS];
    const weft_operator function = {.kind = WEFT_OPERATOR_FUNCTION,
                                    .snippet = "value = complex_scale(value, parameter[0]);",
                                    .parameters = 1};
    const weft_options options = {.device = WEFT_CUDA, .engine = WEFT_ENGINE_JIT};
    weft_problem problem = cube;
    weft_plan plan = NULL;
    caller c = become_caller();
    weft_cuda_address result[6];
    problem.spectral = (weft_operators){&function, 1};
    ok(weft_plan_create(ctx, &problem, &options, &plan));
    make_numbers(given, wanted, 1);
    ok(weft_buffer_upload(plan, at(c.in), given, sizeof given));
    ok(weft_cuda_enter(c.gpu));
    for (int i = 0; i < 6; i++) driver_ok(c.gpu->driver->allocate(&result[i], sizeof given));
    weft_cuda_leave(c.gpu);
    be_busy(&c, c.stream[0]);
    for (int i = 0; i < 6; i++) {
        ok(weft_plan_set_parameter(plan, 0, i / 2 - 0.5));
        ok(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(c.out), c.stream[0]));
        put_copy(&c, result[i], c.out, c.stream[0]);
    }
    finish(&c, c.stream[0]);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < NUMBERS; k++) scaled[k] = wanted[k] * (i / 2 - 0.5);
        expect(plan, result[i], scaled);
    }
    ok(weft_cuda_enter(c.gpu));
    for (int i = 0; i < 6; i++) driver_ok(c.gpu->driver->release(result[i]));
    weft_cuda_leave(c.gpu);
    weft_plan_destroy(&plan);
    end_caller(&c);
}

/* Element 0 of the spectrum is the sum of the input. */
static void reductions_wait_for_what_is_enqueued(void **state) {
    (void)state;
    static double given[NUMBERS], wanted[NUMBERS];
    const weft_operator list[] = {{.kind = WEFT_OPERATOR_REDUCE, .array = 2},
                                  {.kind = WEFT_OPERATOR_SCALE, .factor = 3}};
    const weft_engine engines[] = {WEFT_ENGINE_JIT, WEFT_ENGINE_CUFFT};
    caller c = become_caller();
    for (int e = 0; e < 2; e++) {
        const weft_options options = {.device = WEFT_CUDA, .engine = engines[e]};
        weft_problem problem = cube;
        weft_plan plan = NULL;
        problem.load = (weft_operators){list, 2};
        ok(weft_plan_create(ctx, &problem, &options, &plan));
        for (int round = 0; round < 4; round++) { /* later ones are graphs */
            double sum[2];
            make_numbers(given, wanted, round);
            ok(weft_buffer_upload(plan, at(c.given), given, sizeof given));
            be_busy(&c, c.stream[0]);
            put_copy(&c, c.in, c.given, c.stream[0]);
            ok(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(c.out), c.stream[0]));
            ok(weft_plan_reduction(plan, 2, sum));
            for (int i = 0; i < 2; i++)
                if (!(fabs(sum[i] - wanted[i]) < 1e-11))
                    fail_msg("round %d: part %d is %g, not %g", round, i, sum[i], wanted[i]);
            finish(&c, c.stream[0]);
        }
        weft_plan_destroy(&plan);
    }
    end_caller(&c);
}

static void a_plan_may_be_destroyed_while_its_work_is_enqueued(void **state) {
    (void)state;
    static double given[NUMBERS], wanted[NUMBERS];
    caller c = become_caller();
    weft_plan other = plan_with((weft_options){0});
    make_numbers(given, wanted, 1);
    ok(weft_buffer_upload(other, at(c.given), given, sizeof given));
    for (int round = 0; round < 4; round++) {
        weft_plan plan = plan_with((weft_options){.engine = WEFT_ENGINE_JIT});
        be_busy(&c, c.stream[0]);
        put_copy(&c, c.in, c.given, c.stream[0]);
        ok(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(c.out), c.stream[0]));
        weft_plan_destroy(&plan);
        finish(&c, c.stream[0]);
        expect(other, c.out, wanted);
    }
    weft_plan_destroy(&other);
    end_caller(&c);
}

static void what_cannot_be_enqueued_is_refused(void **state) {
    (void)state;
    static double numbers[2][NUMBERS];
    weft_plan host = NULL;
    ok(weft_plan_create(ctx, &cube, NULL, &host));
    assert_int_equal(weft_enqueue(host, WEFT_FORWARD, numbers[0], numbers[1], NULL),
                     WEFT_ERROR_UNSUPPORTED);
    weft_plan_destroy(&host);
    assert_int_equal(weft_enqueue(NULL, WEFT_FORWARD, NULL, NULL, NULL),
                     WEFT_ERROR_INVALID_ARGUMENT);

    caller c = become_caller();
    weft_plan plan = plan_with((weft_options){.engine = WEFT_ENGINE_JIT});
    assert_int_equal(weft_enqueue(plan, WEFT_FORWARD, at(c.in), NULL, NULL),
                     WEFT_ERROR_INVALID_ARGUMENT);
    ok(weft_cuda_enter(c.gpu));
    driver_ok(c.gpu->driver->capture_begin(c.stream[0], WEFT_CUDA_CAPTURE_OF_THREAD));
    weft_cuda_leave(c.gpu);
    assert_int_equal(weft_enqueue(plan, WEFT_FORWARD, at(c.in), at(c.out), c.stream[0]),
                     WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_last_error(ctx), "captured"));
    weft_cuda_graph graph = NULL;
    ok(weft_cuda_enter(c.gpu));
    driver_ok(c.gpu->driver->capture_end(c.stream[0], &graph));
    driver_ok(c.gpu->driver->graph_destroy(graph));
    weft_cuda_leave(c.gpu);
    weft_plan_destroy(&plan);

    const weft_options staged = {.device = WEFT_CUDA, .location = WEFT_LOCATION_HOST};
    plan = plan_with(staged);
    assert_int_equal(weft_enqueue(plan, WEFT_FORWARD, numbers[0], numbers[1], NULL),
                     WEFT_ERROR_UNSUPPORTED);
    weft_plan_destroy(&plan);
    end_caller(&c);
}

static void plans_are_made_for_a_gpu_by_its_number(void **state) {
    (void)state;
    const int gpus = weft_cuda_gpus();
    for (int number = 1; number <= gpus && number <= 2; number++) {
        weft_plan plan = plan_with((weft_options){.device_number = number});
        weft_options used = {0};
        ok(weft_plan_options(plan, &used));
        assert_int_equal(used.device_number, number);
        weft_plan_destroy(&plan);
    }
    const struct {
        weft_options options;
        weft_status status;
    } wrong[] = {{{.device = WEFT_CUDA, .device_number = gpus + 1}, WEFT_ERROR_INVALID_ARGUMENT},
                 {{.device = WEFT_CUDA, .device_number = -1}, WEFT_ERROR_INVALID_ARGUMENT},
                 {{.device_number = 1}, WEFT_ERROR_UNSUPPORTED}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        weft_plan plan = NULL;
        assert_int_equal(weft_plan_create(ctx, &cube, &wrong[i].options, &plan), wrong[i].status);
        assert_non_null(strstr(weft_last_error(ctx), "device_number"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_take_their_place_in_the_callers_stream),
        cmocka_unit_test(a_plan_serves_several_streams_without_a_wait),
        cmocka_unit_test(executions_come_behind_what_is_enqueued),
        cmocka_unit_test(what_is_enqueued_keeps_the_parameters_of_its_time),
        cmocka_unit_test(reductions_wait_for_what_is_enqueued),
        cmocka_unit_test(a_plan_may_be_destroyed_while_its_work_is_enqueued),
        cmocka_unit_test(what_cannot_be_enqueued_is_refused),
        cmocka_unit_test(plans_are_made_for_a_gpu_by_its_number),
    };
    tested_ops(); /* ends here without a GPU */
    ok(weft_context_create(NULL, &ctx));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return failed;
}
