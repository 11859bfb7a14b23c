/*
 * The strided copy on CUDA: which way each copy goes.
 *
 * The driver copies what is one contiguous run, and over a link also boxes of two or three axes
 * whose rows are long enough for its copy engines (LINK_ROW). It also does all copies to and from
 * host memory that is not page-locked, which kernels cannot address. The kernels of
 * src/kernels/copy.cl do the rest, with the widest unit that divides every address and stride. For
 * most orders within a GPU they reach 90 to 99 % of the speed of a contiguous copy (H200), and the
 * driver 80 to 85 % (H100).
 */
#include "device/cuda/cuda.h"
#include "device/strided_copy.h"
#include "kernels/copy_shape.h"

enum {
    LINK_ROW = 256
}; /* bytes: rows from here on reach 80 % of the host link in 2-D copies (H200) */

/* Where a copy runs, for the functions that carry out its parts. */
typedef struct route {
    const weft_cuda_gpu *gpu;
    weft_cuda_stream stream;
    weft_transfer transfer;
} route;

/* ---- left to the driver ---- */

static weft_status copy_run(const route *r, const weft_byte_copy *c) {
    return weft_cuda_check(
        r->gpu->driver->copy((uintptr_t)c->dst, (uintptr_t)c->src, (size_t)c->cell, r->stream),
        "a copy could not be enqueued");
}

static weft_status copy_2d(const route *r, const weft_byte_copy *c) {
    weft_cuda_copy_2d copy = {
        .src_type =
            r->transfer == WEFT_HOST_TO_DEVICE ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .src_host = c->src,
        .src_device = (uintptr_t)c->src,
        .src_pitch = (size_t)c->axis[0].src,
        .dst_type =
            r->transfer == WEFT_DEVICE_TO_HOST ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .dst_host = c->dst,
        .dst_device = (uintptr_t)c->dst,
        .dst_pitch = (size_t)c->axis[0].dst,
        .width = (size_t)c->cell,
        .height = (size_t)c->axis[0].n};
    return weft_cuda_check(r->gpu->driver->copy_2d(&copy, r->stream),
                           "a 2-D copy could not be enqueued");
}

static weft_status copy_3d(const route *r, const weft_byte_copy *c) {
    const weft_byte_axis *plane = &c->axis[0], *row = &c->axis[1];
    weft_cuda_copy_3d copy = {
        .src_type =
            r->transfer == WEFT_HOST_TO_DEVICE ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .src_host = c->src,
        .src_device = (uintptr_t)c->src,
        .src_pitch = (size_t)row->src,
        .src_height = (size_t)(plane->src / row->src),
        .dst_type =
            r->transfer == WEFT_DEVICE_TO_HOST ? WEFT_CUDA_MEMORY_HOST : WEFT_CUDA_MEMORY_DEVICE,
        .dst_host = c->dst,
        .dst_device = (uintptr_t)c->dst,
        .dst_pitch = (size_t)row->dst,
        .dst_height = (size_t)(plane->dst / row->dst),
        .width = (size_t)c->cell,
        .height = (size_t)row->n,
        .depth = (size_t)plane->n};
    return weft_cuda_check(r->gpu->driver->copy_3d(&copy, r->stream),
                           "a 3-D copy could not be enqueued");
}

static weft_status copy_by_driver(void *context, const weft_byte_copy *c) {
    const route *r = context;
    return c->axes == 0 ? copy_run(r, c) : c->axes == 1 ? copy_2d(r, c) : copy_3d(r, c);
}

/* ---- kernels ---- */

static weft_status launch_kernel(void *context, const weft_copy_launch *l) {
    const route *r = context;
    const void *src = l->src, *shape = l->shape;
    void *dst = l->dst, *arguments[] = {&src, &dst, (void *)(uintptr_t)shape};
    return weft_cuda_check(r->gpu->driver->launch(r->gpu->copy[l->kernel][l->unit], l->groups, 1, 1,
                                                  WEFT_COPY_THREADS, 1, 1, 0, r->stream, arguments,
                                                  NULL),
                           "a copy kernel could not be launched");
}

weft_status weft_cuda_copy_run(const weft_cuda_gpu *gpu, weft_cuda_stream stream,
                               const weft_copy *copy, const void *src, void *dst,
                               weft_transfer transfer, weft_cuda_side side) {
    route r = {gpu, stream, transfer};
    const weft_byte_copy c = weft_byte_copy_of(copy, src, dst);
    if (side == WEFT_CUDA_SIDE_PAGEABLE)
        return weft_byte_copy_by_boxes(&c, WEFT_CUDA_MAX_PITCH, copy_by_driver, &r);
    const bool link = side != WEFT_CUDA_SIDE_HERE && c.cell >= LINK_ROW;
    if (c.axes == 0 || (link && weft_byte_copy_is_box(&c, WEFT_CUDA_MAX_PITCH)))
        return copy_by_driver(&r, &c);
    return weft_byte_copy_by_kernel(&c, launch_kernel, &r);
}
