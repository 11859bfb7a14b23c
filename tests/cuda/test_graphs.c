/*
 * Executions that repeat on the CUDA device: with the same buffers and with others, whether graphs
 * can be made or not, results are those of the native engine on the host. And executions begin
 * after what the caller has put on the legacy default stream. With the driver of host_cuda.h
 * (WEFT_TEST_HOST_CUDA) also how many graphs were launched.
 */
#include "device/cuda/gpu.h"
#include "devices/device_test.h"
#include "stand_in.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { X = 6, Y = 5, Z = 8, POINTS = X * Y * Z, MOST_BYTES = POINTS * 16 };

static weft_context ctx;

typedef struct pair {
    weft_plan device, host;
    size_t in_bytes, out_bytes;
} pair;

static int launches(void) {
    int (*count)(void);
    if (!has_stand_in()) return 0;
    *(void **)&count = stand_in_function("host_graph_launches");
    return count();
}

static void expect_launches(int before, int wanted) {
    if (getenv("WEFT_TEST_HOST_CUDA")) assert_int_equal(launches() - before, wanted);
}

static pair make(weft_engine engine, weft_kind kind, weft_problem problem, weft_options options) {
    pair p = {0};
    problem.rank = 3;
    problem.n[0] = X, problem.n[1] = Y, problem.n[2] = Z;
    problem.kind = kind;
    ok(weft_plan_create(ctx, &problem, &options, &p.host));
    options.device = WEFT_CUDA;
    options.engine = engine;
    ok(weft_plan_create(ctx, &problem, &options, &p.device));
    ok(weft_plan_bytes(p.device, WEFT_INPUT, &p.in_bytes));
    ok(weft_plan_bytes(p.device, WEFT_OUTPUT, &p.out_bytes));
    return p;
}

static void release(pair *p) {
    weft_plan_destroy(&p->device);
    weft_plan_destroy(&p->host);
}

static void *buffer_of(pair *p) {
    void *buffer;
    ok(weft_buffer_create(p->device, MOST_BYTES, &buffer));
    return buffer;
}

/* One execution on fresh numbers, into an output of NaN. */
static void run(pair *p, weft_direction direction, void *in, void *out) {
    static double given[2 * POINTS], wanted[2 * POINTS], got[2 * POINTS];
    static int round;
    const size_t from = direction == WEFT_FORWARD ? p->in_bytes : p->out_bytes;
    const size_t to = direction == WEFT_FORWARD ? p->out_bytes : p->in_bytes;
    double seed[2 * POINTS];
    round++;
    for (int i = 0; i < 2 * POINTS; i++) seed[i] = sin(1.7 * i + 0.3 * round * (i % 7));
    memcpy(given, seed, sizeof given);
    if (direction == WEFT_INVERSE) ok(weft_execute(p->host, WEFT_FORWARD, seed, given));
    ok(weft_execute(p->host, direction, given, wanted));
    memset(got, 0xff, sizeof got);
    if (in != out) ok(weft_buffer_upload(p->device, out, got, to));
    ok(weft_buffer_upload(p->device, in, given, from));
    ok(weft_execute(p->device, direction, in, out));
    ok(weft_buffer_download(p->device, got, out, to));
    for (size_t i = 0; i < to / sizeof *got; i++)
        if (!(fabs(got[i] - wanted[i]) < 1e-11))
            fail_msg("round %d: number %zu is %g, not %g", round, i, got[i], wanted[i]);
}

static const weft_engine engines[] = {WEFT_ENGINE_CUFFT, WEFT_ENGINE_JIT};
enum { ENGINES = sizeof engines / sizeof *engines };

static void work_with_the_same_buffers_becomes_a_graph(void **state) {
    (void)state;
    for (int e = 0; e < ENGINES; e++)
        for (int kind = WEFT_C2C; kind <= WEFT_R2C; kind++) {
            pair p = make(engines[e], (weft_kind)kind, (weft_problem){0}, (weft_options){0});
            void *in = buffer_of(&p), *out = buffer_of(&p);
            for (int direction = WEFT_FORWARD; direction <= WEFT_INVERSE; direction++) {
                const int before = launches();
                for (int i = 0; i < 5; i++) run(&p, (weft_direction)direction, in, out);
                expect_launches(before, 4);
            }
            release(&p);
        }
}

static void buffers_may_change(void **state) {
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        pair p = make(engines[e], WEFT_C2C, (weft_problem){0}, (weft_options){0});
        void *buffer[12];
        for (int i = 0; i < 12; i++) buffer[i] = buffer_of(&p);
        int before = launches();
        for (int i = 0; i < 6; i++) { /* by turns, in both directions and in place */
            run(&p, WEFT_FORWARD, buffer[0], buffer[1]);
            run(&p, WEFT_FORWARD, buffer[2], buffer[1]);
            run(&p, WEFT_INVERSE, buffer[0], buffer[1]);
            run(&p, WEFT_FORWARD, buffer[1], buffer[1]);
        }
        expect_launches(before, 4 * 5);
        before = launches();
        for (int i = 2; i < 26; i++) /* more than are remembered */
            run(&p, WEFT_FORWARD, buffer[i % 12], buffer[(i + 1) % 12]);
        expect_launches(before, 0);
        for (int i = 0; i < 2; i++) run(&p, WEFT_FORWARD, buffer[0], buffer[5]);
        expect_launches(before, 1);
        release(&p);
    }
}

/* A graph has the addresses of the arrays of operators; another array makes another graph. */
static void arrays_of_operators_may_be_replaced(void **state) {
    (void)state;
    static double factors[2][2 * POINTS];
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2 * POINTS; i++) factors[k][i] = cos(0.9 * i + k);
    for (int e = 0; e < ENGINES; e++) {
        const weft_operator real = {.kind = WEFT_OPERATOR_ARRAY, .array = 4},
                            pairs = {.kind = WEFT_OPERATOR_ARRAY, .array = 9, .complex_factors = 1};
        const weft_problem problem = {.load = {&real, 1}, .spectral = {&pairs, 1}};
        const int phases = engines[e] == WEFT_ENGINE_JIT ? 1 : 3; /* operators are steps, or not */
        pair p = make(engines[e], WEFT_C2C, problem, (weft_options){0});
        void *in = buffer_of(&p), *out = buffer_of(&p), *array[2] = {buffer_of(&p), buffer_of(&p)};
        for (int k = 0; k < 2; k++)
            ok(weft_buffer_upload(p.device, array[k], factors[k], MOST_BYTES));
        for (int i = 0; i < 3; i++) {
            const int before = launches(), load = i > 1, spectral = i > 0;
            ok(weft_plan_set_array(p.host, 4, factors[load]));
            ok(weft_plan_set_array(p.host, 9, factors[spectral]));
            ok(weft_plan_set_array(p.device, 4, array[load]));
            ok(weft_plan_set_array(p.device, 9, array[spectral]));
            for (int times = 0; times < 4; times++) run(&p, WEFT_FORWARD, in, out);
            expect_launches(before, 3 * phases);
        }
        release(&p);
    }
}

static void multiply(const weft_operator_run *run, void *argument) {
    double *data = run->data;
    (void)argument;
    for (int64_t i = 0; i < 2 * run->count; i++) data[i] *= run->parameter[2];
}

/* A graph has the values of parameters; another value makes another graph, but compiles nothing. */
static void parameters_of_functions_may_change(void **state) {
    (void)state;
    static const double values[] = {-0.75, 1.5, 1.5, 0.3};
    char compiled[] = "/tmp/weft_compiled_XXXXXX";
    for (int e = 0; e < ENGINES; e++) {
        const weft_operator function = {.kind = WEFT_OPERATOR_FUNCTION,
                                        .function = multiply,
                                        .snippet = "value = complex_scale(value, parameter[2]);",
                                        .parameters = 3};
        const int phases = engines[e] == WEFT_ENGINE_JIT ? 1 : 2; /* operators are steps, or not */
        pair p =
            make(engines[e], WEFT_C2C, (weft_problem){.load = {&function, 1}}, (weft_options){0});
        void *in = buffer_of(&p), *out = buffer_of(&p);
        const int log = e == 0 ? mkstemp(compiled) : -1;
        setenv("WEFT_TEST_COMPILED", compiled, 1);
        for (int i = 0; i < 4; i++) {
            const int before = launches(), same = i > 0 && values[i] == values[i - 1];
            ok(weft_plan_set_parameter(p.host, 2, values[i]));
            ok(weft_plan_set_parameter(p.device, 2, values[i]));
            for (int times = 0; times < 4; times++) run(&p, WEFT_FORWARD, in, out);
            expect_launches(before, (same ? 4 : 3) * phases);
        }
        unsetenv("WEFT_TEST_COMPILED");
        if (log >= 0) close(log);
        FILE *file = fopen(compiled, "r");
        assert_non_null(file);
        assert_int_equal(fgetc(file), EOF);
        fclose(file);
        release(&p);
    }
    assert_int_equal(remove(compiled), 0);
}

/* A phase each: forward, the operator, inverse; and a third buffer, which changes. */
static void convolutions_repeat_and_keep_spectra_where_told(void **state) {
    (void)state;
    for (int e = 0; e < ENGINES; e++) {
        weft_operator scale[] = {{.kind = WEFT_OPERATOR_SCALE, .factor = 0.25}};
        weft_problem problem = {.norm = WEFT_NORM_BACKWARD};
        problem.spectral = (weft_operators){.count = 1, .list = scale};
        pair p =
            make(engines[e], WEFT_C2C, problem, (weft_options){.convolve = 1, .keep_spectrum = 1});
        void *in = buffer_of(&p), *out = buffer_of(&p),
             *spectrum[] = {buffer_of(&p), buffer_of(&p)};
        double given[2 * POINTS], got[2 * POINTS], nan[2 * POINTS];
        memset(nan, 0xff, sizeof nan);
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 2 * POINTS; k++) given[k] = sin(0.7 * k * (i + 1));
            ok(weft_buffer_upload(p.device, in, given, sizeof given));
            ok(weft_buffer_upload(p.device, spectrum[i % 2], nan, sizeof nan));
            ok(weft_convolve(p.device, in, spectrum[i % 2], out));
            ok(weft_buffer_download(p.device, got, out, sizeof got));
            for (int k = 0; k < 2 * POINTS; k++)
                if (!(fabs(got[k] - 0.25 * given[k]) < 1e-13)) fail_msg("%d: %g", i, got[k]);
            ok(weft_buffer_download(p.device, got, spectrum[i % 2], sizeof got));
            double sum = 0;
            for (int k = 0; k < 2 * POINTS; k += 2) sum += given[k];
            assert_true(fabs(got[0] - 0.25 * sum) < 1e-12);
        }
        release(&p);
    }
}

static void where_no_graph_can_be_made_work_is_done_without(void **state) {
    (void)state;
    static const char *const failing[] = {"cuStreamBeginCapture", "cuStreamEndCapture",
                                          "cuGraphInstantiate"};
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    for (int f = 0; f < 3; f++) {
        pair p = make(WEFT_ENGINE_CUFFT, WEFT_C2C, (weft_problem){0}, (weft_options){0});
        void *in = buffer_of(&p), *out = buffer_of(&p);
        const int before = launches();
        setenv("WEFT_TEST_GRAPH_FAIL", failing[f], 1);
        for (int i = 0; i < 3; i++) run(&p, WEFT_FORWARD, in, out);
        unsetenv("WEFT_TEST_GRAPH_FAIL");
        run(&p, WEFT_FORWARD, in, out);
        expect_launches(before, 0);
        release(&p);
    }
}

static void a_graph_that_cannot_be_launched_is_a_failure_once(void **state) {
    (void)state;
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    pair p = make(WEFT_ENGINE_CUFFT, WEFT_C2C, (weft_problem){0}, (weft_options){0});
    void *in = buffer_of(&p), *out = buffer_of(&p);
    for (int i = 0; i < 3; i++) run(&p, WEFT_FORWARD, in, out);
    setenv("WEFT_TEST_GRAPH_FAIL", "cuGraphLaunch", 1);
    assert_int_equal(weft_execute(p.device, WEFT_FORWARD, in, out), WEFT_ERROR_DEVICE);
    assert_non_null(strstr(weft_last_error(ctx), "a graph could not be enqueued"));
    unsetenv("WEFT_TEST_GRAPH_FAIL");
    run(&p, WEFT_FORWARD, in, out);
    release(&p);
}

/* ---- the caller's work on the legacy default stream ---- */

enum { BULK_COPIES = 50 };

/* The caller: memory of its own, and the driver. */
typedef struct caller {
    const weft_cuda_gpu *gpu;
    weft_cuda_address bulk, given; /* to be busy with, and numbers */
    size_t bulk_bytes;
} caller;

static void driver_ok(int result) {
    ok(weft_cuda_check(result, "the caller"));
}

static caller become_caller(void) {
    /* Streams of host_cuda.h are late by themselves. */
    caller c = {.bulk_bytes = (size_t)1 << (getenv("WEFT_TEST_HOST_CUDA") ? 10 : 26)};
    ok(weft_cuda_gpu_open(0, &c.gpu));
    ok(weft_cuda_enter(c.gpu));
    driver_ok(c.gpu->driver->allocate(&c.bulk, 2 * c.bulk_bytes));
    driver_ok(c.gpu->driver->allocate(&c.given, MOST_BYTES));
    weft_cuda_leave(c.gpu);
    return c;
}

static void end_caller(const caller *c) {
    ok(weft_cuda_enter(c->gpu));
    driver_ok(c->gpu->driver->release(c->bulk));
    driver_ok(c->gpu->driver->release(c->given));
    weft_cuda_leave(c->gpu);
}

/* Enqueues on the legacy stream a copy that is done late: a few milliseconds of work go first. */
static void copy_late(const caller *c, weft_cuda_address to, weft_cuda_address from, size_t bytes) {
    const weft_cuda_driver *driver = c->gpu->driver;
    ok(weft_cuda_enter(c->gpu));
    for (int i = 0; i < BULK_COPIES; i++)
        driver_ok(
            driver->copy(c->bulk, c->bulk + c->bulk_bytes, c->bulk_bytes, WEFT_CUDA_LEGACY_STREAM));
    driver_ok(driver->copy(to, from, bytes, WEFT_CUDA_LEGACY_STREAM));
    weft_cuda_leave(c->gpu);
}

static void finish_legacy(const caller *c) {
    ok(weft_cuda_enter(c->gpu));
    driver_ok(c->gpu->driver->stream_synchronize(WEFT_CUDA_LEGACY_STREAM));
    weft_cuda_leave(c->gpu);
}

static void expect_same(const double *got, const double *wanted, size_t bytes, int round) {
    for (size_t i = 0; i < bytes / sizeof *got; i++)
        if (!(fabs(got[i] - wanted[i]) < 1e-11))
            fail_msg("round %d: number %zu is %g, not %g", round, i, got[i], wanted[i]);
}

/* As kernels that make the input would be. Later rounds are graphs. */
static void input_that_comes_late_on_the_legacy_stream_is_awaited(void **state) {
    (void)state;
    static double given[2 * POINTS], wanted[2 * POINTS], got[2 * POINTS], nan[2 * POINTS];
    memset(nan, 0xff, sizeof nan);
    caller c = become_caller();
    for (int e = 0; e < ENGINES; e++) {
        pair p = make(engines[e], WEFT_C2C, (weft_problem){0}, (weft_options){0});
        void *in = buffer_of(&p), *out[] = {buffer_of(&p), in};
        for (int round = 0; round < 8; round++) {
            for (int i = 0; i < 2 * POINTS; i++) given[i] = sin(1.1 * i * (round + 1));
            ok(weft_execute(p.host, WEFT_FORWARD, given, wanted));
            ok(weft_buffer_upload(p.device, in, nan, sizeof nan));
            ok(weft_buffer_upload(p.device, (void *)(uintptr_t)c.given, given, sizeof given));
            copy_late(&c, (uintptr_t)in, c.given, sizeof given);
            ok(weft_execute(p.device, WEFT_FORWARD, in, out[round % 2]));
            ok(weft_buffer_download(p.device, got, out[round % 2], sizeof got));
            expect_same(got, wanted, sizeof got, round);
        }
        finish_legacy(&c);
        release(&p);
    }
    end_caller(&c);
}

static void output_that_the_legacy_stream_still_reads_is_written_later(void **state) {
    (void)state;
    static double before[2 * POINTS], got[2 * POINTS], given[2 * POINTS];
    caller c = become_caller();
    pair p = make(WEFT_ENGINE_JIT, WEFT_C2C, (weft_problem){0}, (weft_options){0});
    void *in = buffer_of(&p), *out = buffer_of(&p);
    ok(weft_buffer_upload(p.device, in, given, sizeof given));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 2 * POINTS; i++) before[i] = i + round;
        ok(weft_buffer_upload(p.device, out, before, sizeof before));
        copy_late(&c, c.given, (uintptr_t)out, sizeof before);
        ok(weft_execute(p.device, WEFT_FORWARD, in, out));
        ok(weft_buffer_download(p.device, got, (void *)(uintptr_t)c.given, sizeof got));
        expect_same(got, before, sizeof got, round);
    }
    release(&p);
    end_caller(&c);
}

static void uploads_and_downloads_await_the_legacy_stream(void **state) {
    (void)state;
    static double first[2 * POINTS], second[2 * POINTS], got[2 * POINTS];
    caller c = become_caller();
    pair p = make(WEFT_ENGINE_JIT, WEFT_C2C, (weft_problem){0}, (weft_options){0});
    void *buffer = buffer_of(&p);
    for (int i = 0; i < 2 * POINTS; i++) first[i] = i, second[i] = -i;
    for (int round = 0; round < 4; round++) {
        ok(weft_buffer_upload(p.device, (void *)(uintptr_t)c.given, first, sizeof first));
        copy_late(&c, (uintptr_t)buffer, c.given, sizeof first);
        ok(weft_buffer_download(p.device, got, buffer, sizeof got));
        expect_same(got, first, sizeof got, round);
        copy_late(&c, (uintptr_t)buffer, c.given, sizeof first);
        ok(weft_buffer_upload(p.device, buffer, second, sizeof second));
        finish_legacy(&c);
        ok(weft_buffer_download(p.device, got, buffer, sizeof got));
        expect_same(got, second, sizeof got, round);
    }
    release(&p);
    end_caller(&c);
}

static void a_capture_that_forbids_the_order_fails_the_execution_alone(void **state) {
    (void)state;
    if (!getenv("WEFT_TEST_HOST_CUDA")) skip();
    pair p = make(WEFT_ENGINE_CUFFT, WEFT_C2C, (weft_problem){0}, (weft_options){0});
    void *in = buffer_of(&p), *out = buffer_of(&p);
    for (int i = 0; i < 3; i++) {
        run(&p, WEFT_FORWARD, in, out);
        setenv("WEFT_TEST_GRAPH_FAIL", "cuStreamIsCapturing", 1);
        assert_int_equal(weft_execute(p.device, WEFT_FORWARD, in, out), WEFT_ERROR_DEVICE);
        assert_non_null(strstr(weft_last_error(ctx), "the legacy default stream"));
        unsetenv("WEFT_TEST_GRAPH_FAIL");
    }
    run(&p, WEFT_FORWARD, in, out);
    release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_that_comes_late_on_the_legacy_stream_is_awaited),
        cmocka_unit_test(output_that_the_legacy_stream_still_reads_is_written_later),
        cmocka_unit_test(uploads_and_downloads_await_the_legacy_stream),
        cmocka_unit_test(a_capture_that_forbids_the_order_fails_the_execution_alone),
        cmocka_unit_test(work_with_the_same_buffers_becomes_a_graph),
        cmocka_unit_test(buffers_may_change),
        cmocka_unit_test(arrays_of_operators_may_be_replaced),
        cmocka_unit_test(parameters_of_functions_may_change),
        cmocka_unit_test(convolutions_repeat_and_keep_spectra_where_told),
        cmocka_unit_test(where_no_graph_can_be_made_work_is_done_without),
        cmocka_unit_test(a_graph_that_cannot_be_launched_is_a_failure_once),
    };
    tested_ops(); /* ends here without a GPU */
    ok(weft_context_create(NULL, &ctx));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    weft_context_destroy(&ctx);
    return failed;
}
