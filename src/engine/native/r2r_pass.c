/* Makes passes of cosine and sine transforms: their loops, views, tables and memory. */
#include "engine/native/r2r_pass.h"

#include "engine/native/dispatch.h"
#include "engine/native/number.h"
#include "engine/native/tuning.h"
#include "support/error.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_TILE = 16384, /* complex points of a line */
    ALIGNMENT = 64
};

static int64_t reach(const weft_dimension *d) {
    return llabs(d->in_stride) + llabs(d->out_stride);
}

/* A loop, and what it is in the transform: loop number `number`, or dimension number - loops. */
typedef struct pass_loop {
    int number;
    weft_dimension d;
} pass_loop;

static void to_front(pass_loop *loop, int i) {
    const pass_loop one = loop[i];
    memmove(&loop[1], &loop[0], (size_t)i * sizeof *loop);
    loop[0] = one;
}

/* The loops of a pass over dimension `d`: those of the transform and its other dimensions, smallest
 * strides first, but before them all one whose lines are neighbours, of the output or, better, of
 * the input. */
static int order_loops(const weft_transform *t, int d, bool from_output, pass_loop *loop) {
    const weft_dimension *dim = &t->dim[d];
    int loops = 0;
    for (int i = 0; i < t->loops + t->dims; i++) {
        weft_dimension one = i < t->loops ? t->loop[i] : t->dim[i - t->loops];
        if (i - t->loops == d || one.n == 1) continue;
        if (from_output) one.in_stride = one.out_stride;
        int at = loops++;
        for (; at > 0 && reach(&loop[at - 1].d) > reach(&one); at--) loop[at] = loop[at - 1];
        loop[at] = (pass_loop){i, one};
    }
    for (int i = 1; i < loops && dim->out_stride != 1; i++)
        if (loop[i].d.out_stride == 1) to_front(loop, i);
    const bool contiguous = (from_output ? dim->out_stride : dim->in_stride) == 1;
    for (int i = 1; i < loops && !contiguous; i++)
        if (loop[i].d.in_stride == 1) to_front(loop, i);
    return loops;
}

/* The stride of a piece in a loop of the pass. */
static int64_t stride_of(const weft_transform *t, const weft_piece *piece, const pass_loop *loop) {
    return loop->number < t->loops ? piece->loop_stride[loop->number]
                                   : piece->dim_stride[loop->number - t->loops];
}

/* Whether the outer loop goes on where the inner one ends: on one side, which is one array
 * (`pieces` NULL) with the strides given, or lies in pieces. */
static bool goes_on(const weft_transform *t, const weft_pieces *pieces, const pass_loop *inner,
                    int64_t inner_stride, const pass_loop *outer, int64_t outer_stride) {
    bool does = pieces || outer_stride == inner->d.n * inner_stride;
    for (int p = 0; pieces && p < pieces->count; p++)
        does = does && stride_of(t, &pieces->piece[p], outer) ==
                           inner->d.n * stride_of(t, &pieces->piece[p], inner);
    return does;
}

/* Loops that one stride covers, on both sides and in all pieces, become one. */
static int merge_loops(const weft_transform *t, const weft_pieces *in, const weft_pieces *out,
                       pass_loop *loop, int loops) {
    int kept = 0;
    for (int i = 1; i < loops; i++) {
        pass_loop *inner = &loop[kept], *outer = &loop[i];
        if (goes_on(t, in, inner, inner->d.in_stride, outer, outer->d.in_stride) &&
            goes_on(t, out, inner, inner->d.out_stride, outer, outer->d.out_stride))
            inner->d.n *= outer->d.n;
        else
            loop[++kept] = *outer;
    }
    return loops > 0 ? kept + 1 : 0;
}

/* One array, as a piece. */
static void set_whole(const weft_r2r_pass *pass, int64_t stride, bool output, const pass_loop *loop,
                      weft_r2r_piece *whole) {
    const int64_t number = pass->kernels->real_bytes;
    *whole = (weft_r2r_piece){.n = pass->line.n, .stride = stride * number};
    for (int i = 0; i < pass->loops; i++)
        whole->loop_stride[i] = (output ? loop[i].d.out_stride : loop[i].d.in_stride) * number;
}

static void set_piece(const weft_r2r_pass *pass, const weft_transform *t, const weft_piece *given,
                      int d, const pass_loop *loop, weft_r2r_piece *made) {
    const int64_t number = pass->kernels->real_bytes;
    *made = (weft_r2r_piece){.offset = given->offset * number,
                             .first = given->first,
                             .n = given->n,
                             .stride = given->dim_stride[d] * number};
    for (int i = 0; i < pass->loops; i++)
        made->loop_stride[i] = stride_of(t, given, &loop[i]) * number;
}

/* `given` is NULL where the side is one array. */
static bool make_side(const weft_r2r_pass *pass, const weft_transform *t, int d, int64_t stride,
                      bool output, const weft_pieces *given, const pass_loop *loop,
                      weft_r2r_side *s, size_t *bytes) {
    s->pieces = given ? given->count : 1;
    s->piece = malloc((size_t)s->pieces * sizeof *s->piece);
    *bytes += (size_t)s->pieces * sizeof *s->piece;
    if (!s->piece) return false;
    for (int p = 0; p < s->pieces; p++)
        if (given)
            set_piece(pass, t, &given->piece[p], d, loop, &s->piece[p]);
        else
            set_whole(pass, stride, output, loop, &s->piece[p]);
    /* By the strides of the largest piece, which are those of the transform: others may happen to
     * have a stride of 1 where they have one index. */
    s->across = pass->loops > 0 && (output ? loop->d.out_stride : loop->d.in_stride) == 1;
    s->along = !s->across && stride == 1;
    if (!s->across) return true;
    s->offset = malloc((size_t)pass->line.n * sizeof *s->offset);
    *bytes += (size_t)pass->line.n * sizeof *s->offset;
    for (int p = 0; s->offset && p < s->pieces; p++)
        for (int64_t j = 0; j < s->piece[p].n; j++)
            s->offset[s->piece[p].first + j] = j * s->piece[p].stride;
    return s->offset != NULL;
}

static size_t rounded(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool make_tiles(weft_r2r_pass *pass, size_t *bytes) {
    const int64_t rows = pass->line.n / 2 + 1, lanes = pass->kernels->lanes;
    pass->rows = malloc((size_t)rows * sizeof *pass->rows);
    *bytes += (size_t)rows * sizeof *pass->rows;
    if (!pass->rows || !weft_line_create(pass->kernels, pass->line.m, pass->line.direction,
                                         &pass->transform, bytes))
        return false;
    for (int64_t j = 0; j < rows; j++) pass->rows[j] = (int32_t)j;
    pass->by_loop = pass->in.across || pass->out.across;
    pass->tiles = pass->by_loop
                      ? (pass->loop[0] + lanes - 1) / lanes * (pass->lines / pass->loop[0])
                      : (pass->lines + lanes - 1) / lanes;
    pass->copy_bytes = (size_t)rows * WEFT_ROW_BYTES;
    return true;
}

static weft_status make_single(weft_r2r_pass *pass, const weft_transform *t, size_t *bytes) {
    const int64_t m = pass->line.m;
    const weft_transform single = {.kind = WEFT_TRANSFORM_C2C,
                                   .direction = pass->line.direction,
                                   .precision = t->precision,
                                   .dims = 1,
                                   .dim = {{m, 1, 1}},
                                   .threads = t->threads,
                                   .effort = t->effort,
                                   .in_elements = m,
                                   .out_elements = m,
                                   .destroy_input = true};
    const weft_native_tuning tuning = weft_native_choose_tuning(&single);
    size_t held = 0;
    WEFT_TRY(weft_native_plan_with(&single, tuning, &pass->single, &held));
    *bytes += held;
    pass->threads = 1;
    pass->copy_bytes = rounded((size_t)(m * weft_complex_bytes(pass->kernels)));
    return WEFT_SUCCESS;
}

weft_room_size weft_r2r_pass_room(const weft_r2r_pass *pass) {
    const size_t tile = (size_t)(pass->transform.rows + 1) * WEFT_ROW_BYTES;
    return (weft_room_size){.own = pass->copy_bytes + (pass->single ? pass->copy_bytes : tile)};
}

static bool is_done_by_line(const weft_kernels *kernels, int64_t n, int64_t lines) {
    return n / 2 > LONGEST_TILE || 4 * lines <= kernels->lanes;
}

bool weft_r2r_takes_pieces(const weft_transform *t, int first) {
    const weft_pieces *in = &t->in_pieces, *out = &t->out_pieces;
    int64_t lines = 1;
    for (int i = 0; i < t->loops; i++) lines *= t->loop[i].n;
    for (int d = 0; d < t->dims; d++) lines *= d == first ? 1 : t->dim[d].n;
    return !t->in_place && (in->count == 0 || in->dim == first) &&
           (out->count == 0 || t->dims == 1) &&
           !is_done_by_line(weft_native_kernels(t->precision), t->dim[first].n, lines);
}

weft_status weft_r2r_pass_create(const weft_transform *t, int d, bool from_output,
                                 weft_r2r_pass **made, size_t *bytes) {
    const weft_dimension *dim = &t->dim[d];
    const weft_pieces *in = t->in_pieces.count > 0 && !from_output ? &t->in_pieces : NULL;
    const weft_pieces *out = t->out_pieces.count > 0 ? &t->out_pieces : NULL;
    pass_loop loop[WEFT_R2R_LOOPS];
    weft_r2r_pass *pass = calloc(1, sizeof *pass);
    if (!pass) return weft_fail(WEFT_ERROR_OUT_OF_MEMORY, "native engine: no memory for a plan");
    *made = pass;
    *bytes += sizeof *pass;
    pass->kernels = weft_native_kernels(t->precision);
    pass->scale = 1;
    pass->loops = merge_loops(t, in, out, loop, order_loops(t, d, from_output, loop));
    pass->lines = 1;
    for (int i = 0; i < pass->loops; i++) pass->lines *= pass->loop[i] = loop[i].d.n;
    const int64_t points = pass->lines * dim->n, most = points / WEFT_NATIVE_POINTS_PER_THREAD;
    pass->threads = t->threads < most ? t->threads : (int)most;
    if (pass->threads < 1) pass->threads = 1;
    bool ok = weft_r2r_line_create(pass->kernels, t->type[d], dim->n, &pass->line, bytes) &&
              make_side(pass, t, d, from_output ? dim->out_stride : dim->in_stride, from_output, in,
                        loop, &pass->in, bytes) &&
              make_side(pass, t, d, dim->out_stride, true, out, loop, &pass->out, bytes);
    if (ok && is_done_by_line(pass->kernels, dim->n, pass->lines))
        return make_single(pass, t, bytes);
    ok = ok && make_tiles(pass, bytes);
    if (ok) return WEFT_SUCCESS;
    return weft_fail(WEFT_ERROR_OUT_OF_MEMORY,
                     "native engine: no memory for the tables of length %lld", (long long)dim->n);
}

void weft_r2r_pass_destroy(weft_r2r_pass *pass) {
    if (!pass) return;
    weft_r2r_line_release(&pass->line);
    weft_line_release(&pass->transform);
    weft_native_destroy(pass->single);
    free(pass->in.piece);
    free(pass->out.piece);
    free(pass->in.offset);
    free(pass->out.offset);
    free(pass->rows);
    free(pass);
}
