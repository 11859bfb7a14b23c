/*
 * The formulas, each once, over rows of frequencies: a row differs in the last component alone, so
 * that the compiler does several at once. A single frequency is a row of one.
 */
#include "response.h"

#include "formula.h"

#include <math.h>
#include <string.h>

enum { ROW = 256 }; /* the longest row */

static const double pi = 3.14159265358979323846;

typedef struct frequency_row {
    int rank, count;
    const double *first; /* the components before the last one */
    const double *last;  /* [count] */
} frequency_row;

/* ---- the parts ---- */

/* Orders are mostly whole and small, for which pow takes long. */
static void raise(double *values, int count, double exponent) {
    double base[ROW];
    const int whole = (int)exponent;
    if ((double)whole != exponent || whole < 1 || whole > 16) {
        for (int i = 0; i < count; i++) values[i] = pow(values[i], exponent);
        return;
    }
    memcpy(base, values, (size_t)count * sizeof *base);
    for (int times = 1; times < whole; times++)
        for (int i = 0; i < count; i++) values[i] *= base[i];
}

/* L of response.h, of the squares of frequencies. */
static void edge_row(const filter_part *p, const double *square, int count, double cutoff,
                     double *low) {
    const double over = 1 / (cutoff * cutoff), edge = cutoff * cutoff;
    switch (p->edge) {
    case FILTER_IDEAL:
        for (int i = 0; i < count; i++) low[i] = square[i] <= edge ? 1 : 0;
        return;
    case FILTER_BUTTERWORTH:
        for (int i = 0; i < count; i++) low[i] = square[i] * over;
        raise(low, count, p->order);
        for (int i = 0; i < count; i++) low[i] = 1 / (1 + low[i]);
        return;
    default:
        for (int i = 0; i < count; i++) low[i] = exp(-0.5 * over * square[i]);
    }
}

static void squares(const frequency_row *row, double *square) {
    double sum = 0;
    for (int a = 0; a < row->rank - 1; a++) sum += row->first[a] * row->first[a];
    for (int i = 0; i < row->count; i++) square[i] = sum + row->last[i] * row->last[i];
}

/* The components along the direction. */
static void along_row(const filter_part *p, const frequency_row *row, double *along) {
    const double sum = row->first[0] * p->direction[0], slope = p->direction[1];
    for (int i = 0; i < row->count; i++) along[i] = sum + row->last[i] * slope;
}

static void gaussian_row(const filter_part *p, const frequency_row *row, double *value) {
    const double scale = -2 * pi * pi;
    const int last = row->rank - 1;
    double sum = 0;
    if (row->rank == 2) {
        const double c = p->direction[0], s = p->direction[1], f = row->first[0];
        for (int i = 0; i < row->count; i++) {
            const double along = (f * c + row->last[i] * s) * p->sigma[0];
            const double across = (row->last[i] * c - f * s) * p->sigma[1];
            value[i] = exp(scale * (along * along + across * across));
        }
        return;
    }
    for (int a = 0; a < last; a++) sum += pow(row->first[a] * p->sigma[a], 2);
    for (int i = 0; i < row->count; i++) {
        const double f = row->last[i] * p->sigma[last];
        value[i] = exp(scale * (sum + f * f));
    }
}

static void blur_row(const filter_part *p, const frequency_row *row, double *value) {
    if (p->blur == FILTER_BLUR_GAUSSIAN) {
        gaussian_row(p, row, value);
        return;
    }
    if (p->blur == FILTER_BLUR_MOTION) {
        along_row(p, row, value);
        for (int i = 0; i < row->count; i++) {
            const double x = pi * p->extent * value[i];
            value[i] = x == 0 ? 1 : sin(x) / x;
        }
        return;
    }
    squares(row, value);
    for (int i = 0; i < row->count; i++) {
        const double x = 2 * pi * p->extent * sqrt(value[i]);
        value[i] = x == 0 ? 1 : 2 * j1(x) / x;
    }
}

static void wiener_row(const filter_part *p, const frequency_row *row, double *value) {
    blur_row(p, row, value);
    for (int i = 0; i < row->count; i++) value[i] = value[i] / (value[i] * value[i] + p->noise);
}

static void pass_row(const filter_part *p, const frequency_row *row, double *value) {
    double square[ROW] = {0}, low[ROW];
    squares(row, square);
    edge_row(p, square, row->count, p->cutoff[0], value);
    if (p->kind == FILTER_LOWPASS) return;
    for (int i = 0; i < row->count; i++) value[i] = 1 - value[i];
    if (p->kind == FILTER_HIGHPASS) return;
    edge_row(p, square, row->count, p->cutoff[1], low);
    for (int i = 0; i < row->count; i++) value[i] *= low[i];
}

static double wrapped(double difference) {
    return difference - rint(difference);
}

static void notch_row(const filter_part *p, const frequency_row *row, double *value) {
    double square[ROW], low[ROW];
    const int last = row->rank - 1;
    for (int i = 0; i < row->count; i++) value[i] = 1;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double centre = sign * p->centre[last];
        double sum = 0;
        for (int a = 0; a < last; a++) {
            const double d = wrapped(row->first[a] - sign * p->centre[a]);
            sum += d * d;
        }
        for (int i = 0; i < row->count; i++) {
            const double d = wrapped(row->last[i] - centre);
            square[i] = sum + d * d;
        }
        edge_row(p, square, row->count, p->cutoff[0], low);
        for (int i = 0; i < row->count; i++) value[i] *= 1 - low[i];
    }
}

static void part_row(const filter_part *p, const frequency_row *row, double *value) {
    switch (p->kind) {
    case FILTER_GAUSSIAN:
        gaussian_row(p, row, value);
        return;
    case FILTER_NOTCH:
        notch_row(p, row, value);
        return;
    case FILTER_WIENER:
        wiener_row(p, row, value);
        return;
    case FILTER_FORMULA:
        filter_formula_row(p->formula, row->first, row->last, row->count, value);
        return;
    default:
        pass_row(p, row, value);
    }
}

/* ---- the whole ---- */

/* Where a part does nothing beyond a distance, most of a grid need not ask it. */
static bool is_local(const filter_part *p) {
    return p->kind == FILTER_NOTCH && p->edge == FILTER_IDEAL;
}

static void product_row(const filter *f, const frequency_row *row, bool local, double *value) {
    double one[ROW];
    for (int i = 0; i < row->count; i++) value[i] = 1;
    for (int p = 0; p < f->parts; p++) {
        if (!local && is_local(&f->part[p])) continue;
        part_row(&f->part[p], row, one);
        for (int i = 0; i < row->count; i++) value[i] *= one[i];
    }
}

/* Half a cycle per point, which stands for both signs. */
static bool folds(double frequency) {
    return fabs(frequency) > 0.5 - 1e-12;
}

/* The mean over both signs of the components that fold, of one frequency. */
static double response_at(const filter *f, const double *frequency, bool local) {
    double other[WEFT_MAX_RANK], value[2];
    const int last = f->rank - 1;
    for (int a = 0; a < f->rank; a++) other[a] = folds(frequency[a]) ? -frequency[a] : frequency[a];
    const frequency_row here = {f->rank, 1, frequency, frequency + last};
    const frequency_row there = {f->rank, 1, other, other + last};
    product_row(f, &here, local, &value[0]);
    product_row(f, &there, local, &value[1]);
    return (value[0] + value[1]) / 2;
}

bool filter_is_even(const filter_part *p, int rank) {
    int components = 0;
    for (int a = 0; a < rank; a++) components += p->centre[a] != 0;
    if (p->kind == FILTER_NOTCH) return components <= 1;
    const bool turned = rank == 2 && fabs(p->direction[0] * p->direction[1]) > 1e-12;
    if (p->kind == FILTER_FORMULA) return false;
    if (p->kind == FILTER_GAUSSIAN) return !turned || p->sigma[0] == p->sigma[1];
    return p->kind != FILTER_WIENER || p->blur != FILTER_BLUR_MOTION || !turned;
}

double filter_response(const filter *f, const double *frequency) {
    return response_at(f, frequency, true);
}

void filter_kernel(const double *k, int rank, double value[2], void *argument) {
    double frequency[WEFT_MAX_RANK];
    for (int a = 0; a < rank; a++) frequency[a] = k[a] / (2 * pi);
    value[0] = filter_response(argument, frequency);
    value[1] = 0;
}

/* ---- on a grid ---- */

/* A picture's half spectrum. */
typedef struct grid {
    int64_t rows, columns, half;
    weft_precision precision;
    double *last; /* [half]: frequencies along the rows */
    void *factors;
} grid;

static double grid_frequency(int64_t index, int64_t n) {
    return (double)(2 * index >= n ? index - n : index) / (double)n;
}

static void store(const grid *g, int64_t row, int64_t column, const double *value, int count) {
    const int64_t at = row * g->half + column;
    for (int i = 0; i < count; i++) {
        if (g->precision == WEFT_SINGLE)
            ((float *)g->factors)[at + i] = (float)value[i];
        else
            ((double *)g->factors)[at + i] = value[i];
    }
}

static void multiply(const grid *g, int64_t row, int64_t column, const double *value, int count) {
    const int64_t at = row * g->half + column;
    for (int i = 0; i < count; i++) {
        if (g->precision == WEFT_SINGLE)
            ((float *)g->factors)[at + i] *= (float)value[i];
        else
            ((double *)g->factors)[at + i] *= value[i];
    }
}

/* A local part at the columns from `first` on, before `end`, that are in the half. */
static void multiply_columns(const grid *g, const filter_part *p, int64_t row, int64_t first,
                             int64_t end) {
    const double frequency = grid_frequency(row, g->rows);
    double value[ROW];
    if (first < 0) first = 0;
    if (end > g->half) end = g->half;
    for (; first < end; first += ROW) {
        const int count = (int)(end - first < ROW ? end - first : ROW);
        const frequency_row some = {2, count, &frequency, g->last + first};
        notch_row(p, &some, value);
        multiply(g, row, first, value, count);
    }
}

/* A local part in a row, around its centre and around the negative, each with its images one period
 * away. */
static void multiply_local(const grid *g, const filter_part *p, int64_t row) {
    for (int sign = -1; sign <= 1; sign += 2) {
        const double off = wrapped(grid_frequency(row, g->rows) - sign * p->centre[0]);
        if (fabs(off) > p->cutoff[0]) continue;
        const double reach = sqrt(p->cutoff[0] * p->cutoff[0] - off * off) + 2 / (double)g->columns;
        for (int image = -1; image <= 1; image++) {
            const double middle = sign * p->centre[1] + image;
            multiply_columns(g, p, row, (int64_t)floor((middle - reach) * (double)g->columns),
                             (int64_t)ceil((middle + reach) * (double)g->columns) + 1);
        }
    }
}

static void fill_row(const grid *g, const filter *f, int64_t row) {
    const double frequency = grid_frequency(row, g->rows);
    double value[ROW];
    for (int64_t first = 0; first < g->half; first += ROW) {
        const int count = (int)(g->half - first < ROW ? g->half - first : ROW);
        const frequency_row some = {2, count, &frequency, g->last + first};
        product_row(f, &some, false, value);
        for (int i = 0; i < count; i++)
            if (folds(frequency) || folds(g->last[first + i]))
                value[i] = response_at(f, (double[]){frequency, g->last[first + i]}, false);
        store(g, row, first, value, count);
    }
    for (int p = 0; p < f->parts; p++)
        if (is_local(&f->part[p])) multiply_local(g, &f->part[p], row);
}

void filter_factors(const filter *f, int64_t rows, int64_t columns, weft_precision precision,
                    int threads, double *frequencies, void *factors) {
    const grid g = {rows, columns, columns / 2 + 1, precision, frequencies, factors};
    for (int64_t j = 0; j < g.half; j++) frequencies[j] = grid_frequency(j, columns);
    (void)threads; /* not looked at without OpenMP */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t row = 0; row < rows; row++) fill_row(&g, f, row);
}
