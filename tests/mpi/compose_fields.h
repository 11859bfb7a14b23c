/* Matrices between the fields of a point for compositions: what they are as functions of the
 * host's, as snippets for devices, and on the fields of the reference. */
#ifndef WEFT_TESTS_COMPOSE_FIELDS_H
#define WEFT_TESTS_COMPOSE_FIELDS_H

#include "compose_reference.h"

#include <stdio.h>

enum { FIELDS_MOST = 3 }; /* of a point */

/* Number `at` of an array of doubles or, with `single`, of floats. */
static inline double fields_number(const void *array, int64_t at, const void *single) {
    return single ? ((const float *)array)[at] : ((const double *)array)[at];
}

static inline void fields_put(void *array, int64_t at, const void *single, double value) {
    if (single)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

/* Field g of a point becomes the product of fields g and g + 1, counted in a circle. */
static inline void fields_make_products(const weft_fields_run *run, void *single) {
    const int numbers = run->complex_elements ? 2 : 1;
    for (int64_t i = 0; i < run->count; i++) {
        double complex x[FIELDS_MOST];
        for (int f = 0; f < run->in_fields; f++) {
            const int64_t at = i * run->in_stride * numbers;
            x[f] = fields_number(run->in[f], at, single);
            if (numbers == 2) x[f] += I * fields_number(run->in[f], at + 1, single);
        }
        for (int g = 0; g < run->out_fields; g++) {
            const double complex made = x[g % run->in_fields] * x[(g + 1) % run->in_fields];
            const int64_t at = i * run->out_stride * numbers;
            fields_put(run->out[g], at, single, creal(made));
            if (numbers == 2) fields_put(run->out[g], at + 1, single, cimag(made));
        }
    }
}

/* Each field becomes half of it: what a matrix makes of spectra here. */
static inline void fields_halve(const weft_fields_run *run, void *single) {
    const int numbers = run->complex_elements ? 2 : 1;
    for (int64_t i = 0; i < run->count * numbers; i++)
        for (int g = 0; g < run->out_fields; g++) {
            const int64_t point = i / numbers, part = i % numbers;
            fields_put(run->out[g], point * run->out_stride * numbers + part, single,
                       fields_number(run->in[g], point * run->in_stride * numbers + part, single) /
                           2);
        }
}

/* Field g of each member of the batch becomes the product of fields g and g + 1. */
static inline void fields_multiply(field *f, int fields, int made) {
    const int64_t elements = field_elements(f);
    field g = *f;
    g.members = f->members / fields * made;
    g.value = calloc((size_t)(g.members * elements) + 1, sizeof *g.value);
    for (int64_t i = 0; i < g.members * elements; i++) {
        const int64_t point = i % elements, member = i / elements;
        const int64_t first = member / made * fields, k = member % made;
        g.value[i] = f->value[(first + k % fields) * elements + point] *
                     f->value[(first + (k + 1) % fields) * elements + point];
    }
    free(f->value);
    *f = g;
}

/* The snippets. */
static inline void fields_write_products(int fields, int made, bool real, char *text, size_t room) {
    size_t at = 0;
    for (int k = 0; k < made; k++) {
        const int a = k % fields, b = (k + 1) % fields;
        at += (size_t)snprintf(text + at, room - at,
                               real ? "out[%d] = in[%d] * in[%d];"
                                    : "out[%d].x = in[%d].x * in[%d].x - in[%d].y * in[%d].y; "
                                      "out[%d].y = in[%d].x * in[%d].y + in[%d].y * in[%d].x;",
                               k, a, b, a, b, k, a, b, a, b);
    }
}

static inline void fields_write_halves(int fields, bool real, char *text, size_t room) {
    size_t at = 0;
    for (int k = 0; k < fields; k++)
        at += (size_t)snprintf(text + at, room - at,
                               real ? "out[%d] = in[%d] / 2;"
                                    : "out[%d].x = in[%d].x / 2; out[%d].y = in[%d].y / 2;",
                               k, k, k, k);
}

#endif
