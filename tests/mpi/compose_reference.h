/* What stages of compositions do, by direct sums, to a field that every rank has all of. */
#ifndef WEFT_TESTS_COMPOSE_REFERENCE_H
#define WEFT_TESTS_COMPOSE_REFERENCE_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

/* [members][n0][n1][n2], of up to three axes; a spectrum of real numbers is a half one. */
typedef struct field {
    int rank;
    int64_t n[3], members;
    int64_t logical[3]; /* extents in real space */
    bool real;          /* in real space */
    bool spectral;
    weft_axis axis[WEFT_MAX_RANK]; /* of a spectrum */
    double complex *value;
} field;

static inline int64_t field_elements(const field *f) {
    int64_t elements = 1;
    for (int a = 0; a < f->rank; a++) elements *= f->n[a];
    return elements;
}

static inline void field_index(const field *f, int64_t i, int64_t *index) {
    for (int a = f->rank - 1; a >= 0; a--) {
        index[a] = i % f->n[a];
        i /= f->n[a];
    }
}

static inline int64_t field_at(const field *f, const int64_t *index) {
    int64_t i = 0;
    for (int a = 0; a < f->rank; a++) i = i * f->n[a] + index[a];
    return i;
}

static inline field field_create(int rank, const int64_t *n, int64_t members, bool real) {
    field f = {.rank = rank, .members = members, .real = real};
    for (int a = 0; a < rank; a++) f.n[a] = f.logical[a] = n[a];
    f.value = calloc((size_t)(members * field_elements(&f)) + 1, sizeof *f.value);
    return f;
}

static inline field field_copy(const field *f) {
    field copy = *f;
    const size_t count = (size_t)(f->members * field_elements(f));
    copy.value = malloc(count * sizeof *f->value + 1);
    memcpy(copy.value, f->value, count * sizeof *f->value);
    return copy;
}

static inline void field_scale(field *f, double factor) {
    for (int64_t i = 0; i < f->members * field_elements(f); i++) f->value[i] *= factor;
}

static inline void field_multiply(field *f, const double *factor) {
    const int64_t elements = field_elements(f);
    for (int64_t i = 0; i < f->members * elements; i++) f->value[i] *= factor[i % elements];
}

/* To other extents, where index i of the larger field is lo + step * i of the smaller one's. */
static inline void field_resize(field *f, const int64_t *n, const int64_t *lo, const int64_t *step,
                                bool grows) {
    field g = field_create(f->rank, n, f->members, f->real);
    const field *small = grows ? f : &g, *large = grows ? &g : f;
    const int64_t elements = field_elements(small);
    for (int64_t i = 0; i < f->members * elements; i++) {
        int64_t index[3] = {0};
        field_index(small, i % elements, index);
        for (int a = 0; a < f->rank; a++) index[a] = lo[a] + step[a] * index[a];
        const int64_t there = i / elements * field_elements(large) + field_at(large, index);
        if (grows)
            g.value[there] = f->value[i];
        else
            g.value[i] = f->value[there];
    }
    free(f->value);
    *f = g;
}

static inline void field_embed(field *f, const int64_t *n, const int64_t *lo) {
    const int64_t ones[3] = {1, 1, 1};
    int64_t extents[3];
    for (int a = 0; a < f->rank; a++) extents[a] = n[a] > 0 ? n[a] : f->n[a];
    field_resize(f, extents, lo, ones, true);
}

static inline void field_crop(field *f, const int64_t *n, const int64_t *lo, const int64_t *step) {
    int64_t extents[3], steps[3];
    for (int a = 0; a < f->rank; a++) {
        steps[a] = step[a] > 0 ? step[a] : 1;
        extents[a] = n[a] > 0 ? n[a] : (f->n[a] - 1 - lo[a]) / steps[a] + 1;
    }
    field_resize(f, extents, lo, steps, false);
}

/* How index j of a line of `in` numbers adds to number k of one of n points in real space. */
typedef double complex (*field_weight)(int64_t j, int64_t k, int64_t n);

static inline double complex field_forward(int64_t j, int64_t k, int64_t n) {
    return cexp(-2 * I * M_PI * (double)(j * k % n) / (double)n);
}

static inline double complex field_inverse(int64_t j, int64_t k, int64_t n) {
    return conj(field_forward(j, k, n));
}

/* Of half a spectrum, whose other half is its conjugate: the real part counts. */
static inline double complex field_unhalve(int64_t j, int64_t k, int64_t n) {
    return (j == 0 || 2 * j == n ? 1 : 2) * field_inverse(j, k, n);
}

static inline double complex field_cosine(int64_t j, int64_t k, int64_t n) {
    return 2 * cos(M_PI * (double)((2 * j + 1) * k % (4 * n)) / (double)(2 * n));
}

static inline double complex field_cosine_back(int64_t j, int64_t k, int64_t n) {
    return j == 0 ? 1 : field_cosine(k, j, n);
}

/* Lines along an axis, of which those of the result have `out` numbers. */
static inline void field_lines(field *f, int axis, int64_t out, field_weight weight,
                               bool real_part) {
    field g = *f;
    g.n[axis] = out;
    const int64_t elements = field_elements(&g), before = field_elements(f);
    g.value = calloc((size_t)(f->members * elements) + 1, sizeof *g.value);
    for (int64_t i = 0; i < f->members * elements; i++) {
        int64_t index[3] = {0};
        field_index(&g, i % elements, index);
        const int64_t k = index[axis];
        double complex sum = 0;
        for (int64_t j = 0; j < f->n[axis]; j++) {
            index[axis] = j;
            const double complex x = f->value[i / elements * before + field_at(f, index)];
            /* Imaginary parts that a real line does not have are not looked at. */
            sum += weight(j, k, f->logical[axis]) *
                   (real_part && (j == 0 || 2 * j == f->logical[axis]) ? creal(x) : x);
        }
        g.value[i] = real_part ? creal(sum) : sum;
    }
    free(f->value);
    *f = g;
}

static inline int field_halved(const field *f, const weft_axis *axis) {
    int halved = f->real ? f->rank - 1 : -1;
    while (halved >= 0 && axis[halved] != WEFT_AXIS_OF_KIND) halved--;
    return halved;
}

/* Returns what it multiplies the root of the sum of squares by, about. */
static inline double field_transform(field *f, const weft_axis *axis, weft_direction direction,
                                     weft_norm norm) {
    const bool forward = direction == WEFT_FORWARD;
    const int halved = field_halved(f, axis);
    double points = 1;
    for (int a = 0; a < f->rank; a++) {
        const int64_t n = f->logical[a];
        if (axis[a] == WEFT_AXIS_NONE) continue;
        points *= (double)(axis[a] == WEFT_DCT2 ? 2 * n : n);
        if (axis[a] == WEFT_DCT2)
            field_lines(f, a, n, forward ? field_cosine : field_cosine_back, false);
    }
    if (halved >= 0 && forward)
        field_lines(f, halved, f->logical[halved] / 2 + 1, field_forward, false);
    for (int a = 0; a < f->rank; a++)
        if (axis[a] == WEFT_AXIS_OF_KIND && a != halved)
            field_lines(f, a, f->n[a], forward ? field_forward : field_inverse, false);
    if (halved >= 0 && !forward) field_lines(f, halved, f->logical[halved], field_unhalve, true);
    const bool all = norm == (forward ? WEFT_NORM_FORWARD : WEFT_NORM_BACKWARD);
    const double scale = all ? 1 / points : norm == WEFT_NORM_ORTHO ? 1 / sqrt(points) : 1;
    field_scale(f, scale);
    f->spectral = forward;
    if (forward) memmove(f->axis, axis, sizeof f->axis);
    return sqrt(points) * scale;
}

/* A spectrum becomes that of n points: the frequencies that both have stay. */
static inline void field_resample(field *f, const int64_t *n) {
    const int halved = field_halved(f, f->axis);
    int64_t extents[3] = {1, 1, 1};
    for (int a = 0; a < f->rank; a++) extents[a] = a == halved ? n[a] / 2 + 1 : n[a];
    field g = field_create(f->rank, extents, f->members, f->real);
    g.spectral = true;
    memcpy(g.logical, n, (size_t)f->rank * sizeof *n);
    memcpy(g.axis, f->axis, sizeof f->axis);
    for (int64_t i = 0; i < g.members * field_elements(&g); i++) {
        int64_t index[3] = {0};
        bool has = true;
        field_index(&g, i % field_elements(&g), index);
        for (int a = 0; a < f->rank; a++) {
            const bool signs = f->axis[a] == WEFT_AXIS_OF_KIND && a != halved;
            const int64_t fewer = f->n[a] < g.n[a] ? f->n[a] : g.n[a];
            const int64_t k = signs && index[a] >= (g.n[a] + 1) / 2 ? index[a] - g.n[a] : index[a];
            has = has && (signs ? k >= -(fewer / 2) && k < (fewer + 1) / 2 : k < fewer);
            index[a] = k < 0 ? k + f->n[a] : k;
        }
        if (has)
            g.value[i] = f->value[i / field_elements(&g) * field_elements(f) + field_at(f, index)];
    }
    free(f->value);
    *f = g;
}

/* ---- a rank's box, row-major for each member ---- */

static inline int64_t field_box_elements(const field *f, const weft_box *box) {
    int64_t elements = 1;
    for (int a = 0; a < f->rank; a++) elements *= box->n[a];
    return elements;
}

/* The element of the field that is element i of the boxes of all members. */
static inline int64_t field_place(const field *f, const weft_box *box, int64_t i) {
    const int64_t own = field_box_elements(f, box);
    int64_t index[3] = {0}, rest = i % own;
    for (int a = f->rank - 1; a >= 0; a--) {
        index[a] = box->lo[a] + rest % box->n[a];
        rest /= box->n[a];
    }
    return i / own * field_elements(f) + field_at(f, index);
}

/* Element i of an array of numbers, or of pairs where those of the field are complex. */
static inline bool field_is_real(const field *f) {
    if (!f->real || !f->spectral) return f->real;
    return field_halved(f, f->axis) < 0;
}

static inline void field_put(const field *f, void *array, int64_t i, bool single,
                             double complex value) {
    const int numbers = field_is_real(f) ? 1 : 2;
    for (int part = 0; part < numbers; part++) {
        const double number = part ? cimag(value) : creal(value);
        if (single)
            ((float *)array)[numbers * i + part] = (float)number;
        else
            ((double *)array)[numbers * i + part] = number;
    }
}

static inline double complex field_get(const field *f, const void *array, int64_t i, bool single) {
    const int numbers = field_is_real(f) ? 1 : 2;
    double part[2] = {0, 0};
    for (int p = 0; p < numbers; p++)
        part[p] = single ? ((const float *)array)[numbers * i + p]
                         : ((const double *)array)[numbers * i + p];
    return part[0] + I * part[1];
}

#endif
