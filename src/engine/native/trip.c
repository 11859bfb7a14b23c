/* What a trip is made of: its parts, the passes over each, and how much of it stays in the cache.
 */
#include "engine/native/trip.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "engine/roots.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* Complex numbers from one row of a buffer to the next: whole tiles, and an odd number of cache
 * lines, so that rows do not compete for the same sets of the cache. */
static int64_t padded(const weft_kernels *kernels, int64_t n) {
    int64_t line = CACHE_LINE / weft_complex_bytes(kernels);
    int64_t lanes = kernels->lanes;
    return (n + lanes - 1) / lanes * lanes + line;
}

/* One side of the parts: `element` bytes times the strides of the loops, and the pieces, if there
 * are any. */
static weft_status make_side(const weft_pass_request *request, bool output, int64_t element,
                             weft_trip_side *side, size_t *bytes) {
    const weft_native_pieces *pieces = output ? &request->out : &request->in;
    side->pieces = 1;
    side->piece = &side->whole;
    if (pieces->count > 0) {
        size_t size = (size_t)pieces->count * sizeof *side->piece;
        weft_trip_piece *piece = calloc(1, size);
        if (!piece) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory");
        *bytes += size;
        side->pieces = pieces->count;
        side->piece = piece;
    }
    for (int i = 0; i < request->loops; i++) {
        const weft_dimension *loop = &request->loop[i];
        side->whole.stride[i] = (output ? loop->out_stride : loop->in_stride) * element;
        for (int p = 0; p < pieces->count; p++)
            side->piece[p].stride[i] = pieces->piece[p].loop_stride[i] * element;
    }
    return WEFT_SUCCESS;
}

/* The request's loops as those over the parts; with its pieces, if there are any. */
static weft_status loop_over_parts(weft_trip *trip, const weft_pass_request *request,
                                   size_t *bytes) {
    const int64_t number = weft_complex_bytes(request->kernels);
    trip->parts = 1;
    trip->loops = request->loops;
    for (int i = 0; i < request->loops; i++) {
        trip->loop[i] = request->loop[i].n;
        trip->parts *= request->loop[i].n;
    }
    WEFT_TRY(make_side(request, false, number / (request->kind == WEFT_TRANSFORM_R2C ? 2 : 1),
                       &trip->in, bytes));
    return make_side(request, true, number / (request->kind == WEFT_TRANSFORM_C2R ? 2 : 1),
                     &trip->out, bytes);
}

/* Where the rows of `fill` or `flush` lie: `stride` complex numbers apart in one array, or in
 * pieces. */
static void lay_rows(const weft_trip *trip, int64_t rows, int64_t stride,
                     const weft_native_pieces *pieces, weft_trip_side *side) {
    const int64_t element = weft_complex_bytes(trip->kernels);
    side->whole.rows = rows;
    side->whole.row_stride = stride * element;
    for (int p = 0; p < pieces->count; p++) {
        const weft_native_piece *piece = &pieces->piece[p];
        side->piece[p].first = piece->first;
        side->piece[p].rows = piece->points;
        side->piece[p].row_stride = piece->stride * element;
        side->piece[p].offset = piece->offset * element;
    }
}

/* ---- one pass ---- */

weft_status weft_trip_create_pass(const weft_pass_request *request, weft_trip *trip,
                                  size_t *bytes) {
    memset(trip, 0, sizeof *trip);
    trip->kernels = request->kernels;
    trip->passes = 1;
    trip->direct = request->out.count == 0;
    trip->from[0] = WEFT_TRIP_IN;
    trip->to[0] = WEFT_TRIP_OUT;
    weft_pass_request one_part = *request;
    one_part.loops = 0;
    WEFT_TRY(loop_over_parts(trip, &one_part, bytes));
    return weft_native_pass_create(request, &trip->pass[0], bytes);
}

/* ---- blocks ---- */

enum {
    BLOCK_BYTES = 1024,  /* of a row, ... */
    NARROW_BYTES = 512,  /* ... or of one of very many */
    FAR_APART = 1 << 13, /* bytes between points from which on blocks pay */
};

/* Bytes of each row of a block of n rows, such that it stays in the cache of one core, or at least
 * in its share of the last one; 0 where it does not. */
static int64_t block_bytes(int64_t n) {
    const weft_topology *topology = weft_topology_get();
    if (n * (BLOCK_BYTES + CACHE_LINE) <= (int64_t)topology->l2 / 4 * 3) return BLOCK_BYTES;
    int64_t share = (int64_t)topology->last_level / 5;
    return n * (NARROW_BYTES + CACHE_LINE) <= share ? NARROW_BYTES : 0;
}

static int find_neighbours(const weft_pass_request *r) {
    for (int i = 0; i < r->loops; i++)
        if (r->loop[i].in_stride == 1 && r->loop[i].out_stride == 1) return i;
    return -1;
}

/* Lines that span only a few times the second-level cache are transformed where they lie. */
bool weft_trip_wants_blocks(const weft_pass_request *r) {
    int i = find_neighbours(r);
    int64_t element = weft_complex_bytes(r->kernels), apart = llabs(r->dim.in_stride) * element;
    return r->kind == WEFT_TRANSFORM_C2C && i >= 0 && r->dim.n >= 16 &&
           r->loop[i].n * element >= NARROW_BYTES && apart >= FAR_APART &&
           r->dim.n * apart > 4 * (int64_t)weft_topology_get()->l2 && block_bytes(r->dim.n) > 0;
}

/* The pieces of one side while a block's loops are put together: their strides follow the loops. */
typedef struct gathered {
    weft_native_piece piece[WEFT_MAX_PIECES];
    weft_native_pieces pieces;
} gathered;

static void gather_pieces(const weft_native_pieces *given, gathered *g) {
    for (int p = 0; p < given->count; p++) g->piece[p] = given->piece[p];
    g->pieces = (weft_native_pieces){given->count, g->piece};
}

static bool all_strides_are(const weft_native_pieces *pieces, int loop, int64_t stride) {
    for (int p = 0; p < pieces->count; p++)
        if (pieces->piece[p].loop_stride[loop] != stride) return false;
    return true;
}

static void set_strides(const weft_native_pieces *given, int from, gathered *g, int to) {
    for (int p = 0; p < given->count; p++)
        g->piece[p].loop_stride[to] = given->piece[p].loop_stride[from];
}

/* Loop 0 of the parts goes over the blocks of `width` lines. Lines beyond a loop's end may be the
 * next loop's: they are joined as far as possible; returns how many there are. */
static int64_t loop_over_blocks(const weft_pass_request *r, int64_t width, weft_pass_request *parts,
                                gathered *in, gathered *out) {
    const int neighbours = find_neighbours(r);
    int64_t lines = r->loop[neighbours].n;
    parts->loops = 1;
    for (int j = r->loops - 1; j >= 0; j--) {
        if (j == neighbours) continue;
        if (r->loop[j].in_stride == lines && r->loop[j].out_stride == lines &&
            all_strides_are(&r->in, j, lines) && all_strides_are(&r->out, j, lines)) {
            lines *= r->loop[j].n;
            continue;
        }
        set_strides(&r->in, j, in, parts->loops);
        set_strides(&r->out, j, out, parts->loops);
        parts->loop[parts->loops++] = r->loop[j];
    }
    parts->loop[0] = (weft_dimension){(lines + width - 1) / width, width, width};
    for (int p = 0; p < r->in.count; p++) in->piece[p].loop_stride[0] = width;
    for (int p = 0; p < r->out.count; p++) out->piece[p].loop_stride[0] = width;
    return lines;
}

weft_status weft_trip_create_blocks(const weft_pass_request *r, weft_trip *trip, size_t *bytes) {
    const int64_t element = weft_complex_bytes(r->kernels), width = block_bytes(r->dim.n) / element;
    const int64_t lanes = r->kernels->lanes, row = width + CACHE_LINE / element;
    weft_pass_request parts = *r;
    gathered in, out;
    gather_pieces(&r->in, &in);
    gather_pieces(&r->out, &out);
    parts.in = in.pieces;
    parts.out = out.pieces;
    const int64_t lines = loop_over_blocks(r, width, &parts, &in, &out);
    memset(trip, 0, sizeof *trip);
    trip->kernels = r->kernels;
    WEFT_TRY(loop_over_parts(trip, &parts, bytes));
    lay_rows(trip, r->dim.n, r->dim.in_stride, &parts.in, &trip->in);
    lay_rows(trip, r->dim.n, r->dim.out_stride, &parts.out, &trip->out);
    trip->buffer_bytes[0] = (size_t)(r->dim.n * row * element);
    trip->fill = trip->flush = (weft_trip_rows){
        .rows = r->dim.n, .bytes = width * element, .buffer_stride = row * element};
    int64_t rest = lines % width;
    if (rest > 0) {
        trip->last_bytes = rest * element;
        trip->last_groups = (rest + lanes - 1) / lanes;
    }
    weft_pass_request block = {.kernels = r->kernels,
                               .kind = WEFT_TRANSFORM_C2C,
                               .direction = r->direction,
                               .dim = {r->dim.n, row, row},
                               .loops = 1,
                               .loop = {{width, 1, 1}}};
    trip->passes = 1;
    trip->from[0] = trip->to[0] = WEFT_TRIP_BUFFER;
    return weft_native_pass_create(&block, &trip->pass[0], bytes);
}

/* ---- planes ---- */

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
    p.stride = padded(kernels, p.columns);
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

weft_status weft_trip_create_plane(const weft_pass_request *planes, const weft_dimension *first,
                                   const weft_dimension *second, weft_trip *trip, size_t *bytes) {
    const weft_kernels *kernels = planes->kernels;
    memset(trip, 0, sizeof *trip);
    trip->kernels = kernels;
    WEFT_TRY(loop_over_parts(trip, planes, bytes));
    const bool second_contiguous =
        planes->kind == WEFT_TRANSFORM_C2R ||
        (planes->kind == WEFT_TRANSFORM_C2C && llabs(second->in_stride) < llabs(first->in_stride));
    const plane p = plane_of(kernels, planes->kind, first->n, second->n, second_contiguous);
    trip->buffer_bytes[0] = weft_trip_plane_bytes(kernels, planes->kind, first->n, second->n);
    weft_pass_request one = {.kernels = kernels, .direction = planes->direction, .loops = 1};
    weft_pass_request two = one;
    one.kind = planes->kind == WEFT_TRANSFORM_R2C ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2C;
    two.kind = planes->kind == WEFT_TRANSFORM_C2R ? WEFT_TRANSFORM_C2R : WEFT_TRANSFORM_C2C;
    if (second_contiguous) {
        one.dim = (weft_dimension){first->n, first->in_stride, p.stride};
        one.loop[0] = (weft_dimension){p.columns, second->in_stride, 1};
        two.dim = (weft_dimension){second->n, 1, second->out_stride};
        two.loop[0] = (weft_dimension){first->n, p.stride, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_C2R) one.direction = WEFT_INVERSE;
    } else {
        one.dim = (weft_dimension){first->n, first->in_stride, 1};
        one.loop[0] = (weft_dimension){second->n, second->in_stride, p.stride};
        two.dim = (weft_dimension){second->n, p.stride, second->out_stride};
        two.loop[0] = (weft_dimension){p.columns, 1, first->out_stride};
        if (planes->kind == WEFT_TRANSFORM_R2C) two.direction = WEFT_FORWARD;
    }
    gathered in, out; /* loop 0 of either pass is the plane's other axis */
    gather_pieces(&planes->in, &in);
    gather_pieces(&planes->out, &out);
    set_strides(&planes->in, planes->loops, &in, 0);
    set_strides(&planes->out, planes->loops, &out, 0);
    one.in = in.pieces;
    two.out = out.pieces;
    trip->from[0] = WEFT_TRIP_IN;
    /* Lines that run across the plane's rows meet memory in short runs: rather, whole rows are
     * copied into the buffer first. */
    if (second_contiguous && second->in_stride == 1) {
        const int64_t element = weft_complex_bytes(kernels);
        trip->fill = (weft_trip_rows){
            .rows = p.rows, .bytes = p.columns * element, .buffer_stride = p.stride * element};
        lay_rows(trip, p.rows, first->in_stride, &one.in, &trip->in);
        trip->from[0] = WEFT_TRIP_BUFFER;
        one.dim.in_stride = p.stride;
        one.loop[0].in_stride = 1;
        one.in.count = 0;
    }
    trip->passes = 2;
    trip->to[0] = trip->from[1] = WEFT_TRIP_BUFFER;
    trip->to[1] = WEFT_TRIP_OUT;
    /* Rows that begin anywhere in a cache line cannot be streamed a tile at a time, but whole. */
    if (!second_contiguous && first->out_stride == 1 &&
        second->out_stride * weft_complex_bytes(kernels) % CACHE_LINE != 0) {
        const int64_t element = weft_complex_bytes(kernels);
        trip->to[1] = WEFT_TRIP_BUFFER;
        trip->flush = (weft_trip_rows){
            .rows = p.rows, .bytes = p.columns * element, .buffer_stride = p.stride * element};
        lay_rows(trip, p.rows, second->out_stride, &two.out, &trip->out);
        two.dim.out_stride = p.stride;
        two.out.count = 0;
    }
    WEFT_TRY(weft_native_pass_create(&one, &trip->pass[0], bytes));
    WEFT_TRY(weft_native_pass_create(&two, &trip->pass[1], bytes));
    trip->pass[0].in.padded = trip->fill.rows > 0 && trip->pass[0].in.access == WEFT_ACROSS;
    trip->pass[1].in.padded = trip->pass[1].in.access == WEFT_ACROSS;
    return WEFT_SUCCESS;
}

/* ---- long lines ---- */

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
    const int64_t n2 = split_length(kernels, n), n1 = n / n2, row = padded(kernels, n2);
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
    WEFT_TRY(loop_over_parts(trip, lines, bytes));
    if (!weft_stages_smooth(lines->dim.n) || !pairs_lie_together(lines))
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

void weft_trip_release(weft_trip *trip) {
    for (int i = 0; i < trip->passes; i++) weft_native_pass_release(&trip->pass[i]);
    free(trip->seam.roots);
    weft_convolution_release(trip->convolution);
    if (trip->matrix) weft_matrix_release(trip->matrix);
    free(trip->matrix);
    if (trip->in.piece != &trip->in.whole) free(trip->in.piece);
    if (trip->out.piece != &trip->out.whole) free(trip->out.piece);
}

void weft_trip_store_past(weft_trip *trip, bool past) {
    trip->past = past;
    for (int i = 0; i < trip->passes; i++)
        trip->pass[i].stream = past && trip->to[i] == WEFT_TRIP_OUT;
}
