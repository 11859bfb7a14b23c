/* Passes along contiguous lines that are transformed one by one, as matrices. */
#include "engine/native/number.h"
#include "engine/native/pass.h"

enum { ALIGNMENT = 64 };

/* Bytes of one complex line, which may be a half spectrum. */
static size_t line_room(const weft_native_pass *pass) {
    size_t bytes = (size_t)((pass->line.n + 1) * weft_complex_bytes(pass->kernels));
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t matrix_room(const weft_native_pass *pass) {
    if (pass->by_lone) return weft_lone_room(&pass->lone);
    return weft_matrix_tile_bytes(&pass->matrix) + weft_matrix_transposed_bytes(&pass->matrix);
}

/* Scratch memory for the matrix; then, from complex to real, for the merged complex line; then for
 * a line that is put together from pieces, and for one that is stored to pieces. */
size_t weft_native_matrices_room(const weft_native_pass *pass) {
    int lines = (pass->kind == WEFT_TRANSFORM_C2R) + (pass->in.pieces > 1) + (pass->out.pieces > 1);
    return matrix_room(pass) + (size_t)lines * line_room(pass);
}

/* Transforms one line; a real one as the complex line of its pairs. */
static void run_matrix(const weft_native_pass *pass, const void *x, void *y, void *room, char *line,
                       bool past, const void *next) {
    const weft_kernels *k = pass->kernels;
    const int64_t h = pass->line.n, in = pass->in.whole.stride, out = pass->out.whole.stride;
    if (pass->kind == WEFT_TRANSFORM_C2R) {
        k->merge_line(x, in, line, weft_complex_bytes(k), h, pass->roots);
        x = line;
    }
    if (pass->by_lone)
        weft_lone_run(&pass->lone, x, y, room);
    else
        weft_matrix_run(&pass->matrix, x, y, room, past, next);
    if (pass->kind == WEFT_TRANSFORM_R2C) k->split_line(y, out, y, out, h, pass->roots);
}

static int64_t offset_of(const weft_native_pass *pass, const weft_native_piece *piece,
                         const int64_t *index) {
    int64_t offset = piece->offset;
    for (int i = 0; i < pass->loops; i++) offset += index[i] * piece->loop_stride[i];
    return offset;
}

/* Puts a contiguous line together from its pieces. */
static void join_line(const weft_native_pass *pass, const void *const *in, const int64_t *index,
                      char *line) {
    for (int p = 0; p < pass->in.pieces; p++) {
        const weft_native_piece *piece = &pass->in.piece[p];
        pass->kernels->copy((const char *)in[p] + offset_of(pass, piece, index),
                            line + piece->first * piece->stride, piece->points * piece->stride,
                            false);
    }
}

static void part_line(const weft_native_pass *pass, const char *line, void *const *out,
                      const int64_t *index, bool past) {
    for (int p = 0; p < pass->out.pieces; p++) {
        const weft_native_piece *piece = &pass->out.piece[p];
        pass->kernels->copy(line + piece->first * piece->stride,
                            (char *)out[p] + offset_of(pass, piece, index),
                            piece->points * piece->stride, past);
    }
}

void weft_native_matrices_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                              void *room, int64_t first, int64_t end) {
    const bool past =
        pass->stream && pass->kind == WEFT_TRANSFORM_C2C && weft_native_pass_aligned(pass, out);
    const bool joins = pass->in.pieces > 1, parts = pass->out.pieces > 1;
    const int64_t ahead = pass->loops > 0 && !joins ? pass->in.piece->loop_stride[0] : 0;
    char *merged = (char *)room + matrix_room(pass);
    char *joined = merged + (pass->kind == WEFT_TRANSFORM_C2R ? line_room(pass) : 0);
    char *whole = joined + (joins ? line_room(pass) : 0);
    int64_t index[WEFT_PASS_LOOPS], rest = first;
    for (int i = 0; i < pass->loops; i++) {
        index[i] = rest % pass->loop[i];
        rest /= pass->loop[i];
    }
    for (int64_t line = first; line < end; line++) {
        const char *x = (const char *)in[0] + offset_of(pass, pass->in.piece, index);
        const char *next = ahead != 0 ? x + ahead : NULL;
        char *y = (char *)out[0] + offset_of(pass, pass->out.piece, index);
        if (joins) join_line(pass, in, index, joined);
        run_matrix(pass, joins ? joined : x, parts ? whole : y, room, merged, past && !parts, next);
        if (parts) part_line(pass, whole, out, index, past);
        for (int i = 0; i < pass->loops && ++index[i] == pass->loop[i]; i++) index[i] = 0;
    }
    if (past) pass->kernels->fence();
}
