/*
 * Transforms that load straight from partners' arrays: where an engine can take its input in
 * pieces, a shared exchange (exchange method peer) followed by a transform is left without a copy.
 * The exchange then waits until the partners' arrays are complete, and the transform reads them
 * there.
 *
 * Each rank decides for itself: partners see the same two words either way.
 */
#include "exec/plan.h"

#include <stdlib.h>

/* The axis along which what the members send lies side by side in this rank's array, or -1. */
static int gathered_axis(const weft_redistribution *r) {
    int axis = -1;
    for (int m = 0; m < r->members; m++) {
        if (r->receive[m].elements == 0) continue;
        for (int a = 0; a < r->dst_box.axes; a++) {
            if (r->receive[m].view.n[a] == r->dst_box.n[a] || a == axis) continue;
            if (axis >= 0) return -1;
            axis = a;
        }
    }
    return axis;
}

/* The dimension of the transform that is this axis, or -1. */
static int dimension_of(const weft_step *fft, int axis) {
    for (int d = 0; d < fft->transform.dims; d++)
        if (fft->axis[fft->transform.dims - 1 - d] == axis) return d;
    return -1;
}

/* The blocks of the members as pieces of the transform's input, by index. */
static int make_pieces(const weft_redistribution *r, const weft_step *fft, int axis,
                       weft_piece *piece) {
    const weft_transform *t = &fft->transform;
    int pieces = 0;
    for (int m = 0; m < r->members; m++) {
        const weft_block *block = &r->receive[m];
        if (block->elements == 0) continue;
        weft_piece made = {.array = m,
                           .first = block->view.offset / block->view.stride[axis],
                           .n = block->view.n[axis],
                           .offset = block->origin.offset};
        bool transformed[WEFT_AXES] = {false};
        for (int d = 0; d < t->dims; d++) {
            int a = fft->axis[t->dims - 1 - d];
            transformed[a] = true;
            made.dim_stride[d] = block->origin.stride[a];
        }
        for (int a = 0, loop = 0; a < r->dst_box.axes; a++)
            if (!transformed[a] && r->dst_box.n[a] != 1)
                made.loop_stride[loop++] = block->origin.stride[a];
        int at = pieces++;
        for (; at > 0 && piece[at - 1].first > made.first; at--) piece[at] = piece[at - 1];
        piece[at] = made;
    }
    return pieces;
}

weft_status weft_build_fuse(weft_build *b, int s, int i) {
    const weft_step *exchange = &b->schedule[s].step[i - 1], *fft = exchange + 1;
    const weft_redistribution *r = &exchange->exchange;
    if (!b->engine->loads_pieces || !b->device.ops->host_addressable ||
        exchange->kind != WEFT_STEP_EXCHANGE || !exchange->method->shared ||
        fft->src != exchange->dst || fft->dst == exchange->src)
        return WEFT_SUCCESS;
    int axis = gathered_axis(r), dimension = axis < 0 ? -1 : dimension_of(fft, axis);
    if (dimension < 0) return WEFT_SUCCESS;
    weft_piece *piece = calloc((size_t)r->members, sizeof *piece);
    if (!piece) return WEFT_SUCCESS; /* the copy does as well */
    weft_transform t = fft->transform;
    t.in_place = t.destroy_input = false;
    t.piece = piece;
    t.pieces = make_pieces(r, fft, axis, piece);
    t.piece_dim = dimension;
    weft_status status = WEFT_SUCCESS;
    if (b->engine->supports(&t, b->device.ops) == WEFT_SUCCESS) {
        size_t bytes = 0;
        status = b->engine->plan(&t, &b->device, &b->transform[s][i], &bytes);
        if (status == WEFT_SUCCESS) {
            t.piece = NULL;
            b->ready[b->ready_count++] = (weft_ready_transform){t, b->transform[s][i]};
            b->memory.tables += bytes;
            b->fused[s][i - 1] = true;
        }
    }
    free(piece);
    return status;
}
