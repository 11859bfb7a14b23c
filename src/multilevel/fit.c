/*
 * The short kernel of a level: of all that reach `radius` points, the one that leaves least of the
 * level's kernel where it counts. At a wavenumber k within the next lattice's Nyquist frequency,
 * what is left counts with the share that R and P send to wrong wavenumbers, beyond it with 1. On
 * levels below the first, both are damped by the filters above. It is a linear least-squares
 * problem over the wavenumbers of a small lattice; kernels are even along each axis.
 */
#include "multilevel/splitting.h"

#include "support/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };
static const double pi = 3.14159265358979323846;

/* The least-squares problem, over the angles 2 pi i / grid, i up to grid / 2. */
typedef struct fit {
    const weft_splitting *splitting;
    const weft_field_pair *pair;
    int level, grid;
    int64_t terms[WEFT_LATTICE_AXES], twice[WEFT_LATTICE_AXES]; /* cosines, and of products */
    double angle[WEFT_NEAR_RADIUS * 4 + 1];
    weft_angles angles;
    int64_t points;
    double *symbol, *weight; /* at the angles; weights are squared, and count both signs */
    double *matrix, *right, *products;
    int unknowns, *unknown; /* that a term belongs to: terms alike by symmetry have the same one */
} fit;

/* ---- what counts ---- */

/* The share of a field that goes astray along an axis, relative to the rest. */
static double astray(const weft_splitting *s, bool half, double angle) {
    const double ratio =
        weft_spline_symbol(s, half, pi - angle) / weft_spline_symbol(s, half, angle);
    return ratio * ratio;
}

/* The square of what the filters of the levels above leave of a field. */
static double damped(const fit *f, bool half, double angle) {
    double product = 1;
    for (int l = 1; l <= f->level; l++)
        product *= weft_spline_symbol(f->splitting, half, ldexp(angle, -l));
    return product * product;
}

static double weight_at(const fit *f, const int64_t *index) {
    const weft_splitting *s = f->splitting;
    const bool *to = s->half[f->pair->to], *from = s->half[f->pair->from];
    double up = 1, down = 1, factor = 1;
    bool outside = false;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
        if (!s->active[a]) continue;
        const double angle = f->angles.angle[a][index[a]];
        factor *= damped(f, to[a], angle) * damped(f, from[a], angle) *
                  (index[a] == 0 || 2 * index[a] == f->grid ? 1 : 2);
        outside = outside || angle > pi / 2 - 1e-9;
        if (outside) continue;
        up *= 1 + astray(s, to[a], angle);
        down *= 1 + astray(s, from[a], angle);
    }
    return factor * (outside ? 1 : fmin(1, up + down - 2));
}

static void find_weights(fit *f) {
    const int64_t *n = f->angles.count;
    int64_t i[WEFT_LATTICE_AXES], at = 0;
    for (i[X] = 0; i[X] < n[X]; i[X]++)
        for (i[Y] = 0; i[Y] < n[Y]; i[Y]++)
            for (i[Z] = 0; i[Z] < n[Z]; i[Z]++) f->weight[at++] = weight_at(f, i);
    f->weight[0] = f->symbol[0] = 0; /* the mean goes down without loss, and may be infinite here */
}

/* ---- the problem ---- */

/* Terms that differ by the order of their axes are alike, where the axes are. */
static void find_unknowns(fit *f) {
    const weft_convolved *c = f->splitting->convolved;
    const int64_t *n = f->terms;
    bool alike = c->problem.rank == WEFT_LATTICE_AXES && f->splitting->fields == 1;
    for (int a = 0; a < c->problem.rank; a++)
        alike = alike && c->problem.n[a] > 1 &&
                fabs(c->axis[a].spacing - c->axis[0].spacing) < 1e-12 * c->axis[0].spacing;
    f->unknowns = 0;
    for (int64_t x = 0; x < n[X]; x++)
        for (int64_t y = 0; y < n[Y]; y++)
            for (int64_t z = 0; z < n[Z]; z++) {
                const int64_t low = x < y ? x : y, high = x < y ? y : x;
                const int64_t first = low < z ? low : z, last = high > z ? high : z;
                const int64_t kin = (first * n[Y] + x + y + z - first - last) * n[Z] + last;
                const int64_t term = (x * n[Y] + y) * n[Z] + z;
                /* The sorted one comes first. */
                f->unknown[term] = alike && kin != term ? f->unknown[kin] : f->unknowns++;
            }
}

/* The sum over all angles of the weight times two terms: products of cosines are those of the sum
 * and of the difference, products of sines too, with the sum's subtracted. */
static double product_of(const fit *f, const int64_t *m, const int64_t *k) {
    double sum = 0;
    for (int signs = 0; signs < 8; signs++) {
        int64_t at = 0;
        double sign = 1;
        for (int a = 0; a < WEFT_LATTICE_AXES; a++) {
            const bool half = f->pair->half[a], of_sum = signs >> a & 1;
            at = at * f->twice[a] + (of_sum ? m[a] + k[a] + half : llabs(m[a] - k[a]));
            if (half && of_sum) sign = -sign;
        }
        sum += sign * f->products[at];
    }
    return sum / 8;
}

static void term_of(const fit *f, int64_t term, int64_t *m) {
    m[Z] = term % f->terms[Z];
    m[Y] = term / f->terms[Z] % f->terms[Y];
    m[X] = term / f->terms[Z] / f->terms[Y];
}

/* A small multiple of the sum of the kernel's squares keeps the problem well posed where no weight
 * tells what the polynomial should be. */
static void fill_matrix(fit *f) {
    const double ridge = 1e-12;
    const int64_t terms = f->terms[X] * f->terms[Y] * f->terms[Z];
    const size_t n = (size_t)f->unknowns;
    double all = 1;
    memset(f->matrix, 0, n * n * sizeof *f->matrix);
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        if (f->splitting->active[a]) all *= f->grid;
    for (int64_t i = 0; i < terms; i++) {
        int64_t m[WEFT_LATTICE_AXES], k[WEFT_LATTICE_AXES];
        double share = 1;
        term_of(f, i, m);
        for (int64_t j = 0; j < terms; j++) {
            if (f->unknown[j] > f->unknown[i]) continue;
            term_of(f, j, k);
            f->matrix[(size_t)f->unknown[i] * n + (size_t)f->unknown[j]] += product_of(f, m, k);
        }
        for (int a = 0; a < WEFT_LATTICE_AXES; a++) share *= m[a] > 0 || f->pair->half[a] ? 0.5 : 1;
        f->matrix[(size_t)f->unknown[i] * (n + 1)] += ridge * all * share;
    }
}

/* Solves in place by Cholesky's factorization of the lower triangle. */
static weft_status solve(double *a, int n, double *x) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0))
                return weft_fail(WEFT_ERROR_UNSUPPORTED,
                                 "a kernel cannot be split into levels: its symbol is not finite");
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
    return WEFT_SUCCESS;
}

/* ---- memory ---- */

static weft_status begin(const weft_splitting *s, const weft_field_pair *pair, int level, fit *f) {
    int64_t terms = 1, twice = 1;
    *f = (fit){
        .splitting = s, .pair = pair, .level = level, .grid = s->radius > 8 ? 48 : 32, .points = 1};
    weft_splitting_terms(s, pair, f->terms);
    for (int i = 0; i <= f->grid / 2; i++) f->angle[i] = 2 * pi * i / f->grid;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++) {

        f->twice[a] = s->active[a] ? 2 * s->radius + 1 : 1;
        f->angles.angle[a] = f->angle;
        f->angles.count[a] = s->active[a] ? f->grid / 2 + 1 : 1;
        f->points *= f->angles.count[a];
        terms *= f->terms[a];
        twice *= f->twice[a];
    }
    f->symbol = malloc((size_t)f->points * sizeof *f->symbol);
    f->weight = malloc((size_t)f->points * sizeof *f->weight);
    f->right = malloc((size_t)terms * 2 * sizeof *f->right);
    f->products = malloc((size_t)twice * sizeof *f->products);
    f->unknown = malloc((size_t)terms * sizeof *f->unknown);
    if (f->unknown) find_unknowns(f);
    if (f->unknown)
        f->matrix = malloc((size_t)f->unknowns * (size_t)f->unknowns * sizeof *f->matrix);
    if (f->symbol && f->weight && f->right && f->products && f->matrix) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to split a kernel");
}

static void end(fit *f) {
    free(f->symbol);
    free(f->weight);
    free(f->right);
    free(f->products);
    free(f->unknown);
    free(f->matrix);
}

/* near[level] from the symbol; f->symbol becomes weight times symbol. */
static weft_status find_near(fit *f, double *near) {
    const int64_t terms = f->terms[X] * f->terms[Y] * f->terms[Z];
    static const bool whole[WEFT_LATTICE_AXES] = {false, false, false};
    double *sums = f->right + terms;
    WEFT_TRY(weft_tensor_waves(&f->angles, f->twice, whole, true, f->weight, f->products));
    for (int64_t i = 0; i < f->points; i++) f->symbol[i] *= f->weight[i];
    WEFT_TRY(weft_tensor_waves(&f->angles, f->terms, f->pair->half, true, f->symbol, sums));
    memset(f->right, 0, (size_t)f->unknowns * sizeof *f->right);
    for (int64_t i = 0; i < terms; i++) f->right[f->unknown[i]] += sums[i];
    fill_matrix(f);
    WEFT_TRY(solve(f->matrix, f->unknowns, f->right));
    for (int64_t i = 0; i < terms; i++) near[i] = f->right[f->unknown[i]];
    return WEFT_SUCCESS;
}

/* Of what is left of the symbol. `square` and `smooth`: see splitting.h. */
static void find_error(const fit *f, const double *near, double *square, double *smooth) {
    const int64_t *n = f->angles.count;
    double all = 1;
    int64_t i = 0;
    *square = *smooth = 0;
    for (int a = 0; a < WEFT_LATTICE_AXES; a++)
        if (f->splitting->active[a]) all *= f->grid;
    for (int64_t x = 0; x < n[X]; x++)
        for (int64_t y = 0; y < n[Y]; y++)
            for (int64_t z = 0; z < n[Z]; z++, i++) {
                const double left = f->symbol[i] - near[i];
                const double k = f->angle[x] * f->angle[x] + f->angle[y] * f->angle[y] +
                                 f->angle[z] * f->angle[z];
                const double error = f->weight[i] * left * left / all;
                *square += error;
                if (i > 0) *smooth += error / (k * k);
            }
}

weft_status weft_splitting_fit(weft_splitting *s, const weft_field_pair *pair, int level,
                               double *square, double *smooth) {
    fit f;
    double *near = NULL;
    weft_status status = begin(s, pair, level, &f);
    if (status == WEFT_SUCCESS) {
        near = malloc((size_t)f.points * sizeof *near);
        if (!near) status = weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory to split a kernel");
    }
    if (status == WEFT_SUCCESS) status = weft_splitting_symbol(s, pair, level, &f.angles, f.symbol);
    if (status == WEFT_SUCCESS) {
        int64_t terms[WEFT_LATTICE_AXES];
        find_weights(&f);
        status = find_near(&f, s->near[level] + weft_splitting_terms(s, pair, terms));
    }
    if (status == WEFT_SUCCESS) status = weft_splitting_near(s, pair, level, &f.angles, near);
    if (status == WEFT_SUCCESS) status = weft_splitting_symbol(s, pair, level, &f.angles, f.symbol);
    if (status == WEFT_SUCCESS) {
        f.symbol[0] = 0;
        find_error(&f, near, square, smooth);
    }
    free(near);
    end(&f);
    return status;
}
