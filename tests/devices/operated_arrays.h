/*
 * Lists of operators written as letters, their factors, and arrays that are multiplied by the
 * definitions: the expected results for tests of operators on devices.
 */
#ifndef WEFT_TESTS_OPERATED_ARRAYS_H
#define WEFT_TESTS_OPERATED_ARRAYS_H

#include <cmocka.h>
#include <stdio.h>

#include "mpi/product_operators.h"

enum { AXES = 3, LETTERS = 4 };

/* ---- lists ---- */

/* What a list multiplies by: scale, window, shift by half (H), table, complex table, function, and
 * arrays of real (A) and complex factors (B), by their letters; those that are products, along the
 * first axis and the last one. Arrays have the place's number. */
typedef struct known_list {
    weft_operator item[LETTERS];
    double *along[LETTERS][AXES]; /* factors of each index, pairs of C */
    char snippet[512];
    int count;
    int64_t n[WEFT_MAX_RANK]; /* of the array that the list multiplies */
} known_list;

/* Part 0 or 1 of factor `number` of an array; single precision holds it. */
static inline double array_factor(int64_t number, int part) {
    return (double)(number * 37 % 129 + part * 5 - 50) / 64;
}

static inline int64_t number_in_array(const known_list *l, const int64_t *index, int rank) {
    int64_t number = 0;
    for (int a = 0; a < rank; a++) number = number * l->n[a] + index[a];
    return number;
}

/* The factors of a list's array, if it has one: their count of numbers, and the numbers, which the
 * caller frees. */
static inline int64_t array_factors(const weft_problem *p, const known_list *l, void **out) {
    const weft_operator *o = NULL;
    int64_t count = 1;
    for (int k = 0; k < l->count; k++)
        if (l->item[k].kind == WEFT_OPERATOR_ARRAY) o = &l->item[k];
    *out = NULL;
    if (!o) return 0;
    for (int a = 0; a < p->rank; a++) count *= l->n[a];
    const int width = 1 + o->complex_factors;
    *out = malloc((size_t)(count * width) * sizeof(double));
    assert_non_null(*out);
    for (int64_t i = 0; i < count * width; i++) {
        const double factor = array_factor(i / width, (int)(i % width));
        if (p->precision == WEFT_SINGLE)
            ((float *)*out)[i] = (float)factor;
        else
            ((double *)*out)[i] = factor;
    }
    return count * width;
}

static inline double factor_along(const weft_operator *o, int64_t i) {
    if (o->kind == WEFT_OPERATOR_SHIFT) return i % 2 ? -1 : 1; /* by half of an even length */
    return o->complex_factors && i % 2 ? (double)(i * 3 % 11) / 16 - 0.3
                                       : 0.7 + (double)(i * 7 % 13) / 20;
}

static inline void add_axis(known_list *l, int k, int axis, int64_t n) {
    weft_operator *o = &l->item[k];
    const int64_t numbers = n * (1 + o->complex_factors);
    double *along = malloc((size_t)numbers * sizeof *along);
    assert_non_null(along);
    l->along[k][axis] = along;
    if (o->kind == WEFT_OPERATOR_WINDOW) {
        o->window[axis] = axis == 0 ? (weft_window){.kind = WEFT_WINDOW_HAMMING}
                                    : (weft_window){WEFT_WINDOW_TUKEY, 1, 0.3};
        weft_window_values(&o->window[axis], n, along);
        return;
    }
    for (int64_t i = 0; i < numbers; i++) along[i] = factor_along(o, i);
    if (o->kind == WEFT_OPERATOR_TABLE) o->table[axis] = along;
}

static inline void add_letter(const weft_problem *p, int place, char letter, known_list *l) {
    static const char letters[] = "SWHTF";
    weft_operator *o = &l->item[l->count];
    int64_t n[WEFT_MAX_RANK];
    place_extents(p, place, n);
    if (letter == 'A' || letter == 'B') {
        *o = (weft_operator){
            .kind = WEFT_OPERATOR_ARRAY, .array = place, .complex_factors = letter == 'B'};
        l->count++;
        return;
    }
    *o = (weft_operator){.kind = letter == 'C'
                                     ? WEFT_OPERATOR_TABLE
                                     : (weft_operator_kind)(1 + strchr(letters, letter) - letters),
                         .complex_factors = letter == 'C'};
    if (letter == 'S') o->factor = 0.7;
    if (letter == 'F') {
        o->function = multiply_by_index;
        o->snippet = l->snippet;
    } else if (letter != 'S') {
        add_axis(l, l->count, 0, n[0]);
        if (p->rank > 1) add_axis(l, l->count, p->rank - 1, n[p->rank - 1]);
        o->shift[0] = (double)p->n[0] / 2;
        o->shift[p->rank - 1] = (double)p->n[p->rank - 1] / 2;
    }
    l->count++;
}

static inline void make_list(weft_problem *p, int place, const char *letters, known_list *l) {
    *l = (known_list){.count = 0};
    place_extents(p, place, l->n);
    write_snippet(p->rank, p->kind == WEFT_R2C && place != 1, l->snippet, sizeof l->snippet);
    for (; *letters; letters++) add_letter(p, place, *letters, l);
    *operators_of(p, place) = (weft_operators){l->item, l->count};
}

static inline void free_list(known_list *l) {
    for (int k = 0; k < l->count; k++)
        for (int a = 0; a < AXES; a++) free(l->along[k][a]);
}

static inline oracle_number factor_at(const known_list *l, const int64_t *index, int rank,
                                      int64_t batch) {
    oracle_number product = 1;
    for (int k = 0; k < l->count; k++) {
        const weft_operator *o = &l->item[k];
        if (o->kind == WEFT_OPERATOR_SCALE) product *= (long double)o->factor;
        if (o->kind == WEFT_OPERATOR_ARRAY) {
            const int64_t number = number_in_array(l, index, rank);
            product *= (long double)array_factor(number, 0) +
                       o->complex_factors * (long double)array_factor(number, 1) * (oracle_number)I;
        }
        if (o->kind == WEFT_OPERATOR_FUNCTION)
            product *= (long double)function_factor(index, batch);
        for (int a = 0; a < AXES; a++) {
            const double *along = l->along[k][a];
            if (along && o->complex_factors)
                product *= (long double)along[2 * index[a]] +
                           (long double)along[2 * index[a] + 1] * (oracle_number)I;
            else if (along)
                product *= (long double)along[index[a]];
        }
    }
    return product;
}

/* ---- arrays ---- */

/* All members of the batch, in double precision. */
typedef struct array {
    int64_t n[WEFT_MAX_RANK], elements, of_member;
    int rank, width; /* numbers of an element */
    double *number;
} array;

static inline array create_array(const weft_problem *p, weft_space space) {
    array a = {.rank = p->rank,
               .width = p->kind == WEFT_R2C && space == WEFT_INPUT ? 1 : 2,
               .of_member = 1};
    place_extents(p, space == WEFT_OUTPUT, a.n);
    for (int i = 0; i < a.rank; i++) a.of_member *= a.n[i];
    a.elements = a.of_member * (p->batch > 0 ? p->batch : 1);
    a.number = calloc((size_t)(a.elements * a.width), sizeof *a.number);
    assert_non_null(a.number);
    return a;
}

static inline void multiply(array *a, const known_list *l) {
    for (int64_t i = 0; i < a->elements; i++) {
        int64_t index[WEFT_MAX_RANK] = {0}, rest = i % a->of_member;
        for (int k = a->rank - 1; k >= 0; k--) {
            index[k] = rest % a->n[k];
            rest /= a->n[k];
        }
        const oracle_number factor = factor_at(l, index, a->rank, i / a->of_member);
        double *x = a->number + i * a->width;
        if (a->width == 1) {
            x[0] = (double)(x[0] * creall(factor));
        } else {
            const oracle_number product =
                ((long double)x[0] + (long double)x[1] * (oracle_number)I) * factor;
            x[0] = (double)creall(product);
            x[1] = (double)cimagl(product);
        }
    }
}

static inline void pack(const array *a, weft_precision precision, void *out) {
    for (int64_t i = 0; i < a->elements * a->width; i++)
        if (precision == WEFT_SINGLE)
            ((float *)out)[i] = (float)a->number[i];
        else
            ((double *)out)[i] = a->number[i];
}

/* The error relative to the expected array, in the Euclidean norm. */
static inline double error_of(const array *expected, weft_precision precision, const void *got) {
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < expected->elements * expected->width; i++) {
        const double x =
            precision == WEFT_SINGLE ? ((const float *)got)[i] : ((const double *)got)[i];
        difference += (x - expected->number[i]) * (x - expected->number[i]);
        norm += expected->number[i] * expected->number[i];
    }
    return sqrt(difference / norm);
}

#endif
