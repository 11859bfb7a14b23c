/* Pass groups over long lines, each transformed as a matrix of its own, or by convolution. */
#include "engine/native/pass_group_parts.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "engine/smooth.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* Chooses the number of columns (the length of the second pass): the divisor of n, at most its
 * square root, for which both passes cost least. */
static int64_t split_length(const weft_kernels *kernels, int64_t n) {
    int64_t best = 1;
    double best_cost = 1e300;
    for (int64_t a = 1; a * a <= n; a++) {
        if (n % a != 0) continue;
        double cost = weft_line_cost(kernels, a) / (double)a +
                      weft_line_cost(kernels, n / a) / (double)(n / a) +
                      1e-3 * (double)(n / a); /* tiles that fit the cache */
        if (cost < best_cost) {
            best = a;
            best_cost = cost;
        }
    }
    return best;
}

static weft_status no_tables(int64_t n) {
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "native engine: no memory for the tables of length %lld", (long long)n);
}

/* Whether pairs of real points can be taken as complex numbers, which they are where they are
 * contiguous. */
static bool pairs_lie_together(const weft_pass_request *r) {
    return r->kind == WEFT_TRANSFORM_C2C ||
           (r->dim.n % 2 == 0 && r->dim.in_stride == 1 && r->dim.out_stride == 1);
}

/* Whether a line can be a matrix of weft_matrix: its points are contiguous and its length has
 * enough factors. */
static bool matrix_suits(const weft_pass_request *lines, int64_t n) {
    return lines->dim.in_stride == 1 && lines->dim.out_stride == 1 &&
           weft_matrix_suits(lines->kernels, n);
}

static bool make_matrix(weft_pass_group *group, int64_t n, weft_direction direction,
                        size_t *bytes) {
    group->matrix = calloc(1, sizeof *group->matrix);
    if (!group->matrix) return false;
    *bytes += sizeof *group->matrix;
    if (!weft_matrix_create(group->kernels, n, direction, group->matrix, bytes)) return false;
    group->buffer_bytes = weft_matrix_transposed_bytes(group->matrix);
    group->pass[0].tiles = weft_matrix_column_tiles(group->matrix);
    group->pass[1].tiles = weft_matrix_row_tiles(group->matrix);
    return true;
}

/* Makes the matrix of a line of any strides and smooth length as two passes over a buffer. */
static weft_status make_passes(weft_pass_group *group, const weft_pass_request *lines, int64_t n,
                               weft_direction direction, size_t *bytes) {
    const weft_kernels *kernels = group->kernels;
    const int64_t n2 = split_length(kernels, n), n1 = n / n2,
                  row = weft_pass_group_padded(kernels, n2);
    group->buffer_bytes = (size_t)(n1 * row * weft_complex_bytes(kernels));

    /* Real lines come here only with a stride of 1, since their points are taken in pairs. */
    int64_t in = lines->dim.in_stride, out = lines->dim.out_stride;
    if (lines->kind == WEFT_TRANSFORM_C2R) in = 1; /* from where it was merged */
    weft_pass_request one = {.kernels = kernels,
                             .kind = WEFT_TRANSFORM_C2C,
                             .direction = direction,
                             .dim = {n1, n2 * in, row},
                             .loops = 1,
                             .loop = {{n2, in, 1}}};
    weft_pass_request two = {.kernels = kernels,
                             .kind = WEFT_TRANSFORM_C2C,
                             .direction = direction,
                             .dim = {n2, 1, n1 * out},
                             .loops = 1,
                             .loop = {{n1, row, out}}};
    WEFT_TRY(weft_native_pass_create(&one, &group->pass[0], bytes));
    WEFT_TRY(weft_native_pass_create(&two, &group->pass[1], bytes));
    group->pass[0].twiddles = weft_twiddles_borrow(kernels, n, n1, false, direction, bytes);
    return group->pass[0].twiddles ? WEFT_SUCCESS : no_tables(n);
}

weft_status weft_pass_group_create_long(const weft_pass_request *lines, weft_pass_group *group,
                                        size_t *bytes) {
    const weft_kernels *kernels = lines->kernels;
    const bool real = lines->kind != WEFT_TRANSFORM_C2C;
    const bool c2r = lines->kind == WEFT_TRANSFORM_C2R;
    const weft_direction direction = !real ? lines->direction : c2r ? WEFT_INVERSE : WEFT_FORWARD;
    const int64_t n = real ? lines->dim.n / 2 : lines->dim.n;
    memset(group, 0, sizeof *group);
    group->kernels = kernels;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, lines, bytes));
    if (!weft_is_smooth(lines->dim.n) || !pairs_lie_together(lines))
        return weft_native_convolution_create(kernels, lines->kind, direction, &lines->dim,
                                              &group->convolution, bytes);
    group->passes = 2;
    group->from[0] = c2r ? WEFT_PASS_GROUP_OUT : WEFT_PASS_GROUP_IN;
    group->to[0] = group->from[1] = WEFT_PASS_GROUP_BUFFER;
    group->to[1] = WEFT_PASS_GROUP_OUT;
    if (!matrix_suits(lines, n))
        WEFT_TRY(make_passes(group, lines, n, direction, bytes));
    else if (!make_matrix(group, n, direction, bytes))
        return no_tables(n);
    if (!real) return WEFT_SUCCESS;
    const int64_t stride = weft_complex_bytes(kernels);
    group->real_line = (weft_pass_group_real_line){.before = c2r, .after = !c2r, .h = n};
    group->real_line.in = (c2r ? lines->dim.in_stride : lines->dim.out_stride) * stride;
    group->real_line.out = (c2r ? 1 : lines->dim.out_stride) * stride;
    return weft_root_table_create(2 * n, n / 2 + 1, &group->real_line.roots, bytes) ? WEFT_SUCCESS
                                                                                    : no_tables(n);
}
