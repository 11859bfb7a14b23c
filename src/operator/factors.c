/* Lists of operators as factors for a device that multiplies. */
#include "operator/factors.h"

#include <stdlib.h>

#include "operator/pointwise.h"
#include "support/error.h"

struct weft_operator_factors {
    weft_device_handle device;
    weft_pointwise *pointwise;
    char *tables; /* on the device, one after the other */
    size_t bytes; /* of those */
    int parts;    /* at least one, which may be no more than a copy */
    weft_device_factors part[];
};

static weft_status refuse(const weft_device_ops *device) {
    return weft_fail(
        WEFT_ERROR_UNSUPPORTED,
        "device %s multiplies by scalings, windows, tables, shifts and arrays, but has "
        "no functions, matrices, reductions, conversions, padding, truncated and kept spectra and "
        "1-D transforms over several ranks; choose device host, cuda or opencl",
        device->name);
}

static weft_status check(const weft_operator_list *list, const weft_pointwise_layout *layout,
                         const weft_device_ops *device) {
    if (!device->multiply || layout->keeps || !weft_stored_is_box(&layout->stored))
        return refuse(device);
    for (int k = 0; k < list->count; k++) {
        const weft_operator *o = &list->item[k];
        if (o->kind == WEFT_OPERATOR_FUNCTION || o->kind == WEFT_OPERATOR_REDUCE ||
            weft_operator_is_matrix(o) || weft_operator_is_of_line(o))
            return refuse(device);
    }
    return WEFT_SUCCESS;
}

/* What all parts have in common: the box. Its axes are in the order of the problem. */
static weft_device_factors box_of(const weft_pointwise_layout *layout) {
    weft_device_factors f = {.precision = layout->precision,
                             .complex_elements = !layout->real,
                             .axes = layout->box.axes,
                             .elements = weft_region_elements(&layout->box),
                             .scale = 1};
    weft_pointwise_strides(layout, layout->box.n[f.axes - 1], f.stride);
    weft_pointwise_array_strides(layout, f.array_stride);
    for (int a = 0; a < f.axes; a++) {
        f.n[a] = layout->box.n[a];
        f.order[a] = layout->order[a];
    }
    return f;
}

static size_t table_bytes(const weft_pointwise_part *part, const weft_pointwise_layout *layout,
                          int axis) {
    if (!part->table[axis]) return 0;
    return (size_t)layout->box.n[axis] * weft_number_bytes(layout->precision) *
           (part->complex_factors ? 2 : 1);
}

/* Enqueues the copies of the tables and tells the parts where they will lie. */
static weft_status enqueue_tables(weft_operator_factors *f, const weft_pointwise_layout *layout) {
    const weft_device_handle *d = &f->device;
    const weft_pointwise *p = f->pointwise;
    size_t at = 0;
    for (int i = 0; i < p->parts; i++)
        for (int a = 0; a < p->rank; a++) {
            const size_t bytes = table_bytes(&p->part[i], layout, a);
            if (bytes == 0) continue;
            const weft_copy copy = weft_copy_of_run((int64_t)bytes, 1);
            f->part[i].table[a] = f->tables + at;
            WEFT_TRY(d->ops->copy(d->state, NULL, &copy, p->part[i].table[a], f->tables + at,
                                  WEFT_HOST_TO_DEVICE));
            at += bytes;
        }
    return WEFT_SUCCESS;
}

/* Waits also after a failure, for the copies before it read memory that is then freed. */
static weft_status copy_tables(weft_operator_factors *f, const weft_pointwise_layout *layout) {
    const weft_device_handle *d = &f->device;
    const weft_pointwise *p = f->pointwise;
    void *memory = NULL;
    for (int i = 0; i < p->parts; i++)
        for (int a = 0; a < p->rank; a++) f->bytes += table_bytes(&p->part[i], layout, a);
    if (f->bytes == 0) return WEFT_SUCCESS;
    WEFT_TRY(d->ops->allocate(d->state, WEFT_MEMORY_DEVICE, f->bytes, &memory));
    f->tables = memory;
    weft_status status = enqueue_tables(f, layout);
    weft_keep(&status, d->ops->queue_wait(d->state, NULL));
    return status;
}

static void make_parts(weft_operator_factors *f, const weft_pointwise_layout *layout) {
    const weft_pointwise *p = f->pointwise;
    f->parts = p->parts > 0 ? p->parts : 1;
    for (int i = 0; i < f->parts; i++) f->part[i] = box_of(layout);
    for (int i = 0; i < p->parts; i++) {
        f->part[i].complex_factors = p->part[i].complex_factors;
        bool has_table = p->part[i].array != NULL;
        for (int a = 0; a < p->rank; a++) has_table = has_table || p->part[i].table[a];
        if (!has_table) f->part[i].scale = p->part[i].scale; /* tables include it */
    }
}

weft_status weft_operator_factors_create(const weft_operator_list *list,
                                         const weft_pointwise_layout *layout,
                                         const weft_device_handle *device,
                                         weft_operator_factors **out) {
    WEFT_TRY(check(list, layout, device->ops));
    const size_t most = (size_t)list->count + 1;
    weft_operator_factors *f = calloc(1, sizeof *f + most * sizeof f->part[0]);
    if (!f) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    f->device = *device;
    weft_status status = weft_pointwise_create(list, layout, 1, &f->pointwise);
    if (status == WEFT_SUCCESS) {
        make_parts(f, layout);
        status = copy_tables(f, layout);
    }
    if (status != WEFT_SUCCESS) {
        weft_operator_factors_release(f);
        return status;
    }
    *out = f;
    return WEFT_SUCCESS;
}

void weft_operator_factors_release(weft_operator_factors *f) {
    if (!f) return;
    if (f->tables) f->device.ops->free(f->device.state, WEFT_MEMORY_DEVICE, f->tables);
    weft_pointwise_release(f->pointwise);
    free(f);
}

size_t weft_operator_factors_bytes(const weft_operator_factors *f) {
    return sizeof *f + f->bytes + weft_pointwise_bytes(f->pointwise);
}

/* Later parts work where the first one stores. An array that is not set is a factor of 1. */
weft_status weft_operator_factors_run(weft_operator_factors *f, weft_queue *queue, const void *in,
                                      void *out) {
    const weft_device_handle *d = &f->device;
    const weft_pointwise *p = f->pointwise;
    for (int i = 0; i < f->parts; i++) {
        const weft_operator *array = i < p->parts ? p->part[i].array : NULL;
        if (array) f->part[i].array = p->settings->array[array->array];
        WEFT_TRY(d->ops->multiply(d->state, queue, &f->part[i], i == 0 ? in : out, out));
    }
    return WEFT_SUCCESS;
}
