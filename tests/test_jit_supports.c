/*
 * Which transforms the jit engine supports: those whose points and lines its kernels can count; and
 * how many groups share a line, on a device with clusters; which convolution does primes. Nothing
 * is planned and no device is needed, so the answer must come at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above it */
#include <cmocka.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "engine/generator.h"
#include "engine/jit/long_line.h"
#include "engine/jit/measured_line.h"
#include "engine/jit/multiprocessor.h"
#include "engine/jit/shape.h"
#include "operator/operator.h"
#include "support/error.h"

typedef struct test_case {
    weft_transform_kind kind;
    int64_t n, others; /* points of a line, and the other dimension's */
    int64_t loop;
    bool operates;
    const char *reason; /* NULL: it is taken */
} test_case;

#define TWO(exponent) (INT64_C(1) << (exponent))
#define C2C WEFT_TRANSFORM_C2C
#define R2C WEFT_TRANSFORM_R2C
#define C2R WEFT_TRANSFORM_C2R

static const test_case cases[] = {
    {C2C, 4096, 1, 1, false, NULL},
    {C2C, TWO(32), 1, 1, false, NULL}, /* exponents of twiddles are below the length */
    {C2C, 3 * TWO(31), 1, 1, false, "6442450944 points"},
    {C2C, TWO(33), 1, 1, false, "8589934592 points"},
    {C2C, TWO(40), 1, 1, false, "1099511627776 points"},
    {C2C, TWO(62), 1, 1, false, "points"},
    {C2C, TWO(30), 1, 1, true, NULL},
    {C2C, TWO(31), 1, 1, true, "with operators"},
    {C2C, 100003, 1, 1, false, NULL},
    {C2C, TWO(31) - 1, 1, 1, false, "a pass counts"}, /* a prime: as a convolution of more */
    {R2C, TWO(30), 1, 1, false, NULL},
    {R2C, TWO(31), 1, 1, false, "real lines of 2147483648 points"},
    {C2R, TWO(32), 1, 1, false, "real lines"},
    {R2C, TWO(33), 1, 1, false, "real lines"},
    {C2C, 16, TWO(30), 1, false, NULL},
    {C2C, 16, TWO(31), 1, false, "a pass counts"},
    {C2C, 16, 2, TWO(31), false, "a pass counts"},
    {C2C, 16, TWO(31), TWO(31), false, "a pass counts"},
    {R2C, 16, 16, TWO(40), false, "a pass counts"},
    {C2C, TWO(32), TWO(10), 1, false, "a pass counts"},
};

static void what_kernels_cannot_count_is_refused_at_once(void **state) {
    (void)state;
    const weft_operator item = {.kind = WEFT_OPERATOR_SCALE, .factor = 2};
    const weft_operator_list list = {.count = 1, .item = (weft_operator *)(uintptr_t)&item};
    const weft_engine_ops *jit = weft_engine_find(WEFT_ENGINE_JIT);
    const weft_device_ops *device = weft_device_find(WEFT_OPENCL);
    assert_true(jit && device);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const test_case *c = &cases[i];
        weft_transform t = {.kind = c->kind,
                            .precision = WEFT_SINGLE,
                            .dims = c->others > 1 ? 2 : 1,
                            .loops = 1,
                            .loop = {{.n = c->loop}},
                            .load = {.list = c->operates ? &list : NULL}};
        t.dim[0].n = c->others;
        t.dim[t.dims - 1].n = c->n;
        const clock_t begin = clock();
        const weft_status status = jit->supports(&t, device);
        const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (status != (c->reason ? WEFT_ERROR_UNSUPPORTED : WEFT_SUCCESS) ||
            (c->reason && !strstr(weft_thread_error(), c->reason)))
            fail_msg("%lld points, case %zu: %s", (long long)c->n, i,
                     status == WEFT_SUCCESS ? "taken" : weft_thread_error());
        if (seconds > 0.5) fail_msg("%lld points: %g s", (long long)c->n, seconds);
    }
}

static void groups_share_lines_that_leave_no_thread_idle(void **state) {
    (void)state;
    static const struct {
        weft_precision precision;
        int points, cluster;
    } all[] = {{WEFT_DOUBLE, 16384, 2}, {WEFT_DOUBLE, 12288, 1}, {WEFT_DOUBLE, 20000, 1},
               {WEFT_SINGLE, 32768, 4}, {WEFT_SINGLE, 24000, 1}, {WEFT_SINGLE, 20000, 1}};
    const weft_kernel_limits limits = {
        .threads = 1024, .width = 32, .units = 132, .cluster = 8, .local_bytes = 227 << 10};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const weft_jit_tuning tuning = weft_jit_tuning_of(all[i].precision, &limits);
        const weft_jit_task task = {.precision = all[i].precision,
                                    .length = all[i].points,
                                    .points = all[i].points,
                                    .rows = 1,
                                    .lines = 100};
        const weft_jit_shape shape = weft_jit_choose_shape(&task, &tuning, &limits);
        assert_int_equal(shape.cluster, all[i].cluster);
        if (shape.cluster > 1) assert_true(weft_jit_shape_fits(&shape, &task, &tuning, &limits));
    }
}

/* Of all lines beyond 4096 that one group may transform: what the model chooses can run. */
static void long_lines_get_radices_and_threads_that_have_room(void **state) {
    (void)state;
    weft_kernel_limits limits = {.threads = 1024, .local_bytes = 227 << 10};
    int fit[2] = {0, 0}, split = 0;
    for (int single = 0; single < 2; single++) {
        const weft_precision precision = single ? WEFT_SINGLE : WEFT_DOUBLE;
        const weft_jit_tuning tuning = weft_jit_tuning_of(precision, &limits);
        for (int n = WEFT_JIT_LONGEST + 1; n <= tuning.longest; n++) {
            if (!weft_jit_is_smooth(n)) continue;
            const bool half = n % 3 == 0; /* of twice as many real points */
            int groups = 0, product = 1, local = 64 << 10;
            weft_jit_radices r;
            if (half || !weft_jit_find_contiguous_radices(n, precision, &r, &groups))
                r = weft_jit_choose_long_radices(n, precision, half, &groups);
            for (int s = 0; s < r.stages; s++) product *= r.radix[s];
            const weft_jit_task task = {.precision = precision,
                                        .length = n,
                                        .points = n,
                                        .rows = 1,
                                        .lines = 100,
                                        .half_out = half};
            const weft_jit_shape shape = weft_jit_choose_shape(&task, &tuning, &limits);
            assert_int_equal(weft_jit_shape_fits(&shape, &task, &tuning, &limits), r.stages > 0);
            if (r.stages == 0) continue;
            assert_memory_equal(shape.radices.radix, r.radix, sizeof r.radix);
            fit[single]++;
            assert_int_equal(product, n);
            assert_true(r.threads >= 128 && r.threads <= 1024 && groups >= 1);
            assert_true(r.values * r.threads >= n && r.values <= 50);
            assert_true(weft_jit_registers_with(groups, r.threads) >=
                        weft_jit_registers_of_points(&r, precision) + 16);
            assert_true(shape.resident >= 1 && shape.resident <= groups && shape.parts == 1);
            assert_true(shape.resident * (int)shape.local_bytes <= 227 << 10);
            /* A device with less local memory: the same radices, in other shapes or none. */
            const weft_kernel_limits less = {.threads = 1024, .local_bytes = (size_t)local};
            const weft_jit_shape small = weft_jit_choose_shape(&task, &tuning, &less);
            assert_memory_equal(&small.radices, &shape.radices, sizeof small.radices);
            split += small.parts == 2 && weft_jit_shape_fits(&small, &task, &tuning, &less);
        }
    }
    assert_true(fit[0] > 200 && fit[1] > 300 && split > 100);
}

static void rader_is_chosen_where_it_is_possible_and_cheaper(void **state) {
    (void)state;
    static const struct {
        int64_t n, core; /* 0: Bluestein's convolution */
    } all[] = {{37, 36},  {61, 60},  {127, 126},  {1009, 1008}, {4051, 4050}, {53, 52},
               {74, 36},  {122, 60}, {1524, 126}, {4036, 1008}, {4059, 40},   {206, 102}, /* rows */
               {83, 0},   {509, 0},  {2039, 0},   {118, 0}, /* p - 1 */
               {1369, 0}, {1517, 0}, {4070, 0}};            /* two factors; many threads */
    const weft_kernel_limits limits = {.threads = 1024, .local_bytes = 227 << 10};
    weft_jit_tuning tuning = weft_jit_tuning_of(WEFT_DOUBLE, &limits);
    for (int percent = 0; percent <= 100; percent += 100)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            tuning.rader = percent;
            const int64_t core = weft_jit_choose_core(all[i].n, &tuning);
            if (percent > 0 && all[i].core > 0)
                assert_int_equal(core, all[i].core);
            else
                assert_true(core >= 2 * all[i].n - 1);
        }
    tuning.rader = 1; /* percent of Bluestein's cost */
    assert_true(weft_jit_choose_core(127, &tuning) >= 253);
    tuning.rader = INT_MAX;
    assert_int_equal(weft_jit_choose_core(127, &tuning), 126);
}

static void powers_of_a_generator_are_all_units(void **state) {
    (void)state;
    for (int64_t p = 3; p < WEFT_JIT_LONGEST; p += 2) {
        if (!weft_is_prime(p)) continue;
        const int64_t g = weft_generator(p);
        int64_t power = g, order = 1;
        for (; power != 1; order++) power = power * g % p;
        assert_int_equal(order, p - 1);
        assert_int_equal(weft_power_modulo(g, p - 1, p), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_kernels_cannot_count_is_refused_at_once),
        cmocka_unit_test(groups_share_lines_that_leave_no_thread_idle),
        cmocka_unit_test(long_lines_get_radices_and_threads_that_have_room),
        cmocka_unit_test(rader_is_chosen_where_it_is_possible_and_cheaper),
        cmocka_unit_test(powers_of_a_generator_are_all_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
