/* Passes along contiguous lines that are transformed one by one, as matrices or alone. */
#include "engine/native/number.h"
#include "engine/native/pass.h"

#include <string.h>

enum { ALIGNMENT = 64 };

/* Bytes of one complex line, which may be a half spectrum. */
static size_t line_room(const weft_native_pass *pass) {
    size_t bytes = (size_t)((pass->line.n + 1) * weft_complex_bytes(pass->kernels));
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t transform_room(const weft_native_pass *pass) {
    if (pass->solver == WEFT_PASS_ALONE) return weft_lone_room(&pass->lone);
    return weft_matrix_tile_bytes(&pass->matrix) + weft_matrix_transposed_bytes(&pass->matrix);
}

/* Complex lines beside those of the caller: that of a real line of odd length or the merged one of
 * a complex-to-real transform, and the spectrum of a round trip. */
static int more_lines(const weft_native_pass *pass) {
    const bool real = pass->kind != WEFT_TRANSFORM_C2C;
    if (pass->back) return real ? 2 : 1;
    return real && (!pass->halved || pass->kind == WEFT_TRANSFORM_C2R);
}

/* The pass that stores the results. */
static const weft_native_pass *last_of(const weft_native_pass *pass) {
    return pass->back ? &pass->back->pass : pass;
}

/* Whether lines are put together from pieces or taken apart, padded or cropped, or operated on. */
static bool is_copied(const weft_native_side *side) {
    return side->pieces > 1 || side->operated || !weft_native_side_is_whole(side);
}

/* How many lines are done alone, into a block that is then copied past the caches, where results go
 * past them and each line begins at the end of the one before; else 0. */
static int64_t block_lines(const weft_native_pass *pass) {
    enum { LEAST = 4096 };
    if (pass->solver != WEFT_PASS_ALONE || !pass->stream || pass->adjoining == 0) return 0;
    const int64_t lanes = pass->kernels->lanes;
    return lanes * (1 + LEAST / (lanes * pass->adjoining));
}

/* Scratch memory for the transform; then for complex lines; then for one that is put together from
 * pieces, and for one that is stored to pieces, where operators are applied to these two, or for a
 * block. */
size_t weft_native_lines_room(const weft_native_pass *pass) {
    int lines = more_lines(pass) + is_copied(&pass->in) + is_copied(&last_of(pass)->out);
    return transform_room(pass) + (size_t)lines * line_room(pass) +
           (size_t)(block_lines(pass) * pass->adjoining);
}

static void transform_line(const weft_native_pass *pass, const void *x, void *y, void *room,
                           bool past, double scale, const void *next) {
    if (pass->solver == WEFT_PASS_ALONE)
        weft_lone_run(&pass->lone, x, y, room, scale);
    else
        weft_matrix_run(&pass->matrix, x, y, room, past, scale, next);
}

/* Real lines that are one codelet. */
static void run_real(const weft_native_pass *pass, const void *x, int64_t x_stride, void *y,
                     int64_t y_stride, int64_t count) {
    if (pass->kind == WEFT_TRANSFORM_R2C)
        pass->real_line->real(x, x_stride, y, y_stride, count, pass->scale);
    else
        pass->real_line->half(x, x_stride, y, y_stride, count, pass->scale);
}

/* Transforms one line; a real one of even length as the complex line of its pairs, one of odd
 * length as a complex line without imaginary parts. */
static void run_line(const weft_native_pass *pass, const void *x, void *y, void *room, char *line,
                     bool past, const void *next) {
    const weft_kernels *k = pass->kernels;
    const int64_t n = pass->line.n, element = weft_complex_bytes(k);
    switch (pass->kind) {
    case WEFT_TRANSFORM_C2C:
        transform_line(pass, x, y, room, past, pass->scale, next);
        return;
    case WEFT_TRANSFORM_R2C:
        if (pass->real_line) {
            run_real(pass, x, 0, y, 0, 1);
        } else if (pass->halved) {
            transform_line(pass, x, y, room, past, 1, next);
            k->split_line(y, element, n, pass->roots, 0, n / 2 + 1, pass->scale);
        } else {
            k->widen_line(x, line, n);
            transform_line(pass, line, line, room, past, 1, next);
            k->copy_scaled(line, y, (n / 2 + 1) * element, false, pass->scale);
        }
        return;
    case WEFT_TRANSFORM_C2R:
        if (pass->real_line) {
            run_real(pass, x, 0, y, 0, 1);
        } else if (pass->halved) {
            k->merge_line(x, element, line, element, n, pass->roots, 0, n / 2 + 1);
            transform_line(pass, line, y, room, past, pass->scale, next);
        } else {
            k->mirror_line(x, line, n);
            transform_line(pass, line, line, room, past, 1, next);
            k->narrow_line(line, y, n, pass->scale);
        }
        return;
    case WEFT_TRANSFORM_R2R: /* has passes of its own (r2r_pass.c) */
        return;
    }
}

/* A round trip of one line, whose spectrum begins with element number `first` of the operators'
 * box, in `spectrum`; real ones need `line` as well. */
static void run_there_and_back(const weft_native_pass *pass, const void *x, void *y, void *room,
                               char *spectrum, char *line, int64_t first) {
    const weft_native_operated *o = pass->back->operated;
    const int64_t points = pass->kind == WEFT_TRANSFORM_C2C ? pass->n : pass->n / 2 + 1;
    run_line(pass, x, spectrum, room, line, false, NULL);
    if (o) weft_pointwise_multiply_line(o->pointwise, o->axis, o->first + first, points, spectrum);
    run_line(&pass->back->pass, spectrum, y, room, line, false, NULL);
}

/* A line that is alone is merged where its results go, so that the first-level cache has less to
 * hold; lines of a batch are merged in memory that it holds already. */
void weft_native_line_run(const weft_native_pass *pass, const void *in, void *out, void *room) {
    const bool there = pass->kind == WEFT_TRANSFORM_C2R && pass->halved;
    run_line(pass, in, out, room, there ? out : (char *)room + transform_room(pass), false, NULL);
}

/* The loop indices of a line. */
static void find_index(const weft_native_pass *pass, int64_t line, int64_t *index) {
    for (int i = 0; i < pass->loops; i++) {
        index[i] = line % pass->loop[i];
        line /= pass->loop[i];
    }
}

static int64_t sum_of(const weft_native_pass *pass, const int64_t *index, const int64_t *stride) {
    int64_t sum = 0;
    for (int i = 0; i < pass->loops; i++) sum += index[i] * stride[i];
    return sum;
}

static int64_t offset_of(const weft_native_pass *pass, const weft_native_piece *piece,
                         const int64_t *index) {
    return piece->offset + sum_of(pass, index, piece->loop_stride);
}

/* Fills in the points of a line that do not lie in memory. */
static void pad_line(const weft_native_side *side, char *line) {
    const int64_t beyond = side->points - side->stored;
    memset(line + side->stored * side->whole.stride, 0, (size_t)(beyond * side->whole.stride));
}

/* Puts a contiguous line together from its pieces, and applies the operators. */
static void join_line(const weft_native_pass *pass, const void *const *in, const int64_t *index,
                      char *line) {
    for (int p = 0; p < pass->in.pieces; p++) {
        const weft_native_piece *piece = &pass->in.piece[p];
        const char *from = (const char *)in[p] + offset_of(pass, piece, index);
        const int64_t bytes = piece->points * piece->stride;
        if (pass->in.operated)
            weft_native_load_operated(pass->in.operated, pass->kernels, from, line, bytes);
        else
            pass->kernels->copy(from, line + piece->first * piece->stride, bytes, false);
    }
}

static void part_line(const weft_native_pass *pass, char *line, void *const *out,
                      const int64_t *index, bool past) {
    for (int p = 0; p < pass->out.pieces; p++) {
        const weft_native_piece *piece = &pass->out.piece[p];
        char *to = (char *)out[p] + offset_of(pass, piece, index);
        const int64_t bytes = piece->points * piece->stride;
        if (pass->out.operated)
            weft_native_store_operated(pass->out.operated, pass->kernels, line, to, bytes, past);
        else
            pass->kernels->copy(line + piece->first * piece->stride, to, bytes, past);
    }
}

/* Transforms successive lines of loop 0 alone, from where they lie. `line` is for those that are
 * merged or widened. */
static void run_row(const weft_native_pass *pass, const char *x, char *y, int64_t out_stride,
                    void *room, char *line, int64_t count) {
    const int64_t in_stride = pass->loops > 0 ? pass->in.piece->loop_stride[0] : 0;
    const bool complex = pass->kind == WEFT_TRANSFORM_C2C;
    if (pass->real_line)
        run_real(pass, x, in_stride, y, out_stride, count);
    else if (complex && pass->lone.line && pass->lone.line->lines)
        pass->lone.line->lines(x, in_stride, y, out_stride, count, pass->lone.inverse, pass->scale);
    else
        for (int64_t i = 0; i < count; i++)
            run_line(pass, x + i * in_stride, y + i * out_stride, room, line, false, NULL);
}

void weft_native_row_run(const weft_native_pass *pass, const void *in, void *out) {
    run_row(pass, (const char *)in + pass->in.piece->offset, (char *)out + pass->out.piece->offset,
            pass->out.piece->loop_stride[0], NULL, NULL, pass->lines);
}

/* Addresses are found once for each row of loop 0: short lines would lose by looking for each. */
static void run_in_rows(const weft_native_pass *pass, const void *in, void *out, void *room,
                        int64_t first, int64_t end) {
    char *line = (char *)room + transform_room(pass);
    char *block = line + (size_t)more_lines(pass) * line_room(pass);
    const int64_t in_stride = pass->loops > 0 ? pass->in.piece->loop_stride[0] : 0;
    const int64_t out_stride = pass->loops > 0 ? pass->out.piece->loop_stride[0] : 0;
    const int64_t in_block = block_lines(pass);
    while (first < end) {
        int64_t index[WEFT_PASS_LOOPS];
        find_index(pass, first, index);
        const char *x = (const char *)in + offset_of(pass, pass->in.piece, index);
        char *y = (char *)out + offset_of(pass, pass->out.piece, index);
        const int64_t left = pass->loops > 0 ? pass->loop[0] - index[0] : 1;
        const int64_t count = left < end - first ? left : end - first;
        const int64_t most = in_block > 0 ? in_block : count;
        for (int64_t i = 0; i < count; i += most, x += most * in_stride, y += most * out_stride) {
            const int64_t few = count - i < most ? count - i : most;
            run_row(pass, x, in_block > 0 ? block : y, out_stride, room, line, few);
            if (in_block > 0) pass->kernels->copy(block, y, few * out_stride, true);
        }
        first += count;
    }
    if (in_block > 0) pass->kernels->fence();
}

void weft_native_lines_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                           void *room, int64_t number, int64_t first, int64_t end) {
    const weft_native_pass *last = last_of(pass);
    const bool past = pass->solver == WEFT_PASS_MATRIX && pass->stream &&
                      pass->kind == WEFT_TRANSFORM_C2C && weft_native_pass_aligned(pass, out);
    const bool joins = is_copied(&pass->in), parts = is_copied(&last->out);
    if (pass->solver == WEFT_PASS_ALONE && !joins && !parts && !pass->back) {
        run_in_rows(pass, in[0], out[0], room, first, end);
        return;
    }
    const int64_t ahead =
        pass->loops > 0 && pass->in.pieces == 1 ? pass->in.piece->loop_stride[0] : 0;
    char *complex_line = (char *)room + transform_room(pass);
    char *joined = complex_line + (size_t)more_lines(pass) * line_room(pass);
    char *whole = joined + (joins ? line_room(pass) : 0);
    int64_t index[WEFT_PASS_LOOPS];
    if (joins) pad_line(&pass->in, joined);
    find_index(pass, first, index);
    for (int64_t line = first; line < end; line++) {
        const char *x = (const char *)in[0] + offset_of(pass, pass->in.piece, index);
        const char *next = ahead != 0 ? x + ahead : NULL;
        char *y = (char *)out[0] + offset_of(last, last->out.piece, index);
        if (joins) join_line(pass, in, index, joined);
        if (pass->back)
            run_there_and_back(pass, joins ? joined : x, parts ? whole : y, room, complex_line,
                               complex_line + line_room(pass),
                               number + sum_of(pass, index, pass->back->loop_stride));
        else
            run_line(pass, joins ? joined : x, parts ? whole : y, room, complex_line,
                     past && !parts, next);
        if (parts) part_line(last, whole, out, index, past);
        for (int i = 0; i < pass->loops && ++index[i] == pass->loop[i]; i++) index[i] = 0;
    }
    if (past) pass->kernels->fence();
}
