/* Lists of operators as data for a device that applies them by itself. */
#include "operator/offload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/by_host.h"
#include "operator/pointwise.h"
#include "support/error.h"

struct weft_operator_offload {
    weft_device_handle device;
    weft_operators_by_host *by_host; /* NULL: the device applies them, by what follows */
    const weft_operator_list *list;
    weft_pointwise *pointwise;
    weft_device_operators operators;
    void *memory;           /* on the device: the parts, their tables, and the sums */
    size_t bytes, sums_at;  /* of that */
    weft_device_sums *sums; /* [reductions], page-locked: of the last run */
};

/* ---- parts and tables ---- */

/* What is copied to the device: parts[], then tables, each at a multiple of TABLE bytes. Without
 * memory only the size is found. */
enum { TABLE = 16 };
typedef struct image {
    const char *there; /* where it will be on the device */
    char *here;
    size_t bytes;
} image;

/* The address on the device of a table that is added; *here gets where to write it, or NULL. */
static const void *add(image *m, size_t bytes, void **here) {
    const size_t at = m->bytes;
    m->bytes += (bytes + TABLE - 1) / TABLE * TABLE;
    *here = m->here ? m->here + at : NULL;
    return m->there + at;
}

static size_t table_bytes(const weft_pointwise *p, const weft_pointwise_part *part, int axis) {
    return (size_t)p->layout.box.n[axis] * weft_number_bytes(p->layout.precision) *
           (part->complex_factors ? 2 : 1);
}

static void add_tables(image *m, const weft_pointwise *p, const weft_pointwise_part *from,
                       weft_device_part *to) {
    for (int a = 0; a < p->rank; a++) {
        void *here;
        if (!from->table[a]) continue;
        const size_t bytes = table_bytes(p, from, a);
        to->table[a] = add(m, bytes, &here);
        if (here) memcpy(here, from->table[a], bytes);
    }
}

static void add_roots(image *m, const weft_pointwise *p, const weft_twiddles *twiddles,
                      weft_device_part *to) {
    const weft_twiddle_tables t = weft_twiddles_tables(twiddles);
    const size_t pair = 2 * weft_number_bytes(p->layout.precision);
    void *here;
    to->conjugate = t.conjugate;
    to->shift = t.shift;
    to->table[0] = add(m, (size_t)(t.coarse + t.fine) * pair, &here);
    to->table[1] = (const char *)to->table[0] + (size_t)t.coarse * pair;
    if (here) weft_twiddles_copy(twiddles, p->layout.precision, here);
}

static weft_device_part make_part(image *m, const weft_pointwise *p,
                                  const weft_pointwise_part *from) {
    weft_device_part to = {
        .kind = WEFT_PART_PRODUCT, .complex_factors = from->complex_factors, .scale = from->scale};
    if (from->reduction) {
        to.kind = WEFT_PART_REDUCTION;
    } else if (from->array) {
        to.kind = WEFT_PART_ARRAY;
        to.number = (int)from->array->array;
    } else if (from->twiddles) {
        to.kind = WEFT_PART_ROOTS;
        add_roots(m, p, from->twiddles, &to);
    } else if (from->line) {
        to.kind = WEFT_PART_HALF_SPECTRUM;
    } else {
        add_tables(m, p, from, &to);
    }
    return to;
}

static void make_parts(image *m, const weft_pointwise *p) {
    void *parts;
    (void)add(m, (size_t)p->parts * sizeof(weft_device_part), &parts);
    for (int i = 0; i < p->parts; i++) {
        const weft_device_part part = make_part(m, p, &p->part[i]);
        if (parts) ((weft_device_part *)parts)[i] = part;
    }
}

static weft_status upload(weft_operator_offload *f, const image *m) {
    const weft_device_handle *d = &f->device;
    const weft_copy copy = weft_copy_of_run((int64_t)m->bytes, 1);
    WEFT_TRY(d->ops->copy(d->state, NULL, &copy, m->here, f->memory, WEFT_HOST_TO_DEVICE));
    return d->ops->queue_wait(d->state, NULL);
}

static weft_status copy_parts(weft_operator_offload *f) {
    const weft_device_handle *d = &f->device;
    image m = {.there = NULL};
    make_parts(&m, f->pointwise);
    f->sums_at = m.bytes;
    f->bytes = m.bytes + (size_t)f->pointwise->reductions * sizeof *f->sums;
    if (f->bytes == 0) return WEFT_SUCCESS;
    WEFT_TRY(d->ops->allocate(d->state, WEFT_MEMORY_DEVICE, f->bytes, &f->memory));
    m = (image){.there = f->memory, .here = calloc(1, f->sums_at + 1)};
    if (!m.here) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    make_parts(&m, f->pointwise);
    const weft_status status = m.bytes > 0 ? upload(f, &m) : WEFT_SUCCESS;
    free(m.here);
    return status;
}

/* ---- the box ---- */

static weft_device_array array_of(const weft_pointwise_layout *layout) {
    const weft_stored *stored = &layout->stored;
    weft_device_array array = {.storage = stored->storage,
                               .decibels = {stored->decibels[0], stored->decibels[1]}};
    memcpy(array.n, stored->n, sizeof array.n);
    memcpy(array.high, stored->high, sizeof array.high);
    weft_stored_strides(layout, array.stride);
    return array;
}

static void describe_box(weft_device_operators *o, const weft_pointwise_layout *layout) {
    o->precision = layout->precision;
    o->complex_elements = !layout->real;
    o->loads = weft_pointwise_loads(layout);
    o->keeps = layout->keeps;
    o->axes = layout->box.axes;
    o->elements = weft_region_elements(&layout->box);
    weft_pointwise_strides(layout, layout->box.n[o->axes - 1], o->stride);
    weft_pointwise_array_strides(layout, o->array_stride);
    for (int a = 0; a < o->axes; a++) {
        o->n[a] = layout->box.n[a];
        o->order[a] = layout->order[a];
    }
    for (int a = 0; a < 2 && a < o->axes; a++) {
        o->lo[a] = layout->box.lo[a];
        o->all[a] = layout->n[a];
    }
    o->callers = array_of(layout);
    if (o->keeps) {
        const weft_pointwise_layout kept = weft_kept_layout(layout);
        o->kept = array_of(&kept);
    }
}

static void describe_matrix(weft_device_operators *o, const weft_pointwise *p) {
    const weft_pointwise_matrix *m = &p->matrix;
    o->matrix.fields = (int)m->in_fields;
    o->matrix.made = (int)m->out_fields;
    o->matrix.array = (int)m->operator->array;
    o->matrix.complex_factors = m->operator->complex_factors;
    o->matrix.apart = m->apart;
    o->matrix.scale = m->scale_behind;
    weft_pointwise_strides(&p->layout, p->layout.made, o->matrix.out_stride);
}

static void describe_reductions(weft_device_operators *o, const weft_pointwise *p) {
    for (int i = 0; i < p->parts; i++) {
        if (!p->part[i].reduction) continue;
        o->reduction[o->reductions] = (weft_reduction)p->part[i].reduction->reduction;
        o->reduced[o->reductions++] = i;
    }
}

static weft_status prepare(weft_operator_offload *f, const weft_pointwise_layout *layout,
                           int threads) {
    weft_device_operators *o = &f->operators;
    void *sums = NULL;
    if (weft_operators_need_host(f->list))
        return weft_operators_by_host_create(f->list, layout, threads, &f->device, &f->by_host);
    WEFT_TRY(weft_pointwise_create(f->list, layout, 1, &f->pointwise));
    describe_box(o, layout);
    if (f->pointwise->matrix.operator) describe_matrix(o, f->pointwise);
    describe_reductions(o, f->pointwise);
    WEFT_TRY(copy_parts(f));
    o->parts = f->pointwise->parts;
    o->part = f->memory;
    o->sums = (weft_device_sums *)((char *)f->memory + f->sums_at);
    if (o->reductions == 0) return WEFT_SUCCESS;
    WEFT_TRY(f->device.ops->allocate(f->device.state, WEFT_MEMORY_PAGE_LOCKED,
                                     (size_t)o->reductions * sizeof *f->sums, &sums));
    f->sums = sums;
    memset(sums, 0, (size_t)o->reductions * sizeof *f->sums);
    return WEFT_SUCCESS;
}

weft_status weft_operator_offload_create(const weft_operator_list *list,
                                         const weft_pointwise_layout *layout, int threads,
                                         const weft_device_handle *device,
                                         weft_operator_offload **out) {
    weft_operator_offload *f = calloc(1, sizeof *f);
    if (!f) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    f->device = *device;
    f->list = list;
    const weft_status status = prepare(f, layout, threads);
    if (status != WEFT_SUCCESS) {
        weft_operator_offload_release(f);
        return status;
    }
    *out = f;
    return WEFT_SUCCESS;
}

void weft_operator_offload_release(weft_operator_offload *f) {
    if (!f) return;
    if (f->memory) f->device.ops->free(f->device.state, WEFT_MEMORY_DEVICE, f->memory);
    if (f->sums) f->device.ops->free(f->device.state, WEFT_MEMORY_PAGE_LOCKED, f->sums);
    weft_operators_by_host_release(f->by_host);
    weft_pointwise_release(f->pointwise);
    free(f);
}

size_t weft_operator_offload_bytes(const weft_operator_offload *f) {
    if (f->by_host)
        return sizeof *f + weft_pointwise_bytes(weft_operators_by_host_list(f->by_host));
    return sizeof *f + f->bytes + weft_pointwise_bytes(f->pointwise);
}

size_t weft_operator_offload_page_locked(const weft_operator_offload *f) {
    if (f->by_host) return weft_operators_by_host_page_locked(f->by_host);
    return (size_t)f->operators.reductions * sizeof *f->sums;
}

/* ---- running ---- */

void weft_operator_offload_omit_functions(weft_operator_offload *f) {
    if (f->by_host) weft_pointwise_omit_functions(weft_operators_by_host_list(f->by_host));
}

weft_status weft_operator_offload_run(weft_operator_offload *f, weft_queue *queue, const void *in,
                                      void *out, void *kept) {
    const weft_device_handle *d = &f->device;
    weft_device_operators *o = &f->operators;
    if (f->by_host) return weft_operators_by_host_run(f->by_host, queue, in, out, kept);
    if (f->list->settings) memcpy(o->array, f->list->settings->array, sizeof o->array);
    o->keep_at = kept;
    WEFT_TRY(d->ops->operate(d->state, queue, o, in, out));
    if (o->reductions == 0) return WEFT_SUCCESS;
    const weft_copy copy = weft_copy_of_run(o->reductions * (int64_t)sizeof *f->sums, 1);
    return d->ops->copy(d->state, queue, &copy, o->sums, f->sums, WEFT_DEVICE_TO_HOST);
}

static weft_reduced share_of(weft_reduction reduction, const double value[2]) {
    if (reduction == WEFT_MAX) return (weft_reduced){{(long double)hypot(value[0], value[1]), 0}};
    return (weft_reduced){{(long double)value[0], (long double)value[1]}};
}

weft_reduced weft_operator_offload_reduced(const weft_operator_offload *f, int number) {
    const weft_device_operators *o = &f->operators;
    weft_reduced all = {{0}};
    if (f->by_host) return weft_pointwise_reduced(weft_operators_by_host_list(f->by_host), number);
    for (int r = 0; r < o->reductions; r++) {
        if (f->pointwise->part[o->reduced[r]].reduction->array != number) continue;
        for (int s = 0; s < WEFT_DEVICE_SUMS; s++) {
            const weft_reduced share = share_of(o->reduction[r], f->sums[r].value[s]);
            weft_reduced_combine(o->reduction[r], &share, &all);
        }
    }
    return all;
}
