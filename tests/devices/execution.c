/*
 * Executions on devices with kernels compile and allocate nothing, wherever the caller's arrays
 * begin, and give the same results at odd addresses. An engine may refuse such addresses with an
 * error message.
 */
#include "device_test.h"

#include <math.h>
#include <stdio.h>

#include "engine/engine.h"

static const weft_device_ops *real_ops;
static weft_device_ops counting_ops;
static weft_device_state *device;
static int made; /* kernels and allocations */

static weft_status count_kernel(weft_device_state *state, const weft_kernel_source *source,
                                weft_kernel **kernel) {
    made++;
    return real_ops->kernel_create(state, source, kernel);
}

static weft_status count_allocation(weft_device_state *state, weft_memory_kind kind, size_t bytes,
                                    void **memory) {
    made++;
    return real_ops->allocate(state, kind, bytes, memory);
}

/* ---- transforms of dense arrays ---- */

typedef struct test_case {
    weft_transform_kind kind;
    weft_precision precision;
    int dims;
    int64_t n[3], lines;
    bool round_trip;
} test_case;

static const test_case cases[] = {
    {WEFT_TRANSFORM_C2C, WEFT_DOUBLE, 1, {12}, 5, false},
    {WEFT_TRANSFORM_R2C, WEFT_SINGLE, 2, {6, 20}, 2, false},
    {WEFT_TRANSFORM_R2C, WEFT_DOUBLE, 2, {6, 15}, 2, false},
    {WEFT_TRANSFORM_C2R, WEFT_DOUBLE, 2, {6, 20}, 2, false},
    {WEFT_TRANSFORM_C2C, WEFT_DOUBLE, 1, {10007}, 1, false}, /* a convolution of several kernels */
    {WEFT_TRANSFORM_R2C, WEFT_DOUBLE, 1, {16384}, 1, false}, /* a matrix */
    {WEFT_TRANSFORM_C2C, WEFT_SINGLE, 2, {6, 20}, 2, true},
};

static int64_t width_of(const test_case *c, int d, bool output) {
    const bool complex_side = c->kind == (output ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R);
    return complex_side && d == c->dims - 1 ? c->n[d] / 2 + 1 : c->n[d];
}

/* Sets the strides of one side and returns the size of the array in real numbers. */
static size_t lay_out(const test_case *c, weft_transform *t, bool output) {
    int64_t stride = 1;
    for (int d = c->dims - 1; d >= 0; d--) {
        *(output ? &t->dim[d].out_stride : &t->dim[d].in_stride) = stride;
        stride *= width_of(c, d, output);
    }
    *(output ? &t->loop[0].out_stride : &t->loop[0].in_stride) = stride;
    const bool real = c->kind == (output ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_R2C);
    return (size_t)(stride * c->lines * (real ? 1 : 2));
}

typedef struct arrays {
    weft_transform transform;
    size_t number, in_bytes, out_bytes;
    char *host, *got[2], *in, *out;
} arrays;

static void copy(const void *from, void *to, size_t bytes, weft_transfer transfer) {
    const weft_copy run = weft_copy_of_run((int64_t)bytes, 1);
    ok(real_ops->copy(device, NULL, &run, from, to, transfer));
    ok(real_ops->queue_wait(device, NULL));
}

static arrays begin(const test_case *c) {
    arrays a = {.transform = {.kind = c->kind,
                              .precision = c->precision,
                              .dims = c->dims,
                              .loops = 1,
                              .loop = {{.n = c->lines}},
                              .round_trip = c->round_trip,
                              .threads = 1},
                .number = weft_number_bytes(c->precision)};
    for (int d = 0; d < c->dims; d++) a.transform.dim[d].n = c->n[d];
    a.in_bytes = lay_out(c, &a.transform, false) * a.number;
    a.out_bytes = lay_out(c, &a.transform, true) * a.number;
    a.host = malloc(a.in_bytes);
    for (int i = 0; i < 2; i++) a.got[i] = malloc(a.out_bytes);
    assert_true(a.host && a.got[0] && a.got[1]);
    for (size_t i = 0; i < a.in_bytes / a.number; i++) {
        const double x = (double)(i * 37 % 101) / 50 - 1;
        if (c->precision == WEFT_SINGLE)
            ((float *)(void *)a.host)[i] = (float)x;
        else
            ((double *)(void *)a.host)[i] = x;
    }
    ok(real_ops->allocate(device, WEFT_MEMORY_DEVICE, a.in_bytes + a.number, (void **)&a.in));
    ok(real_ops->allocate(device, WEFT_MEMORY_DEVICE, a.out_bytes + a.number, (void **)&a.out));
    return a;
}

static void end(arrays *a) {
    real_ops->free(device, WEFT_MEMORY_DEVICE, a->in);
    real_ops->free(device, WEFT_MEMORY_DEVICE, a->out);
    free(a->host);
    for (int i = 0; i < 2; i++) free(a->got[i]);
}

static void expect_close(const test_case *c, const arrays *a) {
    double most = 0, off = 0;
    for (size_t i = 0; i < a->out_bytes / a->number; i++) {
        double x[2];
        for (int k = 0; k < 2; k++)
            x[k] = c->precision == WEFT_SINGLE ? (double)((float *)(void *)a->got[k])[i]
                                               : ((double *)(void *)a->got[k])[i];
        most = fmax(most, fabs(x[0]));
        if (!(fabs(x[0] - x[1]) <= off)) off = fabs(x[0] - x[1]);
    }
    /* Bits may differ, since compilers fuse operations as they like. */
    assert_true(most > 0.5);
    assert_true(off <= most * (c->precision == WEFT_SINGLE ? 1e-6 : 1e-14));
}

/* Executes on arrays that begin so many real numbers after an aligned address. */
static weft_status execute(const weft_engine_ops *engine, weft_engine_plan *plan, const arrays *a,
                           size_t in_shift, size_t out_shift, char *got) {
    const weft_device_handle handle = {.ops = &counting_ops, .state = device};
    char *in = a->in + in_shift * a->number, *out = a->out + out_shift * a->number;
    copy(a->host, in, a->in_bytes, WEFT_HOST_TO_DEVICE);
    if (engine->begin_at) engine->begin_at(plan, 0, NULL);
    WEFT_TRY(engine->execute(plan, &handle, NULL, in, out));
    copy(out, got, a->out_bytes, WEFT_DEVICE_TO_HOST);
    return WEFT_SUCCESS;
}

static void check(const weft_engine_ops *engine, const test_case *c) {
    const weft_device_handle handle = {.ops = &counting_ops, .state = device};
    weft_engine_plan *plan = NULL;
    size_t bytes = 0;
    arrays a = begin(c);
    if (engine->supports(&a.transform, &counting_ops) == WEFT_SUCCESS) {
        ok(engine->plan(&a.transform, &handle, &plan, &bytes));
        const int before = made;
        assert_true(before > 0 || engine->id != WEFT_ENGINE_JIT);
        ok(execute(engine, plan, &a, 0, 0, a.got[0]));
        for (size_t shift = 1; shift < 4; shift++) {
            const weft_status status = execute(engine, plan, &a, shift % 2, shift / 2, a.got[1]);
            if (status == WEFT_SUCCESS)
                expect_close(c, &a);
            else if (engine->id == WEFT_ENGINE_JIT || !strstr(weft_thread_error(), "aligned"))
                fail_msg("%s: %s", engine->name, weft_thread_error());
        }
        if (made != before)
            fail_msg("%s, case %d: %d kernels and allocations were made in execution", engine->name,
                     (int)(c - cases), made - before);
        engine->destroy(plan);
    }
    end(&a);
}

static void nothing_is_compiled_or_allocated_in_execution(void **state) {
    (void)state;
    const weft_engine engines[] = {WEFT_ENGINE_JIT, WEFT_ENGINE_CUFFT};
    for (int e = 0; e < (tested_id() == WEFT_CUDA ? 2 : 1); e++) {
        const weft_engine_ops *engine = weft_engine_find(engines[e]);
        assert_non_null(engine);
        made = 0;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(engine, &cases[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_compiled_or_allocated_in_execution),
    };
    real_ops = tested_ops(); /* skipped where there is none */
    counting_ops = *real_ops;
    counting_ops.kernel_create = count_kernel;
    counting_ops.allocate = count_allocation;
    device = open_device(real_ops, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    real_ops->close(device);
    return failed;
}
