/*
 * Spectra of kernels that are products of one factor for each axis: Gaussians without covariances,
 * the heat kernel, and derivatives. They are a WEFT_OPERATOR_TABLE, whose factors stay in the
 * caches, where an array of a factor for each element would come from memory.
 */
#include "convolve/convolve.h"

#include "support/error.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A line's table would be as large as its spectrum, and of a line over several ranks the spectrum
 * is scattered, which tables are not. Very long tables would not stay in the caches either. */
static bool is_separable(const weft_convolved *c) {
    enum { LONGEST = 1 << 20 };
    const weft_convolution_problem *p = &c->problem;
    for (int a = 0; a < p->rank; a++)
        if (c->axis[a].transform > LONGEST) return false;
    if (p->rank == 1 || c->free_axes > 0 || p->deconvolve || p->kernel.zero) return false;
    switch (p->kernel.kind) {
    case WEFT_KERNEL_GAUSSIAN:
        for (int i = 0; i < p->rank * p->rank; i++)
            if (i % (p->rank + 1) != 0 && p->kernel.covariance[i] != 0) return false;
        return true;
    case WEFT_KERNEL_HEAT:
    case WEFT_KERNEL_DERIVATIVE:
        return true;
    default:
        return false;
    }
}

/* The factor of index i along an axis, without the powers of i of a derivative. */
static double factor_at(const weft_convolved *c, int a, int64_t i) {
    const weft_convolution_kernel *kernel = &c->problem.kernel;
    const double k = weft_convolved_wavenumber(&c->axis[a], i);
    if (kernel->kind == WEFT_KERNEL_HEAT) return exp(-kernel->parameter * k * k);
    if (kernel->kind == WEFT_KERNEL_GAUSSIAN)
        return exp(-k * kernel->covariance[a * c->problem.rank + a] * k / 2);
    const bool odd = kernel->order[a] % 2 != 0;
    if (odd && weft_convolved_folds(&c->axis[a], i)) return 0; /* the mean of both signs */
    if (weft_convolved_is_alone(&c->axis[a], i)) return 0;
    return pow(k, kernel->order[a]);
}

/* Whether the plan's numbers hold a factor, so that products come to what they should. What a
 * Gaussian loses to 0 would be 0 in any product. */
static bool holds(const weft_convolved *c, double factor) {
    const bool single = c->problem.precision == WEFT_SINGLE;
    const double most = single ? FLT_MAX : DBL_MAX, least = single ? FLT_MIN : DBL_MIN;
    return fabs(factor) <= most && (factor == 0 || fabs(factor) >= least ||
                                    c->problem.kernel.kind != WEFT_KERNEL_DERIVATIVE);
}

static void forget(weft_convolved *c) {
    for (int a = 0; a < c->problem.rank; a++) {
        free(c->table[a]);
        c->table[a] = NULL;
    }
}

/* Sets the factors along an axis times `scale`, a pair. *held gets whether numbers hold them. */
static weft_status make_table(weft_convolved *c, int a, const double *scale, bool *held) {
    const int64_t n = weft_convolved_extent(c, a);
    const int numbers = c->complex_factors ? 2 : 1;
    c->table[a] = malloc((size_t)n * (size_t)numbers * sizeof *c->table[a]);
    if (!c->table[a])
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's factors");
    for (int64_t i = 0; i < n; i++) {
        const double factor = factor_at(c, a, i);
        for (int part = 0; part < numbers; part++) {
            c->table[a][numbers * i + part] = factor * scale[part];
            *held = *held && holds(c, factor * scale[part]);
        }
    }
    return WEFT_SUCCESS;
}

weft_status weft_convolved_find_tables(weft_convolved *c) {
    static const double one[2] = {1, 0};
    double whole[2] = {1, 0};
    bool held = true;
    if (!is_separable(c)) return WEFT_SUCCESS;
    if (c->problem.kernel.kind == WEFT_KERNEL_DERIVATIVE) weft_convolved_power_of_i(c, whole);
    whole[0] /= c->points;
    whole[1] /= c->points;
    for (int a = 0; a < c->problem.rank; a++)
        WEFT_TRY(make_table(c, a, a == 0 ? whole : one, &held));
    if (!held) forget(c);
    return WEFT_SUCCESS;
}
