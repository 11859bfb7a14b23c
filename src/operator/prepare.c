/* Prepares operators for the box of a rank: finds neighbours that make one product, and makes its
 * tables. */
#include "operator/pointwise.h"

#include "support/error.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Computing a factor takes some 100 ns, so few factors for each thread are enough to make threads
 * worth starting. */
enum { FACTORS_PER_THREAD = 1 << 10 };

/* Operators first..last-1 of a list, which together make one product. */
typedef struct group {
    const weft_operator *first, *last;
    bool complex_factors;
} group;

static bool has_axis(const weft_operator *o, int axis) {
    switch (o->kind) {
    case WEFT_OPERATOR_WINDOW:
        return o->window[axis].kind != WEFT_WINDOW_NONE;
    case WEFT_OPERATOR_SHIFT:
    case WEFT_OPERATOR_TABLE:
        return o->table[axis] != NULL;
    default:
        return false;
    }
}

/* Whether an operator's factors are complex; a shift is a table here. */
static bool is_complex(const weft_operator *o) {
    return o->complex_factors && (o->kind == WEFT_OPERATOR_TABLE || o->kind == WEFT_OPERATOR_SHIFT);
}

/* Computes the product of the group's factors for index i of an axis: its real and imaginary
 * part. */
static void factor_of(const group *g, int axis, int64_t n, int64_t i, long double out[2]) {
    for (const weft_operator *o = g->first; o < g->last; o++) {
        if (!has_axis(o, axis)) continue;
        long double re, im = 0;
        if (is_complex(o)) {
            re = o->table[axis][2 * i];
            im = o->table[axis][2 * i + 1];
        } else {
            re = o->kind == WEFT_OPERATOR_WINDOW ? weft_window_value(&o->window[axis], n, i)
                                                 : (long double)o->table[axis][i];
        }
        const long double was[2] = {out[0], out[1]};
        out[0] = was[0] * re - was[1] * im;
        out[1] = was[0] * im + was[1] * re;
    }
}

static void put(weft_precision precision, void *table, int64_t i, long double value) {
    if (precision == WEFT_SINGLE)
        ((float *)table)[i] = (float)value;
    else
        ((double *)table)[i] = (double)value;
}

/* The box may reach beyond the n indices that the array has along the axis, where it has whole rows
 * of a line over several ranks: nothing is multiplied there. */
static void fill_table(const weft_pointwise *p, const group *g, int axis, int64_t n,
                       long double scale, void *table) {
    const int64_t count = p->layout.box.n[axis], lo = p->layout.box.lo[axis];
#ifdef _OPENMP
    int threads = p->threads;
    if (threads > count / FACTORS_PER_THREAD) threads = (int)(count / FACTORS_PER_THREAD);
#pragma omp parallel for num_threads(threads > 1 ? threads : 1)
#endif
    for (int64_t k = 0; k < count; k++) {
        long double factor[2] = {scale, 0};
        if (lo + k < n) factor_of(g, axis, n, lo + k, factor);
        put(p->layout.precision, table, g->complex_factors ? 2 * k : k, factor[0]);
        if (g->complex_factors) put(p->layout.precision, table, 2 * k + 1, factor[1]);
    }
}

/* Makes the tables of a product. The scalings of the group are included in its first table. */
static weft_status make_product(weft_pointwise *p, const group *g, const int64_t *n) {
    weft_pointwise_part *part = &p->part[p->parts++];
    const size_t number = weft_number_bytes(p->layout.precision);
    long double scale = 1;
    for (const weft_operator *o = g->first; o < g->last; o++)
        if (o->kind == WEFT_OPERATOR_SCALE) scale *= o->factor;
    part->complex_factors = g->complex_factors;
    for (int a = 0; a < p->rank; a++) {
        bool any = false;
        for (const weft_operator *o = g->first; o < g->last; o++) any = any || has_axis(o, a);
        if (!any) continue;
        size_t bytes = (size_t)p->layout.box.n[a] * number * (g->complex_factors ? 2 : 1);
        part->table[a] = malloc(bytes + 1);
        if (!part->table[a])
            return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of factors", bytes);
        fill_table(p, g, a, n[a], scale, part->table[a]);
        p->bytes += bytes;
        scale = 1;
    }
    part->scale = (double)scale;
    return WEFT_SUCCESS;
}

static bool makes_a_product(const weft_operator *o) {
    return o->kind != WEFT_OPERATOR_FUNCTION && o->kind != WEFT_OPERATOR_ARRAY &&
           o->kind != WEFT_OPERATOR_REDUCE && !weft_operator_is_of_line(o);
}

static void find_matrix(weft_pointwise *p, const weft_operator_list *list) {
    const int64_t members = p->layout.box.n[p->rank], made = p->layout.made;
    weft_pointwise_matrix *matrix = &p->matrix;
    matrix->scale_behind = matrix->scale_before = 1;
    matrix->in_fields = p->layout.fields;
    matrix->out_fields = made > 0 ? made / (members / p->layout.fields) : p->layout.fields;
    matrix->apart = p->array_stride[0] * p->layout.stored.n[0];
    for (int k = 0; k < list->count; k++)
        if (weft_operator_is_matrix(&list->item[k]))
            matrix->operator= & list->item[k];
        else if (!matrix->operator)
            matrix->scale_before *= list->item[k].factor;
        else
            matrix->scale_behind *= list->item[k].factor;
    if (weft_operator_has_array(matrix->operator)) { /* it is linear */
        matrix->scale_behind *= matrix->scale_before;
        matrix->scale_before = 1;
    }
}

static weft_status make_room_for_reductions(weft_pointwise *p) {
    const size_t count = (size_t)(p->threads * p->reductions);
    if (count == 0) return WEFT_SUCCESS;
    p->reduced = calloc(count, sizeof *p->reduced);
    if (!p->reduced) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for reductions");
    p->bytes += count * sizeof *p->reduced;
    return WEFT_SUCCESS;
}

static weft_status make_parts(weft_pointwise *p, const weft_operator_list *list, const int64_t *n) {
    const weft_operator *end = list->item + list->count, *o = list->item;
    if (weft_operators_have_matrix(list)) {
        find_matrix(p, list);
        return WEFT_SUCCESS;
    }
    while (o < end) {
        group g = {o, o, false};
        for (; o < end && makes_a_product(o); o++)
            g.complex_factors = g.complex_factors || is_complex(o);
        g.last = o;
        if (g.last > g.first) WEFT_TRY(make_product(p, &g, n));
        if (o == end) break;
        weft_pointwise_part *part = &p->part[p->parts++];
        *(weft_operator_is_of_line(o)       ? &part->line
          : o->kind == WEFT_OPERATOR_ARRAY  ? &part->array
          : o->kind == WEFT_OPERATOR_REDUCE ? &part->reduction
                                            : &part->function) = o;
        p->reductions += o->kind == WEFT_OPERATOR_REDUCE;
        if (part->line && o->kind != WEFT_OPERATOR_HALF_SPECTRUM)
            WEFT_TRY(weft_twiddles_create(n[0], n[1], o->kind == WEFT_OPERATOR_TWIDDLE_BACK,
                                          &part->twiddles, &p->bytes));
        part->complex_factors = o->kind == WEFT_OPERATOR_ARRAY && o->complex_factors;
        o++;
    }
    return make_room_for_reductions(p);
}

/* Sets the axis of contiguous runs: the contiguous axis, or the next slower one if that has one
 * index. It is the batch's where the members of a point are neighbours (problem.fields_fastest). */
static void lay_out(weft_pointwise *p, const weft_pointwise_layout *layout) {
    int last = layout->box.axes - 1;
    p->rank = last;
    p->layout = *layout;
    weft_stored_strides(layout, p->stored_stride);
    weft_pointwise_array_strides(layout, p->array_stride);
    p->elements = weft_region_elements(&layout->box);
    int run = last;
    while (run > 0 && layout->box.n[layout->order[run]] == 1) run--;
    if (layout->order[run] == p->rank) run = last; /* a run is within one member of the batch */
    p->run_axis = layout->order[run];
    for (int i = 0; i <= last; i++)
        if (i != run) p->row[p->rows++] = layout->order[i];
}

weft_status weft_pointwise_create(const weft_operator_list *list,
                                  const weft_pointwise_layout *layout, int threads,
                                  weft_pointwise **out) {
    size_t bytes = sizeof(weft_pointwise) + ((size_t)list->count + 1) * sizeof(weft_pointwise_part);
    weft_pointwise *p = calloc(1, bytes);
    if (!p) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    lay_out(p, layout);
    p->threads = threads;
    p->settings = list->settings;
    p->bytes = bytes;
    const bool any = p->elements > 0 && list->count > 0;
    weft_status status = any ? make_parts(p, list, layout->n) : WEFT_SUCCESS;
    if (status != WEFT_SUCCESS) {
        weft_pointwise_release(p);
        return status;
    }
    *out = p;
    return WEFT_SUCCESS;
}

void weft_pointwise_release(weft_pointwise *p) {
    if (!p) return;
    for (int i = 0; i < p->parts; i++) weft_twiddles_release(p->part[i].twiddles);
    for (int i = 0; i < p->parts; i++)
        for (int a = 0; a < p->rank; a++) free(p->part[i].table[a]);
    free(p->reduced);
    free(p);
}

size_t weft_pointwise_bytes(const weft_pointwise *p) {
    return p->bytes;
}

void weft_pointwise_omit_functions(weft_pointwise *p) {
    p->omits_functions = true;
}
