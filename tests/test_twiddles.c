/* Twiddle factors of lines: near the exact roots, and the same bits however a row is cut. */
#include "operator/twiddle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t shapes[][2] = {{1, 1}, {1, 40}, {2, 3}, {7, 9}, {33, 64}, {1000, 1024}};

static weft_twiddles *create(const int64_t *n, bool conjugate) {
    weft_twiddles *t = NULL;
    size_t bytes = 0;
    assert_int_equal(weft_twiddles_create(n[0], n[1], conjugate, &t, &bytes), WEFT_SUCCESS);
    assert_true(bytes > 0);
    return t;
}

static double part_of(const void *data, weft_precision precision, int64_t i) {
    return precision == WEFT_SINGLE ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Rows of ones, so that what is stored are the factors. */
static void fill(void *data, weft_precision precision, int64_t count) {
    for (int64_t i = 0; i < 2 * count; i++)
        if (precision == WEFT_SINGLE)
            ((float *)data)[i] = i % 2 ? 0 : 1;
        else
            ((double *)data)[i] = i % 2 ? 0 : 1;
}

static void check_row(const weft_twiddles *t, const int64_t *n, bool conjugate,
                      weft_precision precision, int64_t row, int64_t count) {
    static const long double pi = 3.14159265358979323846264338327950288L;
    const size_t element = precision == WEFT_SINGLE ? 2 * sizeof(float) : 2 * sizeof(double);
    const double most = precision == WEFT_SINGLE ? 0x1p-24 : 4 * 0x1p-53;
    char *whole = malloc((size_t)count * element + 64), *cut = malloc((size_t)count * element + 64);
    fill(whole, precision, count);
    fill(cut, precision, count);
    weft_twiddles_apply(t, precision, row, 0, count, whole);
    for (int64_t i = 0, step = 1; i < count; i += step, step = step % 13 + 1)
        weft_twiddles_apply(t, precision, row, i, i + step < count ? step : count - i,
                            cut + (size_t)i * element);
    assert_memory_equal(whole, cut, (size_t)count * element);
    for (int64_t i = 0; i < count; i++) {
        const long double turn = (long double)(row * i) / (long double)(n[0] * n[1]);
        const long double sign = conjugate ? 1 : -1;
        assert_true(fabsl(part_of(whole, precision, 2 * i) - cosl(2 * pi * turn)) <= most);
        assert_true(fabsl(part_of(whole, precision, 2 * i + 1) - sign * sinl(2 * pi * turn)) <=
                    most);
    }
    free(whole);
    free(cut);
}

static void factors_are_near_the_roots_however_rows_are_cut(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int k = 0; k < 4; k++) {
            const int64_t *n = shapes[s];
            const bool conjugate = k & 1;
            const weft_precision precision = k & 2 ? WEFT_SINGLE : WEFT_DOUBLE;
            weft_twiddles *t = create(n, conjugate);
            for (int64_t row = 0; row < n[0]; row += 1 + n[0] / 9)
                check_row(t, n, conjugate, precision, row, n[1]);
            for (int64_t row = 0; row < n[1]; row += 1 + n[1] / 9)
                check_row(t, n, conjugate, precision, row, n[0]);
            weft_twiddles_release(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_near_the_roots_however_rows_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
