/* Pass groups over planes: two axes are transformed one after the other while their plane is in the
 * cache. */
#include "engine/native/pass_group_parts.h"

#include "engine/native/number.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The buffer holds the complex plane with the halved axis, which is the first one transformed
 * (forward) or the second (inverse), contiguous. It has no more columns than are stored. */
typedef struct plane {
    int64_t rows, columns; /* complex; columns contiguous */
    int64_t stride;
} plane;

static int64_t count_of(weft_native_extent stored, int64_t all) {
    return stored.low > 0 ? stored.low + stored.high : all;
}

static plane plane_of(const weft_pass_request *planes, int64_t first, int64_t second,
                      bool second_contiguous) {
    const bool r2c = planes->kind == WEFT_TRANSFORM_R2C, c2r = planes->kind == WEFT_TRANSFORM_C2R;
    plane p = {second, count_of(planes->first_out, r2c ? first / 2 + 1 : first), 0};
    if (second_contiguous)
        p = (plane){first, count_of(planes->second_in, c2r ? second / 2 + 1 : second), 0};
    p.stride = weft_pass_group_padded(planes->kernels, p.columns);
    return p;
}

size_t weft_pass_group_plane_bytes(const weft_kernels *kernels, weft_transform_kind kind,
                                   int64_t first, int64_t second) {
    const weft_pass_request all = {.kernels = kernels, .kind = kind};
    bool c2r = kind == WEFT_TRANSFORM_C2R;
    plane p = plane_of(&all, first, second, c2r);
    plane transposed = plane_of(&all, first, second, c2r || kind == WEFT_TRANSFORM_C2C);
    int64_t numbers = p.rows * p.stride, others = transposed.rows * transposed.stride;
    return (size_t)((numbers > others ? numbers : others) * weft_complex_bytes(kernels));
}

/* Sets the requests of the first pass, from the array to the buffer, and of the second, back to an
 * array. */
static void choose_passes(const weft_pass_request *planes, const weft_dimension *first,
                          const weft_dimension *second, const plane *p, bool second_contiguous,
                          weft_pass_request *one, weft_pass_request *two) {
    *one = (weft_pass_request){.kernels = planes->kernels,
                               .direction = planes->direction,
                               .loops = 1,
                               .whole = planes->whole};
    *two = *one;
    one->kind = planes->kind == WEFT_TRANSFORM_R2C ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2C;
    two->kind = planes->kind == WEFT_TRANSFORM_C2R ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_C2C;
    if (second_contiguous) {
        one->dim = (weft_dimension){first->n, first->in_stride, p->stride};
        one->loop[0] = (weft_dimension){p->columns, second->in_stride, 1};
        two->dim = (weft_dimension){second->n, 1, second->out_stride};
        two->loop[0] =
            (weft_dimension){count_of(planes->first_out, first->n), p->stride, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_C2R) one->direction = WEFT_INVERSE;
    } else {
        one->dim = (weft_dimension){first->n, first->in_stride, 1};
        one->loop[0] =
            (weft_dimension){count_of(planes->second_in, second->n), second->in_stride, p->stride};
        two->dim = (weft_dimension){second->n, p->stride, second->out_stride};
        two->loop[0] = (weft_dimension){p->columns, 1, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_R2C) two->direction = WEFT_FORWARD;
    }
    one->out_stored = planes->first_out;
    two->in_stored = planes->second_in;
}

/* Points of a line with others missing in between, which follow each other in the buffer. */
static void lay_close(weft_native_extent stored, int64_t n, int64_t stride, int64_t loop_stride,
                      weft_native_piece piece[2], weft_native_pieces *pieces) {
    if (stored.high == 0) return;
    piece[0] =
        (weft_native_piece){.points = stored.low, .stride = stride, .loop_stride = {loop_stride}};
    piece[1] = (weft_native_piece){.offset = stored.low * stride,
                                   .first = n - stored.high,
                                   .points = stored.high,
                                   .stride = stride,
                                   .loop_stride = {loop_stride}};
    *pieces = (weft_native_pieces){2, piece};
}

/* How many of a plane's rows lie in memory, and are copied, where there are no pieces. */
static int64_t stored_of(const plane *p, weft_native_extent stored) {
    return stored.low > 0 ? stored.low : p->rows;
}

static weft_pass_group_rows rows_of(const weft_kernels *kernels, const plane *p) {
    const int64_t element = weft_complex_bytes(kernels);
    return (weft_pass_group_rows){
        .rows = p->rows, .bytes = p->columns * element, .buffer_stride = p->stride * element};
}

weft_status weft_pass_group_create_plane(const weft_pass_request *planes,
                                         const weft_dimension *first, const weft_dimension *second,
                                         bool flushes, weft_pass_group *group, size_t *bytes) {
    const weft_kernels *kernels = planes->kernels;
    memset(group, 0, sizeof *group);
    group->kernels = kernels;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, planes, bytes));
    const bool second_contiguous =
        planes->kind == WEFT_TRANSFORM_C2R ||
        (planes->kind == WEFT_TRANSFORM_C2C && llabs(second->in_stride) < llabs(first->in_stride));
    const plane p = plane_of(planes, first->n, second->n, second_contiguous);
    weft_pass_request one, two;
    weft_native_piece between[2][2];
    choose_passes(planes, first, second, &p, second_contiguous, &one, &two);
    lay_close(one.out_stored, first->n, one.dim.out_stride, one.loop[0].out_stride, between[0],
              &one.out);
    lay_close(two.in_stored, second->n, two.dim.in_stride, two.loop[0].in_stride, between[1],
              &two.in);
    group->buffer_bytes = weft_pass_group_plane_bytes(kernels, planes->kind, first->n, second->n);
    weft_pass_group_pieces in, out; /* loop 0 of either pass is the plane's other axis */
    weft_pass_group_gather(&planes->in, &in);
    weft_pass_group_gather(&planes->out, &out);
    weft_pass_group_set_strides(&planes->in, planes->loops, &in, 0);
    weft_pass_group_set_strides(&planes->out, planes->loops, &out, 0);
    one.in = in.pieces;
    one.in_stored = planes->in_stored;
    two.out = out.pieces;
    two.out_stored = planes->out_stored;
    group->passes = 2;
    group->from[0] = WEFT_PASS_GROUP_IN;
    group->to[0] = group->from[1] = WEFT_PASS_GROUP_BUFFER;
    group->to[1] = WEFT_PASS_GROUP_OUT;
    /* Lines across the plane's rows would be read in short runs, so whole rows are copied into the
     * buffer first. */
    if (second_contiguous && second->in_stride == 1) {
        group->from[0] = WEFT_PASS_GROUP_BUFFER;
        group->fill = rows_of(kernels, &p);
        weft_pass_group_lay_rows(group, stored_of(&p, planes->in_stored), first->in_stride, &one.in,
                                 &group->in);
        one.dim.in_stride = p.stride;
        one.loop[0].in_stride = 1;
        one.in.count = 0;
    }
    /* Rows that do not begin at a cache line cannot be stored past the caches tile by tile, but
     * they can as a whole. */
    if (!second_contiguous && first->out_stride == 1 &&
        (flushes || second->out_stride * weft_complex_bytes(kernels) % WEFT_CACHE_LINE != 0)) {
        group->to[1] = WEFT_PASS_GROUP_BUFFER;
        group->flush = rows_of(kernels, &p);
        weft_pass_group_lay_rows(group, stored_of(&p, planes->out_stored), second->out_stride,
                                 &two.out, &group->out);
        two.dim.out_stride = p.stride;
        two.out.count = 0;
    }
    WEFT_TRY(weft_native_pass_create(&one, &group->pass[0], bytes));
    WEFT_TRY(weft_native_pass_create(&two, &group->pass[1], bytes));
    group->pass[0].in.padded = group->fill.rows > 0 && group->pass[0].in.access == WEFT_ACROSS;
    group->pass[1].in.padded = group->pass[1].in.access == WEFT_ACROSS;
    return WEFT_SUCCESS;
}

void weft_pass_group_take_column(weft_pass_group *group, const void *column,
                                 const int64_t *stride) {
    group->column.array = column;
    for (int i = 0; i < group->loops; i++)
        group->column.stride[i] = stride[i] * weft_complex_bytes(group->kernels);
}

weft_status weft_pass_group_create_plane_and_back(const weft_pass_request *planes,
                                                  const weft_dimension *first,
                                                  const weft_dimension *second,
                                                  weft_pass_group *group, size_t *bytes) {
    const weft_kernels *kernels = planes->kernels;
    const bool real = planes->kind == WEFT_TRANSFORM_R2C;
    const plane p = plane_of(planes, first->n, second->n, false);
    weft_pass_group_pieces spectrum; /* loop 0 of the second pass is along `first` */
    weft_pass_group_gather(&planes->spectrum, &spectrum);
    weft_pass_group_set_strides(&planes->spectrum, planes->loops, &spectrum, 0);
    const weft_pass_request request[WEFT_PASS_GROUP_PASSES] = {
        {.kernels = kernels,
         .kind = planes->kind,
         .direction = WEFT_FORWARD,
         .dim = {first->n, first->in_stride, 1},
         .loops = 1,
         .whole = planes->whole,
         .loop = {{second->n, second->in_stride, p.stride}},
         .in_stored = planes->in_stored},
        {.kernels = kernels,
         .kind = WEFT_TRANSFORM_C2C,
         .direction = WEFT_FORWARD,
         .dim = {second->n, p.stride, p.stride},
         .loops = 1,
         .loop = {{p.columns, 1, 1}},
         .spectrum = spectrum.pieces},
        {.kernels = kernels,
         .kind = real ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_C2C,
         .direction = WEFT_INVERSE,
         .dim = {first->n, 1, first->out_stride},
         .loops = 1,
         .whole = planes->whole,
         .loop = {{second->n, p.stride, second->out_stride}},
         .out_stored = planes->out_stored}};
    memset(group, 0, sizeof *group);
    group->kernels = kernels;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, planes, bytes));
    group->buffer_bytes = (size_t)(p.rows * p.stride * weft_complex_bytes(kernels));
    for (int i = 0; i < WEFT_PASS_GROUP_PASSES; i++) {
        group->from[i] = i == 0 ? WEFT_PASS_GROUP_IN : WEFT_PASS_GROUP_BUFFER;
        group->to[i] =
            i + 1 < WEFT_PASS_GROUP_PASSES ? WEFT_PASS_GROUP_BUFFER : WEFT_PASS_GROUP_OUT;
        group->passes = i + 1;
        WEFT_TRY(weft_native_pass_create(&request[i], &group->pass[i], bytes));
    }
    group->pass[1].in.padded = group->pass[1].in.access == WEFT_ACROSS;
    return WEFT_SUCCESS;
}
