/* Reading a convolution's problem, and choosing the lengths of its transforms. */
#include "convolve/convolve.h"

#include "support/axis.h"
#include "support/checked.h"
#include "support/error.h"
#include "support/versioned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const weft_versioned versions = WEFT_VERSIONED(weft_convolution_problem, method);

static weft_status check_field(weft_convolution_problem *p) {
    if (p->rank < 1 || p->rank > WEFT_MAX_RANK)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "problem.rank is %d; it must be 1 to %d",
                         p->rank, WEFT_MAX_RANK);
    WEFT_TRY(weft_check_range("problem.kind", (int)p->kind, WEFT_R2C));
    WEFT_TRY(weft_check_range("problem.precision", (int)p->precision, WEFT_SINGLE));
    WEFT_TRY(weft_check_range("problem.mode", (int)p->mode, WEFT_VALID));
    if (p->method < WEFT_METHOD_AUTO || p->method > WEFT_MULTILEVEL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.method is %lld; it must be a weft_convolution_method",
                         (long long)p->method);
    WEFT_TRY(weft_check_range("problem.kernel.kind", (int)p->kernel.kind, WEFT_KERNEL_SPECTRUM));
    WEFT_TRY(weft_check_range("problem.correlate", p->correlate, 1));
    WEFT_TRY(weft_check_range("problem.deconvolve", p->deconvolve, 1));
    if (!(p->regularizer >= 0 && isfinite(p->regularizer)))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.regularizer is %g; give a finite number, 0 or more",
                         p->regularizer);
    for (int a = 0; a < p->rank; a++) {
        WEFT_TRY(weft_check_range("problem.boundary", (int)p->boundary[a], WEFT_NEUMANN));
        if (p->n[a] < 1 || p->n[a] > (int64_t)1 << 60)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.n[%d] is %lld; every extent must be 1 to 2^60", a,
                             (long long)p->n[a]);
        if (!(p->length[a] >= 0 && isfinite(p->length[a])))
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.length[%d] is %g; give the length of the box, or 0 for one "
                             "of n",
                             a, p->length[a]);
    }
    return WEFT_SUCCESS;
}

/* ---- kernels ---- */

static weft_status check_array(const weft_convolution_problem *p) {
    int64_t bytes = 16;
    bool fits = true;
    for (int a = 0; a < p->rank; a++) {
        const int64_t m = p->kernel.n[a], origin = p->kernel.origin[a];
        if (m < 1)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.kernel.n[%d] is %lld; give the kernel's extents", a,
                             (long long)m);
        if (origin < 0 || origin >= m)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.kernel.origin[%d] is %lld; it is 0 to kernel.n[%d] - 1, %lld",
                             a, (long long)origin, a, (long long)(m - 1));
        fits = fits && weft_checked_multiply(bytes, m, &bytes);
    }
    if (!fits || bytes > (int64_t)1 << 60)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "the kernel has more than 2^60 bytes; make problem.kernel.n smaller");
    return WEFT_SUCCESS;
}

static bool reflects(weft_boundary boundary) {
    return boundary == WEFT_DIRICHLET || boundary == WEFT_NEUMANN;
}

/* Whether a symmetric matrix has no negative eigenvalue, but for rounding: Gaussian elimination
 * meets no negative pivot. Changes the matrix. */
static bool is_semidefinite(double *c, int n) {
    double largest = 0;
    for (int a = 0; a < n; a++) largest = fmax(largest, c[a * n + a]);
    const double tolerance = 1e-12 * largest;
    for (int a = 0; a < n; a++) {
        const double pivot = c[a * n + a];
        if (pivot < -tolerance) return false;
        for (int b = a + 1; b < n; b++) {
            const double below = c[b * n + a];
            if (pivot <= tolerance && fabs(below) > tolerance) return false;
            for (int d = a + 1; d < n && pivot > tolerance; d++)
                c[b * n + d] -= below / pivot * c[a * n + d];
        }
    }
    return true;
}

static weft_status check_covariance(const weft_convolution_problem *p) {
    double copy[WEFT_MAX_RANK * WEFT_MAX_RANK];
    const double *c = p->kernel.covariance;
    if (!c)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.covariance is NULL; a Gaussian has rank x rank numbers");
    for (int a = 0; a < p->rank; a++)
        for (int b = 0; b < p->rank; b++) {
            const double here = c[a * p->rank + b];
            if (!isfinite(here) || here != c[b * p->rank + a] || (a == b && here < 0))
                return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                                 "problem.kernel.covariance[%d][%d] is %g; a covariance is finite, "
                                 "symmetric, and not negative on its diagonal",
                                 a, b, here);
            if (a != b && here != 0 && (reflects(p->boundary[a]) || reflects(p->boundary[b])))
                return weft_fail(WEFT_ERROR_UNSUPPORTED,
                                 "problem.kernel.covariance[%d][%d] is %g, but with boundary %s "
                                 "along axis %d only kernels that are even along it have a "
                                 "spectrum; make it 0",
                                 a, b, here,
                                 weft_boundary_name(p->boundary[reflects(p->boundary[a]) ? a : b]),
                                 reflects(p->boundary[a]) ? a : b);
        }
    memcpy(copy, c, (size_t)(p->rank * p->rank) * sizeof *c);
    if (is_semidefinite(copy, p->rank)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "problem.kernel.covariance has a negative eigenvalue, so that the spectrum "
                     "grows without bound; give the covariance of a density, whose element (a, b) "
                     "is at most sqrt(C[a][a] C[b][b])");
}

static weft_status check_orders(const weft_convolution_problem *p) {
    for (int a = 0; a < p->rank; a++) {
        if (p->kernel.order[a] < 0)
            return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                             "problem.kernel.order[%d] is %d; derivatives have order 0 or more", a,
                             p->kernel.order[a]);
    }
    return WEFT_SUCCESS;
}

/* Whether the formula is infinite at wavenumber 0. */
static bool is_singular(const weft_convolution_problem *p) {
    const weft_convolution_kernel *k = &p->kernel;
    return k->kind == WEFT_KERNEL_POISSON ||
           (k->kind == WEFT_KERNEL_SCREENED_POISSON && k->parameter == 0) ||
           (k->kind == WEFT_KERNEL_RIESZ && k->parameter < 0);
}

static weft_status check_zero(const weft_convolution_problem *p, int free_axes) {
    const double *zero = p->kernel.zero;
    bool has_zero = free_axes == 0;
    for (int a = 0; a < p->rank; a++) has_zero = has_zero && p->boundary[a] != WEFT_DIRICHLET;
    if (zero && !(isfinite(zero[0]) && isfinite(zero[1])))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.zero is %g + %g i; give finite numbers", zero[0], zero[1]);
    if (zero || !has_zero || !is_singular(p)) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "problem.kernel.zero is NULL, but the spectrum of kernel %s is infinite at "
                     "wavenumber 0, which these boundaries have; give its value there, {0, 0} for "
                     "a result of mean 0",
                     weft_kernel_kind_name(p->kernel.kind));
}

/* Built-in kernels reach to infinity, so they cannot be cut off. */
static weft_status check_reach(const weft_convolution_problem *p, int *free_axes) {
    *free_axes = 0;
    for (int a = 0; a < p->rank; a++) {
        if (p->kernel.kind == WEFT_KERNEL_SPECTRUM &&
            (p->boundary[a] == WEFT_LINEAR || p->boundary[a] == WEFT_FREE_SPACE))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.boundary[%d] is %s, for which the field is padded, but "
                             "kernel spectrum has the field's own wavenumbers; choose another "
                             "boundary, or give the kernel in real space",
                             a, weft_boundary_name(p->boundary[a]));
        if (p->boundary[a] == WEFT_LINEAR)
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.boundary[%d] is linear, which wants an array, but kernel %s "
                             "is built in and has no end; choose free space or another boundary",
                             a, weft_kernel_kind_name(p->kernel.kind));
        *free_axes += p->boundary[a] == WEFT_FREE_SPACE;
    }
    if (*free_axes == 0) return WEFT_SUCCESS;
    const bool green =
        p->kernel.kind == WEFT_KERNEL_POISSON || p->kernel.kind == WEFT_KERNEL_SCREENED_POISSON;
    if (green && *free_axes <= 3) return WEFT_SUCCESS;
    return weft_fail(
        WEFT_ERROR_UNSUPPORTED,
        "problem.boundary is free space along %d axes with kernel %s; built-in kernels of "
        "free space are Poisson's and the screened one's, along 1 to 3 axes",
        *free_axes, weft_kernel_kind_name(p->kernel.kind));
}

/* Differences are those of one point to the next, so the kernel is no longer one of free space. */
static weft_status check_discretization(const weft_convolution_problem *p, int free_axes) {
    const weft_kernel_kind kind = p->kernel.kind;
    if (p->kernel.discretization == WEFT_SPECTRAL) return WEFT_SUCCESS;
    if (p->kernel.discretization != WEFT_STAGGERED)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.discretization is %lld; it must be a weft_discretization",
                         (long long)p->kernel.discretization);
    if (kind != WEFT_KERNEL_POISSON && kind != WEFT_KERNEL_SCREENED_POISSON &&
        kind != WEFT_KERNEL_HEAT && kind != WEFT_KERNEL_RIESZ && kind != WEFT_KERNEL_LAPLACIAN &&
        kind != WEFT_KERNEL_ELASTIC)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.kernel.discretization is staggered, but kernel %s is neither a "
                         "function of |k|^2 nor the elastic one; leave it 0",
                         weft_kernel_kind_name(kind));
    for (int a = 0; a < p->rank && kind == WEFT_KERNEL_ELASTIC; a++)
        if (reflects(p->boundary[a]))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.kernel.discretization is staggered, but boundary[%d] is %s, "
                             "for which the elastic kernel is that of the series; leave it 0",
                             a, weft_boundary_name(p->boundary[a]));
    if (free_axes == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_UNSUPPORTED,
                     "problem.kernel.discretization is staggered, but axes are free space; leave "
                     "it 0");
}

/* Its extents are the field's. */
static weft_status check_spectrum(const weft_convolution_problem *p) {
    int64_t bytes = 16;
    bool fits = true;
    for (int a = 0; a < p->rank; a++) fits = fits && weft_checked_multiply(bytes, p->n[a], &bytes);
    if (fits && bytes <= (int64_t)1 << 60) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                     "the kernel's spectrum has more than 2^60 bytes; make problem.n smaller");
}

static weft_status check_kernel(const weft_convolution_problem *p, int *free_axes) {
    const weft_convolution_kernel *k = &p->kernel;
    *free_axes = 0;
    if (k->kind == WEFT_KERNEL_ARRAY) return check_array(p);
    if (k->kind == WEFT_KERNEL_SPECTRUM) WEFT_TRY(check_spectrum(p));
    if (k->kind == WEFT_KERNEL_FUNCTION && !k->function)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.function is NULL; give the function of the wavenumber");
    if (k->kind == WEFT_KERNEL_GAUSSIAN) WEFT_TRY(check_covariance(p));
    if (k->kind == WEFT_KERNEL_DERIVATIVE) WEFT_TRY(check_orders(p));
    if (!isfinite(k->parameter) || (k->kind == WEFT_KERNEL_HEAT && k->parameter < 0))
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.kernel.parameter is %g; give a finite number%s", k->parameter,
                         k->kind == WEFT_KERNEL_HEAT ? ", 0 or more" : "");
    WEFT_TRY(weft_convolved_check_fields(p));
    WEFT_TRY(check_reach(p, free_axes));
    WEFT_TRY(check_discretization(p, *free_axes));
    return check_zero(p, *free_axes);
}

/* ---- axes ---- */

/* Such products are far apart where n is large, so they are made rather than looked for. Lengths
 * beyond 2^60, which no plan has, stay as they are. */
int64_t weft_convolved_length(int64_t n) {
    int64_t least = INT64_MAX;
    if (n > (int64_t)1 << 60) return n;
    for (int64_t sevens = 1; least > n; sevens *= 7) {
        for (int64_t fives = sevens;; fives *= 5) {
            for (int64_t threes = fives;; threes *= 3) {
                int64_t product = threes;
                while (product < n) product *= 2;
                if (product < least) least = product;
                if (threes >= n) break;
            }
            if (fives >= n) break;
        }
        if (sevens >= n) break;
    }
    return least;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Elements first to first + kept - 1 of a linear convolution, which has n + m - 1, are those of a
 * cyclic one of a length that is at least as large as this: no other element falls on them. */
static int64_t least_length(int64_t n, int64_t m, int64_t first, int64_t kept) {
    return larger(larger(n, m), larger(first + kept, n + m - 1 - first));
}

static void cut_linear(weft_convolved_axis *axis, weft_convolution_mode mode) {
    const int64_t n = axis->n, m = axis->kernel, less = n < m ? n : m;
    switch (mode) {
    case WEFT_SAME:
        axis->first = (m - 1) / 2;
        axis->kept = n;
        break;
    case WEFT_VALID:
        axis->first = less - 1;
        axis->kept = n + m - 1 - 2 * (less - 1);
        break;
    default:
        axis->first = 0;
        axis->kept = n + m - 1;
    }
}

static void find_axis(const weft_convolved *c, int a, weft_convolved_axis *axis) {
    const weft_convolution_problem *p = &c->problem;
    const bool array = p->kernel.kind == WEFT_KERNEL_ARRAY;
    const int64_t m = array ? p->kernel.n[a] : 1;
    *axis = (weft_convolved_axis){.boundary = p->boundary[a],
                                  .n = p->n[a],
                                  .kernel = m,
                                  .origin = p->kernel.origin[a],
                                  .transform = p->n[a],
                                  .kept = p->n[a],
                                  .staggered = p->kernel.discretization == WEFT_STAGGERED};
    axis->spacing = (p->length[a] > 0 ? p->length[a] : (double)p->n[a]) / (double)p->n[a];
    if (p->correlate && array && !(reflects(axis->boundary) && axis->origin == 0))
        axis->origin = m - 1 - axis->origin;
    if (axis->boundary == WEFT_NEUMANN) axis->type = WEFT_DCT2;
    if (axis->boundary == WEFT_DIRICHLET) axis->type = WEFT_DST2;
    axis->first = axis->origin;
    if (axis->boundary == WEFT_LINEAR) cut_linear(axis, p->mode);
    if (axis->boundary == WEFT_FREE_SPACE && !array)
        axis->transform = weft_convolved_length(2 * axis->n);
    if (axis->boundary == WEFT_LINEAR || (axis->boundary == WEFT_FREE_SPACE && array)) {
        /* Real lines of an even length are half as many complex points. */
        const int unit = p->kind == WEFT_R2C && a == p->rank - 1 ? 2 : 1;
        const int64_t least = least_length(axis->n, m, axis->first, axis->kept);
        axis->transform = least > 1 ? unit * weft_convolved_length((least + unit - 1) / unit) : 1;
    }
}

/* A product of powers of i k is imaginary if their sum is odd; along axes that reflect it makes
 * cosines of sines and back, with real factors. */
static bool is_imaginary(const weft_convolution_problem *p) {
    int sum = 0;
    for (int a = 0; a < p->rank; a++)
        if (!reflects(p->boundary[a])) sum += p->kernel.order[a] % 2;
    return p->kernel.kind == WEFT_KERNEL_DERIVATIVE && sum % 2 != 0;
}

void weft_convolved_find_axes(weft_convolved *c) {
    const weft_convolution_problem *p = &c->problem;
    bool fourier = false;
    c->points = 1;
    for (int a = 0; a < p->rank; a++) {
        find_axis(c, a, &c->axis[a]);
        fourier = fourier || c->axis[a].type == WEFT_AXIS_OF_KIND;
        c->points *= weft_axis_length(c->axis[a].type, c->axis[a].transform);
    }
    c->real = p->kind == WEFT_R2C;
    weft_convolved_find_parity(c);
    const weft_kernel_kind kind = p->kernel.kind;
    c->complex_factors =
        (fourier || !c->real) && (weft_convolved_is_given(c) || kind == WEFT_KERNEL_FUNCTION ||
                                  is_imaginary(p) || (p->kernel.zero && p->kernel.zero[1] != 0));
}

/* What belongs to the caller is copied. */
static weft_status copy_kernel(weft_convolved *c) {
    weft_convolution_kernel *k = &c->problem.kernel;
    const size_t bytes = (size_t)(c->problem.rank * c->problem.rank) * sizeof *c->covariance;
    if (k->zero) {
        memcpy(c->zero, k->zero, sizeof c->zero);
        k->zero = c->zero;
    }
    if (k->kind != WEFT_KERNEL_GAUSSIAN) return WEFT_SUCCESS;
    c->covariance = malloc(bytes);
    if (!c->covariance)
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for a kernel's covariance");
    memcpy(c->covariance, k->covariance, bytes);
    k->covariance = c->covariance;
    return WEFT_SUCCESS;
}

/* Along a line gradient and divergence are the derivative, which multiplies: of a scalar, and of a
 * vector's only component, which is odd where a scalar is even. */
static void simplify(weft_convolution_problem *p) {
    weft_convolution_kernel *kernel = &p->kernel;
    if (p->rank > 1 ||
        (kernel->kind != WEFT_KERNEL_GRADIENT && kernel->kind != WEFT_KERNEL_DIVERGENCE))
        return;
    if (kernel->kind == WEFT_KERNEL_DIVERGENCE && reflects(p->boundary[0]))
        p->boundary[0] = p->boundary[0] == WEFT_NEUMANN ? WEFT_DIRICHLET : WEFT_NEUMANN;
    kernel->kind = WEFT_KERNEL_DERIVATIVE;
    kernel->order[0] = 1;
}

weft_status weft_convolved_read(const weft_convolution_problem *given, weft_convolved *c) {
    if (!given)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT, "weft_convolution_create: problem is NULL");
    WEFT_TRY(weft_versioned_read(versions, given, &c->problem, "problem"));
    WEFT_TRY(check_field(&c->problem));
    WEFT_TRY(check_kernel(&c->problem, &c->free_axes));
    simplify(&c->problem);
    weft_convolved_find_axes(c);
    WEFT_TRY(weft_convolved_read_box(c));
    if (weft_convolved_makes_fields(c)) {
        WEFT_TRY(weft_convolved_find_waves(c));
        WEFT_TRY(weft_convolved_write_snippet(c, "index[a]", &c->snippet));
    }
    WEFT_TRY(weft_convolved_find_tables(c));
    return copy_kernel(c);
}

void weft_convolved_release(weft_convolved *c) {
    if (!c) return;
    for (int a = 0; a < WEFT_MAX_RANK; a++) {
        free(c->wave[a]);
        free(c->table[a]);
        free(c->phase[a]);
    }
    free(c->note);
    free(c->snippet);
    free(c->covariance);
    free(c);
}

size_t weft_convolved_given_bytes(const weft_convolved *c) {
    const weft_region whole = weft_convolved_whole(c);
    return (size_t)weft_region_elements(&whole) * weft_convolved_given_element(c);
}

size_t weft_convolved_bytes(const weft_convolved *c) {
    size_t bytes = weft_number_bytes(c->problem.precision) * (c->complex_factors ? 2 : 1);
    for (int a = 0; a < c->problem.rank; a++) bytes *= (size_t)c->spectrum.n[a];
    return bytes;
}
