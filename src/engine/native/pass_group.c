/* Makes pass groups of one pass, over everything or over blocks that stay in the cache. */
#include "engine/native/pass_group_parts.h"

#include "engine/native/convolution.h"
#include "engine/native/number.h"
#include "support/error.h"
#include "support/topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- one pass ---- */

weft_status weft_pass_group_create_pass(const weft_pass_request *request, weft_pass_group *group,
                                        size_t *bytes) {
    memset(group, 0, sizeof *group);
    group->kernels = request->kernels;
    group->passes = 1;
    group->direct = request->out.count == 0;
    group->from[0] = WEFT_PASS_GROUP_IN;
    group->to[0] = WEFT_PASS_GROUP_OUT;
    weft_pass_request one_part = *request;
    one_part.loops = 0;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, &one_part, bytes));
    return weft_native_pass_create(request, &group->pass[0], bytes);
}

/* ---- blocks ---- */

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

static int find_neighbours(const weft_pass_request *r) {
    for (int i = 0; i < r->loops; i++)
        if (r->loop[i].in_stride == 1 && r->loop[i].out_stride == 1) return i;
    return -1;
}

/* Lines that span no more than a few times the second-level cache are faster where they lie. */
bool weft_pass_group_wants_blocks(const weft_pass_request *r) {
    int i = find_neighbours(r);
    int64_t element = weft_complex_bytes(r->kernels), stride = llabs(r->dim.in_stride) * element;
    return r->kind == WEFT_TRANSFORM_C2C && i >= 0 && r->dim.n >= 16 &&
           r->loop[i].n * element >= NARROW_BYTES && stride >= LARGE_STRIDE &&
           r->dim.n * stride > 4 * (int64_t)weft_topology_get()->l2 &&
           block_bytes(r->dim.n, r->cache) > 0;
}

bool weft_pass_group_takes_blocks(int64_t n, size_t cache) {
    return block_bytes(n, cache) > 0;
}

static bool all_strides_are(const weft_native_pieces *pieces, int loop, int64_t stride) {
    for (int p = 0; p < pieces->count; p++)
        if (pieces->piece[p].loop_stride[loop] != stride) return false;
    return true;
}

/* Sets the loops over the parts: loop 0 is over the blocks of `width` lines. Loops whose lines
 * follow each other in memory are joined, so that fewer blocks are narrow. Returns the number of
 * lines that loop 0 covers. */
static int64_t loop_over_blocks(const weft_pass_request *r, int64_t width, weft_pass_request *parts,
                                weft_pass_group_pieces *in, weft_pass_group_pieces *out,
                                weft_pass_group_pieces *spectrum) {
    const int neighbours = find_neighbours(r);
    int64_t lines = r->loop[neighbours].n, step = 1;
    parts->loops = 1;
    if (r->spectrum.count > 0) step = r->spectrum.piece->loop_stride[neighbours];
    for (int j = r->loops - 1; j >= 0; j--) {
        if (j == neighbours) continue;
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

weft_status weft_pass_group_create_blocks(const weft_pass_request *r, weft_pass_group *group,
                                          size_t *bytes) {
    const int64_t element = weft_complex_bytes(r->kernels),
                  width = block_bytes(r->dim.n, r->cache) / element;
    const int64_t lanes = r->kernels->lanes, row = width + WEFT_CACHE_LINE / element;
    weft_pass_request parts = *r;
    weft_pass_group_pieces in, out, spectrum;
    weft_pass_group_gather(&r->in, &in);
    weft_pass_group_gather(&r->out, &out);
    weft_pass_group_gather(&r->spectrum, &spectrum);
    parts.in = in.pieces;
    parts.out = out.pieces;
    parts.spectrum = spectrum.pieces;
    const int64_t lines = loop_over_blocks(r, width, &parts, &in, &out, &spectrum);
    memset(group, 0, sizeof *group);
    group->kernels = r->kernels;
    WEFT_TRY(weft_pass_group_loop_over_parts(group, &parts, bytes));
    weft_pass_group_lay_rows(group, r->dim.n, r->dim.in_stride, &parts.in, &group->in);
    weft_pass_group_lay_rows(group, r->dim.n, r->dim.out_stride, &parts.out, &group->out);
    group->buffer_bytes = (size_t)(r->dim.n * row * element);
    group->fill = group->flush = (weft_pass_group_rows){
        .rows = r->dim.n, .bytes = width * element, .buffer_stride = row * element};
    int64_t rest = lines % width;
    if (rest > 0) {
        group->last_bytes = rest * element;
        group->last_tiles = (rest + lanes - 1) / lanes;
    }
    weft_pass_request block = {.kernels = r->kernels,
                               .kind = WEFT_TRANSFORM_C2C,
                               .direction = r->direction,
                               .dim = {r->dim.n, row, row},
                               .loops = 1,
                               .loop = {{width, 1, 1}}};
    if (r->spectrum.count > 0) { /* of a block: a row is one loop */
        spectrum.piece[0].loop_stride[0] = r->spectrum.piece->loop_stride[find_neighbours(r)];
        block.spectrum = spectrum.pieces;
    }
    group->passes = 1;
    group->from[0] = group->to[0] = WEFT_PASS_GROUP_BUFFER;
    return weft_native_pass_create(&block, &group->pass[0], bytes);
}

void weft_pass_group_release(weft_pass_group *group) {
    for (int i = 0; i < group->passes; i++) weft_native_pass_release(&group->pass[i]);
    weft_root_table_release(&group->real_line.roots);
    weft_native_convolution_release(group->convolution);
    if (group->matrix) weft_matrix_release(group->matrix);
    free(group->matrix);
    if (group->in.piece != &group->in.whole) free(group->in.piece);
    if (group->out.piece != &group->out.whole) free(group->out.piece);
}

/* What stores the results of a pass. */
static weft_native_pass *last_half(weft_native_pass *pass) {
    return pass->back ? &pass->back->pass : pass;
}

void weft_pass_group_store_past(weft_pass_group *group, bool past) {
    group->past = past;
    for (int i = 0; i < group->passes; i++)
        last_half(&group->pass[i])->stream = past && group->to[i] == WEFT_PASS_GROUP_OUT;
}

/* The last step that stores into the output multiplies. */
void weft_pass_group_scale(weft_pass_group *group, double scale) {
    group->scale = scale;
    if (group->convolution) weft_native_convolution_scale(group->convolution, scale);
    for (int i = 0; i < group->passes; i++)
        last_half(&group->pass[i])->scale =
            group->to[i] == WEFT_PASS_GROUP_OUT && !group->real_line.after ? scale : 1;
}

void weft_pass_group_load_operated(weft_pass_group *group, const weft_native_operated *operated) {
    group->pass[0].in.operated = operated;
}

void weft_pass_group_store_operated(weft_pass_group *group, const weft_native_operated *operated) {
    if (group->flush.rows > 0)
        group->operated = operated;
    else
        group->pass[group->passes - 1].out.operated = operated;
}

void weft_pass_group_operate_between(weft_pass_group *group, const weft_native_operated *operated) {
    for (int i = 0; i < group->passes; i++)
        if (group->pass[i].back) group->pass[i].back->operated = operated;
}
