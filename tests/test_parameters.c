/*
 * Parameters of operators: functions, snippets and matrices read the values that were set last,
 * wherever the plan computes and whether its engine applies the operators itself. WEFT_TEST_DEVICE
 * names another device than the host.
 */
#include "one_context.h"
#include "promised_device.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NX = 6, NY = 20, BATCH = 2, POINTS = NX * NY, NUMBERS = 2 * BATCH * POINTS };

static weft_device device;

static void good(weft_status status) {
    if (status != WEFT_SUCCESS) fail_msg("%s", weft_last_error(ctx));
}

/* Multiplies by parameter 1, and adds parameter 4 to the real parts. */
static void multiply_and_add(const weft_operator_run *run, void *argument) {
    const int width = 1 + run->complex_elements;
    float *f = run->data;
    double *d = run->data;
    (void)argument;
    for (int64_t i = 0; i < width * run->count; i++) {
        const double add = i % width == 0 ? run->parameter[4] : 0;
        if (run->precision == WEFT_SINGLE)
            f[i] = (float)((double)f[i] * run->parameter[1] + add);
        else
            d[i] = d[i] * run->parameter[1] + add;
    }
}

/* Multiplies by parameter 0. */
static void multiply(const weft_operator_run *run, void *argument) {
    (void)argument;
    for (int64_t i = 0; i < (1 + run->complex_elements) * run->count; i++)
        if (run->precision == WEFT_SINGLE)
            ((float *)run->data)[i] *= (float)run->parameter[0];
        else
            ((double *)run->data)[i] *= run->parameter[0];
}

static const char multiply_and_add_complex[] =
    "value = complex_scale(value, parameter[1]); value.x += parameter[4];";
static const char multiply_and_add_real[] = "value = value * parameter[1] + parameter[4];";

/* A plan that goes there and back: by parameter 0 in the spectrum, then by parameter 1 and plus
 * parameter 4. */
typedef struct round_trip {
    weft_plan plan;
    weft_kind kind;
    weft_precision precision;
    void *in, *out;
    size_t bytes;
} round_trip;

static round_trip make(weft_kind kind, weft_precision precision, weft_engine engine,
                       weft_device where) {
    const weft_operator spectral = {.kind = WEFT_OPERATOR_FUNCTION,
                                    .function = multiply,
                                    .snippet = "value = complex_scale(value, parameter[0]);",
                                    .parameters = 1};
    const weft_operator store = {.kind = WEFT_OPERATOR_FUNCTION,
                                 .function = multiply_and_add,
                                 .snippet = kind == WEFT_R2C ? multiply_and_add_real
                                                             : multiply_and_add_complex,
                                 .parameters = 5};
    const weft_problem problem = {.rank = 2,
                                  .n = {NX, NY},
                                  .kind = kind,
                                  .precision = precision,
                                  .batch = BATCH,
                                  .norm = engine == WEFT_ENGINE_IDENTITY ? WEFT_NORM_NONE
                                                                         : WEFT_NORM_BACKWARD,
                                  .spectral = {&spectral, 1},
                                  .store = {&store, 1}};
    const weft_options options = {.engine = engine, .device = where, .convolve = 1};
    round_trip r = {.kind = kind, .precision = precision};
    good(weft_plan_create(ctx, &problem, &options, &r.plan));
    good(weft_plan_bytes(r.plan, WEFT_INPUT, &r.bytes));
    good(weft_buffer_create(r.plan, r.bytes, &r.in));
    good(weft_buffer_create(r.plan, r.bytes, &r.out));
    return r;
}

static void release(round_trip *r) {
    weft_buffer_destroy(r->plan, &r->in);
    weft_buffer_destroy(r->plan, &r->out);
    weft_plan_destroy(&r->plan);
}

static void check(const round_trip *r, double factor, double term) {
    const int width = r->kind == WEFT_R2C ? 1 : 2, numbers = width * BATCH * POINTS;
    const bool single = r->precision == WEFT_SINGLE;
    const double off = single ? 1e-5 : 1e-13;
    double d[NUMBERS] = {0};
    float f[NUMBERS] = {0};
    void *data = single ? (void *)f : d;
    assert_true(r->bytes <= sizeof d);
    for (int i = 0; i < numbers; i++) f[i] = (float)(d[i] = (i * 7 % 64 - 30) / 32.0);
    good(weft_buffer_upload(r->plan, r->in, data, r->bytes));
    good(weft_execute(r->plan, WEFT_CONVOLVE, r->in, r->out));
    good(weft_buffer_download(r->plan, data, r->out, r->bytes));
    for (int i = 0; i < numbers; i++) {
        const double got = single ? (double)f[i] : d[i];
        const double want = factor * (i * 7 % 64 - 30) / 32.0 + (i % width == 0 ? term : 0);
        if (!(fabs(got - want) <= off)) fail_msg("number %d is %g, not %g", i, got, want);
    }
}

static void executions_follow_the_values_set_last(void **state) {
    (void)state;
    const weft_engine engines[] = {WEFT_ENGINE_AUTO, WEFT_ENGINE_IDENTITY, WEFT_ENGINE_REFERENCE};
    for (int i = 0; i < (device == WEFT_HOST ? 24 : 8); i++) {
        const weft_engine engine = engines[i / 4 % 3];
        const weft_kind kind = i % 2 ? WEFT_R2C : WEFT_C2C;
        if (engine == WEFT_ENGINE_IDENTITY && kind == WEFT_R2C) continue;
        round_trip r = make(kind, i / 2 % 2 ? WEFT_SINGLE : WEFT_DOUBLE, engine,
                            i < 12 ? device : WEFT_SIMULATED);
        check(&r, 0, 0);
        good(weft_plan_set_parameter(r.plan, 0, 0.75));
        good(weft_plan_set_parameter(r.plan, 1, -0.5));
        good(weft_plan_set_parameter(r.plan, 4, 0.3));
        for (int times = 0; times < 3; times++) check(&r, -0.375, 0.3);
        good(weft_plan_set_parameter(r.plan, 4, -1.5));
        check(&r, -0.375, -1.5);
        good(weft_plan_set_parameter(r.plan, 0, 2));
        good(weft_plan_set_parameter(r.plan, 3, 7)); /* which nobody looks at */
        check(&r, -1, -1.5);
        release(&r);
    }
}

static void rotate(const weft_fields_run *run, void *argument) {
    const double *p = run->parameter;
    (void)argument;
    for (int64_t i = 0; i < 2 * run->count; i++) {
        const int64_t from = i / 2 * 2 * run->in_stride + i % 2;
        const int64_t to = i / 2 * 2 * run->out_stride + i % 2;
        const double x = ((const double *)run->in[0])[from], y = ((const double *)run->in[1])[from];
        ((double *)run->out[0])[to] = p[0] * x - p[1] * y;
        ((double *)run->out[1])[to] = p[1] * x + p[0] * y;
    }
}

static void a_matrix_reads_parameters(void **state) {
    (void)state;
    const weft_operator matrix = {.kind = WEFT_OPERATOR_MATRIX, .matrix = rotate, .parameters = 2};
    const weft_problem problem = {.rank = 2, .n = {NX, NY}, .fields = 2, .spectral = {&matrix, 1}};
    const weft_options options = {.engine = WEFT_ENGINE_IDENTITY};
    double in[4 * POINTS], out[4 * POINTS];
    weft_plan plan = NULL;
    if (device != WEFT_HOST) skip();
    for (int i = 0; i < 4 * POINTS; i++) in[i] = i * 7 % 64;
    good(weft_plan_create(ctx, &problem, &options, &plan));
    for (int k = 1; k < 3; k++) {
        good(weft_plan_set_parameter(plan, 0, k));
        good(weft_plan_set_parameter(plan, 1, 3 - k));
        good(weft_execute(plan, WEFT_FORWARD, in, out));
        for (int i = 0; i < 2 * POINTS; i++) {
            assert_true(out[i] == k * in[i] - (3 - k) * in[2 * POINTS + i]);
            assert_true(out[2 * POINTS + i] == (3 - k) * in[i] + k * in[2 * POINTS + i]);
        }
    }
    weft_plan_destroy(&plan);
}

static void expect_refusal(weft_status status, const char *words) {
    assert_int_equal(status, WEFT_ERROR_INVALID_ARGUMENT);
    if (!strstr(weft_last_error(ctx), words)) fail_msg("%s", weft_last_error(ctx));
}

static void numbers_that_nobody_reads_are_refused(void **state) {
    (void)state;
    const weft_problem plain = {.rank = 1, .n = {8}};
    const weft_options options = {.device = device};
    weft_operator function = {
        .kind = WEFT_OPERATOR_FUNCTION, .function = multiply, .snippet = ";", .parameters = -1};
    weft_problem problem = plain;
    weft_plan plan = NULL;
    problem.load = (weft_operators){&function, 1};
    expect_refusal(weft_plan_create(ctx, &problem, &options, &plan),
                   "load.list[0].parameters is -1; it is 0 to 16");
    function.parameters = WEFT_MAX_PARAMETERS + 1;
    expect_refusal(weft_plan_create(ctx, &problem, &options, &plan), "parameters is 17");
    function.parameters = 3;
    good(weft_plan_create(ctx, &problem, &options, &plan));
    good(weft_plan_set_parameter(plan, 2, 1));
    expect_refusal(weft_plan_set_parameter(plan, 3, 1),
                   "no operator of the plan reads parameter 3");
    expect_refusal(weft_plan_set_parameter(plan, -1, 1), "number is -1; it is 0 to 15");
    expect_refusal(weft_plan_set_parameter(plan, 16, 1), "number is 16; it is 0 to 15");
    weft_plan_destroy(&plan);
    assert_int_equal(weft_plan_set_parameter(NULL, 0, 1), WEFT_ERROR_INVALID_ARGUMENT);
    good(weft_plan_create(ctx, &plain, &options, &plan));
    expect_refusal(weft_plan_set_parameter(plan, 0, 1),
                   "no operator of the plan reads parameter 0");
    weft_plan_destroy(&plan);
}

static void explain_tells_of_parameters(void **state) {
    (void)state;
    const weft_operator function = {
        .kind = WEFT_OPERATOR_FUNCTION, .function = multiply, .snippet = ";", .parameters = 7};
    const weft_problem problem = {.rank = 1, .n = {8}, .load = {&function, 1}};
    const weft_options options = {.device = device};
    weft_plan plan = NULL;
    good(weft_plan_create(ctx, &problem, &options, &plan));
    for (int format = WEFT_TEXT; format <= WEFT_JSON; format++) {
        static char text[1 << 16];
        FILE *stream = fmemopen(text, sizeof text, "w");
        good(weft_plan_explain(plan, stream, (weft_format)format));
        fclose(stream);
        assert_non_null(
            strstr(text, format == WEFT_TEXT ? "function of 7 parameters" : "\"parameters\": 7"));
    }
    weft_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executions_follow_the_values_set_last),
        cmocka_unit_test(a_matrix_reads_parameters),
        cmocka_unit_test(numbers_that_nobody_reads_are_refused),
        cmocka_unit_test(explain_tells_of_parameters),
    };
    if (!find_device(&device)) return status_without(device);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
