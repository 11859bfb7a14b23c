/*
 * Kernels that callers make (device/device.h), in the dialect of src/kernels/dialect.h: arguments
 * of every kind, local memory and barriers, groups in three dimensions, offsets into allocations,
 * and what is refused.
 */
#include "device_test.h"

#include <stdio.h>

#include "device/kernel_source.h"

enum { COUNT = 1000, THREADS = 64 };

typedef struct fixture {
    const weft_device_ops *ops;
    weft_device_state *device;
    weft_kernel_limits limits;
    float *a, *b;       /* on the device */
    float *host, *back; /* page-locked */
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ops = tested_ops();
    f->device = open_device(f->ops, 0);
    ok(f->ops->kernel_limits(f->device, &f->limits));
    size_t bytes = COUNT * sizeof(float);
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->a));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_DEVICE, bytes, (void **)&f->b));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->host));
    ok(f->ops->allocate(f->device, WEFT_MEMORY_PAGE_LOCKED, bytes, (void **)&f->back));
    for (int i = 0; i < COUNT; ++i) f->host[i] = (float)i;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    f->ops->close(f->device);
    free(f);
    return 0;
}

static void copy_all(const fixture *f, const void *src, void *dst, weft_transfer transfer) {
    weft_copy copy = weft_copy_of_run(COUNT, sizeof(float));
    ok(f->ops->copy(f->device, NULL, &copy, src, dst, transfer));
}

static weft_kernel_source source_of(const char *name, const char *const *text, int texts) {
    return (weft_kernel_source){
        .name = name, .text = text, .texts = texts, .threads = THREADS, .precision = WEFT_SINGLE};
}

static weft_kernel *create(const fixture *f, const weft_kernel_source *source) {
    weft_kernel *kernel = NULL;
    ok(f->ops->kernel_create(f->device, source, &kernel));
    return kernel;
}

/* ---- kernels ---- */

/* The text has two parts, which must be joined; the factors come in a structure. */
static const char *const axpy[] = {
    "typedef struct factors { int count; float x, y; long64 zero; } factors;\n",
    "\nKERNEL(axpy)(MEMORY(const float, x), MEMORY(float, y), const factors f, int shift) {\n"
    "    OPEN(const float, x);\n"
    "    OPEN(float, y);\n"
    "    int i = (int)GROUP(0) * THREADS + THREAD + (int)f.zero;\n"
    "    if (i < f.count) y[i] = MULTIPLY_ADD(f.x, x[i], f.y * y[i]) + (float)shift;\n"
    "}\n"};

typedef struct factors {
    int count;
    float x, y;
    long long zero;
} factors;

static void axpy_on(fixture *f, weft_kernel *kernel, int offset, int count, int shift) {
    const factors given = {count, 2, 3, 0};
    const unsigned groups[3] = {(unsigned)(count + THREADS - 1) / THREADS, 1, 1};
    const weft_kernel_argument arguments[] = {{.memory = f->a + offset},
                                              {.memory = f->b + offset},
                                              {.value = &given, .bytes = sizeof given},
                                              {.value = &shift, .bytes = sizeof shift}};
    ok(f->ops->kernel_launch(f->device, NULL, kernel, groups, arguments, 4));
}

static void arguments_are_addresses_numbers_and_structures(void **state) {
    fixture *f = *state;
    const weft_kernel_source source = source_of("axpy", axpy, 2);
    weft_kernel *kernel = create(f, &source);
    for (int offset = 0; offset < 4; offset++) {
        copy_all(f, f->host, f->a, WEFT_HOST_TO_DEVICE);
        copy_all(f, f->host, f->b, WEFT_HOST_TO_DEVICE);
        axpy_on(f, kernel, offset, 900, 7);
        copy_all(f, f->b, f->back, WEFT_DEVICE_TO_HOST);
        ok(f->ops->queue_wait(f->device, NULL));
        for (int i = 0; i < COUNT; i++) {
            bool inside = i >= offset && i < offset + 900;
            assert_true(f->back[i] == (inside ? 5.0f * (float)i + 7 : (float)i));
        }
    }
    f->ops->kernel_destroy(f->device, kernel);
}

/* Two structures of 700 bytes exceed the 1024 bytes of parameters that OpenCL guarantees. */
enum { ROWS = 87, LAUNCHES = 64 };

static const char *const sums[] = {
    "typedef struct rows { long64 first, row[87]; } rows;\n"
    "FUNCTION long64 sum_of(IN_VALUE const rows *r) {\n"
    "    long64 sum = 0;\n"
    "    for (int i = 0; i < 87; ++i) sum += r->row[i];\n"
    "    return sum;\n"
    "}\n"
    "\nKERNEL(sums)(MEMORY(float, to), VALUE(rows, a), int at, VALUE(rows, b)) {\n"
    "    OPEN(float, to);\n"
    "    OPEN_VALUE(rows, a);\n"
    "    OPEN_VALUE(rows, b);\n"
    "    if (THREAD == 0) to[at] = (float)(sum_of(a) - sum_of(b) + a->first);\n"
    "}\n"};

typedef struct rows {
    int64_t first, row[ROWS];
} rows;

/* A launch has its own structures, whatever the launches before and after it on either queue are
 * given, without any wait between them. */
static void a_launch_has_the_structures_that_it_was_given(void **state) {
    fixture *f = *state;
    weft_kernel_source source = source_of("sums", sums, 1);
    source.value_bytes = 2 * sizeof(rows);
    source.parameter_bytes = source.value_bytes + sizeof(int) + WEFT_KERNEL_MEMORY;
    weft_kernel *kernel = create(f, &source);
    const unsigned groups[3] = {1, 1, 1};
    weft_queue *other = NULL;
    ok(f->ops->queue_create(f->device, false, &other));
    copy_all(f, f->host, f->a, WEFT_HOST_TO_DEVICE);
    ok(f->ops->queue_wait(f->device, NULL));
    for (int at = 0; at < LAUNCHES; at++) {
        rows a = {.first = at, .row = {100 * at}}, b = {.row = {at % 7}};
        a.row[ROWS - 1] = at;
        b.row[ROWS / 2] = at / 8 * 8;
        const weft_kernel_argument arguments[] = {
            {.memory = f->a},
            {.value = &a, .bytes = sizeof a, .is_value = true},
            {.value = &at, .bytes = sizeof at},
            {.value = &b, .bytes = sizeof b, .is_value = true}};
        ok(f->ops->kernel_launch(f->device, at % 3 == 0 ? other : NULL, kernel, groups, arguments,
                                 4));
        memset(&a, 0xFF, sizeof a);
        memset(&b, 0xFF, sizeof b);
    }
    ok(f->ops->queue_wait(f->device, other));
    copy_all(f, f->a, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, NULL));
    for (int at = 0; at < LAUNCHES; at++)
        assert_true(f->back[at] == (float)(102 * at - at % 7 - at / 8 * 8));
    f->ops->queue_destroy(f->device, other);
    f->ops->kernel_destroy(f->device, kernel);
}

/* Each group reverses its part of the array, once through local memory of the launch and once
 * through a local array of the kernel. */
static const char *const reverse[] = {
    "CONSTANT_TABLE(float, signs, 2) = {1, -1};\n"
    "FUNCTION float signed_value(float x, int i) {\n"
    "    return signs[i & 1] * x;\n"
    "}\n"
    "FUNCTION int reversed(LOCAL float *to, int i, float x) {\n"
    "    to[THREADS - 1 - i] = x;\n"
    "    return i;\n"
    "}\n"
    "\nKERNEL(reverse_given)(MEMORY(const float, in), MEMORY(float, out) LOCAL_MEMORY) {\n"
    "    OPEN(const float, in);\n"
    "    OPEN(float, out);\n"
    "    OPEN_LOCAL(float, part);\n"
    "    long64 first = (long64)GROUP(0) * THREADS;\n"
    "    int i = reversed(part, THREAD, in[first + THREAD]);\n"
    "    BARRIER();\n"
    "    out[first + i] = signed_value(part[i], i);\n"
    "}\n"
    "\nKERNEL(reverse_own)(MEMORY(const float, in), MEMORY(float, out)) {\n"
    "    LOCAL_ARRAY(float, part, THREADS);\n"
    "    OPEN(const float, in);\n"
    "    OPEN(float, out);\n"
    "    long64 first = (long64)GROUP(0) * THREADS;\n"
    "    int i = reversed(part, THREAD, in[first + THREAD]);\n"
    "    BARRIER();\n"
    "    out[first + i] = signed_value(part[i], i);\n"
    "}\n"};

static void expect_reversed(fixture *f, const weft_kernel_source *source) {
    const unsigned groups[3] = {10, 1, 1};
    const weft_kernel_argument arguments[] = {{.memory = f->a}, {.memory = f->b}};
    weft_kernel *kernel = create(f, source);
    copy_all(f, f->host, f->a, WEFT_HOST_TO_DEVICE);
    copy_all(f, f->host, f->b, WEFT_HOST_TO_DEVICE);
    ok(f->ops->kernel_launch(f->device, NULL, kernel, groups, arguments, 2));
    copy_all(f, f->b, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, NULL));
    for (int i = 0; i < 10 * THREADS; i++) {
        float from = (float)(i / THREADS * THREADS + THREADS - 1 - i % THREADS);
        assert_true(f->back[i] == (i % 2 ? -from : from));
    }
    f->ops->kernel_destroy(f->device, kernel);
}

static void threads_of_a_group_share_local_memory(void **state) {
    fixture *f = *state;
    weft_kernel_source source = source_of("reverse_own", reverse, 1);
    expect_reversed(f, &source);
    source.name = "reverse_given";
    source.local_bytes = THREADS * sizeof(float);
    expect_reversed(f, &source);
    /* All local memory that there is: on NVIDIA's GPUs more than 48 KiB must be requested. */
    source.local_bytes = f->limits.local_bytes - 2 * THREADS * sizeof(float);
    expect_reversed(f, &source);
}

static const char *const numbering[] = {
    "\nKERNEL(numbering)(MEMORY(int, out)) {\n"
    "    OPEN(int, out);\n"
    "    unsigned int group = (GROUP(2) * GROUPS(1) + GROUP(1)) * GROUPS(0) + GROUP(0);\n"
    "    out[group * THREADS + THREAD] =\n"
    "        (int)(GROUP(0) + 10 * GROUP(1) + 100 * GROUP(2) + 1000 * THREAD);\n"
    "}\n"};

static void groups_are_numbered_in_three_dimensions(void **state) {
    fixture *f = *state;
    const unsigned groups[3] = {5, 3, 4};
    const weft_kernel_argument argument = {.memory = f->b};
    weft_kernel_source source = source_of("numbering", numbering, 1);
    source.threads = 16;
    weft_kernel *kernel = create(f, &source);
    ok(f->ops->kernel_launch(f->device, NULL, kernel, groups, &argument, 1));
    copy_all(f, f->b, f->back, WEFT_DEVICE_TO_HOST);
    ok(f->ops->queue_wait(f->device, NULL));
    for (int i = 0; i < 5 * 3 * 4 * 16; i++) {
        int group = i / 16;
        assert_int_equal(((const int *)(void *)f->back)[i],
                         group % 5 + 10 * (group / 5 % 3) + 100 * (group / 15) + 1000 * (i % 16));
    }
    f->ops->kernel_destroy(f->device, kernel);
}

/* Products of 1 + 2i and 3 + 4i by each function of the dialect. */
static const char *const products[] = {
    "\nKERNEL(products)(MEMORY(real2, z)) {\n"
    "    OPEN(real2, z);\n"
    "    real2 a = pair((real)1, (real)2), b = pair((real)3, (real)4);\n"
    "    if (THREAD > 0) return;\n"
    "    z[0] = complex_multiply(a, b);\n"
    "    z[1] = complex_multiply_conjugate(a, b);\n"
    "    z[2] = complex_add(a, b);\n"
    "    z[3] = complex_subtract(a, b);\n"
    "    z[4] = complex_scale(a, (real)5);\n"
    "    z[5] = complex_times_i(a);\n"
    "}\n"};
static const double product[] = {-5, 10, 11, 2, 4, 6, -2, -2, 5, 10, -2, 1};

static void complex_numbers_are_computed_in_both_precisions(void **state) {
    fixture *f = *state;
    const unsigned groups[3] = {1, 1, 1};
    const weft_kernel_argument argument = {.memory = f->b};
    for (int p = f->limits.has_double ? WEFT_DOUBLE : WEFT_SINGLE; p <= WEFT_SINGLE; p++) {
        weft_kernel_source source = source_of("products", products, 1);
        source.precision = (weft_precision)p;
        weft_kernel *kernel = create(f, &source);
        ok(f->ops->kernel_launch(f->device, NULL, kernel, groups, &argument, 1));
        copy_all(f, f->b, f->back, WEFT_DEVICE_TO_HOST);
        ok(f->ops->queue_wait(f->device, NULL));
        for (int i = 0; i < 12; i++)
            assert_true((p == WEFT_SINGLE ? (double)f->back[i]
                                          : ((const double *)(void *)f->back)[i]) == product[i]);
        f->ops->kernel_destroy(f->device, kernel);
    }
}

/* ---- refusals ---- */

static void expect_refused(const fixture *f, const weft_kernel_source *source, weft_status status,
                           const char *word) {
    weft_kernel *kernel = (weft_kernel *)(void *)&kernel, *before = kernel;
    weft_status got = f->ops->kernel_create(f->device, source, &kernel);
    if (got == WEFT_SUCCESS && f->ops->kernels_await) { /* several are compiled at a time */
        got = f->ops->kernels_await(f->device);
        f->ops->kernel_destroy(f->device, kernel);
        kernel = before;
    }
    if (got != status || !strstr(weft_thread_error(), word))
        fail_msg("%s: %d: %s", word, got, weft_thread_error());
    assert_null(strchr(weft_thread_error(), '\n'));
    assert_ptr_equal(kernel, before);
}

static void what_cannot_be_a_kernel_is_refused_with_the_reason(void **state) {
    fixture *f = *state;
    const char *const wrong[] = {"\nKERNEL(wrong)(MEMORY(float, x)) {\n    not_declared = 1;\n}\n"};
    weft_kernel_source source = source_of("wrong", wrong, 1);
    for (int i = 0; i < 2; i++) expect_refused(f, &source, WEFT_ERROR_DEVICE, "not_declared");
    source = source_of("xpay", axpy, 2);
    expect_refused(f, &source, WEFT_ERROR_DEVICE, "xpay");
    source = source_of("axpy", axpy, 2);
    source.threads = f->limits.threads + 1;
    expect_refused(f, &source, WEFT_ERROR_UNSUPPORTED, "threads");
    source = source_of("reverse_given", reverse, 1);
    source.local_bytes = f->limits.local_bytes + 1;
    expect_refused(f, &source, WEFT_ERROR_UNSUPPORTED, "local memory");
    /* The queue still works. */
    arguments_are_addresses_numbers_and_structures(state);
}

static void without_double_precision_a_kernel_that_wants_it_is_refused(void **state) {
    const weft_kernel_limits limits = {.threads = THREADS, .local_bytes = 1 << 14};
    weft_kernel_source source = source_of("products", products, 1);
    (void)state;
    ok(weft_kernel_check(&source, &limits, "a device"));
    source.precision = WEFT_DOUBLE;
    assert_int_equal(weft_kernel_check(&source, &limits, "a device"), WEFT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(weft_thread_error(), "double precision"));
}

static void limits_make_sense(void **state) {
    fixture *f = *state;
    const weft_kernel_limits *l = &f->limits;
    assert_true(l->threads >= 64 && l->units >= 1 && l->local_bytes >= 16 << 10);
    assert_true(l->width >= 1 && (l->width & (l->width - 1)) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits_make_sense, setup, teardown),
        cmocka_unit_test(without_double_precision_a_kernel_that_wants_it_is_refused),
        cmocka_unit_test_setup_teardown(arguments_are_addresses_numbers_and_structures, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_launch_has_the_structures_that_it_was_given, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_of_a_group_share_local_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_are_numbered_in_three_dimensions, setup, teardown),
        cmocka_unit_test_setup_teardown(complex_numbers_are_computed_in_both_precisions, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_a_kernel_is_refused_with_the_reason, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
