/* Loops over parts, rows and pieces, as all kinds of pass groups are made with them. */
#include "engine/native/pass_group_parts.h"

#include "engine/native/number.h"
#include "support/error.h"

#include <stdlib.h>

int64_t weft_pass_group_padded(const weft_kernels *kernels, int64_t n) {
    int64_t line = WEFT_CACHE_LINE / weft_complex_bytes(kernels);
    int64_t lanes = kernels->lanes;
    return (n + lanes - 1) / lanes * lanes + line;
}

/* Sets the strides, in bytes, of one side of the parts; `element` is the size of a number there.
 * Where the side lies in pieces, each has strides of its own. */
static weft_status make_side(const weft_pass_request *request, bool output, int64_t element,
                             weft_pass_group_side *side, size_t *bytes) {
    const weft_native_pieces *pieces = output ? &request->out : &request->in;
    side->pieces = 1;
    side->piece = &side->whole;
    if (pieces->count > 0) {
        size_t size = (size_t)pieces->count * sizeof *side->piece;
        weft_pass_group_piece *piece = calloc(1, size);
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

weft_status weft_pass_group_loop_over_parts(weft_pass_group *group,
                                            const weft_pass_request *request, size_t *bytes) {
    const int64_t number = weft_complex_bytes(request->kernels);
    group->parts = 1;
    group->loops = request->loops;
    for (int i = 0; i < request->loops; i++) {
        group->loop[i] = request->loop[i].n;
        group->parts *= request->loop[i].n;
    }
    const bool returns = request->spectrum.count > 0;
    for (int i = 0; i < request->loops && returns; i++)
        group->spectrum[i] = request->spectrum.piece->loop_stride[i];
    const bool real_out = request->kind == (returns ? WEFT_TRANSFORM_R2C : WEFT_TRANSFORM_C2R);
    WEFT_TRY(make_side(request, false, number / (request->kind == WEFT_TRANSFORM_R2C ? 2 : 1),
                       &group->in, bytes));
    return make_side(request, true, number / (real_out ? 2 : 1), &group->out, bytes);
}

void weft_pass_group_lay_rows(const weft_pass_group *group, int64_t rows, int64_t stride,
                              const weft_native_pieces *pieces, weft_pass_group_side *side) {
    const int64_t element = weft_complex_bytes(group->kernels);
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

void weft_pass_group_gather(const weft_native_pieces *given, weft_pass_group_pieces *g) {
    for (int p = 0; p < given->count; p++) g->piece[p] = given->piece[p];
    g->pieces = (weft_native_pieces){given->count, g->piece};
}

void weft_pass_group_set_strides(const weft_native_pieces *given, int from,
                                 weft_pass_group_pieces *g, int to) {
    for (int p = 0; p < given->count; p++)
        g->piece[p].loop_stride[to] = given->piece[p].loop_stride[from];
}
