/* Spectra of kernels that are formulas of the wavenumber (their Fourier symbols), or that callers
 * give. */
#include "convolve/convolve.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static double sum_of_squares(const double *k, int rank) {
    double sum = 0;
    for (int a = 0; a < rank; a++) sum += k[a] * k[a];
    return sum;
}

static double gaussian(const double *k, int rank, const double *covariance) {
    double sum = 0;
    for (int a = 0; a < rank; a++)
        for (int b = 0; b < rank; b++) sum += k[a] * covariance[a * rank + b] * k[b];
    return exp(-sum / 2);
}

/* The product of (i k)^order: its real part or, if the sum of the orders is odd, its imaginary one.
 */
static void derivative(const double *k, int rank, const int *order, double value[2]) {
    double product = 1;
    int sum = 0;
    for (int a = 0; a < rank; a++) {
        for (int i = 0; i < order[a]; i++) product *= k[a];
        sum = (sum + order[a] % 4) % 4;
    }
    value[sum % 2] = sum < 2 ? product : -product;
    value[1 - sum % 2] = 0;
}

bool weft_convolved_is_radial(const weft_convolved *c) {
    switch (c->problem.kernel.kind) {
    case WEFT_KERNEL_POISSON:
    case WEFT_KERNEL_SCREENED_POISSON:
    case WEFT_KERNEL_HEAT:
    case WEFT_KERNEL_RIESZ:
    case WEFT_KERNEL_LAPLACIAN:
        return !c->complex_factors && !c->problem.deconvolve;
    default:
        return false;
    }
}

/* The formula, of a kernel that is one of |k|^2. */
static inline double radial(const weft_convolution_kernel *kernel, double square) {
    const double parameter = kernel->parameter;
    switch (kernel->kind) {
    case WEFT_KERNEL_POISSON:
        return 1 / square;
    case WEFT_KERNEL_SCREENED_POISSON:
        return 1 / (square + parameter * parameter);
    case WEFT_KERNEL_HEAT:
        return exp(-parameter * square);
    case WEFT_KERNEL_RIESZ:
        return pow(square, parameter / 2);
    default: /* WEFT_KERNEL_LAPLACIAN */
        return -square;
    }
}

void weft_convolved_radial_row(const weft_convolved *c, double across, const double *square,
                               int64_t count, double *value) {
    const weft_convolution_kernel *kernel = &c->problem.kernel;
    const double over = 1 / c->points, screen = kernel->parameter * kernel->parameter;
    if (kernel->kind == WEFT_KERNEL_POISSON)
        for (int64_t i = 0; i < count; i++) value[i] = over / (across + square[i]);
    else if (kernel->kind == WEFT_KERNEL_SCREENED_POISSON)
        for (int64_t i = 0; i < count; i++) value[i] = over / (across + square[i] + screen);
    else
        for (int64_t i = 0; i < count; i++) value[i] = over * radial(kernel, across + square[i]);
    if (across == 0 && kernel->zero && square[0] == 0) value[0] = over * kernel->zero[0];
}

/* The kernel's value at a wavenumber. */
static void symbol_at(const weft_convolved *c, const double *k, double value[2]) {
    const weft_convolution_kernel *kernel = &c->problem.kernel;
    const int rank = c->problem.rank;
    const double square = sum_of_squares(k, rank);
    value[0] = value[1] = 0;
    if (square == 0 && kernel->zero) {
        value[0] = kernel->zero[0];
        value[1] = kernel->zero[1];
        return;
    }
    switch (kernel->kind) {
    case WEFT_KERNEL_FUNCTION:
        kernel->function(k, rank, value, kernel->argument);
        return;
    case WEFT_KERNEL_GAUSSIAN:
        value[0] = gaussian(k, rank, kernel->covariance);
        return;
    case WEFT_KERNEL_POISSON:
    case WEFT_KERNEL_SCREENED_POISSON:
    case WEFT_KERNEL_HEAT:
    case WEFT_KERNEL_RIESZ:
    case WEFT_KERNEL_LAPLACIAN:
        value[0] = radial(kernel, square);
        return;
    case WEFT_KERNEL_DERIVATIVE:
        derivative(k, rank, kernel->order, value);
        return;
    default: /* arrays; kernels that make fields from one another: fields.c */
        return;
    }
}

void weft_convolved_finish(const weft_convolved *c, double value[2]) {
    if (c->problem.deconvolve) {
        const double over = value[0] * value[0] + value[1] * value[1] + c->problem.regularizer;
        value[0] = over > 0 ? value[0] / over : 0;
        value[1] = over > 0 ? -value[1] / over : 0;
    }
    value[0] /= c->points;
    value[1] /= c->points;
}

void weft_convolved_put(const weft_convolved *c, void *spectrum, int64_t i, const double value[2]) {
    const bool single = c->problem.precision == WEFT_SINGLE;
    for (int part = 0; part < (c->complex_factors ? 2 : 1); part++) {
        const int64_t at = c->complex_factors ? 2 * i + part : i;
        if (single)
            ((float *)spectrum)[at] = (float)value[part];
        else
            ((double *)spectrum)[at] = value[part];
    }
}

bool weft_convolved_folds(const weft_convolved_axis *axis, int64_t i) {
    return axis->type == WEFT_AXIS_OF_KIND && 2 * i == axis->transform && !axis->staggered;
}

double weft_convolved_wavenumber(const weft_convolved_axis *axis, int64_t i) {
    const double k = weft_convolved_frequency(axis, i), h = axis->spacing;
    return axis->staggered ? 2 / h * sin(k * h / 2) : k;
}

double weft_convolved_frequency(const weft_convolved_axis *axis, int64_t i) {
    const double length = axis->spacing * (double)axis->transform;
    if (axis->type == WEFT_DCT2 || axis->turns) return pi * (double)i / length;
    if (axis->type == WEFT_DST2) return pi * (double)(i + 1) / length;
    return 2 * pi * (double)(2 * i > axis->transform ? i - axis->transform : i) / length;
}

/* Where a frequency stands for its negative as well, real fields want a spectrum that is the same
 * at both: the mean of all signs. Odd derivatives have the mean 0. */
static void mean_of_signs(const weft_convolved *c, double *k, const int *folded, int count,
                          double value[2]) {
    value[0] = value[1] = 0;
    for (int signs = 0; signs < 1 << count; signs++) {
        double one[2];
        for (int i = 0; i < count; i++)
            k[folded[i]] = signs >> i & 1 ? -fabs(k[folded[i]]) : fabs(k[folded[i]]);
        symbol_at(c, k, one);
        value[0] += one[0] / (1 << count);
        value[1] += one[1] / (1 << count);
    }
}

/* From what multiplies exponential series to what does series of cosines and sines along axes that
 * turn: a sine is -i times such a series. */
static void turn(const weft_convolved *c, double value[2]) {
    const int before = __builtin_popcount(c->odd[WEFT_FORWARD][0]),
              after = __builtin_popcount(c->odd[WEFT_INVERSE][0]);
    for (int n = (after - before) & 3; n > 0; n--) { /* times i */
        const double re = value[0];
        value[0] = -value[1];
        value[1] = re;
    }
}

void weft_convolved_power_of_i(const weft_convolved *c, double value[2]) {
    double ones[WEFT_MAX_RANK];
    for (int a = 0; a < c->problem.rank; a++) ones[a] = 1;
    derivative(ones, c->problem.rank, c->problem.kernel.order, value);
    if (c->problem.correlate) value[1] = -value[1];
    turn(c, value);
}

void weft_convolved_symbol_of(const weft_convolved *c, const int64_t *index, double value[2]) {
    double k[WEFT_MAX_RANK];
    int folded[WEFT_MAX_RANK], count = 0;
    for (int a = 0; a < c->problem.rank; a++) {
        k[a] = weft_convolved_wavenumber(&c->axis[a], index[a]);
        if (weft_convolved_folds(&c->axis[a], index[a])) folded[count++] = a;
    }
    if (c->problem.kernel.kind == WEFT_KERNEL_FUNCTION) count = 0;
    mean_of_signs(c, k, folded, count, value);
    if (c->problem.correlate) value[1] = -value[1];
    weft_convolved_finish(c, value);
    for (int a = 0; a < c->problem.rank; a++)
        if (weft_convolved_is_alone(&c->axis[a], index[a])) value[0] = value[1] = 0;
    turn(c, value);
}

int64_t weft_convolved_extent(const weft_convolved *c, int a) {
    int halved = c->real ? c->problem.rank - 1 : -1;
    while (halved >= 0 && c->axis[halved].type != WEFT_AXIS_OF_KIND) halved--;
    return a == halved ? c->axis[a].transform / 2 + 1 : c->axis[a].transform;
}

/* The value at an index of the caller's spectrum. */
static void look_up(const weft_convolved *c, const weft_given_kernel *given, const int64_t *index,
                    double value[2]) {
    const double *zero = c->problem.kernel.zero;
    const weft_region *box = &given->box;
    const int last = c->problem.rank - 1;
    if (c->scattered.rows > 0 && index[last] >= weft_convolved_extent(c, last)) {
        const int64_t partner = c->axis[last].transform - index[last];
        look_up(c, given, &partner, value);
        value[1] = -value[1];
        return;
    }
    int64_t at = 0;
    bool origin = zero != NULL;
    for (int a = 0; a < c->problem.rank; a++) {
        at = at * box->n[a] + index[a] - box->lo[a];
        origin = origin && index[a] == 0 && c->axis[a].type != WEFT_DST2;
    }
    for (int part = 0; part < 2; part++)
        value[part] = origin ? zero[part]
                      : c->problem.precision == WEFT_SINGLE
                          ? (double)((const float *)given->data)[2 * at + part]
                          : ((const double *)given->data)[2 * at + part];
    if (c->problem.correlate) value[1] = -value[1];
    weft_convolved_finish(c, value);
}

/* Element i of this rank's part, at an index of the whole spectrum. */
static void make_element(const weft_convolved *c, const weft_given_kernel *given,
                         const int64_t *index, int64_t i, void *spectrum) {
    double value[2];
    if (given->data)
        look_up(c, given, index, value);
    else
        weft_convolved_symbol_of(c, index, value);
    weft_convolved_put(c, spectrum, i, value);
}

static void make_scattered(const weft_convolved *c, const weft_given_kernel *given, int threads,
                           void *spectrum) {
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < c->spectrum.n[0]; i++) {
        const int64_t index = weft_convolved_scattered_index(c, i);
        make_element(c, given, &index, i, spectrum);
    }
}

void weft_convolved_symbol(const weft_convolved *c, const weft_given_kernel *given, int threads,
                           void *spectrum) {
    const int rank = c->problem.rank;
    const weft_box *box = &c->spectrum;
    int64_t rows = 1;
    if (c->scattered.rows > 0) {
        make_scattered(c, given, threads, spectrum);
        return;
    }
    for (int a = 0; a < rank - 1; a++) rows *= box->n[a];
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < rows; row++) {
        int64_t index[WEFT_MAX_RANK], left = row;
        for (int a = rank - 2; a >= 0; a--) {
            index[a] = box->lo[a] + left % box->n[a];
            left /= box->n[a];
        }
        for (int64_t i = 0; i < box->n[rank - 1]; i++) {
            index[rank - 1] = box->lo[rank - 1] + i;
            make_element(c, given, index, row * box->n[rank - 1] + i, spectrum);
        }
    }
}
