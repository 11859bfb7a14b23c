/* The formulas, and their values on the grid of a picture's spectrum. */
#include "response.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- the parts ---- */

/* Orders are mostly whole and small, for which pow takes long. */
static double power(double base, double exponent) {
    double product = base;
    const int whole = (int)exponent;
    if ((double)whole != exponent || whole < 1 || whole > 16) return pow(base, exponent);
    for (int i = 1; i < whole; i++) product *= base;
    return product;
}

/* L of response.h, of the square of a frequency. */
static double edge_response(const filter_part *p, double square, double cutoff) {
    const double ratio = square / (cutoff * cutoff);
    switch (p->edge) {
    case FILTER_IDEAL:
        return square <= cutoff * cutoff;
    case FILTER_BUTTERWORTH:
        return 1 / (1 + power(ratio, p->order));
    default:
        return exp(-ratio / 2);
    }
}

static double sum_of_squares(const double *f, int rank) {
    double sum = 0;
    for (int a = 0; a < rank; a++) sum += f[a] * f[a];
    return sum;
}

/* The part of a frequency in the plane that is along the direction. */
static double along(const filter_part *p, const double *f) {
    return f[0] * p->direction[0] + f[1] * p->direction[1];
}

static double gaussian(const filter_part *p, const double *f, int rank) {
    double sum = 0;
    if (rank == 2) {
        const double across = f[1] * p->direction[0] - f[0] * p->direction[1];
        const double turned[2] = {along(p, f) * p->sigma[0], across * p->sigma[1]};
        sum = sum_of_squares(turned, 2);
    } else {
        for (int a = 0; a < rank; a++) sum += f[a] * f[a] * p->sigma[a] * p->sigma[a];
    }
    return exp(-2 * pi * pi * sum);
}

static double blur_response(const filter_part *p, const double *f, int rank) {
    double x;
    switch (p->blur) {
    case FILTER_BLUR_MOTION:
        x = pi * p->extent * along(p, f);
        return x == 0 ? 1 : sin(x) / x;
    case FILTER_BLUR_DISC:
        x = 2 * pi * p->extent * sqrt(sum_of_squares(f, rank));
        return x == 0 ? 1 : 2 * j1(x) / x;
    default:
        return gaussian(p, f, rank);
    }
}

static double notch_response(const filter_part *p, const double *f, int rank) {
    double product = 1;
    for (int sign = -1; sign <= 1; sign += 2) {
        double square = 0;
        for (int a = 0; a < rank; a++) {
            double d = f[a] - sign * p->centre[a];
            d -= rint(d);
            square += d * d;
        }
        product *= 1 - edge_response(p, square, p->cutoff[0]);
    }
    return product;
}

static double part_response(const filter_part *p, const double *f, int rank) {
    double blur, square;
    switch (p->kind) {
    case FILTER_GAUSSIAN:
        return gaussian(p, f, rank);
    case FILTER_NOTCH:
        return notch_response(p, f, rank);
    case FILTER_WIENER:
        blur = blur_response(p, f, rank);
        return blur / (blur * blur + p->noise);
    default:
        square = sum_of_squares(f, rank);
        break;
    }
    if (p->kind == FILTER_LOWPASS) return edge_response(p, square, p->cutoff[0]);
    const double high = 1 - edge_response(p, square, p->cutoff[0]);
    return p->kind == FILTER_HIGHPASS ? high : high * edge_response(p, square, p->cutoff[1]);
}

/* ---- the whole ---- */

/* Where a part does nothing beyond a distance, most of a grid need not ask it. */
static bool is_local(const filter_part *p) {
    return p->kind == FILTER_NOTCH && p->edge == FILTER_IDEAL;
}

static double product(const filter *f, const double *frequency, bool local) {
    double value = 1;
    for (int i = 0; i < f->parts; i++)
        if (local || !is_local(&f->part[i]))
            value *= part_response(&f->part[i], frequency, f->rank);
    return value;
}

/* The mean over both signs of the components that are half a cycle per point. */
static double mean_of_signs(const filter *f, const double *frequency, bool local) {
    double other[WEFT_MAX_RANK];
    bool folds = false;
    for (int a = 0; a < f->rank; a++) {
        const bool half = fabs(frequency[a]) > 0.5 - 1e-12;
        other[a] = half ? -frequency[a] : frequency[a];
        folds = folds || half;
    }
    const double value = product(f, frequency, local);
    return folds ? (value + product(f, other, local)) / 2 : value;
}

double filter_response(const filter *f, const double *frequency) {
    return mean_of_signs(f, frequency, true);
}

void filter_kernel(const double *k, int rank, double value[2], void *argument) {
    double frequency[WEFT_MAX_RANK];
    for (int a = 0; a < rank; a++) frequency[a] = k[a] / (2 * pi);
    value[0] = filter_response(argument, frequency);
    value[1] = 0;
}

/* ---- on a grid ---- */

static double grid_frequency(int64_t index, int64_t n) {
    return (double)(2 * index >= n ? index - n : index) / (double)n;
}

static void multiply(weft_precision precision, void *row, int64_t i, double factor) {
    if (precision == WEFT_SINGLE)
        ((float *)row)[i] = (float)((double)((float *)row)[i] * factor);
    else
        ((double *)row)[i] *= factor;
}

/* A local part, in the row of frequency f[0], around its centre and around the negative. */
static void multiply_local(const filter *f, const filter_part *p, double *frequency,
                           int64_t columns, weft_precision precision, void *row) {
    for (int sign = -1; sign <= 1; sign += 2) {
        double off = frequency[0] - sign * p->centre[0];
        off -= rint(off);
        if (fabs(off) > p->cutoff[0]) continue;
        const double middle = sign * p->centre[1] * (double)columns;
        const double reach = p->cutoff[0] * (double)columns + 1;
        int64_t first = (int64_t)floor(middle - reach), last = (int64_t)ceil(middle + reach);
        if (last - first >= columns) last = first + columns - 1;
        for (int64_t i = first; i <= last; i++) {
            const int64_t at = ((i % columns) + columns) % columns;
            if (at > columns / 2) continue; /* its partner is in the other half's row */
            frequency[1] = grid_frequency(at, columns);
            multiply(precision, row, at, part_response(p, frequency, f->rank));
        }
    }
}

void filter_factors(const filter *f, int64_t rows, int64_t columns, weft_precision precision,
                    int threads, void *factors) {
    const int64_t half = columns / 2 + 1;
    const int64_t bytes = precision == WEFT_SINGLE ? sizeof(float) : sizeof(double);
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < rows; i++) {
        double frequency[2] = {grid_frequency(i, rows), 0};
        void *row = (char *)factors + i * half * bytes;
        for (int64_t j = 0; j < half; j++) {
            frequency[1] = grid_frequency(j, columns);
            const double value = mean_of_signs(f, frequency, false);
            if (precision == WEFT_SINGLE)
                ((float *)row)[j] = (float)value;
            else
                ((double *)row)[j] = value;
        }
        for (int p = 0; p < f->parts; p++)
            if (is_local(&f->part[p]))
                multiply_local(f, &f->part[p], frequency, columns, precision, row);
    }
}
