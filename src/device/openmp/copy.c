/*
 * Copies, scalings and operators of the OpenMP device, as tasks of its queues do them. Within
 * the device a kernel copies: GCC 12's runtime copies there only on threads that have used the
 * device before. Over the link a contiguous copy is OpenMP's; a strided one is made of OpenMP's
 * rectangles, or goes through dense memory on either side: the host packs what it reads, or unpacks
 * what it gets, and a kernel does the same on the device. Runtimes copy a rectangle row by row, so
 * short rows take long.
 */
#include <stdlib.h>

#include "device/openmp/kernels.h"
#include "device/openmp/runtime.h"
#include "support/error.h"

enum {
    STAGING = 4 << 20, /* bytes of dense memory on either side */
    FEW_RECTANGLES = 64,
    MOST_DIMENSIONS = WEFT_AXES + 1
};

static int device_of(const weft_device_state *device, bool on_host) {
    return on_host ? device->processor.host : device->processor.number;
}

/* The devices of both sides. */
typedef struct route {
    weft_device_state *device;
    int from, to;
} route;

static route route_of(weft_device_state *device, weft_transfer transfer) {
    return (route){device, device_of(device, transfer == WEFT_HOST_TO_DEVICE),
                   device_of(device, transfer == WEFT_DEVICE_TO_HOST)};
}

static weft_status check(int result, const route *r, const char *function) {
    if (result == 0) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_DEVICE, "OpenMP device %d: a copy failed: %s returned %d",
                     r->device->processor.number, function, result);
}

static weft_status copy_run(const route *r, const char *from, char *to, int64_t bytes) {
    return check(weft_omp_copy(to, from, (size_t)bytes, r->to, r->from), r, "omp_target_memcpy");
}

weft_status weft_openmp_upload(weft_device_state *device, const void *from, void *to,
                               size_t bytes) {
    const route r = route_of(device, WEFT_HOST_TO_DEVICE);
    return copy_run(&r, from, to, (int64_t)bytes);
}

/* ---- rectangles ---- */

/* A box of elements in two row-major arrays, as omp_target_memcpy_rect wants it. */
typedef struct rectangle {
    size_t element;
    int axes;
    size_t n[MOST_DIMENSIONS], src[MOST_DIMENSIONS], dst[MOST_DIMENSIONS]; /* extents */
} rectangle;

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether `outer` steps over whole rows of the inner array, whose rows have `n` elements of
 * `step` bytes; *extent gets their extent. */
static bool nests(int64_t outer, int64_t step, int64_t n, size_t *extent) {
    if (outer <= 0 || outer % step != 0 || outer / step < n) return false;
    *extent = (size_t)(outer / step);
    return true;
}

/* Makes a rectangle of as many of the fastest axes as possible. Returns how many axes are left. */
static int rectangle_of(const weft_byte_copy *c, rectangle *r) {
    uint64_t element = (uint64_t)c->cell;
    for (int a = 0; a < c->axes; a++) {
        element = common_divisor(element, (uint64_t)llabs(c->axis[a].src));
        element = common_divisor(element, (uint64_t)llabs(c->axis[a].dst));
    }
    /* From the fastest axis on, in reverse order. */
    size_t n[MOST_DIMENSIONS] = {(size_t)c->cell / element};
    size_t src[MOST_DIMENSIONS] = {n[0]}, dst[MOST_DIMENSIONS] = {n[0]};
    int64_t src_step = (int64_t)element, dst_step = src_step;
    int axes = 1, left = c->axes;
    for (; left > 0; left--, axes++) {
        const weft_byte_axis *axis = &c->axis[left - 1];
        if (!nests(axis->src, src_step, (int64_t)n[axes - 1], &src[axes - 1]) ||
            !nests(axis->dst, dst_step, (int64_t)n[axes - 1], &dst[axes - 1]))
            break;
        src_step = axis->src;
        dst_step = axis->dst;
        src[axes] = dst[axes] = n[axes] = (size_t)axis->n;
    }
    *r = (rectangle){.element = element, .axes = axes};
    for (int a = 0; a < axes; a++) {
        r->n[axes - 1 - a] = n[a];
        r->src[axes - 1 - a] = src[a];
        r->dst[axes - 1 - a] = dst[a];
    }
    return left;
}

/* The number of rectangles of a copy, of which the slowest `left` axes are loops. */
static int64_t rectangles(const weft_byte_copy *c, int left) {
    int64_t count = 1;
    for (int a = 0; a < left; a++) count *= c->axis[a].n;
    return count;
}

static weft_status copy_rectangles(const route *r, const weft_byte_copy *c, const rectangle *box,
                                   int loop, int loops, const char *src, char *dst) {
    if (loop == loops)
        return check(weft_omp_copy_rectangle(dst, src, box->element, box->axes, box->n, box->dst,
                                             box->src, r->to, r->from),
                     r, "omp_target_memcpy_rect");
    for (int64_t i = 0; i < c->axis[loop].n; i++)
        WEFT_TRY(copy_rectangles(r, c, box, loop + 1, loops, src + i * c->axis[loop].src,
                                 dst + i * c->axis[loop].dst));
    return WEFT_SUCCESS;
}

/* ---- packed copies ---- */

/* Orders the axes of a copy by their steps on the host, slowest first, so that the host goes
 * through its memory in order. */
static void sort_for_host(weft_copy *c, weft_transfer transfer) {
    int64_t *stride = transfer == WEFT_HOST_TO_DEVICE ? c->src_stride : c->dst_stride;
    for (int a = 1; a < c->axes; a++)
        for (int b = a; b > 0 && llabs(stride[b - 1]) < llabs(stride[b]); b--) {
            int64_t *const swapped[] = {c->n, c->src_stride, c->dst_stride};
            for (int i = 0; i < 3; i++) {
                const int64_t held = swapped[i][b];
                swapped[i][b] = swapped[i][b - 1];
                swapped[i][b - 1] = held;
            }
        }
}

/* One side of a copy. */
static weft_view side_of(const weft_copy *c, bool src) {
    weft_view view = {.axes = c->axes, .offset = src ? c->src_offset : c->dst_offset};
    for (int a = 0; a < c->axes; a++) {
        view.n[a] = c->n[a];
        view.stride[a] = src ? c->src_stride[a] : c->dst_stride[a];
    }
    return view;
}

/* The elements of a copy one after the other, in the order of its axes. */
static weft_view dense_view(const weft_copy *c) {
    weft_view view = {.axes = c->axes};
    int64_t step = 1;
    for (int a = c->axes - 1; a >= 0; step *= c->n[a--]) {
        view.n[a] = c->n[a];
        view.stride[a] = step;
    }
    return view;
}

/* Copies through the dense memory what fits there; the caller holds its lock. */
static weft_status copy_packed(const route *r, const weft_copy *c, const char *src, char *dst,
                               weft_transfer transfer) {
    const weft_openmp_area *area = &r->device->staging;
    const weft_view from = side_of(c, true), to = side_of(c, false), dense = dense_view(c);
    const weft_copy load = weft_copy_between(&from, &dense, c->element_bytes);
    const weft_copy store = weft_copy_between(&dense, &to, c->element_bytes);
    const int64_t bytes = c->elements * (int64_t)c->element_bytes;
    if (transfer == WEFT_HOST_TO_DEVICE) {
        weft_copy_run(&load, src, area->host, r->device->threads);
        WEFT_TRY(copy_run(r, area->host, area->memory, bytes));
        const weft_byte_copy unpack = weft_byte_copy_of(&store, area->memory, dst);
        weft_openmp_copy_kernel(&r->device->processor, &unpack);
        return WEFT_SUCCESS;
    }
    const weft_byte_copy pack = weft_byte_copy_of(&load, src, area->memory);
    weft_openmp_copy_kernel(&r->device->processor, &pack);
    WEFT_TRY(copy_run(r, area->memory, area->host, bytes));
    weft_copy_run(&store, area->host, dst, r->device->threads);
    return WEFT_SUCCESS;
}

/* Halves the copy along its slowest axis until its parts fit in the dense memory. */
static weft_status copy_in_parts(const route *r, const weft_copy *c, const char *src, char *dst,
                                 weft_transfer transfer) {
    if (c->elements * (int64_t)c->element_bytes <= STAGING || c->axes == 0)
        return copy_packed(r, c, src, dst, transfer);
    weft_copy lower = *c, upper = *c;
    if (c->n[0] == 1) {
        lower.axes--;
        for (int a = 0; a < lower.axes; a++) {
            lower.n[a] = c->n[a + 1];
            lower.src_stride[a] = c->src_stride[a + 1];
            lower.dst_stride[a] = c->dst_stride[a + 1];
        }
        return copy_in_parts(r, &lower, src, dst, transfer);
    }
    lower.n[0] = c->n[0] / 2;
    upper.n[0] = c->n[0] - lower.n[0];
    lower.elements = c->elements / c->n[0] * lower.n[0];
    upper.elements = c->elements - lower.elements;
    upper.src_offset += lower.n[0] * c->src_stride[0];
    upper.dst_offset += lower.n[0] * c->dst_stride[0];
    WEFT_TRY(copy_in_parts(r, &lower, src, dst, transfer));
    return copy_in_parts(r, &upper, src, dst, transfer);
}

/* Makes sure that there is dense memory. The caller holds its lock. */
static bool has_staging(weft_device_state *device) {
    weft_openmp_area *area = &device->staging;
    void *memory = NULL;
    if (area->memory || device->prepared) return area->memory != NULL;
    area->host = weft_storage_allocate(STAGING);
    if (area->host &&
        weft_openmp_allocate(device, WEFT_MEMORY_DEVICE, STAGING, &memory) == WEFT_SUCCESS) {
        (void)weft_openmp_host_lock(device, area->host, STAGING);
        area->memory = memory;
        area->bytes = STAGING;
        return true;
    }
    free(area->host);
    area->host = NULL;
    return false;
}

void weft_openmp_prepare_transfers(weft_device_state *device) {
    pthread_mutex_lock(&device->staging.lock);
    (void)has_staging(device);
    device->prepared = true;
    pthread_mutex_unlock(&device->staging.lock);
}

/* Where there is no dense memory the copy is slow, but does not fail. */
static weft_status copy_over_link(const route *r, const weft_work *work, const weft_byte_copy *c) {
    weft_device_state *device = r->device;
    rectangle box;
    const int left = rectangle_of(c, &box);
    const bool few = rectangles(c, left) <= FEW_RECTANGLES;
    if (device->copies == WEFT_OPENMP_RECTANGLES && few)
        return copy_rectangles(r, c, &box, 0, left, c->src, c->dst);
    weft_copy sorted = work->as.copy;
    sort_for_host(&sorted, work->transfer);
    pthread_mutex_lock(&device->staging.lock);
    weft_status status = WEFT_SUCCESS;
    const bool packs = has_staging(device);
    if (packs) status = copy_in_parts(r, &sorted, work->src, work->dst, work->transfer);
    pthread_mutex_unlock(&device->staging.lock);
    return packs ? status : copy_rectangles(r, c, &box, 0, left, c->src, c->dst);
}

weft_status weft_openmp_copy_now(void *state, const weft_work *work) {
    const route r = route_of(state, work->transfer);
    const weft_byte_copy c = weft_byte_copy_of(&work->as.copy, work->src, work->dst);
    if (work->transfer == WEFT_DEVICE_TO_DEVICE) {
        weft_openmp_copy_kernel(&r.device->processor, &c);
        return WEFT_SUCCESS;
    }
    if (c.axes == 0) return copy_run(&r, c.src, c.dst, c.cell);
    return copy_over_link(&r, work, &c);
}

weft_status weft_openmp_scale_now(void *state, const weft_work *work) {
    const weft_device_state *device = state;
    weft_openmp_scale_kernel(&device->processor, work->as.scale.precision, work->dst,
                             work->as.scale.count, work->as.scale.factor);
    return WEFT_SUCCESS;
}

weft_status weft_openmp_operate_now(void *state, const weft_work *work) {
    const weft_device_state *device = state;
    weft_openmp_operate_kernel(&device->processor, work->as.operators, work->src, work->dst);
    return WEFT_SUCCESS;
}
