/* Windows: comparison with SciPy's values, and properties of all windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <weft/weft.h>

#include <math.h>
#include <string.h>

#define PERIODIC(name)                                                                             \
    { .kind = WEFT_WINDOW_##name }
#define SYMMETRIC(name)                                                                            \
    { .kind = WEFT_WINDOW_##name, .symmetric = 1 }
#define PERIODIC_OF(name, p)                                                                       \
    { .kind = WEFT_WINDOW_##name, .parameter = p }
#define SYMMETRIC_OF(name, p)                                                                      \
    { .kind = WEFT_WINDOW_##name, .symmetric = 1, .parameter = p }

/* SciPy 1.17.1: scipy.signal.windows.CALL, printed with 17 digits. */
static const struct {
    const char *call;
    weft_window window;
    int n;
    double value[8];
} scipy[] = {
    {"hann(7, sym=False)",
     PERIODIC(HANN),
     7,
     {0, 0.18825509907063326, 0.61126046697815717, 0.95048443395120952, 0.95048443395120952,
      0.61126046697815717, 0.18825509907063326}},
    {"hann(8)",
     SYMMETRIC(HANN),
     8,
     {0, 0.18825509907063326, 0.61126046697815717, 0.95048443395120952, 0.95048443395120952,
      0.61126046697815717, 0.18825509907063326, 0}},
    {"hamming(6, sym=False)",
     PERIODIC(HAMMING),
     6,
     {0.080000000000000071, 0.30999999999999994, 0.77000000000000002, 1, 0.77000000000000024,
      0.31000000000000033}},
    {"blackman(7)",
     SYMMETRIC(BLACKMAN),
     7,
     {-1.3877787807814457e-17, 0.12999999999999989, 0.62999999999999989, 0.99999999999999989,
      0.63000000000000023, 0.1300000000000002, -1.3877787807814457e-17}},
    {"blackmanharris(6, sym=False)",
     PERIODIC(BLACKMAN_HARRIS),
     6,
     {6.0000000000001025e-05, 0.055644999999999958, 0.5205749999999999, 1, 0.52057500000000023,
      0.055645000000000153}},
    {"flattop(7, sym=False)",
     PERIODIC(FLAT_TOP),
     7,
     {-0.00042105100000000128, -0.036840781154923487, 0.010703716716153475, 0.78087391493877001,
      0.78087391493877001, 0.010703716716153475, -0.036840781154923487}},
    {"kaiser(7, 8.6)",
     SYMMETRIC_OF(KAISER, 8.6),
     7,
     {0.0013325139979024198, 0.13040194654166437, 0.63041192733594054, 1, 0.63041192733594054,
      0.13040194654166437, 0.0013325139979024198}},
    {"kaiser(6, 14, sym=False)",
     PERIODIC_OF(KAISER, 14),
     6,
     {7.7268668352703676e-06, 0.032885525977867799, 0.46271649780079116, 1, 0.46271649780079116,
      0.032885525977867799}},
    {"gaussian(6, 1.5)",
     SYMMETRIC_OF(GAUSSIAN, 1.5),
     6,
     {0.24935220877729622, 0.60653065971263342, 0.94595946890676541, 0.94595946890676541,
      0.60653065971263342, 0.24935220877729622}},
    {"gaussian(5, 2, sym=False)",
     PERIODIC_OF(GAUSSIAN, 2),
     5,
     {0.45783336177161427, 0.75483960198900735, 0.96923323447634413, 0.96923323447634413,
      0.75483960198900735}},
    {"tukey(8, 0.5)",
     SYMMETRIC_OF(TUKEY, 0.5),
     8,
     {0, 0.61126046697815717, 1, 1, 1, 1, 0.61126046697815761, 0}},
    {"hann(1, sym=False)", PERIODIC(HANN), 1, {1}},
    {"blackman(1, sym=False)", PERIODIC(BLACKMAN), 1, {1}},
    {"kaiser(1, 14, sym=False)", PERIODIC_OF(KAISER, 14), 1, {1}},
    {"gaussian(1, 2, sym=False)", PERIODIC_OF(GAUSSIAN, 2), 1, {1}},
    {"tukey(1, 0.5, sym=False)", PERIODIC_OF(TUKEY, 0.5), 1, {1}},
    {"hann(1)", SYMMETRIC(HANN), 1, {1}},
    {"tukey(7, 0.3, sym=False)",
     PERIODIC_OF(TUKEY, 0.3),
     7,
     {0, 0.99441541311256421, 1, 1, 1, 1, 0.99441541311256432}},
};

static void values_are_those_of_scipy(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof scipy / sizeof scipy[0]; c++) {
        double value[8];
        assert_int_equal(weft_window_values(&scipy[c].window, scipy[c].n, value), WEFT_SUCCESS);
        for (int i = 0; i < scipy[c].n; i++)
            if (!(fabs(value[i] - scipy[c].value[i]) < 1e-15))
                fail_msg("%s[%d] is %.17g", scipy[c].call, i, value[i]);
    }
}

static const double parameters[][3] = {[WEFT_WINDOW_KAISER] = {0, 6, 30},
                                       [WEFT_WINDOW_GAUSSIAN] = {0.7, 3, 50},
                                       [WEFT_WINDOW_TUKEY] = {0, 0.4, 1}};

/* Calls check(window, n) for every kind, parameter and a few lengths. */
static void each(void (*check)(weft_window window, int n)) {
    static const int lengths[] = {1, 2, 3, 4, 5, 16, 31, 100};
    for (int kind = WEFT_WINDOW_HANN; kind <= WEFT_WINDOW_TUKEY; kind++)
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 8; k++)
                check(
                    (weft_window){.kind = (weft_window_kind)kind,
                                  .parameter = kind < WEFT_WINDOW_KAISER ? 0 : parameters[kind][p]},
                    lengths[k]);
}

static void check_periodic(weft_window window, int n) {
    double periodic[101], symmetric[101];
    if (n == 1) return; /* 1 by definition */
    assert_int_equal(weft_window_values(&window, n, periodic), WEFT_SUCCESS);
    window.symmetric = 1;
    assert_int_equal(weft_window_values(&window, n + 1, symmetric), WEFT_SUCCESS);
    assert_memory_equal(periodic, symmetric, (size_t)n * sizeof(double));
}

static void periodic_is_symmetric_of_one_point_more_without_its_last(void **state) {
    (void)state;
    each(check_periodic);
}

static void check_mirrored(weft_window window, int n) {
    double value[100];
    window.symmetric = 1;
    assert_int_equal(weft_window_values(&window, n, value), WEFT_SUCCESS);
    for (int i = 0; i < n; i++) assert_true(value[i] == value[n - 1 - i]);
}

static void symmetric_is_symmetric_to_the_last_bit(void **state) {
    (void)state;
    each(check_mirrored);
}

static void check_peak(weft_window window, int n) {
    double value[100];
    assert_int_equal(weft_window_values(&window, n, value), WEFT_SUCCESS);
    if (n == 1) assert_true(value[0] == 1);
    if (n % 2 != 0) return;
    for (int i = 0; i < n; i++) assert_true(value[i] <= 1 + 4e-9); /* the flat top's sum */
    assert_true(fabs(value[n / 2] - 1) < 4e-9);
}

static void one_point_is_one_and_even_periodic_windows_peak_in_the_middle(void **state) {
    (void)state;
    each(check_peak);
}

static void tukey_goes_from_ones_to_hann(void **state) {
    (void)state;
    weft_window tukey = {.kind = WEFT_WINDOW_TUKEY}, hann = {.kind = WEFT_WINDOW_HANN};
    double one[31], other[31];
    assert_int_equal(weft_window_values(&tukey, 31, one), WEFT_SUCCESS);
    for (int i = 0; i < 31; i++) assert_true(one[i] == 1);
    tukey.parameter = 1;
    assert_int_equal(weft_window_values(&tukey, 31, one), WEFT_SUCCESS);
    assert_int_equal(weft_window_values(&hann, 31, other), WEFT_SUCCESS);
    assert_memory_equal(one, other, sizeof one);
}

static void what_is_no_window_is_refused(void **state) {
    (void)state;
    static const struct {
        weft_window window;
        const char *word;
    } misuses[] = {{{.kind = (weft_window_kind)99}, "kind"},
                   {{.kind = WEFT_WINDOW_HANN, .symmetric = 2}, "symmetric"},
                   {PERIODIC(GAUSSIAN), "sigma"},
                   {PERIODIC_OF(GAUSSIAN, INFINITY), "sigma"},
                   {PERIODIC_OF(KAISER, -1), "beta"},
                   {PERIODIC_OF(KAISER, NAN), "beta"},
                   {PERIODIC_OF(TUKEY, NAN), "alpha"}};
    double value[4];
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        assert_int_equal(weft_window_values(&misuses[i].window, 4, value),
                         WEFT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(weft_last_error(NULL), misuses[i].word));
    }
    weft_window hann = PERIODIC(HANN);
    assert_int_equal(weft_window_values(NULL, 4, value), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_window_values(&hann, 0, value), WEFT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(weft_window_values(&hann, 4, NULL), WEFT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(weft_window_kind_name(WEFT_WINDOW_FLAT_TOP), "flat-top");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_scipy),
        cmocka_unit_test(periodic_is_symmetric_of_one_point_more_without_its_last),
        cmocka_unit_test(symmetric_is_symmetric_to_the_last_bit),
        cmocka_unit_test(one_point_is_one_and_even_periodic_windows_peak_in_the_middle),
        cmocka_unit_test(tukey_goes_from_ones_to_hann),
        cmocka_unit_test(what_is_no_window_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
