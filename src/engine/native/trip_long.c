/* Trips over long lines, each as a matrix of its own, or by convolution. */
#include "engine/native/trip_parts.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "engine/smooth.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

/* The factor nearest below the square root such that both have kernels, the larger the better for
 * the first. */
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

/* Real points in pairs are complex numbers where they are contiguous. */
static bool pairs_lie_together(const weft_pass_request *r) {
    return r->kind == WEFT_TRANSFORM_C2C ||
           (r->dim.n % 2 == 0 && r->dim.in_stride == 1 && r->dim.out_stride == 1);
}

/* A line whose points are contiguous, where its length has enough factors. */
static bool matrix_suits(const weft_pass_request *lines, int64_t n) {
    return lines->dim.in_stride == 1 && lines->dim.out_stride == 1 &&
           weft_matrix_suits(lines->kernels, n);
}

static bool make_matrix(weft_trip *trip, int64_t n, weft_direction direction, size_t *bytes) {
    trip->matrix = calloc(1, sizeof *trip->matrix);
    if (!trip->matrix) return false;
    *bytes += sizeof *trip->matrix;
    if (!weft_matrix_create(trip->kernels, n, direction, trip->matrix, bytes)) return false;
    trip->buffer_bytes[0] = weft_matrix_turned_bytes(trip->matrix);
    trip->pass[0].groups = weft_matrix_column_tiles(trip->matrix);
    trip->pass[1].groups = weft_matrix_row_tiles(trip->matrix);
    return true;
}

/* The same of any strides and lengths: as two passes. */
static weft_status make_passes(weft_trip *trip, const weft_pass_request *lines, int64_t n,
                               weft_direction direction, size_t *bytes) {
    const weft_kernels *kernels = trip->kernels;
    const int64_t n2 = split_length(kernels, n), n1 = n / n2, row = weft_trip_padded(kernels, n2);
    trip->buffer_bytes[0] = (size_t)(n1 * row * weft_complex_bytes(kernels));

    /* Real points lie in pairs, as complex numbers: their stride must be 1. */
    int64_t in = lines->dim.in_stride, out = lines->dim.out_stride;
    if (lines->kind == WEFT_TRANSFORM_C2R) in = 1; /* from the second buffer */
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
    WEFT_TRY(weft_native_pass_create(&one, &trip->pass[0], bytes));
    WEFT_TRY(weft_native_pass_create(&two, &trip->pass[1], bytes));
    return weft_native_pass_twist(&trip->pass[0], n, n2, direction, bytes) ? WEFT_SUCCESS
                                                                           : no_tables(n);
}

weft_status weft_trip_create_long(const weft_pass_request *lines, weft_trip *trip, size_t *bytes) {
    const weft_kernels *kernels = lines->kernels;
    const bool real = lines->kind != WEFT_TRANSFORM_C2C;
    const bool c2r = lines->kind == WEFT_TRANSFORM_C2R;
    const weft_direction direction = !real ? lines->direction : c2r ? WEFT_INVERSE : WEFT_FORWARD;
    const int64_t n = real ? lines->dim.n / 2 : lines->dim.n;
    memset(trip, 0, sizeof *trip);
    trip->kernels = kernels;
    WEFT_TRY(weft_trip_loop_over_parts(trip, lines, bytes));
    if (!weft_is_smooth(lines->dim.n) || !pairs_lie_together(lines))
        return weft_convolution_create(kernels, lines->kind, direction, &lines->dim,
                                       &trip->convolution, bytes);
    trip->passes = 2;
    trip->from[0] = c2r ? WEFT_TRIP_SECOND : WEFT_TRIP_IN;
    trip->to[0] = trip->from[1] = WEFT_TRIP_BUFFER;
    trip->to[1] = WEFT_TRIP_OUT;
    if (!matrix_suits(lines, n))
        WEFT_TRY(make_passes(trip, lines, n, direction, bytes));
    else if (!make_matrix(trip, n, direction, bytes))
        return no_tables(n);
    if (!real) return WEFT_SUCCESS;
    const int64_t stride = weft_complex_bytes(kernels);
    trip->seam = (weft_trip_seam){.before = c2r, .after = !c2r, .h = n};
    trip->seam.in = (c2r ? lines->dim.in_stride : lines->dim.out_stride) * stride;
    trip->seam.out = (c2r ? 1 : lines->dim.out_stride) * stride;
    trip->seam.roots = weft_numbers_roots(kernels, 2 * n, n / 2 + 1, bytes);
    if (c2r) trip->buffer_bytes[1] = (size_t)(n * stride);
    return trip->seam.roots ? WEFT_SUCCESS : no_tables(n);
}
