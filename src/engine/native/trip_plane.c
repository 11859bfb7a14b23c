/* Trips over planes: two axes, one after the other, while a plane of them is in the cache. */
#include "engine/native/trip_parts.h"

#include "engine/native/number.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The buffer holds the complex plane with the halved axis, which is the first one transformed
 * (forward) or the second (inverse), contiguous. */
typedef struct plane {
    int64_t rows, columns; /* complex; columns contiguous */
    int64_t stride;
} plane;

static plane plane_of(const weft_kernels *kernels, weft_transform_kind kind, int64_t first,
                      int64_t second, bool second_contiguous) {
    plane p = {second, first, 0};
    if (second_contiguous) p = (plane){first, second, 0};
    if (kind == WEFT_TRANSFORM_R2C) p.columns = first / 2 + 1;
    if (kind == WEFT_TRANSFORM_C2R) p.columns = second / 2 + 1;
    p.stride = weft_trip_padded(kernels, p.columns);
    return p;
}

size_t weft_trip_plane_bytes(const weft_kernels *kernels, weft_transform_kind kind, int64_t first,
                             int64_t second) {
    bool c2r = kind == WEFT_TRANSFORM_C2R;
    plane p = plane_of(kernels, kind, first, second, c2r);
    plane turned = plane_of(kernels, kind, first, second, c2r || kind == WEFT_TRANSFORM_C2C);
    int64_t numbers = p.rows * p.stride, others = turned.rows * turned.stride;
    return (size_t)((numbers > others ? numbers : others) * weft_complex_bytes(kernels));
}

/* The first pass, from the array to the buffer, and the second, back. */
static void choose_passes(const weft_pass_request *planes, const weft_dimension *first,
                          const weft_dimension *second, const plane *p, bool second_contiguous,
                          weft_pass_request *one, weft_pass_request *two) {
    *one =
        (weft_pass_request){.kernels = planes->kernels, .direction = planes->direction, .loops = 1};
    *two = *one;
    one->kind = planes->kind == WEFT_TRANSFORM_R2C ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2C;
    two->kind = planes->kind == WEFT_TRANSFORM_C2R ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_C2C;
    if (second_contiguous) {
        one->dim = (weft_dimension){first->n, first->in_stride, p->stride};
        one->loop[0] = (weft_dimension){p->columns, second->in_stride, 1};
        two->dim = (weft_dimension){second->n, 1, second->out_stride};
        two->loop[0] = (weft_dimension){first->n, p->stride, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_C2R) one->direction = WEFT_INVERSE;
    } else {
        one->dim = (weft_dimension){first->n, first->in_stride, 1};
        one->loop[0] = (weft_dimension){second->n, second->in_stride, p->stride};
        two->dim = (weft_dimension){second->n, p->stride, second->out_stride};
        two->loop[0] = (weft_dimension){p->columns, 1, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_R2C) two->direction = WEFT_FORWARD;
    }
}

static weft_trip_rows rows_of(const weft_kernels *kernels, const plane *p) {
    const int64_t element = weft_complex_bytes(kernels);
    return (weft_trip_rows){
        .rows = p->rows, .bytes = p->columns * element, .buffer_stride = p->stride * element};
}

weft_status weft_trip_create_plane(const weft_pass_request *planes, const weft_dimension *first,
                                   const weft_dimension *second, weft_trip *trip, size_t *bytes) {
    const weft_kernels *kernels = planes->kernels;
    memset(trip, 0, sizeof *trip);
    trip->kernels = kernels;
    WEFT_TRY(weft_trip_loop_over_parts(trip, planes, bytes));
    const bool second_contiguous =
        planes->kind == WEFT_TRANSFORM_C2R ||
        (planes->kind == WEFT_TRANSFORM_C2C && llabs(second->in_stride) < llabs(first->in_stride));
    const plane p = plane_of(kernels, planes->kind, first->n, second->n, second_contiguous);
    weft_pass_request one, two;
    choose_passes(planes, first, second, &p, second_contiguous, &one, &two);
    trip->buffer_bytes[0] = weft_trip_plane_bytes(kernels, planes->kind, first->n, second->n);
    weft_trip_pieces in, out; /* loop 0 of either pass is the plane's other axis */
    weft_trip_gather(&planes->in, &in);
    weft_trip_gather(&planes->out, &out);
    weft_trip_set_strides(&planes->in, planes->loops, &in, 0);
    weft_trip_set_strides(&planes->out, planes->loops, &out, 0);
    one.in = in.pieces;
    two.out = out.pieces;
    trip->passes = 2;
    trip->from[0] = WEFT_TRIP_IN;
    trip->to[0] = trip->from[1] = WEFT_TRIP_BUFFER;
    trip->to[1] = WEFT_TRIP_OUT;
    /* Lines that run across the plane's rows meet memory in short runs: rather, whole rows are
     * copied into the buffer first. */
    if (second_contiguous && second->in_stride == 1) {
        trip->from[0] = WEFT_TRIP_BUFFER;
        trip->fill = rows_of(kernels, &p);
        weft_trip_lay_rows(trip, p.rows, first->in_stride, &one.in, &trip->in);
        one.dim.in_stride = p.stride;
        one.loop[0].in_stride = 1;
        one.in.count = 0;
    }
    /* Rows that begin anywhere in a cache line cannot be streamed a tile at a time, but whole. */
    if (!second_contiguous && first->out_stride == 1 &&
        second->out_stride * weft_complex_bytes(kernels) % WEFT_CACHE_LINE != 0) {
        trip->to[1] = WEFT_TRIP_BUFFER;
        trip->flush = rows_of(kernels, &p);
        weft_trip_lay_rows(trip, p.rows, second->out_stride, &two.out, &trip->out);
        two.dim.out_stride = p.stride;
        two.out.count = 0;
    }
    WEFT_TRY(weft_native_pass_create(&one, &trip->pass[0], bytes));
    WEFT_TRY(weft_native_pass_create(&two, &trip->pass[1], bytes));
    trip->pass[0].in.padded = trip->fill.rows > 0 && trip->pass[0].in.access == WEFT_ACROSS;
    trip->pass[1].in.padded = trip->pass[1].in.access == WEFT_ACROSS;
    return WEFT_SUCCESS;
}
