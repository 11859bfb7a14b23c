/*
 * Makes pass groups of one pass over blocks of lines that stay in the cache: rows of lines that are
 * neighbours in memory are copied into a buffer, or out of it, in long runs, where a tile would
 * load or store a few numbers of each row.
 */
#include "engine/native/pass_group_parts.h"

#include "engine/native/number.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1024,     /* of a row of a block */
    NARROW_BYTES = 512,     /* of a row of a block of very many rows */
    LARGE_STRIDE = 1 << 13, /* least bytes from point to point for which blocks pay */
};

/* Bytes of each row of a block of n rows, chosen so that the block stays in the second-level cache,
 * or at least in a core's share of the last-level cache. 0: no block does. */
static int64_t block_bytes(int64_t n, size_t cache) {
    const weft_topology *topology = weft_topology_get();
    if (n * (BLOCK_BYTES + WEFT_CACHE_LINE) <= (int64_t)topology->l2 / 4 * 3) return BLOCK_BYTES;
    int64_t share = (int64_t)topology->last_level / 5, room = (int64_t)cache / 5 * 4;
    if (share > room) share = room;
    return n * (NARROW_BYTES + WEFT_CACHE_LINE) <= share ? NARROW_BYTES : 0;
}

bool weft_pass_group_takes_blocks(int64_t n, size_t cache) {
    return block_bytes(n, cache) > 0;
}

/* The loops over lines that are neighbours in memory, in the input and in the output: one that is
 * so on both sides where there is one. -1: none. */
typedef struct neighbours {
    int in, out;
} neighbours;

static neighbours find_neighbours(const weft_pass_request *r) {
    neighbours found = {-1, -1};
    for (int i = r->loops - 1; i >= 0; i--) {
        if (r->loop[i].in_stride == 1) found.in = i;
        if (r->loop[i].out_stride == 1) found.out = i;
    }
    for (int i = 0; i < r->loops; i++)
        if (r->loop[i].in_stride == 1 && r->loop[i].out_stride == 1) return (neighbours){i, i};
    return found;
}

/* Lines of a block of those that are neighbours on one side only: a divisor of their number, since
 * no more may be loaded or stored on the other side. 0: too few. */
static int64_t lines_of_one_side(const weft_pass_request *r, int64_t lines) {
    const int64_t element = weft_complex_bytes(r->kernels);
    int64_t width = block_bytes(r->dim.n, r->cache) / element;
    while (width > 0 && lines % width != 0) width--;
    return width * element >= NARROW_BYTES / 2 ? width : 0;
}

bool weft_pass_group_has_blocks(const weft_pass_request *r) {
    const neighbours beside = find_neighbours(r);
    const bool in = beside.in >= 0, out = beside.out >= 0;
    if (r->kind != WEFT_TRANSFORM_C2C || !(in || out) || block_bytes(r->dim.n, r->cache) == 0)
        return false;
    if (beside.in == beside.out) return true;
    if (r->spectrum.count > 0) return false;
    if (in && out)
        return r->in.count == 0 && r->out.count == 0 && r->in_stored.low == 0 &&
               r->out_stored.low == 0;
    return lines_of_one_side(r, r->loop[in ? beside.in : beside.out].n) > 0;
}

/* Lines that span no more than a few times the second-level cache are faster where they lie. */
static bool lies_far_apart(const weft_pass_request *r, int64_t stride) {
    const int64_t distance = llabs(stride) * weft_complex_bytes(r->kernels);
    return distance >= LARGE_STRIDE && r->dim.n >= 16 &&
           r->dim.n * distance > 4 * (int64_t)weft_topology_get()->l2;
}

/* A tile would load or store each number of its own where other lines are neighbours on either
 * side, so blocks pay there at any stride, if their runs fill cache lines and there are enough of
 * them. Where points are contiguous in the input, tiles store whole cache lines past the caches, if
 * rows begin at one, which is as fast as blocks. All as measured on a Xeon. */
bool weft_pass_group_wants_blocks(const weft_pass_request *r, bool same) {
    enum { FEW_POINTS = 5, FEW_NUMBERS = 4096 };
    const neighbours beside = find_neighbours(r);
    const bool far_in = lies_far_apart(r, r->dim.in_stride),
               far_out = lies_far_apart(r, r->dim.out_stride);
    const int64_t element = weft_complex_bytes(r->kernels);
    if (!weft_pass_group_has_blocks(r)) return false;
    if (beside.in == beside.out)
        return same && far_in && r->loop[beside.in].n * element >= NARROW_BYTES;
    if (beside.out < 0) return far_in && r->dim.out_stride == 1;
    if (beside.in < 0)
        return far_out && r->dim.in_stride == 1 &&
               r->dim.out_stride * element % WEFT_CACHE_LINE != 0;
    const int64_t across = r->loop[beside.in].n, down = r->loop[beside.out].n;
    return across * element >= WEFT_CACHE_LINE && down * element >= WEFT_CACHE_LINE &&
           r->dim.n >= FEW_POINTS && across * down * r->dim.n >= FEW_NUMBERS;
}

/* ---- what all blocks have ---- */

/* Distance of the rows of the buffer, in complex numbers: a cache line more than they hold, so that
 * they do not compete for the same sets of the cache. */
static int64_t row_stride(const weft_pass_request *r, int64_t lines) {
    return lines + WEFT_CACHE_LINE / weft_complex_bytes(r->kernels);
}

static weft_pass_group_rows rows_of(const weft_pass_request *r, int64_t lines) {
    const int64_t element = weft_complex_bytes(r->kernels);
    return (weft_pass_group_rows){.rows = r->dim.n,
                                  .bytes = lines * element,
                                  .buffer_stride = row_stride(r, lines) * element};
}

/* Begins a group of one pass over blocks of so many lines, with the loops of `parts` over them. */
static weft_status begin_group(const weft_pass_request *parts, int64_t lines,
                               weft_pass_group *group, size_t *bytes) {
    const weft_pass_group_rows rows = rows_of(parts, lines);
    memset(group, 0, sizeof *group);
    group->kernels = parts->kernels;
    group->passes = 1;
    group->buffer_bytes = (size_t)(rows.rows * rows.buffer_stride);
    return weft_pass_group_loop_over_parts(group, parts, bytes);
}

/* Makes the pass over a block that is copied into the buffer and back. */
static weft_status create_in_buffer(const weft_pass_request *r, int64_t lines,
                                    weft_native_pieces spectrum, weft_pass_group *group,
                                    size_t *bytes) {
    const int64_t row = row_stride(r, lines);
    const weft_pass_request block = {.kernels = r->kernels,
                                     .kind = WEFT_TRANSFORM_C2C,
                                     .direction = r->direction,
                                     .dim = {r->dim.n, row, row},
                                     .loops = 1,
                                     .loop = {{lines, 1, 1}},
                                     .in_stored = r->in_stored,
                                     .out_stored = r->out_stored,
                                     .spectrum = spectrum};
    group->from[0] = group->to[0] = WEFT_PASS_GROUP_BUFFER;
    group->fill = group->flush = rows_of(r, lines);
    return weft_native_pass_create(&block, &group->pass[0], bytes);
}

/* ---- the same neighbours on both sides ---- */

static bool all_strides_are(const weft_native_pieces *pieces, int loop, int64_t stride) {
    for (int p = 0; p < pieces->count; p++)
        if (pieces->piece[p].loop_stride[loop] != stride) return false;
    return true;
}

/* Sets the loops over the parts: loop 0 is over the blocks of `width` lines. Loops whose lines
 * follow each other in memory are joined, so that fewer blocks are narrow. Returns the number of
 * lines that loop 0 covers. */
static int64_t loop_over_blocks(const weft_pass_request *r, int beside, int64_t width,
                                weft_pass_request *parts, weft_pass_group_pieces *in,
                                weft_pass_group_pieces *out, weft_pass_group_pieces *spectrum) {
    int64_t lines = r->loop[beside].n, step = 1;
    parts->loops = 1;
    if (r->spectrum.count > 0) step = r->spectrum.piece->loop_stride[beside];
    for (int j = r->loops - 1; j >= 0; j--) {
        if (j == beside) continue;
        if (r->loop[j].in_stride == lines && r->loop[j].out_stride == lines &&
            all_strides_are(&r->in, j, lines) && all_strides_are(&r->out, j, lines) &&
            all_strides_are(&r->spectrum, j, lines * step)) {
            lines *= r->loop[j].n;
            continue;
        }
        weft_pass_group_set_strides(&r->in, j, in, parts->loops);
        weft_pass_group_set_strides(&r->out, j, out, parts->loops);
        weft_pass_group_set_strides(&r->spectrum, j, spectrum, parts->loops);
        parts->loop[parts->loops++] = r->loop[j];
    }
    parts->loop[0] = (weft_dimension){(lines + width - 1) / width, width, width};
    for (int p = 0; p < r->in.count; p++) in->piece[p].loop_stride[0] = width;
    for (int p = 0; p < r->out.count; p++) out->piece[p].loop_stride[0] = width;
    for (int p = 0; p < r->spectrum.count; p++) spectrum->piece[p].loop_stride[0] = width * step;
    return lines;
}

/* Points of a line that lie in memory, the first ones where there are no pieces: only these are
 * copied. */
static int64_t stored_of(const weft_pass_request *r, bool output) {
    const int64_t stored = (output ? r->out_stored : r->in_stored).low;
    return stored > 0 ? stored : r->dim.n;
}

static weft_status create_on_both_sides(const weft_pass_request *r, int beside,
                                        weft_pass_group *group, size_t *bytes) {
    const int64_t element = weft_complex_bytes(r->kernels), lanes = r->kernels->lanes,
                  width = block_bytes(r->dim.n, r->cache) / element;
    weft_pass_request parts = *r;
    weft_pass_group_pieces in, out, spectrum;
    weft_pass_group_gather(&r->in, &in);
    weft_pass_group_gather(&r->out, &out);
    weft_pass_group_gather(&r->spectrum, &spectrum);
    parts.in = in.pieces;
    parts.out = out.pieces;
    parts.spectrum = spectrum.pieces;
    const int64_t lines = loop_over_blocks(r, beside, width, &parts, &in, &out, &spectrum);
    WEFT_TRY(begin_group(&parts, width, group, bytes));
    weft_pass_group_lay_rows(group, stored_of(r, false), r->dim.in_stride, &parts.in, &group->in);
    weft_pass_group_lay_rows(group, stored_of(r, true), r->dim.out_stride, &parts.out, &group->out);
    const int64_t rest = lines % width;
    if (rest > 0) {
        group->last_bytes = rest * element;
        group->last_tiles = (rest + lanes - 1) / lanes;
    }
    /* Of a block: a row is one loop. */
    weft_pass_group_set_strides(&r->spectrum, beside, &spectrum, 0);
    return create_in_buffer(r, width, spectrum.pieces, group, bytes);
}

/* ---- neighbours on one side, points of a line on the other ---- */

static weft_status create_on_one_side(const weft_pass_request *r, int beside, bool output,
                                      weft_pass_group *group, size_t *bytes) {
    const weft_dimension all = r->loop[beside];
    const int64_t width = lines_of_one_side(r, all.n), row = row_stride(r, width);
    weft_pass_request parts = *r;
    weft_pass_group_pieces in, out;
    weft_pass_group_gather(&r->in, &in);
    weft_pass_group_gather(&r->out, &out);
    for (int p = 0; p < r->in.count; p++) in.piece[p].loop_stride[beside] *= width;
    for (int p = 0; p < r->out.count; p++) out.piece[p].loop_stride[beside] *= width;
    parts.in = in.pieces;
    parts.out = out.pieces;
    parts.loop[beside] =
        (weft_dimension){all.n / width, all.in_stride * width, all.out_stride * width};
    WEFT_TRY(begin_group(&parts, width, group, bytes));
    weft_pass_group_set_strides(&r->in, beside, &in, 0);
    weft_pass_group_set_strides(&r->out, beside, &out, 0);
    weft_pass_request block = {.kernels = r->kernels,
                               .kind = WEFT_TRANSFORM_C2C,
                               .direction = r->direction,
                               .dim = r->dim,
                               .loops = 1,
                               .loop = {{width, all.in_stride, all.out_stride}},
                               .in = in.pieces,
                               .out = out.pieces,
                               .in_stored = r->in_stored,
                               .out_stored = r->out_stored};
    group->from[0] = output ? WEFT_PASS_GROUP_IN : WEFT_PASS_GROUP_BUFFER;
    group->to[0] = output ? WEFT_PASS_GROUP_BUFFER : WEFT_PASS_GROUP_OUT;
    if (output) {
        group->flush = rows_of(r, width);
        weft_pass_group_lay_rows(group, stored_of(r, true), r->dim.out_stride, &parts.out,
                                 &group->out);
        block.out.count = 0;
        block.dim.out_stride = row;
    } else {
        group->fill = rows_of(r, width);
        weft_pass_group_lay_rows(group, stored_of(r, false), r->dim.in_stride, &parts.in,
                                 &group->in);
        block.in.count = 0;
        block.dim.in_stride = row;
    }
    return weft_native_pass_create(&block, &group->pass[0], bytes);
}

/* ---- other neighbours on either side ---- */

static int64_t blocks_of(int64_t lines, int64_t width) {
    return (lines + width - 1) / width;
}

static weft_status create_transposed(const weft_pass_request *r, neighbours beside,
                                     weft_pass_group *group, size_t *bytes) {
    const int64_t element = weft_complex_bytes(r->kernels), most = WEFT_PASS_GROUP_RUN / element;
    const weft_dimension *across = &r->loop[beside.in], *down = &r->loop[beside.out];
    const int64_t height = down->n < most ? down->n : most;
    const int64_t room = block_bytes(r->dim.n, r->cache) / element / height;
    const int64_t width = across->n < room ? across->n : room;
    weft_pass_request parts = {
        .kernels = r->kernels,
        .kind = r->kind,
        .dim = r->dim,
        .loops = 2,
        .loop = {{blocks_of(across->n, width), width, across->out_stride * width},
                 {blocks_of(down->n, height), down->in_stride * height, height}}};
    for (int i = 0; i < r->loops; i++)
        if (i != beside.in && i != beside.out) parts.loop[parts.loops++] = r->loop[i];
    WEFT_TRY(begin_group(&parts, width * height, group, bytes));
    weft_pass_group_lay_rows(group, r->dim.n, r->dim.in_stride, &parts.in, &group->in);
    weft_pass_group_lay_rows(group, r->dim.n, r->dim.out_stride, &parts.out, &group->out);
    group->transposed = (weft_pass_group_transposed){.across = width,
                                                     .down = height,
                                                     .lines_across = across->n,
                                                     .lines_down = down->n,
                                                     .in_stride = down->in_stride * element,
                                                     .out_stride = across->out_stride * element};
    return create_in_buffer(r, width * height, r->spectrum, group, bytes);
}

weft_status weft_pass_group_create_blocks(const weft_pass_request *r, weft_pass_group *group,
                                          size_t *bytes) {
    const neighbours beside = find_neighbours(r);
    if (beside.in == beside.out) return create_on_both_sides(r, beside.in, group, bytes);
    if (beside.out < 0) return create_on_one_side(r, beside.in, false, group, bytes);
    if (beside.in < 0) return create_on_one_side(r, beside.out, true, group, bytes);
    return create_transposed(r, beside, group, bytes);
}
