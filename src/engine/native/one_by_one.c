/* Lines one by one: from pieces to a line, real lines as complex ones, and round trips. */
#include "engine/native/one_by_one.h"

#include "engine/native/number.h"

#include <string.h>

enum { ALIGNMENT = 64 };

/* Bytes of one complex line, which may be a half spectrum. */
static size_t line_bytes(const weft_native_pass *pass) {
    size_t bytes = (size_t)((pass->line.n + 1) * weft_complex_bytes(pass->kernels));
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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

bool weft_one_by_one_copies(const weft_native_pass *pass) {
    return is_copied(&pass->in) || is_copied(&last_of(pass)->out);
}

char *weft_one_by_one_line(const weft_native_pass *pass, void *room) {
    return (char *)room + pass->line_room;
}

/* Scratch memory for the transform; then for complex lines; then for one that is put together from
 * pieces, and for one that is stored to pieces, where operators are applied to these two. */
size_t weft_one_by_one_room(const weft_native_pass *pass) {
    int lines = more_lines(pass) + is_copied(&pass->in) + is_copied(&last_of(pass)->out);
    return pass->line_room + (size_t)lines * line_bytes(pass);
}

/* A real line of even length is transformed as the complex line of its pairs, one of odd length as
 * a complex line without imaginary parts. */
void weft_one_by_one_run_line(const weft_native_pass *pass, const void *x, void *y, void *room,
                              char *line, bool past, const void *next) {
    const weft_kernels *k = pass->kernels;
    const int64_t n = pass->line.n, element = weft_complex_bytes(k);
    switch (pass->kind) {
    case WEFT_TRANSFORM_C2C:
        pass->transform(pass, x, y, room, past, pass->scale, next);
        return;
    case WEFT_TRANSFORM_R2C:
        if (pass->real_line) {
            pass->real_line->real(x, 0, y, 0, 1, pass->scale);
        } else if (pass->halved) {
            pass->transform(pass, x, y, room, past, 1, next);
            k->split_line(y, element, n, pass->roots, 0, n / 2 + 1, pass->scale);
        } else {
            k->widen_line(x, line, n);
            pass->transform(pass, line, line, room, past, 1, next);
            k->copy_scaled(line, y, (n / 2 + 1) * element, false, pass->scale);
        }
        return;
    case WEFT_TRANSFORM_C2R:
        if (pass->real_line) {
            pass->real_line->half(x, 0, y, 0, 1, pass->scale);
        } else if (pass->halved) {
            k->merge_line(x, element, line, element, n, pass->roots, 0, n / 2 + 1);
            pass->transform(pass, line, y, room, past, pass->scale, next);
        } else {
            k->mirror_line(x, line, n);
            pass->transform(pass, line, line, room, past, 1, next);
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
    weft_one_by_one_run_line(pass, x, spectrum, room, line, false, NULL);
    if (o) weft_pointwise_multiply_line(o->pointwise, o->axis, o->first + first, points, spectrum);
    weft_one_by_one_run_line(&pass->back->pass, spectrum, y, room, line, false, NULL);
}

void weft_one_by_one_index(const weft_native_pass *pass, int64_t line, int64_t *index) {
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

int64_t weft_one_by_one_offset(const weft_native_pass *pass, const weft_native_piece *piece,
                               const int64_t *index) {
    return piece->offset + sum_of(pass, index, piece->loop_stride);
}

/* Fills in the points of a line that do not lie in memory. */
static void pad_line(const weft_native_side *side, char *line) {
    const weft_native_extent *stored = &side->stored;
    const int64_t others = side->points - stored->low - stored->high;
    memset(line + stored->low * side->whole.stride, 0, (size_t)(others * side->whole.stride));
}

/* Puts a contiguous line together from its pieces, and applies the operators. */
static void join_line(const weft_native_pass *pass, const void *const *in, const int64_t *index,
                      char *line) {
    for (int p = 0; p < pass->in.pieces; p++) {
        const weft_native_piece *piece = &pass->in.piece[p];
        const char *from = (const char *)in[p] + weft_one_by_one_offset(pass, piece, index);
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
        char *to = (char *)out[p] + weft_one_by_one_offset(pass, piece, index);
        const int64_t bytes = piece->points * piece->stride;
        if (pass->out.operated)
            weft_native_store_operated(pass->out.operated, pass->kernels, line, to, bytes, past);
        else
            pass->kernels->copy(line + piece->first * piece->stride, to, bytes, past);
    }
}

void weft_one_by_one_run(const weft_native_pass *pass, const void *const *in, void *const *out,
                         void *room, int64_t number, int64_t first, int64_t end, bool past) {
    const weft_native_pass *last = last_of(pass);
    const bool joins = is_copied(&pass->in), parts = is_copied(&last->out);
    const int64_t ahead =
        pass->loops > 0 && pass->in.pieces == 1 ? pass->in.piece->loop_stride[0] : 0;
    char *complex_line = weft_one_by_one_line(pass, room);
    char *joined = complex_line + (size_t)more_lines(pass) * line_bytes(pass);
    char *whole = joined + (joins ? line_bytes(pass) : 0);
    int64_t index[WEFT_PASS_LOOPS];
    if (joins) pad_line(&pass->in, joined);
    int64_t line = weft_one_by_one_lines(pass, first);
    const int64_t after = weft_one_by_one_lines(pass, end);
    weft_one_by_one_index(pass, line, index);
    for (; line < after; line++) {
        const char *x = (const char *)in[0] + weft_one_by_one_offset(pass, pass->in.piece, index);
        const char *next = ahead != 0 ? x + ahead : NULL;
        char *y = (char *)out[0] + weft_one_by_one_offset(last, last->out.piece, index);
        if (joins) join_line(pass, in, index, joined);
        if (pass->back)
            run_there_and_back(pass, joins ? joined : x, parts ? whole : y, room, complex_line,
                               complex_line + line_bytes(pass),
                               number + sum_of(pass, index, pass->back->loop_stride));
        else
            weft_one_by_one_run_line(pass, joins ? joined : x, parts ? whole : y, room,
                                     complex_line, past && !parts, next);
        if (parts) part_line(last, whole, out, index, past);
        for (int i = 0; i < pass->loops && ++index[i] == pass->loop[i]; i++) index[i] = 0;
    }
    if (past) pass->kernels->fence();
}
