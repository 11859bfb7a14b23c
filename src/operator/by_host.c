/* Operators that the host applies to copies of a device's arrays. */
#include "operator/by_host.h"

#include <stdlib.h>

#include "operator/pointwise.h"
#include "support/error.h"

/* An array of the device's and its copy: `bytes` from `first` bytes behind the address on. */
typedef struct copied {
    int64_t first, bytes;
    char *here;
} copied;

struct weft_operators_by_host {
    weft_device_handle device;
    weft_operator_list list; /* with the settings below */
    weft_operator_settings settings;
    const weft_operator_settings *callers; /* whose arrays are on the device; or NULL */
    weft_pointwise *pointwise;
    bool keeps;
    bool has_gaps; /* between elements that are stored, which nothing writes */
    copied in, out, kept, array[WEFT_MAX_ARRAYS];
};

bool weft_operators_need_host(const weft_operator_list *list) {
    for (int k = 0; k < list->count; k++)
        if (list->item[k].kind == WEFT_OPERATOR_FUNCTION ||
            list->item[k].kind == WEFT_OPERATOR_MATRIX)
            return true;
    return false;
}

/* ---- preparing ---- */

static copied callers_array(const weft_pointwise_layout *layout) {
    const int64_t element = (int64_t)weft_stored_element_bytes(layout);
    const weft_view view = weft_stored_view(layout);
    int64_t first, end;
    weft_view_range(&view, &first, &end);
    return (copied){first * element, (end - first) * element, NULL};
}

/* The factors of an operator with an array: a matrix has many for each element. */
static copied factors_of(const weft_pointwise *p, const weft_operator *o) {
    const weft_pointwise_matrix *m = &p->matrix;
    int64_t factors = o->kind == WEFT_OPERATOR_MATRIX_ARRAY ? m->in_fields * m->out_fields : 1;
    for (int a = 0; a < p->rank; a++) factors *= p->layout.stored.n[a];
    return (copied){
        0, factors * (int64_t)weft_number_bytes(p->layout.precision) * (o->complex_factors ? 2 : 1),
        NULL};
}

static void find_arrays(weft_operators_by_host *h, const weft_pointwise_layout *layout) {
    const int64_t elements = weft_region_elements(&layout->box);
    const int64_t members = layout->box.n[layout->box.axes - 1];
    const int64_t element = (int64_t)weft_pointwise_element_bytes(h->pointwise);
    const weft_pointwise_layout kept = weft_kept_layout(layout);
    const bool loads = weft_pointwise_loads(layout);
    const copied box = {0, elements * element, NULL}, callers = callers_array(layout);
    h->in = loads ? callers : box;
    h->out = loads ? box : callers;
    if (layout->made > 0) h->out = (copied){0, elements / members * layout->made * element, NULL};
    h->has_gaps = !loads && layout->stored.strided;
    h->keeps = layout->keeps;
    if (h->keeps) h->kept.bytes = elements * (int64_t)weft_stored_element_bytes(&kept);
    for (int k = 0; k < h->list.count; k++) {
        const weft_operator *o = &h->list.item[k];
        if (weft_operator_has_array(o)) h->array[o->array] = factors_of(h->pointwise, o);
    }
}

static weft_status allocate(const weft_operators_by_host *h, copied *array) {
    void *memory = NULL;
    if (array->bytes == 0) return WEFT_SUCCESS;
    WEFT_TRY(h->device.ops->allocate(h->device.state, WEFT_MEMORY_PAGE_LOCKED, (size_t)array->bytes,
                                     &memory));
    array->here = memory;
    return WEFT_SUCCESS;
}

static weft_status prepare(weft_operators_by_host *h, const weft_pointwise_layout *layout,
                           int threads) {
    WEFT_TRY(weft_pointwise_create(&h->list, layout, threads, &h->pointwise));
    find_arrays(h, layout);
    WEFT_TRY(allocate(h, &h->in));
    WEFT_TRY(allocate(h, &h->out));
    WEFT_TRY(allocate(h, &h->kept));
    for (int n = 0; n < WEFT_MAX_ARRAYS; n++) WEFT_TRY(allocate(h, &h->array[n]));
    return WEFT_SUCCESS;
}

weft_status weft_operators_by_host_create(const weft_operator_list *list,
                                          const weft_pointwise_layout *layout, int threads,
                                          const weft_device_handle *device,
                                          weft_operators_by_host **out) {
    weft_operators_by_host *h = calloc(1, sizeof *h);
    if (!h) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    h->device = *device;
    h->list = *list;
    h->list.settings = &h->settings;
    h->callers = list->settings;
    const weft_status status = prepare(h, layout, threads);
    if (status != WEFT_SUCCESS) {
        weft_operators_by_host_release(h);
        return status;
    }
    *out = h;
    return WEFT_SUCCESS;
}

static void free_copy(const weft_operators_by_host *h, const copied *array) {
    if (array->here) h->device.ops->free(h->device.state, WEFT_MEMORY_PAGE_LOCKED, array->here);
}

void weft_operators_by_host_release(weft_operators_by_host *h) {
    if (!h) return;
    free_copy(h, &h->in);
    free_copy(h, &h->out);
    free_copy(h, &h->kept);
    for (int n = 0; n < WEFT_MAX_ARRAYS; n++) free_copy(h, &h->array[n]);
    weft_pointwise_release(h->pointwise);
    free(h);
}

size_t weft_operators_by_host_page_locked(const weft_operators_by_host *h) {
    int64_t bytes = h->in.bytes + h->out.bytes + h->kept.bytes;
    for (int n = 0; n < WEFT_MAX_ARRAYS; n++) bytes += h->array[n].bytes;
    return (size_t)bytes;
}

weft_pointwise *weft_operators_by_host_list(const weft_operators_by_host *h) {
    return h->pointwise;
}

/* ---- running ---- */

static weft_status to_host(const weft_operators_by_host *h, weft_queue *queue, const copied *array,
                           const void *there) {
    const weft_copy copy = weft_copy_of_run(array->bytes, 1);
    if (array->bytes == 0) return WEFT_SUCCESS;
    return h->device.ops->copy(h->device.state, queue, &copy, (const char *)there + array->first,
                               array->here, WEFT_DEVICE_TO_HOST);
}

static weft_status to_device(const weft_operators_by_host *h, weft_queue *queue,
                             const copied *array, void *there) {
    const weft_copy copy = weft_copy_of_run(array->bytes, 1);
    if (array->bytes == 0) return WEFT_SUCCESS;
    return h->device.ops->copy(h->device.state, queue, &copy, array->here,
                               (char *)there + array->first, WEFT_HOST_TO_DEVICE);
}

/* On a thread of the queue. Neither of these fails. */
static void operate(void *argument) {
    const weft_operators_by_host *h = argument;
    char *out = h->out.here - h->out.first;
    (void)weft_pointwise_run(h->pointwise, h->in.here - h->in.first, out);
    if (h->keeps) (void)weft_pointwise_keep(h->pointwise, out, h->kept.here);
}

weft_status weft_operators_by_host_run(weft_operators_by_host *h, weft_queue *queue, const void *in,
                                       void *out, void *kept) {
    if (h->callers) h->settings = *h->callers;
    for (int n = 0; n < WEFT_MAX_ARRAYS; n++) {
        const void *there = h->settings.array[n];
        if (!there) continue;
        h->settings.array[n] = h->array[n].here; /* NULL of other lists' arrays, which none reads */
        WEFT_TRY(to_host(h, queue, &h->array[n], there));
    }
    WEFT_TRY(to_host(h, queue, &h->in, in));
    if (h->has_gaps) WEFT_TRY(to_host(h, queue, &h->out, out));
    WEFT_TRY(h->device.ops->callback(h->device.state, queue, operate, h));
    WEFT_TRY(to_device(h, queue, &h->out, out));
    return h->keeps ? to_device(h, queue, &h->kept, kept) : WEFT_SUCCESS;
}
