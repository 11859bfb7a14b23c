/*
 * Executions that repeat on the CUDA device: with the same buffers and with others, whether graphs
 * can be made or not, results are those of the native engine on the host. With the driver of
 * host_cuda.h (WEFT_TEST_HOST_CUDA) also how many graphs were launched.
 */
#include "devices/device_test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { X = 6, Y = 5, Z = 8, POINTS = X * Y * Z, MOST_BYTES = POINTS * 16 };

static weft_context ctx;

typedef struct pair {
    weft_plan device, host;
    size_t in_bytes, out_bytes;
} pair;

static int launches(void) {
    int (*count)(void) = NULL;
    char path[4096];
    if (!getenv("WEFT_TEST_HOST_CUDA")) return 0;
    snprintf(path, sizeof path, "%s/libcuda.so.1", getenv("WEFT_CUDA_LIBRARY_PATH"));
    void *driver = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(driver);
    *(void **)&count = dlsym(driver, "host_graph_launches");
    dlclose(driver);
    assert_non_null(count);
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
            assert_true(fabs(got[0] - 0.25 * sum) < 1e-10);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_with_the_same_buffers_becomes_a_graph),
        cmocka_unit_test(buffers_may_change),
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
