/*
 * Reductions on the host, in double precision: eight sums side by side over a few hundred numbers,
 * whose total is added to a long double. So the error does not grow with the array.
 */
#include "operator/reduce.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 256, SUMS = 8 };

/* Gets the next numbers of an array in double precision, and zeros up to a multiple of SUMS. */
static int64_t get_numbers(weft_precision precision, const void *data, int64_t first, int64_t end,
                           double *x) {
    const int64_t n = end - first < NUMBERS ? end - first : NUMBERS;
    const float *f = (const float *)data + first;
    if (precision == WEFT_SINGLE)
        for (int64_t i = 0; i < n; i++) x[i] = (double)f[i];
    else
        memcpy(x, (const double *)data + first, (size_t)n * sizeof *x);
    for (int64_t i = n; i % SUMS != 0; i++) x[i] = 0;
    return n;
}

static void add_numbers(const double *x, int64_t n, bool pairs, weft_reduced *r) {
    double sum[SUMS] = {0};
    for (int64_t i = 0; i < n; i += SUMS)
        for (int k = 0; k < SUMS; k++) sum[k] += x[i + k];
    for (int k = 0; k < SUMS; k++) r->value[pairs ? k % 2 : 0] += (long double)sum[k];
}

static void add_squares(const double *x, int64_t n, weft_reduced *r) {
    double sum[SUMS] = {0};
    for (int64_t i = 0; i < n; i += SUMS)
        for (int k = 0; k < SUMS; k++) sum[k] += x[i + k] * x[i + k];
    for (int k = 0; k < SUMS; k++) r->value[0] += (long double)sum[k];
}

/* A magnitude is at most the sum of its parts', so few are computed. NaN is larger than all. */
static void find_largest(const double *x, int64_t n, bool pairs, weft_reduced *r) {
    double largest = (double)r->value[0];
    for (int64_t i = 0; i < n; i += pairs ? 2 : 1) {
        const double y = pairs ? fabs(x[i + 1]) : 0, bound = fabs(x[i]) + y;
        if (bound <= largest || isnan(largest)) continue;
        const double magnitude = hypot(x[i], y);
        if (!(magnitude <= largest)) largest = magnitude;
    }
    r->value[0] = (long double)largest;
}

void weft_reduce(weft_reduction reduction, const weft_pointwise_layout *layout, int64_t count,
                 const void *data, weft_reduced *r) {
    const bool pairs = !layout->real;
    const int64_t end = pairs ? 2 * count : count;
    double x[NUMBERS];
    for (int64_t first = 0; first < end; first += NUMBERS) {
        const int64_t n = get_numbers(layout->precision, data, first, end, x);
        if (reduction == WEFT_SUM)
            add_numbers(x, n, pairs, r);
        else if (reduction == WEFT_NORM)
            add_squares(x, n, r);
        else
            find_largest(x, n, pairs, r);
    }
}

void weft_reduced_combine(weft_reduction reduction, const weft_reduced *part, weft_reduced *all) {
    if (reduction != WEFT_MAX) {
        all->value[0] += part->value[0];
        all->value[1] += part->value[1];
    } else if (!(part->value[0] <= all->value[0] || isnan(all->value[0]))) {
        all->value[0] = part->value[0];
    }
}

void weft_reduced_value(weft_reduction reduction, const weft_reduced *all, double value[2]) {
    value[0] = (double)(reduction == WEFT_NORM ? sqrtl(all->value[0]) : all->value[0]);
    value[1] = (double)all->value[1];
}
