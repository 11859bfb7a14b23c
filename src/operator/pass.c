/* Operators as a pass of their own on a device: a kernel over a rank's box. */
#include <stdlib.h>

#include "operator/kernel.h"
#include "support/divisor.h"
#include "support/error.h"
#include "support/text.h"

enum { THREADS = 256, PER_THREAD = 4 /* as in pointwise.cl */, MOST = 1 << 30 };

/* The size of pointwise_shape of pointwise_shape.cl. */
#define SHAPE_BYTES(axes) ((2 + 8 * (size_t)(axes)) * sizeof(uint32_t))

extern const char weft_kernels_pointwise_cl[], weft_kernels_pointwise_shape_cl[],
    weft_kernels_fields_cl[], weft_kernels_reduce_cl[]; /* cmake/embed.cmake */

struct weft_operator_pass {
    weft_operator_kernel *operators;
    weft_kernel *kernel;
    int axes, order[WEFT_AXES]; /* fastest first */
    int64_t n[WEFT_AXES];       /* elements of the box, or points with all fields, in that order */
    bool loads;                 /* the caller's array, if that is not the box; else it stores it */
    int64_t of_group;           /* elements */
    int64_t in_stride[WEFT_AXES], out_stride[WEFT_AXES]; /* in elements, in the order of n */
    int64_t in_bytes, out_bytes;                         /* of an element */
    void *kept;
    void *parts;    /* of reductions: two numbers for each group of threads and reduction, ... */
    int64_t groups; /* ... of which the last pass had so many */
    /* A launch covers all of the first `inner` axes and a part of the next one. */
    int inner;
    int64_t inner_elements, part;
};

/* What comes before the kernel, but for the shape. */
static void write_text(const weft_operator_pass *p, weft_text *c) {
    weft_text_add(c, "%s%s#define AXES %d\n#define LOADS %d\n#define INDEX_OF_AXES {",
                  p->operators->text, p->operators->reductions > 0 ? weft_kernels_reduce_cl : "",
                  p->axes, p->loads);
    int l = 0;
    for (int a = 0; a < p->axes; a++) {
        for (l = 0; p->order[l] != a;) l++;
        weft_text_add(c, "index[%d],", l);
    }
    weft_text_add(c, "}\n#define BATCH %d\n", l); /* the last axis */
}

static weft_status compile(weft_operator_pass *p, weft_precision precision) {
    const weft_device_handle *d = &p->operators->device;
    weft_text c = {.text = NULL};
    write_text(p, &c);
    if (c.failed) {
        free(c.text);
        return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    }
    const char *const texts[] = {c.text, weft_kernels_pointwise_shape_cl,
                                 p->operators->fields > 0 ? weft_kernels_fields_cl
                                                          : weft_kernels_pointwise_cl};
    const int64_t first[WEFT_AXES] = {0};
    int64_t value[WEFT_OPERATOR_VALUES];
    const size_t places = weft_operator_kernel_places(p->operators, first, value);
    const weft_kernel_source source = {.name = "weft_pointwise",
                                       .text = texts,
                                       .texts = 3,
                                       .threads = THREADS,
                                       .precision = precision,
                                       .parameter_bytes =
                                           SHAPE_BYTES(p->axes) + places + 6 * WEFT_KERNEL_MEMORY,
                                       .value_bytes = places};
    weft_status status = d->ops->kernel_create(d->state, &source, &p->kernel);
    free(c.text);
    return status;
}

/* Chooses how launches cut the box, since the elements of a launch are numbered with 31 bits. */
static void cut(weft_operator_pass *p) {
    p->inner_elements = 1;
    while (p->inner < p->axes && p->inner_elements * p->n[p->inner] <= MOST)
        p->inner_elements *= p->n[p->inner++];
    p->part = p->inner == p->axes ? 1 : MOST / p->inner_elements;
}

/* ---- reductions ---- */

static int64_t groups_of(const weft_operator_pass *p, int64_t elements) {
    return (elements + p->of_group - 1) / p->of_group;
}

static size_t bytes_of_group(const weft_operator_pass *p) {
    return 2 * (size_t)p->operators->reductions * (p->operators->has_double ? 8 : 4);
}

/* The bytes for all groups, no launch being larger than the first one. */
static size_t bytes_of_parts(const weft_operator_pass *p) {
    const int64_t n = p->inner < p->axes ? p->n[p->inner] : 1;
    int64_t launches = (n + p->part - 1) / p->part;
    for (int l = p->inner + 1; l < p->axes; l++) launches *= p->n[l];
    return (size_t)(launches * groups_of(p, p->inner_elements * (n < p->part ? n : p->part))) *
           bytes_of_group(p);
}

/* Adds the parts of reduction number `place` of the list. */
static void add_parts(const weft_operator_pass *p, const void *parts, int place,
                      weft_reduced *reduced) {
    const weft_reduction reduction = (weft_reduction)p->operators->reduction[place]->reduction;
    const double *d = parts;
    const float *f = parts;
    for (int64_t g = 0; g < p->groups; g++) {
        const int64_t at = 2 * (g * p->operators->reductions + place);
        weft_reduced part;
        for (int i = 0; i < 2; i++)
            part.value[i] =
                p->operators->has_double ? (long double)d[at + i] : (long double)f[at + i];
        weft_reduced_combine(reduction, &part, reduced);
    }
}

weft_status weft_operator_pass_reduced(weft_operator_pass *p, int number, weft_reduced *reduced) {
    const weft_device_handle *d = &p->operators->device;
    const size_t bytes = (size_t)p->groups * bytes_of_group(p);
    const weft_copy copy = weft_copy_of_run((int64_t)bytes, 1);
    int place = 0;
    while (place < p->operators->reductions && p->operators->reduction[place]->array != number)
        place++;
    if (place == p->operators->reductions || bytes == 0) return WEFT_SUCCESS;
    void *parts = malloc(bytes);
    if (!parts) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for reductions");
    weft_status status = d->ops->copy(d->state, NULL, &copy, p->parts, parts, WEFT_DEVICE_TO_HOST);
    const weft_status done = d->ops->queue_wait(d->state, NULL);
    if (status == WEFT_SUCCESS) status = done;
    if (status == WEFT_SUCCESS) add_parts(p, parts, place, reduced);
    free(parts);
    return status;
}

/* ---- making and running ---- */

/* Of a matrix an element is a point, and a step along the batch is over all its fields. */
static void lay_out(weft_operator_pass *p, const weft_pointwise_layout *layout) {
    const weft_operator_kernel *k = p->operators;
    const int rank = layout->box.axes - 1;
    const int64_t element = (int64_t)weft_number_bytes(layout->precision) * (layout->real ? 1 : 2);
    int64_t box[WEFT_AXES], stored[WEFT_AXES];
    p->axes = layout->box.axes;
    p->loads = weft_pointwise_loads(layout);
    p->of_group = k->fields > 0 ? THREADS : THREADS * PER_THREAD;
    p->in_bytes = p->loads ? (int64_t)k->stored_bytes : element;
    p->out_bytes = p->loads ? element : (int64_t)k->stored_bytes;
    weft_pointwise_strides(layout, layout->box.n[rank], box);
    if (k->fields > 0)
        weft_pointwise_strides(layout, layout->made, stored);
    else
        weft_stored_strides(layout, stored);
    for (int l = 0; l < p->axes; l++) {
        const int a = layout->order[p->axes - 1 - l];
        const bool points = a == rank && k->fields > 0;
        p->order[l] = a;
        p->n[l] = layout->box.n[a] / (points ? k->fields : 1);
        p->in_stride[l] = (p->loads ? stored : box)[a] * (points ? k->fields : 1);
        p->out_stride[l] = (p->loads ? box : stored)[a] * (points ? k->made : 1);
    }
    cut(p);
}

weft_status weft_operator_pass_create(const weft_operator_list *list,
                                      const weft_pointwise_layout *layout,
                                      const weft_device_handle *device, weft_operator_pass **out) {
    weft_operator_pass *p = calloc(1, sizeof *p);
    if (!p) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "no memory for operators");
    weft_status status =
        weft_operator_kernel_create(list, layout, "pointwise", device, &p->operators);
    if (status == WEFT_SUCCESS) {
        lay_out(p, layout);
        status = compile(p, layout->precision);
    }
    if (status == WEFT_SUCCESS && p->operators->reductions > 0)
        status =
            device->ops->allocate(device->state, WEFT_MEMORY_DEVICE, bytes_of_parts(p), &p->parts);
    if (status != WEFT_SUCCESS) {
        weft_operator_pass_release(p);
        return status;
    }
    *out = p;
    return WEFT_SUCCESS;
}

void weft_operator_pass_release(weft_operator_pass *p) {
    if (!p) return;
    if (p->kernel) {
        const weft_device_handle *d = &p->operators->device;
        d->ops->kernel_destroy(d->state, p->kernel);
        if (p->parts) d->ops->free(d->state, WEFT_MEMORY_DEVICE, p->parts);
    }
    weft_operator_kernel_release(p->operators);
    free(p);
}

size_t weft_operator_pass_bytes(const weft_operator_pass *p) {
    return sizeof *p + p->operators->bytes + bytes_of_parts(p);
}

void weft_operator_pass_keep_at(weft_operator_pass *p, void *kept) {
    p->kept = kept;
}

/* Launches the kernel for `n` indices of the axis that is cut, from index `first` on (one for each
 * axis in memory order). */
static weft_status launch(weft_operator_pass *p, weft_queue *queue, const int64_t *first, int64_t n,
                          const char *in, char *out) {
    const weft_device_handle *d = &p->operators->device;
    union {
        int64_t stride[2 * WEFT_AXES];
        uint32_t number[4 * WEFT_AXES + 2 + 4 * WEFT_AXES];
    } shape = {{0}};
    uint32_t *number = shape.number + 4 * p->axes;
    uint32_t *extent = number + 2, *multiplier = extent + p->axes, *shift = multiplier + p->axes;
    int64_t of_axes[WEFT_AXES], value[WEFT_OPERATOR_VALUES];
    number[0] = (uint32_t)(p->inner_elements * n);
    for (int l = 0; l < p->axes; l++) {
        shape.stride[l] = p->in_stride[l];
        shape.stride[p->axes + l] = p->out_stride[l];
        extent[l] = l < p->inner ? (uint32_t)p->n[l] : l == p->inner ? (uint32_t)n : 1;
        weft_divisor(extent[l], &multiplier[l], &shift[l]);
        of_axes[p->order[l]] = first[l];
    }
    const size_t places = weft_operator_kernel_places(p->operators, of_axes, value);
    weft_kernel_argument argument[8] = {{.memory = in},
                                        {.memory = out},
                                        {.memory = p->operators->tables},
                                        {.value = &shape, .bytes = SHAPE_BYTES(p->axes)},
                                        {.value = value, .bytes = places, .is_value = true}};
    int arguments = 5;
    if (p->operators->array >= 0)
        argument[arguments++].memory = weft_operator_kernel_array(p->operators);
    if (p->operators->keeps) argument[arguments++].memory = p->kept;
    if (p->parts)
        argument[arguments++].memory = (char *)p->parts + p->groups * (int64_t)bytes_of_group(p);
    const unsigned groups[3] = {(unsigned)groups_of(p, number[0]), 1, 1};
    p->groups += groups[0];
    return d->ops->kernel_launch(d->state, queue, p->kernel, groups, argument, arguments);
}

/* Bytes to the first element of a launch. */
static int64_t offset(const weft_operator_pass *p, const int64_t *first, const int64_t *stride,
                      int64_t bytes) {
    int64_t elements = 0;
    for (int l = 0; l < p->axes; l++) elements += first[l] * stride[l];
    return elements * bytes;
}

weft_status weft_operator_pass_run(weft_operator_pass *p, weft_queue *queue, const void *in,
                                   void *out) {
    int64_t first[WEFT_AXES] = {0};
    p->groups = 0;
    for (;;) {
        int64_t n = p->inner == p->axes ? 1 : p->n[p->inner] - first[p->inner];
        if (n > p->part) n = p->part;
        WEFT_TRY(launch(p, queue, first, n,
                        (const char *)in + offset(p, first, p->in_stride, p->in_bytes),
                        (char *)out + offset(p, first, p->out_stride, p->out_bytes)));
        if (p->inner == p->axes) return WEFT_SUCCESS;
        int l = p->inner;
        first[l] += n;
        while (first[l] == p->n[l]) {
            first[l++] = 0;
            if (l == p->axes) return WEFT_SUCCESS;
            first[l]++;
        }
    }
}
