/*
 * The error rule of the product test (mpi/product_oracle.h) where operators leave more of some
 * elements than of others: what is rounded right passes, and numbers that were once in single
 * precision do not. And its DFT, all of it at once and line by line on several ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpi/product_oracle.h"

enum { WHOLE = 420, KEPT = 28 };

/* 3x5x4x7 in double precision, of which the caller keeps the first 28 numbers as floats. There the
 * last operators leave the most: elsewhere a twentieth of it. */
typedef struct kept_part {
    double value[KEPT], spread, wanted; /* squared norms */
} kept_part;

static kept_part make_part(void) {
    kept_part p = {.spread = 0, .wanted = 0};
    double plain = 0, factors = 0;
    for (int i = 0; i < KEPT; i++) {
        const double x = sin(1.0 + 7.0 * i);
        p.value[i] = 3 * x;
        plain += x * x;
        p.wanted += p.value[i] * p.value[i];
    }
    for (int i = 0; i < WHOLE; i++) factors += i < KEPT ? 9.0 : 0.0225;
    p.spread = plain * factors / WHOLE;
    return p;
}

static oracle_rounding stored_as_floats(void) {
    const int64_t n[] = {3, 5, 4, 7};
    return (oracle_rounding){.spread = oracle_tolerance(4, n, false) + oracle_unit(false),
                             .own = oracle_unit(false) * (2 + 2 * 4) + oracle_unit(true)};
}

static double error_of(const kept_part *p, double factor) {
    double sum = 0;
    for (int i = 0; i < KEPT; i++) {
        const double off = (double)(float)(p->value[i] * factor) - p->value[i];
        sum += off * off;
    }
    return sqrt(sum);
}

static void floats_that_are_rounded_right_pass_where_operators_leave_the_most(void **state) {
    (void)state;
    const kept_part p = make_part();
    const oracle_rounding rounding = stored_as_floats();
    const double error = error_of(&p, 1);
    assert_true(error <= oracle_allowed(rounding, p.spread, p.wanted));
    /* A rule that takes all rounding to be spread evenly says that this is wrong. */
    assert_true(error > (rounding.spread + rounding.own) * sqrt(p.spread));
}

static void floats_that_are_one_unit_off_do_not_pass(void **state) {
    (void)state;
    const kept_part p = make_part();
    assert_true(error_of(&p, 1 + 0x1p-23) > oracle_allowed(stored_as_floats(), p.spread, p.wanted));
}

static void numbers_that_were_once_floats_do_not_pass_as_doubles(void **state) {
    (void)state;
    const kept_part p = make_part();
    oracle_rounding rounding = stored_as_floats();
    rounding.own -= oracle_unit(true);
    assert_true(error_of(&p, 1) > oracle_allowed(rounding, p.spread, p.wanted));
}

/* A window's far tail, 1e-40 to 1e-46, of which floats keep a digit or nothing. */
static void numbers_too_small_for_floats_may_be_lost(void **state) {
    (void)state;
    enum { POINTS = 1000 };
    const double tail = 1e-46 * sqrt(POINTS), data = 1e-20 * sqrt(POINTS);
    const oracle_rounding rounding = {.own = oracle_unit(true),
                                      .underflow = oracle_underflow(true, POINTS)};
    assert_true(tail <= oracle_allowed(rounding, tail * tail, tail * tail));
    assert_true(data * 0x1p-22 > oracle_allowed(rounding, data * data, data * data));
    assert_true(tail > oracle_underflow(false, POINTS));
}

/* ---- the DFT ---- */

static oracle_number *make_data(int64_t total) {
    oracle_number *data = malloc((size_t)total * sizeof *data);
    for (int64_t i = 0; i < total; i++)
        data[i] = sinl(1.0L + 3.0L * (long double)i) + cosl(2.0L * (long double)i) * I;
    return data;
}

static void the_transform_is_the_sum_that_defines_it(void **state) {
    (void)state;
    enum { X = 3, Y = 5, BATCH = 2 };
    const int64_t n[] = {X, Y};
    const long double turn = 2 * 3.14159265358979323846264338327950288L;
    oracle_number *in = make_data(BATCH * X * Y), *out = make_data(BATCH * X * Y);
    oracle_dft(out, 2, n, BATCH, -1, (oracle_lines){0, 1}, NULL);
    for (int i = 0; i < BATCH * X * Y; i++) {
        const int kx = i / Y % X, ky = i % Y;
        oracle_number sum = 0;
        for (int j = 0; j < X * Y; j++) {
            const long double angle = -turn * ((long double)(kx * (j / Y)) / X + /* turns */
                                               (long double)(ky * (j % Y)) / Y);
            sum += in[i / (X * Y) * X * Y + j] * (cosl(angle) + sinl(angle) * I);
        }
        assert_true(cabsl(out[i] - sum) < 1e-16L);
    }
    free(in);
    free(out);
}

static void lines_that_are_shared_out_make_up_the_whole(void **state) {
    (void)state;
    enum { RANKS = 3, TOTAL = 4 * 7, N = 7 };
    oracle_number *whole = make_data(TOTAL), *sum = calloc(TOTAL, sizeof *sum);
    for (int r = 0; r < RANKS; r++) {
        oracle_number *part = make_data(TOTAL);
        oracle_axis(part, TOTAL, N, 4, 1, (oracle_lines){r, RANKS});
        for (int i = 0; i < TOTAL; i++) sum[i] += part[i];
        free(part);
    }
    oracle_axis(whole, TOTAL, N, 4, 1, (oracle_lines){0, 1});
    for (int i = 0; i < TOTAL; i++) assert_true(sum[i] == whole[i]);
    free(whole);
    free(sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_that_are_rounded_right_pass_where_operators_leave_the_most),
        cmocka_unit_test(floats_that_are_one_unit_off_do_not_pass),
        cmocka_unit_test(numbers_that_were_once_floats_do_not_pass_as_doubles),
        cmocka_unit_test(numbers_too_small_for_floats_may_be_lost),
        cmocka_unit_test(the_transform_is_the_sum_that_defines_it),
        cmocka_unit_test(lines_that_are_shared_out_make_up_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
