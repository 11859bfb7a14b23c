/*
 * The strided copy on OpenCL: which way each copy goes.
 *
 * Within the device, OpenCL copies contiguous runs and, on CPUs, rows; the kernels of
 * src/kernels/copy.cl do the rest. Kernels cannot address host memory, so over the link OpenCL
 * copies what consists of few boxes of long rows. Other copies go through a dense area of device
 * memory, in the host side's order, which a kernel fills or empties.
 */
#include "device/opencl/opencl.h"
#include "device/opencl/program.h"
#include "device/strided_copy.h"

#include "support/error.h"

enum {
    LONG_ROW = 256, /* bytes: shorter rows are not worth a box of their own */
    FEW_BOXES = 32,
    SCRATCH = 8 << 20 /* bytes of the dense area of a queue */
};

/* The device, queue and buffers of a copy, for the functions that carry out its parts. */
typedef struct route {
    weft_device_state *device;
    weft_queue *queue;
    weft_transfer transfer;
} route;

/* ---- boxes ---- */

/* A box as OpenCL's functions for rectangles describe it. */
typedef struct box {
    size_t region[3];
    size_t src_row, src_plane, dst_row, dst_plane; /* bytes; 0: as dense as can be */
} box;

static box box_of(const weft_byte_copy *c) {
    box b = {.region = {(size_t)c->cell, 1, 1}};
    if (c->axes == 0) return b;
    const weft_byte_axis *row = &c->axis[c->axes - 1];
    b.region[1] = (size_t)row->n;
    b.src_row = (size_t)row->src;
    b.dst_row = (size_t)row->dst;
    if (c->axes == 1) return b;
    b.region[2] = (size_t)c->axis[0].n;
    b.src_plane = (size_t)c->axis[0].src;
    b.dst_plane = (size_t)c->axis[0].dst;
    return b;
}

/* Expresses a place in a buffer in planes, rows and bytes, as OpenCL's functions for rectangles
 * count. Rows and planes must not overlap, so this is impossible for some boxes: false. Drivers
 * refuse some boxes for which it is possible (NVIDIA's, with INVALID_VALUE); these are also copied
 * in slices. */
static bool origin_of(const box *b, size_t row, size_t plane, size_t offset, size_t origin[3]) {
    origin[2] = plane > 0 ? offset / plane : 0;
    origin[1] = (offset - origin[2] * plane) / row;
    origin[0] = (offset - origin[2] * plane) % row;
    return origin[0] + b->region[0] <= row &&
           (plane == 0 || (origin[1] + b->region[1]) * row <= plane);
}

typedef weft_status (*copy_function)(void *context, const weft_byte_copy *c);

/* Copies a box one plane or row after the other. */
static weft_status copy_in_slices(const route *r, const weft_byte_copy *c, copy_function copy) {
    weft_byte_copy slice = *c;
    slice.axes--;
    for (int a = 0; a < slice.axes; a++) slice.axis[a] = c->axis[a + 1];
    for (int64_t i = 0; i < c->axis[0].n; i++) {
        slice.src = c->src + i * c->axis[0].src;
        slice.dst = c->dst + i * c->axis[0].dst;
        route given = *r;
        WEFT_TRY(copy(&given, &slice));
    }
    return WEFT_SUCCESS;
}

static weft_status copy_on_device(void *context, const weft_byte_copy *c) {
    const route *r = context;
    const weft_cl *cl = r->device->processor->cl;
    weft_cl_memory src, dst;
    size_t src_offset, dst_offset, from[3], to[3];
    const box b = box_of(c);
    int result = WEFT_CL_INVALID_VALUE;
    WEFT_TRY(weft_cl_locate(r->device, c->src, &src, &src_offset));
    WEFT_TRY(weft_cl_locate(r->device, c->dst, &dst, &dst_offset));
    if (c->axes == 0)
        result =
            cl->copy(r->queue->queue, src, dst, src_offset, dst_offset, b.region[0], 0, NULL, NULL);
    else if (origin_of(&b, b.src_row, b.src_plane, src_offset, from) &&
             origin_of(&b, b.dst_row, b.dst_plane, dst_offset, to))
        result = cl->copy_rect(r->queue->queue, src, dst, from, to, b.region, b.src_row,
                               b.src_plane, b.dst_row, b.dst_plane, 0, NULL, NULL);
    if (result == WEFT_CL_INVALID_VALUE && c->axes > 0) return copy_in_slices(r, c, copy_on_device);
    return weft_cl_check(result, "a copy could not be enqueued");
}

static weft_status copy_to_host(void *context, const weft_byte_copy *c) {
    const route *r = context;
    const weft_cl *cl = r->device->processor->cl;
    weft_cl_memory src;
    size_t offset, from[3], to[3] = {0};
    const box b = box_of(c);
    int result = WEFT_CL_INVALID_VALUE;
    WEFT_TRY(weft_cl_locate(r->device, c->src, &src, &offset));
    if (c->axes == 0)
        result = cl->read(r->queue->queue, src, 0, offset, b.region[0], c->dst, 0, NULL, NULL);
    else if (origin_of(&b, b.src_row, b.src_plane, offset, from))
        result = cl->read_rect(r->queue->queue, src, 0, from, to, b.region, b.src_row, b.src_plane,
                               b.dst_row, b.dst_plane, c->dst, 0, NULL, NULL);
    if (result == WEFT_CL_INVALID_VALUE && c->axes > 0) return copy_in_slices(r, c, copy_to_host);
    return weft_cl_check(result, "a copy to the host could not be enqueued");
}

static weft_status copy_from_host(void *context, const weft_byte_copy *c) {
    const route *r = context;
    const weft_cl *cl = r->device->processor->cl;
    weft_cl_memory dst;
    size_t offset, from[3] = {0}, to[3];
    const box b = box_of(c);
    int result = WEFT_CL_INVALID_VALUE;
    WEFT_TRY(weft_cl_locate(r->device, c->dst, &dst, &offset));
    if (c->axes == 0)
        result = cl->write(r->queue->queue, dst, 0, offset, b.region[0], c->src, 0, NULL, NULL);
    else if (origin_of(&b, b.dst_row, b.dst_plane, offset, to))
        result = cl->write_rect(r->queue->queue, dst, 0, to, from, b.region, b.dst_row, b.dst_plane,
                                b.src_row, b.src_plane, c->src, 0, NULL, NULL);
    if (result == WEFT_CL_INVALID_VALUE && c->axes > 0) return copy_in_slices(r, c, copy_from_host);
    return weft_cl_check(result, "a copy from the host could not be enqueued");
}

static weft_status copy_boxes(const route *r, const weft_byte_copy *c) {
    static const copy_function copy[] = {[WEFT_DEVICE_TO_DEVICE] = copy_on_device,
                                         [WEFT_DEVICE_TO_HOST] = copy_to_host,
                                         [WEFT_HOST_TO_DEVICE] = copy_from_host};
    route given = *r;
    return weft_byte_copy_by_boxes(c, INT64_MAX, copy[r->transfer], &given);
}

/* ---- kernels ---- */

static weft_status launch_kernel(void *context, const weft_copy_launch *l) {
    const route *r = context;
    const unsigned groups[3] = {l->groups, 1, 1};
    const weft_kernel_argument arguments[] = {
        {.memory = l->src}, {.memory = l->dst}, {.value = l->shape, .bytes = l->shape_bytes}};
    return weft_cl_kernel_launch(
        r->device, r->queue, r->device->processor->copy[l->kernel][l->unit], groups, arguments, 3);
}

static weft_status copy_within(const route *r, const weft_byte_copy *c) {
    route given = *r;
    given.transfer = WEFT_DEVICE_TO_DEVICE;
    const bool rows =
        r->device->processor->is_cpu && c->cell >= LONG_ROW && weft_byte_copy_is_box(c, INT64_MAX);
    if (c->axes == 0 || rows) return copy_on_device(&given, c);
    return weft_byte_copy_by_kernel(c, launch_kernel, &given);
}

/* ---- to and from the host through a dense area ---- */

static int64_t bytes_of(const weft_byte_copy *c) {
    int64_t bytes = c->cell;
    for (int a = 0; a < c->axes; a++) bytes *= c->axis[a].n;
    return bytes;
}

static int64_t host_step(const route *r, const weft_byte_axis *axis) {
    return r->transfer == WEFT_DEVICE_TO_HOST ? axis->dst : axis->src;
}

/* Sorts the axes by their strides in the host's memory, the largest first. */
static void sort_for_host(const route *r, weft_byte_copy *c) {
    for (int a = 1; a < c->axes; a++)
        for (int b = a; b > 0 && host_step(r, &c->axis[b - 1]) < host_step(r, &c->axis[b]); b--) {
            weft_byte_axis axis = c->axis[b];
            c->axis[b] = c->axis[b - 1];
            c->axis[b - 1] = axis;
        }
}

/* Joins axes that one stride covers on both sides. */
static weft_byte_copy joined(const weft_byte_copy *c) {
    weft_byte_copy j = *c;
    j.axes = 0;
    for (int a = 0; a < c->axes; a++) {
        const weft_byte_axis *inner = &c->axis[a];
        weft_byte_axis *outer = &j.axis[j.axes - (j.axes > 0)];
        if (j.axes > 0 && outer->src == inner->src * inner->n &&
            outer->dst == inner->dst * inner->n)
            *outer = (weft_byte_axis){outer->n * inner->n, inner->src, inner->dst};
        else
            j.axis[j.axes++] = *inner;
    }
    while (j.axes > 0 && j.axis[j.axes - 1].src == j.cell && j.axis[j.axes - 1].dst == j.cell)
        j.cell *= j.axis[--j.axes].n;
    return j;
}

/* Copies through the dense area what fits in it. The queue is in order, so each use of the area
 * begins after the previous one. */
static weft_status copy_by_scratch(const route *r, const weft_byte_copy *c) {
    weft_byte_copy device_side = *c, host_side = *c;
    int64_t dense = c->cell;
    for (int a = c->axes - 1; a >= 0; dense *= c->axis[a--].n) {
        if (r->transfer == WEFT_DEVICE_TO_HOST)
            device_side.axis[a].dst = host_side.axis[a].src = dense;
        else
            device_side.axis[a].src = host_side.axis[a].dst = dense;
    }
    if (r->transfer == WEFT_DEVICE_TO_HOST) {
        device_side.dst = r->queue->scratch;
        host_side.src = r->queue->scratch;
    } else {
        device_side.src = r->queue->scratch;
        host_side.dst = r->queue->scratch;
    }
    device_side = joined(&device_side);
    host_side = joined(&host_side);
    if (r->transfer == WEFT_DEVICE_TO_HOST) {
        WEFT_TRY(copy_within(r, &device_side));
        return copy_boxes(r, &host_side);
    }
    WEFT_TRY(copy_boxes(r, &host_side));
    return copy_within(r, &device_side);
}

/* Halves the copy until its parts fit in the dense area. */
static weft_status copy_in_parts(const route *r, const weft_byte_copy *c) {
    if (c->axes == 0) return copy_boxes(r, c);
    if (bytes_of(c) <= SCRATCH) return copy_by_scratch(r, c);
    weft_byte_copy lower = *c, upper = *c;
    if (c->axis[0].n == 1) {
        lower.axes--;
        for (int a = 0; a < lower.axes; a++) lower.axis[a] = c->axis[a + 1];
        return copy_in_parts(r, &lower);
    }
    lower.axis[0].n /= 2;
    upper.axis[0].n -= lower.axis[0].n;
    upper.src += lower.axis[0].n * c->axis[0].src;
    upper.dst += lower.axis[0].n * c->axis[0].dst;
    WEFT_TRY(copy_in_parts(r, &lower));
    return copy_in_parts(r, &upper);
}

static bool has_scratch(weft_device_state *device, weft_queue *queue) {
    if (!queue->scratch && !device->prepared)
        (void)weft_cl_allocate(device, WEFT_MEMORY_DEVICE, SCRATCH, &queue->scratch);
    return queue->scratch != NULL;
}

void weft_cl_prepare_transfers(weft_device_state *device) {
    for (weft_queue *queue = device->queues; queue; queue = queue->next)
        (void)has_scratch(device, queue);
    device->prepared = true;
}

/* Copies over the link. If there is no memory for the dense area, the copy is slow but does not
 * fail. */
static weft_status copy_over_link(const route *r, weft_byte_copy *c) {
    const bool direct =
        c->axes == 0 || (c->cell >= LONG_ROW && weft_byte_copy_boxes(c, INT64_MAX) <= FEW_BOXES);
    if (direct || !has_scratch(r->device, r->queue)) return copy_boxes(r, c);
    sort_for_host(r, c);
    return copy_in_parts(r, c);
}

weft_status weft_cl_copy(weft_device_state *device, weft_queue *queue, const weft_copy *copy,
                         const void *src, void *dst, weft_transfer transfer) {
    if (copy->elements == 0) return WEFT_SUCCESS;
    const route r = {device, weft_cl_queue_or_default(device, queue), transfer};
    weft_byte_copy c = weft_byte_copy_of(copy, src, dst);
    return transfer == WEFT_DEVICE_TO_DEVICE ? copy_within(&r, &c) : copy_over_link(&r, &c);
}
