/* Operators that see all fields of a point together: a matrix, or any other map, of in_fields
 * numbers to out_fields numbers, by a function of the caller's. */
#include "operator/pointwise.h"

#include "support/error.h"

#include <string.h>

enum { PIECE = 256 }; /* points: what 12 fields have of them fits the first-level cache */

bool weft_operators_have_matrix(const weft_operator_list *list) {
    for (int k = 0; list && k < list->count; k++)
        if (list->item[k].kind == WEFT_OPERATOR_MATRIX) return true;
    return false;
}

weft_status weft_fields_check(const weft_operator_list *list, const weft_operator_space *space,
                              const char *name) {
    int matrices = 0;
    for (int k = 0; k < list->count; k++) {
        const weft_operator_kind kind = list->item[k].kind;
        matrices += kind == WEFT_OPERATOR_MATRIX;
    }
    if (matrices == 0 && space->fields == space->result_fields) return WEFT_SUCCESS;
    if (matrices == 0 && space->place == WEFT_PLACE_SPECTRAL)
        return weft_fail(WEFT_ERROR_INVALID_ARGUMENT,
                         "problem.result_fields is %lld, but fields %lld, and problem.spectral has "
                         "no WEFT_OPERATOR_MATRIX that makes the ones of the others",
                         (long long)space->result_fields, (long long)space->fields);
    if (matrices == 0) return WEFT_SUCCESS;
    if (space->place != WEFT_PLACE_SPECTRAL)
        return weft_fail(WEFT_ERROR_UNSUPPORTED,
                         "problem.%s has a WEFT_OPERATOR_MATRIX; it works on spectra only, in "
                         "problem.spectral",
                         name);
    for (int k = 0; k < list->count; k++)
        if (matrices > 1 || (list->item[k].kind != WEFT_OPERATOR_MATRIX &&
                             list->item[k].kind != WEFT_OPERATOR_SCALE))
            return weft_fail(WEFT_ERROR_UNSUPPORTED,
                             "problem.%s.list[%d]: a WEFT_OPERATOR_MATRIX goes together with "
                             "scalings only; let its function do the rest",
                             name, k);
    return WEFT_SUCCESS;
}

/* ---- running ---- */

static void strides_of(const weft_pointwise *p, int64_t members, int64_t *stride) {
    int64_t next = 1;
    for (int i = p->rank; i >= 0; i--) {
        const int a = p->layout.order[i];
        stride[a] = next;
        next *= a == p->rank ? members : p->layout.box.n[a];
    }
}

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
    int64_t in_stride[WEFT_AXES], out_stride[WEFT_AXES]; /* in elements */
    const char *in;
    char *out;
} rows;

static void run_row(const rows *r, int64_t number) {
    const weft_pointwise *p = r->p;
    const int fields = (int)p->matrix.in_fields, made = (int)p->matrix.out_fields;
    const int64_t element = (int64_t)weft_pointwise_element_bytes(p);
    const void *in[WEFT_MAX_FIELDS];
    void *out[WEFT_MAX_FIELDS];
    int64_t in_at = 0, out_at = 0;
    weft_fields_run run = {.in = in,
                           .out = out,
                           .in_fields = fields,
                           .out_fields = made,
                           .in_stride = r->in_stride[r->axis],
                           .out_stride = r->out_stride[r->axis],
                           .axis = r->axis,
                           .precision = p->layout.precision,
                           .complex_elements = !p->layout.real,
                           .parameter = p->settings->parameter};
    for (int i = p->rank; i >= 0; i--) {
        const int a = p->layout.order[i];
        if (a == r->axis || a == p->rank) continue;
        const int64_t index = number % p->layout.box.n[a];
        number /= p->layout.box.n[a];
        in_at += index * r->in_stride[a];
        out_at += index * r->out_stride[a];
        run.index[a] = p->layout.box.lo[a] + index;
    }
    run.batch = number;
    in_at += number * fields * r->in_stride[p->rank];
    out_at += number * made * r->out_stride[p->rank];
    const int64_t n = p->layout.box.n[r->axis];
    for (int64_t first = 0; first < n; first += PIECE) {
        run.count = n - first < PIECE ? n - first : PIECE;
        run.index[r->axis] = p->layout.box.lo[r->axis] + first;
        for (int f = 0; f < fields; f++)
            in[f] = r->in + (in_at + first * run.in_stride + f * r->in_stride[p->rank]) * element;
        for (int f = 0; f < made; f++)
            out[f] =
                r->out + (out_at + first * run.out_stride + f * r->out_stride[p->rank]) * element;
        p->matrix.operator->matrix(&run, p->matrix.operator->argument);
        for (int f = 0; f < made && p->matrix.scale != 1; f++)
            scale(p, p->matrix.scale, run.count, run.out_stride, out[f]);
    }
}

weft_status weft_fields_apply(const weft_pointwise *p, const void *in, void *out) {
    rows r = {.p = p, .in = in, .out = out};
    int64_t count = p->layout.box.n[p->rank] / p->matrix.in_fields;
    int last = p->rank;
    if (p->omits_functions || p->elements == 0) return WEFT_SUCCESS;
    strides_of(p, p->layout.box.n[p->rank], r.in_stride);
    strides_of(p, p->layout.made, r.out_stride);
    while (last > 0 &&
           (p->layout.order[last] == p->rank || p->layout.box.n[p->layout.order[last]] == 1))
        last--;
    if (p->layout.order[last] == p->rank) last++;
    r.axis = p->layout.order[last];
    for (int a = 0; a < p->rank; a++)
        if (a != r.axis) count *= p->layout.box.n[a];
#pragma omp parallel for num_threads(p->threads) if (p->threads > 1)
    for (int64_t row = 0; row < count; row++) run_row(&r, row);
    return WEFT_SUCCESS;
}
