/*
 * Numbers of callers' arrays on a device: kernels convert them to the same bits as the host
 * (src/operator/convert.c), at and next to each value where rounding changes.
 */
#include "device_test.h"

#include <math.h>
#include <stdio.h>

#include "operator/kernel.h"

static const weft_device_ops *ops;
static weft_device_state *device;

enum { ROOM = 1 << 20 }; /* numbers of an array */

static weft_pointwise_layout layout_of(weft_operator_place place, weft_storage storage,
                                       weft_precision precision, bool real, int64_t n) {
    return (weft_pointwise_layout){.box = {.axes = 2, .n = {n, 1}},
                                   .order = {0, 1},
                                   .n = {n, 1},
                                   .real = real,
                                   .precision = precision,
                                   .place = place,
                                   .stored = {.storage = storage, .n = {n, 1}}};
}

static void copy(const void *from, void *to, size_t bytes, weft_transfer transfer) {
    const weft_copy run = weft_copy_of_run((int64_t)bytes, 1);
    ok(ops->copy(device, NULL, &run, from, to, transfer));
    ok(ops->queue_wait(device, NULL));
}

/* Runs a list without operators on the device, from `in` to `out`. */
static void pass(const weft_pointwise_layout *layout, const void *in, size_t in_bytes, void *out,
                 size_t out_bytes) {
    const weft_device_handle handle = {.ops = ops, .state = device};
    const weft_operator_list list = {.count = 0};
    weft_operator_pass *made = NULL;
    void *from = NULL, *to = NULL;
    ok(weft_operator_pass_create(&list, layout, &handle, &made));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, in_bytes, &from));
    ok(ops->allocate(device, WEFT_MEMORY_DEVICE, out_bytes, &to));
    copy(in, from, in_bytes, WEFT_HOST_TO_DEVICE);
    ok(weft_operator_pass_run(made, NULL, from, to));
    copy(to, out, out_bytes, WEFT_DEVICE_TO_HOST);
    ops->free(device, WEFT_MEMORY_DEVICE, from);
    ops->free(device, WEFT_MEMORY_DEVICE, to);
    weft_operator_pass_release(made);
}

/* ---- values ---- */

static double value[ROOM];
static int64_t values;

static void add(double x) {
    value[values++] = x;
    value[values++] = -x;
}

/* Adds a value and its neighbours in double precision and, rounded twice, in single precision. */
static void add_around(double x) {
    static const double beside[] = {0x1p-52, 0x1p-40, 0x1p-30, 0x1p-25, 0x1p-23, 0x1p-12};
    add(x);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        add(x * (1 + beside[i]));
        add(x * (1 - beside[i]));
    }
}

/* Adds the half-precision numbers and the ties between them. */
static void collect_halves(void) {
    values = 0;
    for (int mantissa = 0; mantissa < 2048; mantissa++) {
        const double half = mantissa * 0x1p-24; /* subnormal ones, and a binade of normal ones */
        add_around(half);
        add_around(half + 0x1p-25);
    }
    for (int exponent = -13; exponent < 16; exponent++)
        for (int mantissa = 0; mantissa < 1024; mantissa += exponent < 15 ? 61 : 1) {
            add_around(ldexp(1024 + mantissa, exponent - 10));
            add_around(ldexp(1024.5 + mantissa, exponent - 10));
        }
    add_around(0x1p-25);
    add_around(0x1p-149);
    add_around(65520); /* the first that is infinite */
    add(1e30);
    add(1e39); /* beyond single precision */
    add(1e300);
    add(5e-324);
    add(1e-45);
    add(INFINITY);
    add(NAN);
    assert_true(values <= ROOM);
}

static void collect_integers(void) {
    values = 0;
    for (int i = 0; i < 66000; i += i < 300 || i > 32700 ? 1 : 97) {
        add(i);
        add(i + 0.5);
        add(nextafter(i + 0.5, 0));
        add(nextafter(i + 0.5, i + 1));
    }
    add(1e10);
    add(1e300);
    add(INFINITY);
    add(NAN);
    assert_true(values <= ROOM);
}

/* ---- the tests ---- */

static void expect_same(const weft_pointwise_layout *l, const void *device_has,
                        const void *host_has, size_t element, const double *from) {
    for (int64_t i = 0; i < l->box.n[0]; i++) {
        const char *got = (const char *)device_has + (size_t)i * element;
        const char *want = (const char *)host_has + (size_t)i * element;
        uint64_t bits[2] = {0};
        if (memcmp(got, want, element) == 0) continue;
        memcpy(&bits[0], got, element);
        memcpy(&bits[1], want, element);
        fail_msg("storage %d, %s precision, %s: number %lld (%a) is %llx, of the host %llx",
                 (int)l->stored.storage, weft_precision_name(l->precision),
                 l->real ? "real" : "complex", (long long)i, from ? from[i] : 0,
                 (unsigned long long)bits[0], (unsigned long long)bits[1]);
    }
}

static void check_stored(weft_storage storage, weft_precision precision, bool real) {
    static double in[ROOM];
    static char host[ROOM * 8], got[ROOM * 8];
    const size_t number = weft_number_bytes(precision);
    const weft_operator_place place =
        storage == WEFT_STORAGE_COMPLEX_HALF ? WEFT_PLACE_SPECTRAL : WEFT_PLACE_STORE;
    const weft_pointwise_layout l =
        layout_of(place, storage, precision, real, real ? values : values / 2);
    const size_t element = weft_stored_element_bytes(&l);
    for (int64_t i = 0; i < values; i++)
        if (precision == WEFT_SINGLE)
            ((float *)in)[i] = (float)value[i];
        else
            in[i] = value[i];
    memset(host, 0, sizeof host);
    memset(got, 0xA5, sizeof got);
    weft_stored_store(&l, l.box.n[0], in, host);
    pass(&l, in, (size_t)values * number, got, (size_t)l.box.n[0] * element);
    expect_same(&l, got, host, element, real ? value : NULL);
}

static void halves_are_rounded_once_as_on_the_host(void **state) {
    (void)state;
    weft_kernel_limits limits;
    ok(ops->kernel_limits(device, &limits));
    collect_halves();
    for (int p = limits.has_double ? WEFT_DOUBLE : WEFT_SINGLE; p <= WEFT_SINGLE; p++) {
        check_stored(WEFT_STORAGE_HALF, (weft_precision)p, true);
        check_stored(WEFT_STORAGE_HALF, (weft_precision)p, false);
        check_stored(WEFT_STORAGE_COMPLEX_HALF, (weft_precision)p, false);
        check_stored(WEFT_STORAGE_FLOAT, (weft_precision)p, true);
    }
}

static void integers_are_rounded_once_as_on_the_host(void **state) {
    (void)state;
    weft_kernel_limits limits;
    ok(ops->kernel_limits(device, &limits));
    collect_integers();
    for (int p = limits.has_double ? WEFT_DOUBLE : WEFT_SINGLE; p <= WEFT_SINGLE; p++)
        for (int s = WEFT_STORAGE_U8; s <= WEFT_STORAGE_U16; s++)
            check_stored((weft_storage)s, (weft_precision)p, true);
}

/* Tests all 65536 half-precision numbers. */
static void every_half_is_loaded_as_on_the_host(void **state) {
    (void)state;
    enum { HALVES = 1 << 16 };
    static uint16_t half[HALVES];
    static double host[HALVES], got[HALVES];
    weft_kernel_limits limits;
    ok(ops->kernel_limits(device, &limits));
    for (int i = 0; i < HALVES; i++) /* a NaN stays one, whichever; here it is one half's */
        half[i] = (uint16_t)((i & 0x7fff) > 0x7c00 ? 0x7e00 : i);
    for (int p = limits.has_double ? WEFT_DOUBLE : WEFT_SINGLE; p <= WEFT_SINGLE; p++) {
        const weft_pointwise_layout l =
            layout_of(WEFT_PLACE_LOAD, WEFT_STORAGE_HALF, (weft_precision)p, true, HALVES);
        const size_t number = weft_number_bytes((weft_precision)p);
        weft_stored_load(&l, HALVES, half, host);
        pass(&l, half, sizeof half, got, HALVES * number);
        expect_same(&l, got, host, number, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_rounded_once_as_on_the_host),
        cmocka_unit_test(integers_are_rounded_once_as_on_the_host),
        cmocka_unit_test(every_half_is_loaded_as_on_the_host),
    };
    ops = tested_ops(); /* skipped where there is none */
    device = open_device(ops, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ops->close(device);
    return failed;
}
