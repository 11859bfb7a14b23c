/*
 * Operators that see all fields of a point together: a matrix, or any other map, of in_fields
 * numbers to out_fields numbers, by a function of the caller's, or by matrices in an array. This
 * file is compiled without contraction to fused operations, as apply.c is.
 */
#include "operator/pointwise.h"

#include "support/error.h"

#include <string.h>

enum { PIECE = 256 }; /* points: what 12 fields have of them fits the first-level cache */

bool weft_operators_have_matrix(const weft_operator_list *list) {
    for (int k = 0; list && k < list->count; k++)
        if (weft_operator_is_matrix(&list->item[k])) return true;
    return false;
}

weft_status weft_fields_check(const weft_operator_list *list, const weft_operator_space *space,
                              const char *name) {
    int matrices = 0;
    for (int k = 0; k < list->count; k++) matrices += weft_operator_is_matrix(&list->item[k]);
    if (matrices == 0 && space->fields == space->result_fields) return WEFT_SUCCESS;
    if (matrices == 0)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.result_fields is %lld, but fields %lld, and problem.%s has no "
                         "matrix that makes the ones of the others",
                         (long long)space->result_fields, (long long)space->fields, name);
    if (!space->takes_matrix)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s has a matrix; it works on spectra only, in problem.spectral",
                         name);
    for (int k = 0; k < list->count; k++)
        if (matrices > 1 ||
            (!weft_operator_is_matrix(&list->item[k]) && list->item[k].kind != WEFT_OPERATOR_SCALE))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.%s.list[%d]: a matrix goes together with scalings only; let "
                             "it do the rest",
                             name, k);
    return WEFT_SUCCESS;
}

/* ---- matrices of an array ---- */

enum { GATHERED = 2048 }; /* numbers of a piece's fields, which stay in the first-level cache */

#define REAL double
#define NAMED(name) name##_double
#include "operator/matrix.inc"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_single
#include "operator/matrix.inc"
#undef REAL
#undef NAMED

/* ---- running ---- */

static void scale(const weft_pointwise *p, double factor, int64_t count, int64_t stride,
                  void *data) {
    const int numbers = p->layout.real ? 1 : 2;
    for (int64_t i = 0; i < count; i++)
        for (int part = 0; part < numbers; part++) {
            const int64_t at = i * stride * numbers + part;
            if (p->layout.precision == WEFT_SINGLE)
                ((float *)data)[at] = (float)((double)((float *)data)[at] * factor);
            else
                ((double *)data)[at] *= factor;
        }
}

/* Rows of points, counted over the members of the batch and the axes around the rows. */
typedef struct rows {
    const weft_pointwise *p;
    int axis;                                            /* of a row */
    int64_t piece;                                       /* the most points that are done at once */
    int64_t in_stride[WEFT_AXES], out_stride[WEFT_AXES]; /* in elements */
    const char *in, *array;
    char *out;
} rows;

/* What one row or a piece of it begins with: elements of the first field, and factors. */
typedef struct row_places {
    int64_t in, out, array;
} row_places;

static row_places find_row(const rows *r, int64_t number, weft_fields_run *run) {
    const weft_pointwise *p = r->p;
    row_places at = {0, 0, 0};
    for (int i = p->rank; i >= 0; i--) {
        const int a = p->layout.order[i];
        if (a == r->axis || a == p->rank) continue;
        const int64_t index = number % p->layout.box.n[a];
        number /= p->layout.box.n[a];
        at.in += index * r->in_stride[a];
        at.out += index * r->out_stride[a];
        at.array += index * p->array_stride[a];
        run->index[a] = p->layout.box.lo[a] + index;
    }
    run->batch = number;
    at.in += number * run->in_fields * r->in_stride[p->rank];
    at.out += number * run->out_fields * r->out_stride[p->rank];
    return at;
}

/* The fields of a run for a function, scaled beforehand in a copy. */
static void call_scaled(const weft_pointwise *p, const weft_fields_run *run) {
    double copies[2 * GATHERED];
    const void *in[WEFT_MAX_FIELDS];
    const int numbers = run->complex_elements ? 2 : 1;
    weft_fields_run scaled = *run;
    scaled.in = in;
    scaled.in_stride = 1;
    for (int f = 0; f < run->in_fields; f++) {
        const int64_t at = f * run->count * numbers;
        void *copy;
        if (p->layout.precision == WEFT_SINGLE) {
            copy = (float *)(void *)copies + at;
            gather_single(run->in[f], run->in_stride, numbers, run->count, copy);
        } else {
            copy = copies + at;
            gather_double(run->in[f], run->in_stride, numbers, run->count, copy);
        }
        scale(p, p->matrix.scale_before, run->count, 1, copy);
        in[f] = copy;
    }
    p->matrix.operator->matrix(&scaled, p->matrix.operator->argument);
}

/* Makes the fields of the points of a run, whose matrices are the operator's function or begin at
 * factor number `at` of its array. */
static void make_fields(const rows *r, const weft_fields_run *run, int64_t at) {
    const weft_pointwise *p = r->p;
    const weft_operator *o = p->matrix.operator;
    const int64_t step = p->array_stride[r->axis], apart = p->matrix.apart;
    if (p->matrix.scale_before != 1)
        call_scaled(p, run);
    else if (o->kind == WEFT_OPERATOR_MATRIX)
        o->matrix(run, o->argument);
    else if (p->layout.precision == WEFT_SINGLE)
        multiply_fields_single(run, o->complex_factors, (const float *)r->array, at, step, apart);
    else
        multiply_fields_double(run, o->complex_factors, (const double *)r->array, at, step, apart);
    for (int g = 0; g < run->out_fields && p->matrix.scale_behind != 1; g++)
        scale(p, p->matrix.scale_behind, run->count, run->out_stride, run->out[g]);
}

static void run_row(const rows *r, int64_t number) {
    const weft_pointwise *p = r->p;
    const int64_t element = (int64_t)weft_pointwise_element_bytes(p);
    const int64_t n = p->layout.box.n[r->axis];
    const void *in[WEFT_MAX_FIELDS];
    void *out[WEFT_MAX_FIELDS];
    weft_fields_run run = {.in = in,
                           .out = out,
                           .in_fields = (int)p->matrix.in_fields,
                           .out_fields = (int)p->matrix.out_fields,
                           .in_stride = r->in_stride[r->axis],
                           .out_stride = r->out_stride[r->axis],
                           .axis = r->axis,
                           .precision = p->layout.precision,
                           .complex_elements = !p->layout.real,
                           .parameter = p->settings->parameter};
    const row_places row = find_row(r, number, &run);
    for (int64_t first = 0; first < n; first += r->piece) {
        const char *from = r->in + (row.in + first * run.in_stride) * element;
        char *to = r->out + (row.out + first * run.out_stride) * element;
        run.count = n - first < r->piece ? n - first : r->piece;
        run.index[r->axis] = p->layout.box.lo[r->axis] + first;
        for (int f = 0; f < run.in_fields; f++) in[f] = from + f * r->in_stride[p->rank] * element;
        for (int g = 0; g < run.out_fields; g++) out[g] = to + g * r->out_stride[p->rank] * element;
        make_fields(r, &run, row.array + first * p->array_stride[r->axis]);
    }
}

/* The axis along which elements of a field are closest. */
static int axis_of_rows(const weft_pointwise *p) {
    const int *order = p->layout.order;
    int last = p->rank;
    while (last > 0 && (order[last] == p->rank || p->layout.box.n[order[last]] == 1)) last--;
    return order[order[last] == p->rank ? last + 1 : last];
}

/* Without its array a matrix does nothing. */
weft_status weft_fields_apply(const weft_pointwise *p, const void *in, void *out) {
    const weft_operator *o = p->matrix.operator;
    const bool has_array = weft_operator_has_array(o);
    rows r = {.p = p, .in = in, .out = out, .axis = axis_of_rows(p), .piece = PIECE};
    int64_t count = p->layout.box.n[p->rank] / p->matrix.in_fields;
    if (has_array) r.array = p->settings->array[o->array];
    if ((has_array || p->matrix.scale_before != 1) && r.piece > GATHERED / p->matrix.in_fields)
        r.piece = GATHERED / p->matrix.in_fields;
    if (p->omits_functions || p->elements == 0 || (has_array && !r.array)) return WEFT_SUCCESS;
    weft_pointwise_strides(&p->layout, p->layout.box.n[p->rank], r.in_stride);
    weft_pointwise_strides(&p->layout, p->layout.made, r.out_stride);
    for (int a = 0; a < p->rank; a++)
        if (a != r.axis) count *= p->layout.box.n[a];
#pragma omp parallel for num_threads(p->threads) if (p->threads > 1)
    for (int64_t row = 0; row < count; row++) run_row(&r, row);
    return WEFT_SUCCESS;
}
