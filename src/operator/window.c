/*
 * Windows as scipy.signal.windows defines them; weft.h has the formulas and their sources. The
 * first half is computed and mirrored, so windows are symmetric to the last bit.
 */
#include "operator/operator.h"
#include "support/error.h"

#include <math.h>

static const long double pi = 3.141592653589793238462643383279502884L;

/* Coefficients of the cosine sums, by kind. */
static const long double cosine_sum[][5] = {
    [WEFT_WINDOW_HANN] = {0.5L, 0.5L},
    [WEFT_WINDOW_HAMMING] = {0.54L, 0.46L},
    [WEFT_WINDOW_BLACKMAN] = {0.42L, 0.5L, 0.08L},
    [WEFT_WINDOW_BLACKMAN_HARRIS] = {0.35875L, 0.48829L, 0.14128L, 0.01168L},
    [WEFT_WINDOW_FLAT_TOP] = {0.21557895L, 0.41663158L, 0.277263158L, 0.083578947L, 0.006947368L},
};

/* sum of a_k cos(k x), x = 2 pi t - pi, by Clenshaw's recurrence (Math. Tables and other Aids to
 * Computation 9, 1955): one cosine for the whole sum. */
static long double cosines(const long double *a, long double t) {
    const long double c = -cosl(2 * pi * t);
    long double next = 0, after = 0;
    for (int k = 4; k > 0; k--) {
        long double this = a[k] + 2 * c * next - after;
        after = next;
        next = this;
    }
    return a[0] + c * next - after;
}

/* The modified Bessel function I0 by its power series (Abramowitz and Stegun 9.6.10), whose terms
 * are all positive. */
static long double bessel_i0(long double x) {
    const long double quarter = x * x / 4;
    long double term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-22L; k++) {
        term *= quarter / ((long double)k * (long double)k);
        sum += term;
    }
    return sum;
}

static long double kaiser(long double beta, long double t) {
    const long double x = 2 * t - 1;
    return bessel_i0(beta * sqrtl(1 - x * x)) / bessel_i0(beta);
}

/* A Tukey window at index `i` of its first half: the cosine lobe, then 1. `last` is M - 1. */
static long double tukey(long double alpha, int64_t last, int64_t i) {
    if (alpha <= 0) return 1;
    if (alpha >= 1)
        return cosines(cosine_sum[WEFT_WINDOW_HANN], (long double)i / (long double)last);
    if ((long double)i > floorl(alpha * (long double)last / 2)) return 1;
    return (1 - cosl(2 * pi * (long double)i / (alpha * (long double)last))) / 2;
}

long double weft_window_value(const weft_window *window, int64_t n, int64_t i) {
    if (n == 1) return 1;
    const int64_t last = window->symmetric ? n - 1 : n;
    if (i > last - i) i = last - i;
    const long double t = (long double)i / (long double)last;
    const long double p = window->parameter;
    switch (window->kind) {
    case WEFT_WINDOW_NONE:
        return 1;
    case WEFT_WINDOW_KAISER:
        return kaiser(p, t);
    case WEFT_WINDOW_GAUSSIAN: {
        const long double x = ((long double)i - (long double)last / 2) / p;
        return expl(-x * x / 2);
    }
    case WEFT_WINDOW_TUKEY:
        return tukey(p, last, i);
    default:
        return cosines(cosine_sum[window->kind], t);
    }
}

weft_status weft_window_check(const weft_window *window, const char *name) {
    if ((int)window->kind < 0 || window->kind > WEFT_WINDOW_TUKEY)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.kind is %d, not one of its values 0..%d",
                         name, (int)window->kind, (int)WEFT_WINDOW_TUKEY);
    if (window->symmetric != 0 && window->symmetric != 1)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.symmetric is %d; it is 0 or 1", name,
                         window->symmetric);
    const double p = window->parameter;
    const char *wanted = NULL;
    if (window->kind == WEFT_WINDOW_KAISER && !(p >= 0 && p <= 10000)) wanted = "beta, 0 to 10000";
    if (window->kind == WEFT_WINDOW_GAUSSIAN && !(p > 0 && isfinite(p)))
        wanted = "sigma, above 0, in points";
    if (window->kind == WEFT_WINDOW_TUKEY && !isfinite(p)) wanted = "alpha, a finite number";
    if (wanted)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "%s.parameter is %g; a %s window takes %s",
                         name, p, weft_window_kind_name(window->kind), wanted);
    return WEFT_SUCCESS;
}

WEFT_API weft_status weft_window_values(const weft_window *window, int64_t n, double *values) {
    if (!window || n < 1 || !values)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_window_values: %s",
                         !window ? "window is NULL"
                         : n < 1 ? "n must be at least 1"
                                 : "values is NULL");
    WEFT_TRY(weft_window_check(window, "weft_window_values: window"));
    for (int64_t i = 0; i < n; i++) values[i] = (double)weft_window_value(window, n, i);
    return WEFT_SUCCESS;
}
