/* What a trip is made of: trips of one pass, and of blocks that stay in the cache. */
#include "engine/native/trip_parts.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

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
    WEFT_TRY(weft_trip_loop_over_parts(trip, &one_part, bytes));
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
static int64_t block_bytes(const weft_pass_request *r) {
    const weft_topology *topology = weft_topology_get();
    const int64_t n = r->dim.n;
    if (n * (BLOCK_BYTES + WEFT_CACHE_LINE) <= (int64_t)topology->l2 / 4 * 3) return BLOCK_BYTES;
    int64_t share = (int64_t)topology->last_level / 5, room = (int64_t)r->cache / 5 * 4;
    if (share > room) share = room;
    return n * (NARROW_BYTES + WEFT_CACHE_LINE) <= share ? NARROW_BYTES : 0;
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
           r->dim.n * apart > 4 * (int64_t)weft_topology_get()->l2 && block_bytes(r) > 0;
}

static bool all_strides_are(const weft_native_pieces *pieces, int loop, int64_t stride) {
    for (int p = 0; p < pieces->count; p++)
        if (pieces->piece[p].loop_stride[loop] != stride) return false;
    return true;
}

/* Loop 0 of the parts goes over the blocks of `width` lines. Lines beyond a loop's end may be the
 * next loop's: they are joined as far as possible; returns how many there are. */
static int64_t loop_over_blocks(const weft_pass_request *r, int64_t width, weft_pass_request *parts,
                                weft_trip_pieces *in, weft_trip_pieces *out) {
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
        weft_trip_set_strides(&r->in, j, in, parts->loops);
        weft_trip_set_strides(&r->out, j, out, parts->loops);
        parts->loop[parts->loops++] = r->loop[j];
    }
    parts->loop[0] = (weft_dimension){(lines + width - 1) / width, width, width};
    for (int p = 0; p < r->in.count; p++) in->piece[p].loop_stride[0] = width;
    for (int p = 0; p < r->out.count; p++) out->piece[p].loop_stride[0] = width;
    return lines;
}

weft_status weft_trip_create_blocks(const weft_pass_request *r, weft_trip *trip, size_t *bytes) {
    const int64_t element = weft_complex_bytes(r->kernels), width = block_bytes(r) / element;
    const int64_t lanes = r->kernels->lanes, row = width + WEFT_CACHE_LINE / element;
    weft_pass_request parts = *r;
    weft_trip_pieces in, out;
    weft_trip_gather(&r->in, &in);
    weft_trip_gather(&r->out, &out);
    parts.in = in.pieces;
    parts.out = out.pieces;
    const int64_t lines = loop_over_blocks(r, width, &parts, &in, &out);
    memset(trip, 0, sizeof *trip);
    trip->kernels = r->kernels;
    WEFT_TRY(weft_trip_loop_over_parts(trip, &parts, bytes));
    weft_trip_lay_rows(trip, r->dim.n, r->dim.in_stride, &parts.in, &trip->in);
    weft_trip_lay_rows(trip, r->dim.n, r->dim.out_stride, &parts.out, &trip->out);
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
